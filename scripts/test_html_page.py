#!/usr/bin/env python3
"""Tests the page of `softalign align --format html` in a real browser, and the SVG output.

The program makes the pages with the shipped model: from invented pairs (hostile text, right-to-left scripts, combining marks,
empty sides), from the shipped test set, and from 5,000 pairs. The page that shows attention during a small training comes last.
Needs `cargo build --release`, and Debian's chromium and chromium-driver; without these, it says so and ends.
"""

import argparse
import json
import re
import subprocess
import tempfile
import time
import xml.etree.ElementTree as xml
from pathlib import Path

from webdriver import Browser, installed

HERE = Path(__file__).resolve().parent.parent
BLOCK = re.compile(r'<script type="application/json" id="data">(.*?)</script>', re.S)
DRAWN = {"svg", "g", "rect", "path", "circle", "text", "title"}

HOSTILE = ["</script><script>alert(1)</script>", "<img/src=x/onerror=alert(1)>", "<!--<script>", "]]>", "&lt;b&gt;",
           "{{script}}", "'\"onload=alert(1)", "\u202eabc", "bell\u0007"]
PAIRS = [
    ("The cat sleeps.", "Le chat dort."),
    (" ".join(HOSTILE), "<svg/onload=alert(2)> <b>gras</b> a\u2028b"),
    ("القطة السوداء نامت هنا أمس.", "The black cat slept here yesterday."),
    ("He said hello, twice.", "הוא אמר שלום, פעמיים."),
    ("cafe\u0301 nin\u0303o A\u030angstro\u0308m", "cafe nino Angstrom"),
    ("Nothing follows.", ""),
    ("", "Rien ne précède."),
    ("", ""),
    ("Yes.", "Oui."),
    ("नमस्ते दुनिया", "你好 世界"),
    ("supercalifragilistic" * 6, "word"),
    (" ".join(f"word{number}" for number in range(45)), " ".join(f"mot{number}" for number in range(40))),
]


def check(condition, what):
    if not condition:
        raise SystemExit(f"check_page: {what}")


def softalign(binary, *arguments):
    """Runs the program in the project's root. Returns its standard output."""
    done = subprocess.run([binary, *map(str, arguments)], cwd=HERE, capture_output=True, check=False)
    check(done.returncode == 0, f"{arguments}: {done.stderr.decode()}")
    return done.stdout.decode()


def align(binary, pairs, form, output, *more):
    softalign(binary, "align", "--quiet", "--pairs", pairs, "--format", form, "--output", output, *more)
    return output


def data_of(page):
    return json.loads(BLOCK.search(page.read_text(encoding="utf-8"))[1])


def gold_of(lines):
    """Gold links of each pair as the page has them."""
    for line in lines:
        links = {"-": [], "?": []}
        for source, kind, target in re.findall(r"(\d+)([-?])(\d+)", line):
            links[kind] += [int(source), int(target)]
        yield {"sure": links["-"], "possible": links["?"]}


def links_shown(browser):
    return browser.run("""return [...document.querySelectorAll('#drawing .link')]
        .filter(({dataset}) => !['missed', 'possible'].includes(dataset.state))
        .map(({dataset}) => `${dataset.source}-${dataset.target}`)""")


def change(field, value, event="change"):
    """A script that sets a field's value as a user does."""
    return (f"const field = document.getElementById({field!r}); field.value = {value!r}; "
            f"field.dispatchEvent(new Event({event!r}))")


def set_threshold(browser, thousandths):
    browser.run(change("threshold", thousandths, "input"))


def shown(browser):
    return browser.run("return document.getElementById('sentence').textContent")


def count(browser, selector):
    return browser.run("return document.querySelectorAll(arguments[0]).length", selector)


def text_of(browser, selector):
    return browser.run("return document.querySelector(arguments[0])?.textContent", selector)


def go(browser, number):
    """Goes to the sentence of this number, by search."""
    browser.write("#search", f"#{number}")
    browser.write("#search", "")
    browser.press("Escape")
    check(shown(browser) == f"Sentence {number}", f"search for #{number} shows {shown(browser)}")


def lefts(browser, side):
    return browser.run("""return [...document.querySelectorAll(`.word[data-side=${arguments[0]}] .area`)]
        .map((area) => area.getBoundingClientRect().left)""", side)


def drawn_svg(text, what):
    """The text of an SVG's words; it must be well-formed, and hold nothing but shapes and text."""
    root = xml.fromstring(text)
    tags = {element.tag.removeprefix("{http://www.w3.org/2000/svg}") for element in root.iter()}
    check(tags <= DRAWN, f"{what}: {tags - DRAWN} in an SVG")
    loaded = [name for element in root.iter() for name in element.attrib if "href" in name or name.startswith("on")]
    check(not loaded, f"{what}: attributes {loaded}")
    return [element.text for element in root.iter("{http://www.w3.org/2000/svg}text") if element.text]


class Check:
    """Checks that share a browser, the program and a directory."""

    def __init__(self, browser, binary, directory, screenshots):
        self.browser, self.binary, self.directory, self.screenshots = browser, binary, directory, screenshots

    def picture(self, name):
        if self.screenshots:
            self.browser.screenshot(self.screenshots / f"{name}.png")

    def quiet(self, what):
        errors = self.browser.errors()
        check(not errors, f"{what}: the console says {errors}")
        check(not self.browser.has_alert(), f"{what}: an alert is open")

    def made_up(self):
        """Odd text: it stays text, scripts run as they should, links are those of the program."""
        browser = self.browser
        # A hostile name as well, for the title.
        pairs = self.directory / "pairs <img src=x onerror=alert(3)>.tsv"
        pairs.write_text("".join(f"{source}\t{target}\n" for source, target in PAIRS), encoding="utf-8")
        page = align(self.binary, pairs, "html", self.directory / "made-up.html")
        browser.open(page)
        check(count(browser, "img, b, iframe, object, script") == 2, "text became an element")
        check(text_of(browser, "#title") == pairs.name, "the title is not the file's name")
        for threshold in (400, 50, 950):
            arguments = ["align", "--quiet", "--pairs", pairs, "--format", "pharaoh", "--threshold", threshold / 1000]
            set_threshold(browser, threshold)
            browser.press("Home")
            for number, line in enumerate(softalign(self.binary, *arguments).splitlines(), 1):
                check(shown(browser) == f"Sentence {number}", f"{number} is {shown(browser)}")
                for view in "matrix", "links":
                    browser.press("v")
                    check(sorted(links_shown(browser)) == sorted(line.split()), f"{number} in {view}: links at {threshold}")
                check(count(browser, "#drawing script, #drawing img, #drawing b") == 0, "a word became an element")
                browser.press("j")
        set_threshold(browser, 400)
        self.scripts()
        go(browser, 2)
        words = browser.run("return [...document.querySelectorAll('.word[data-side=source] text:not(.share)')]"
                            ".map((text) => text.textContent)")
        check(words[:6] == HOSTILE[:6] and words[-1] == "bell␇", f"hostile words read {words}")
        self.picture("hostile")
        self.quiet("made-up pairs")
        odd = {6: "empty-target", 7: "empty-source", 8: "empty", 9: "one-word", 11: "long-word", 12: "long"}
        for number, name in odd.items():
            go(browser, number)
            self.picture(name)
            browser.press("v")
            check(count(browser, "#drawing > svg") == 1, f"{name}: no drawing")
            self.picture(f"{name}-matrix")
            browser.press("v")
            drawn = browser.run("return new XMLSerializer().serializeToString(document.querySelector('#drawing'))")
            check("NaN" not in drawn and "undefined" not in drawn, f"{name}: NaN in the drawing")
        self.quiet("odd lengths")
        self.svg(pairs)

    def scripts(self):
        """Right to left, and combining marks."""
        browser = self.browser
        for number, side, name in ((3, "source", "arabic"), (4, "target", "hebrew")):
            go(browser, number)
            places = lefts(browser, side)
            check(places == sorted(places, reverse=True), f"{name} is not laid from right to left: {places}")
            other = lefts(browser, "target" if side == "source" else "source")
            check(other == sorted(other), f"beside {name}: {other}")
            browser.run("document.querySelector(arguments[0]).focus()", f".word[data-side={side}][data-index='0']")
            browser.press("ArrowLeft")
            check(browser.run("return document.activeElement.dataset.index") == "1", f"{name}: left is not the next word")
            self.picture(name)
            browser.press("v")
            self.picture(f"{name}-matrix")
            browser.press("v", "Escape")
        browser.write("#search", "CAF\u00c9")
        check(shown(browser) == "Sentence 5", "a composed letter does not find a decomposed one")
        browser.write("#search", "")

    def svg(self, pairs):
        """The SVG output: well-formed, nothing but shapes and text."""
        drawings = align(self.binary, pairs, "svg", self.directory / "drawings.svg")
        words = drawn_svg(drawings.read_text(encoding="utf-8"), "drawings.svg")
        check(set(HOSTILE[:7]) <= set(words) and "bell" in words, "words are missing in the SVG")
        one = self.directory / "one.tsv"
        one.write_text((HERE / "data/test.tsv").read_text(encoding="utf-8").splitlines()[0] + "\n", encoding="utf-8")
        drawing = align(self.binary, one, "svg", self.directory / "one.svg")
        drawn_svg(drawing.read_text(encoding="utf-8"), "one.svg")
        for path in (drawing, drawings):
            self.browser.open(path)
            boxes = self.browser.run("""const root = document.documentElement;
                return [root.getBBox(), root.viewBox.baseVal].map(({x, y, width, height}) => [x, y, x + width, y + height])""")
            inside = all(drawn >= edge for drawn, edge in zip(boxes[0][:2], boxes[1][:2]))
            inside &= all(drawn <= edge for drawn, edge in zip(boxes[0][2:], boxes[1][2:]))
            check(inside, f"{path.name}: what is drawn, {boxes[0]}, leaves the page, {boxes[1]}")
            self.browser.size(1280, 2600)
            self.picture(f"svg-{path.stem}")
            self.browser.size(1280, 800)
        self.quiet("svg")

    def shipped(self):
        """The shipped test set, with gold and subwords."""
        browser = self.browser
        page = align(self.binary, "data/test.tsv", "html", self.directory / "shipped.html", "--gold", "data/test.gold")
        data = data_of(page)
        gold = gold_of((HERE / "data/test.gold").read_text().splitlines())
        for pair, links in zip(data["pairs"], gold, strict=True):
            check(pair["gold"] == links, f"{pair['id']}: gold links {pair['gold']}, in the file {links}")
            check(pair["units"]["source"], f"{pair['id']}: no subwords")
        browser.open(page)
        agreement = json.loads(softalign(self.binary, "evaluate", "--quiet", "--json", "--beam", 1))
        check(f"{agreement['aer']:.3f}" in text_of(browser, "#summary"),
              f"error rate: {text_of(browser, '#summary')}, by the program {agreement['aer']}")
        self.gold(data)
        self.hovering()
        self.choosing()
        self.keys()
        self.saving()
        self.looks()
        self.quiet("shipped pairs")
        self.policy()

    def policy(self):
        """The browser neither runs nor loads anything that the page does not contain."""
        ran = self.browser.run("""const script = document.createElement('script');
            script.textContent = 'window.ran = true';
            document.body.append(script, Object.assign(document.createElement('img'), {src: 'data:,', onload() {}}));
            return window.ran === true""")
        check(not ran, "a script that was added ran")
        refused = self.browser.errors()
        check(sum("Content Security Policy" in error for error in refused) >= 2, f"the policy is silent: {refused}")

    def gold(self, data):
        """The figures of each sentence's links against gold equal those counted here."""
        browser = self.browser
        browser.press("Home")
        for pair in data["pairs"][:20]:
            states = browser.run("return [...document.querySelectorAll('#drawing .link')]"
                                 ".map(({dataset}) => [`${dataset.source}-${dataset.target}`, dataset.state])")
            sure, possible = ({f"{s}-{t}" for s, t in zip(flat[::2], flat[1::2])}
                              for flat in (pair["gold"]["sure"], pair["gold"]["possible"]))
            proposed = {link for link, state in states if state not in ("missed", "possible")}
            for link, state in states:
                expected = ({True: "hit", False: "hit-possible" if link in possible else "extra"}[link in sure]
                            if link in proposed else "missed" if link in sure else "possible")
                check(state == expected, f"{pair['id']}: {link} is {state}, not {expected}")
            check({link for link, _ in states} == proposed | sure | possible, f"{pair['id']}: gold links are not all shown")
            rate = 1 - (len(proposed & sure) + len(proposed & (sure | possible))) / (len(proposed) + len(sure))
            rates = text_of(browser, "#measures")
            check(f"{rate:.3f}" in rates, f"{pair['id']}: error rate {rate:.3f} is not in {rates}")
            browser.press("j")
        browser.press("Home", "g")
        check(count(browser, "[data-state]") == 0, "gold is off and still shown")
        browser.press("g")
        check(count(browser, "#legend > span") == 5, "the legend names five states")

    def hovering(self):
        """A word lights up its partners, by pointer and by keyboard."""
        browser = self.browser
        word = ".word[data-side=target][data-index='1']"
        for view in ("links", "matrix"):
            browser.hover(word)
            check(count(browser, ".word.lit[data-side=source]") >= 1, f"{view}: no partner lit")
            check("%" in text_of(browser, "#readout"), f"{view}: no weights")
            by_pointer = text_of(browser, "#readout")
            browser.hover("#sentence")
            check(count(browser, ".lit") == 0, f"{view}: still lit")
            browser.run("document.querySelector(arguments[0]).focus()", word)
            check(text_of(browser, "#readout") == by_pointer, f"{view}: focus tells something else")
            browser.press("Escape", "v")

    def choosing(self):
        """Search, sort, filters, pieces."""
        browser = self.browser
        total = text_of(browser, "#count")
        for query in ("WATCH", "montre"):
            browser.write("#search", query)
            rows = browser.run("return [...document.querySelectorAll('.row .sides')].map((row) => row.textContent)")
            check(rows and all(query.lower() in row.lower() for row in rows), f"search for {query}")
        browser.write("#search", "no such words")
        check("No pair" in text_of(browser, "#drawing"), "no word of an empty search")
        self.picture("nothing-found")
        browser.click("#drawing button")
        check(text_of(browser, "#count") == total, "clearing brings not all back")
        for measure in ("length", "score", "entropy", "uncovered", "aer"):
            browser.run(change("sort", measure))
            for sign in (1, -1):
                notes = browser.run("return [...document.querySelectorAll('.row .note')].map((note) => note.textContent)")
                values = [sign * float(note.replace("\u2212", "-")) for note in notes]
                check(len(values) > 5 and values == sorted(values), f"{measure} does not sort: {notes}")
                first = browser.run("return document.querySelector('.row').getAttribute('aria-selected')")
                check(first == "true", f"{measure}: the first pair of the new order is not shown")
                browser.click("#direction")
        browser.run("document.getElementById('filters').open = true")
        browser.write("input[data-measure=length][data-bound=to]", "9")
        browser.write("input[data-measure=uncovered][data-bound=from]", "1")
        check(0 < int(text_of(browser, "#count").split()[0]) < 500, f"filters leave {text_of(browser, '#count')}")
        self.picture("filters")
        browser.click("#clear")
        browser.run("document.getElementById('filters').open = false")
        browser.run(change("sort", "file"))
        words = count(browser, ".word")
        browser.press("Escape", "Home", "w")
        check(count(browser, ".word") >= words and count(browser, "[data-state]") == 0, "no subwords, or gold beside them")
        browser.press("w")
        set_threshold(browser, 950)
        few = len(links_shown(browser))
        set_threshold(browser, 20)
        check(len(links_shown(browser)) > few, "a lower threshold brings no more links")
        browser.run("document.getElementById('threshold').focus()")
        browser.press("ArrowRight")
        check(text_of(browser, "#threshold-value") != "2 %", "the slider does not answer to keys")
        set_threshold(browser, 400)

    def keys(self):
        browser = self.browser
        browser.press("Escape", "Home", "j", "ArrowDown", "k", "ArrowDown")
        check(shown(browser) == "Sentence 3", f"keys lead to {shown(browser)}")
        browser.press("End")
        check(shown(browser) == "Sentence 1000", "End is not the end")
        browser.press("Home")
        browser.click("label:has([value=matrix])")
        browser.press("ArrowDown")
        check(shown(browser) == "Sentence 2" and count(browser, ".cell") > 0, "the arrows stay with the view's buttons")
        browser.click("label:has([value=links])")
        browser.click("#theme")
        check(browser.run("return document.documentElement.dataset.theme") == "dark", "the button does not darken")
        browser.press("t", "t")
        check(browser.run("return document.documentElement.dataset.theme") == "auto", "t does not lead back")
        browser.press("Home", "/")
        check(browser.run("return document.activeElement.id") == "search", "/ does not search")
        browser.press("v")
        check(browser.run("return document.getElementById('search').value") == "v", "letters in the search field are not text")
        browser.write("#search", "")
        browser.press("Escape", "?")
        check(browser.run("return document.getElementById('help').open"), "? gives no help")
        self.picture("help")
        browser.press("Escape")
        check(not browser.run("return document.getElementById('help').open"), "Esc leaves the help open")
        browser.run("document.getElementById('threshold').focus()")
        browser.press("Tab", "Tab")
        check(browser.run("return document.activeElement.dataset.side") == "source", "Tab does not reach the words")
        browser.press("ArrowRight", "Tab")
        check(browser.run("return document.activeElement.dataset.side") == "target", "Tab does not reach the target")
        browser.press("j")
        check(browser.run("return document.activeElement.dataset.side") == "target", "the next sentence loses the focus")
        browser.press("Escape", "Home")

    def saving(self):
        """A saved drawing is a document of its own."""
        for view in ("links", "matrix"):
            self.browser.press("s")
            path = self.directory / f"softalign-1-{view}.svg"
            for _ in range(100):
                if path.exists():
                    break
                time.sleep(0.05)
            check(path.exists(), f"{path.name} was not saved")
            words = drawn_svg(path.read_text(encoding="utf-8"), path.name)
            check({"She", "watch", "montre."} <= set(words), f"{path.name} has the words {words}")
            self.browser.press("v")

    def looks(self):
        """Screenshots for a person; checks only that nothing is wider than a narrow window."""
        browser = self.browser
        go(browser, 3)
        for scheme in ("light", "dark"):
            browser.colours(scheme)
            for gold in ("gold", "plain"):
                for view in ("links", "matrix"):
                    self.picture(f"{view}-{scheme}-{gold}")
                    browser.hover(".word[data-side=target][data-index='2']")
                    self.picture(f"{view}-{scheme}-{gold}-hover")
                    browser.hover("#sentence")
                    browser.press("v")
                browser.press("g")
            browser.press("w")
            self.picture(f"subwords-{scheme}")
            browser.press("w")
        browser.colours("light")
        browser.size(400, 860)
        for view in ("links", "matrix"):
            wide = browser.run("return document.documentElement.scrollWidth")
            check(wide <= 400, f"{view}: {wide} wide in 400")
            browser.run("document.querySelector('.stage').scrollIntoView()")
            self.picture(f"narrow-{view}")
            browser.press("v")
        browser.run("scrollTo(0, 0)")
        self.picture("narrow-top")
        browser.size(1280, 800)

    def many(self):
        """The times of common actions with 5,000 pairs."""
        browser = self.browser
        lines = (HERE / "data/train.tsv").read_text(encoding="utf-8").splitlines()[:5000]
        pairs = self.directory / "many.tsv"
        pairs.write_text("\n".join(lines) + "\n", encoding="utf-8")
        page = align(self.binary, pairs, "html", self.directory / "many.html")
        print(f"5,000 pairs: {page.stat().st_size / 1e6:.1f} MB")
        browser.open(page)
        # The list draws its rows once it knows its size.
        until = time.time() + 10
        while count(browser, ".row") <= 5 and time.time() < until:
            time.sleep(0.05)
        check(5 < count(browser, ".row") < 100, "rows out of sight are in the document")
        # Wait until the new layout is done.
        timed = "const began = performance.now(); {}; document.body.getBoundingClientRect(); return performance.now() - began"
        steps = {
            "next sentence": "document.body.dispatchEvent(new KeyboardEvent('keydown', {key: 'j', bubbles: true}))",
            "search": change("search", "chat", "input"),
            "all again": change("search", "", "input"),
            "sort by entropy": change("sort", "entropy"),
            "sort by uncovered": change("sort", "uncovered"),
            "threshold": change("threshold", 100, "input"),
            "scroll to the end": "const list = document.getElementById('list'); list.scrollTop = 1e9; "
                                 "list.dispatchEvent(new Event('scroll'))",
        }
        times = {"load": browser.run("return performance.getEntriesByType('navigation')[0].domComplete")}
        times |= {name: browser.run(timed.replace("{}", step)) for name, step in steps.items()}
        print(", ".join(f"{name} {milliseconds:.0f} ms" for name, milliseconds in times.items()))
        check(max(times.values()) < 10_000, "something takes more than ten seconds")
        check(5 < count(browser, ".row") < 100, "the end of the list is not shown")
        self.quiet("5,000 pairs")

    def nothing(self):
        """A page without pairs."""
        pairs = self.directory / "none.tsv"
        pairs.write_text("")
        self.browser.open(align(self.binary, pairs, "html", self.directory / "none.html"))
        check("no sentence pairs" in text_of(self.browser, "#drawing"), "an empty file is not explained")
        self.browser.press("j", "v", "s", "End")
        self.picture("none")
        self.quiet("no pairs")


    def learning(self):
        """The page of attention during training."""
        pairs = self.directory / "some.tsv"
        lines = (HERE / "data/train.tsv").read_text(encoding="utf-8").splitlines(keepends=True)
        pairs.write_text("".join(lines[:300]), encoding="utf-8")
        model = self.directory / "learning"
        softalign(self.binary, "train", "--quiet", "--train", pairs, "--out", model, "--preset", "tiny", "--max-epochs", "4",
                  "--validate-every", "4", "--keep-attention")
        steps = data_of(model / "attention.html")["steps"]
        check(len(steps) > 3 and steps == sorted(set(steps)), f"steps {steps}")
        browser = self.browser
        browser.open(model / "attention.html")
        step = lambda: text_of(browser, "#moment-value")
        check(step() == str(steps[-1]), f"the page opens after step {step()}")
        check(text_of(browser, "#translation").startswith("The model says: "), "what the model says is not there")
        browser.press("v")
        cells = "return [...document.querySelectorAll('#drawing rect')].map((cell) => cell.getAttribute('fill-opacity') ?? cell.getAttribute('fill')).join()"
        last = browser.run(cells)
        browser.press(",")
        check(step() == str(steps[-2]), "a key goes to the validation before")
        browser.run(change("moment", 0, "input"))
        check(step() == str(steps[0]) and browser.run(cells) != last, "the slider does not change the drawing")
        self.picture("learning")
        browser.press("p")
        time.sleep(0.2 * len(steps) + 1)
        check(step() == str(steps[-1]) and browser.run(cells) == last, "playing ends at the last validation")
        check(text_of(browser, "#play") == "▶", "it plays on")
        self.quiet("learning")
        drawn = xml.parse(model / "training.svg").getroot()
        kinds = {element.tag.rpartition("}")[2] for element in drawn.iter()}
        check(kinds <= DRAWN, f"training.svg has {kinds - DRAWN}")
        browser.open(model / "training.svg")
        self.picture("curves")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--binary", type=Path, default=HERE / "target/release/softalign")
    parser.add_argument("--screenshots", type=Path, metavar="DIR", help="keep pictures of what was checked here")
    arguments = parser.parse_args()
    found = installed()
    if not found:
        print("chromium not found: page not tested")
        return
    if arguments.screenshots:
        arguments.screenshots.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory() as directory, Browser(*found, directory) as browser:
        browser.size(1280, 800)
        browser.colours("light")
        checks = Check(browser, arguments.binary.resolve(), Path(directory), arguments.screenshots)
        checks.nothing()
        checks.made_up()
        checks.shipped()
        checks.many()
        checks.learning()
    print("page: all checks passed")


if __name__ == "__main__":
    main()
