#!/usr/bin/env python3
"""Tests the page of `softalign align --format html` in a browser, and the SVG output.

The program writes the pages with the shipped model: from crafted pairs (hostile text, right-to-left scripts, combining marks,
empty sides), from the shipped test set, and from 5,000 pairs. The page with the attention of a small training comes last.
Needs `cargo build --release`, and Debian's chromium and chromium-driver; does nothing without these.
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
SVG_ELEMENTS = {"svg", "g", "rect", "path", "circle", "text", "title"}

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


def check(condition, message):
    if not condition:
        raise SystemExit(f"test_html_page: {message}")


def softalign(binary, *arguments):
    """Runs the program in the root directory and returns its standard output."""
    done = subprocess.run([binary, *map(str, arguments)], cwd=HERE, capture_output=True, check=False)
    check(done.returncode == 0, f"{arguments}: {done.stderr.decode()}")
    return done.stdout.decode()


def align(binary, pairs, form, output, *more):
    softalign(binary, "align", "--quiet", "--pairs", pairs, "--format", form, "--output", output, *more)
    return output


def data_of(page):
    return json.loads(BLOCK.search(page.read_text(encoding="utf-8"))[1])


def gold_of(lines):
    """Yields the gold links of each pair in the format of the page."""
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
    """Returns a script that sets a field's value and fires an event."""
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
    """Opens a sentence by searching for its number."""
    browser.write("#search", f"#{number}")
    browser.write("#search", "")
    browser.press("Escape")
    check(shown(browser) == f"Sentence {number}", f"search for #{number} shows {shown(browser)}")


def lefts(browser, side):
    return browser.run("""return [...document.querySelectorAll(`.word[data-side=${arguments[0]}] .area`)]
        .map((area) => area.getBoundingClientRect().left)""", side)


def svg_texts(text, label):
    """Returns the texts of an SVG, which must be well-formed and contain only shapes and text."""
    root = xml.fromstring(text)
    tags = {element.tag.removeprefix("{http://www.w3.org/2000/svg}") for element in root.iter()}
    check(tags <= SVG_ELEMENTS, f"{label}: unexpected elements {tags - SVG_ELEMENTS}")
    active = [name for element in root.iter() for name in element.attrib if "href" in name or name.startswith("on")]
    check(not active, f"{label}: unexpected attributes {active}")
    return [element.text for element in root.iter("{http://www.w3.org/2000/svg}text") if element.text]


class Check:
    """Checks that share a browser, the program and a directory."""

    def __init__(self, browser, binary, directory, screenshots):
        self.browser, self.binary, self.directory, self.screenshots = browser, binary, directory, screenshots

    def screenshot(self, name):
        if self.screenshots:
            self.browser.screenshot(self.screenshots / f"{name}.png")

    def check_console(self, label):
        errors = self.browser.errors()
        check(not errors, f"{label}: console errors {errors}")
        check(not self.browser.has_alert(), f"{label}: an alert is open")

    def crafted(self):
        """Unusual text is shown as text, in the right direction, with the program's links."""
        browser = self.browser
        # The title shows the file name, which is hostile too.
        pairs = self.directory / "pairs <img src=x onerror=alert(3)>.tsv"
        pairs.write_text("".join(f"{source}\t{target}\n" for source, target in PAIRS), encoding="utf-8")
        page = align(self.binary, pairs, "html", self.directory / "crafted.html")
        browser.open(page)
        check(count(browser, "img, b, iframe, object, script") == 2, "text was parsed as HTML")
        check(text_of(browser, "#title") == pairs.name, "the title is not the file name")
        for threshold in (400, 50, 950):
            arguments = ["align", "--quiet", "--pairs", pairs, "--format", "pharaoh", "--threshold", threshold / 1000]
            set_threshold(browser, threshold)
            browser.press("Home")
            for number, line in enumerate(softalign(self.binary, *arguments).splitlines(), 1):
                check(shown(browser) == f"Sentence {number}", f"sentence {number} shows {shown(browser)}")
                for view in "matrix", "links":
                    browser.press("v")
                    check(sorted(links_shown(browser)) == sorted(line.split()), f"{number} in {view}: links at {threshold}")
                check(count(browser, "#drawing script, #drawing img, #drawing b") == 0, "a word was parsed as HTML")
                browser.press("j")
        set_threshold(browser, 400)
        self.writing_systems()
        go(browser, 2)
        words = browser.run("return [...document.querySelectorAll('.word[data-side=source] text:not(.share)')]"
                            ".map((text) => text.textContent)")
        check(words[:6] == HOSTILE[:6] and words[-1] == "bell␇", f"hostile words are shown as {words}")
        self.screenshot("hostile")
        self.check_console("crafted pairs")
        unusual = {6: "empty-target", 7: "empty-source", 8: "empty", 9: "one-word", 11: "long-word", 12: "long"}
        for number, name in unusual.items():
            go(browser, number)
            self.screenshot(name)
            browser.press("v")
            check(count(browser, "#drawing > svg") == 1, f"{name}: no drawing")
            self.screenshot(f"{name}-matrix")
            browser.press("v")
            drawn = browser.run("return new XMLSerializer().serializeToString(document.querySelector('#drawing'))")
            check("NaN" not in drawn and "undefined" not in drawn, f"{name}: NaN in the drawing")
        self.check_console("unusual lengths")
        self.svg(pairs)

    def writing_systems(self):
        """Right-to-left scripts and combining marks."""
        browser = self.browser
        for number, side, name in ((3, "source", "arabic"), (4, "target", "hebrew")):
            go(browser, number)
            positions = lefts(browser, side)
            check(positions == sorted(positions, reverse=True), f"{name} does not run from right to left: {positions}")
            other = lefts(browser, "target" if side == "source" else "source")
            check(other == sorted(other), f"the side opposite {name} does not run from left to right: {other}")
            browser.run("document.querySelector(arguments[0]).focus()", f".word[data-side={side}][data-index='0']")
            browser.press("ArrowLeft")
            check(browser.run("return document.activeElement.dataset.index") == "1", f"{name}: the left arrow does not select the next word")
            self.screenshot(name)
            browser.press("v")
            self.screenshot(f"{name}-matrix")
            browser.press("v", "Escape")
        browser.write("#search", "CAF\u00c9")
        check(shown(browser) == "Sentence 5", "a search for a composed letter does not find the decomposed one")
        browser.write("#search", "")

    def svg(self, pairs):
        """The SVG output is well-formed and contains only shapes and text within its bounds."""
        drawings = align(self.binary, pairs, "svg", self.directory / "drawings.svg")
        words = svg_texts(drawings.read_text(encoding="utf-8"), "drawings.svg")
        check(set(HOSTILE[:7]) <= set(words) and "bell" in words, "words are missing in the SVG")
        one = self.directory / "one.tsv"
        one.write_text((HERE / "data/test.tsv").read_text(encoding="utf-8").splitlines()[0] + "\n", encoding="utf-8")
        drawing = align(self.binary, one, "svg", self.directory / "one.svg")
        svg_texts(drawing.read_text(encoding="utf-8"), "one.svg")
        for path in (drawing, drawings):
            self.browser.open(path)
            boxes = self.browser.run("""const root = document.documentElement;
                return [root.getBBox(), root.viewBox.baseVal].map(({x, y, width, height}) => [x, y, x + width, y + height])""")
            inside = all(drawn >= edge for drawn, edge in zip(boxes[0][:2], boxes[1][:2]))
            inside &= all(drawn <= edge for drawn, edge in zip(boxes[0][2:], boxes[1][2:]))
            check(inside, f"{path.name}: drawing {boxes[0]} exceeds the view box {boxes[1]}")
            self.browser.resize(1280, 2600)
            self.screenshot(f"svg-{path.stem}")
            self.browser.resize(1280, 800)
        self.check_console("svg")

    def shipped(self):
        """The shipped test set, with gold links and tokens."""
        browser = self.browser
        page = align(self.binary, "data/test.tsv", "html", self.directory / "shipped.html", "--gold", "data/test.gold")
        data = data_of(page)
        gold = gold_of((HERE / "data/test.gold").read_text().splitlines())
        for pair, links in zip(data["pairs"], gold, strict=True):
            check(pair["gold"] == links, f"{pair['id']}: gold links {pair['gold']}, in the file {links}")
            check(pair["tokens"]["source"], f"{pair['id']}: no tokens")
        browser.open(page)
        scores = json.loads(softalign(self.binary, "evaluate", "--quiet", "--json", "--beam", 1))
        check(f"{scores['aer']:.3f}" in text_of(browser, "#summary"),
              f"AER: {text_of(browser, '#summary')} on the page, {scores['aer']} by the program")
        self.gold(data)
        self.hovering()
        self.selecting()
        self.keys()
        self.saving()
        self.appearance()
        self.check_console("shipped pairs")
        self.policy()

    def policy(self):
        """The content security policy blocks scripts and images that the page does not contain."""
        ran = self.browser.run("""const script = document.createElement('script');
            script.textContent = 'window.ran = true';
            document.body.append(script, Object.assign(document.createElement('img'), {src: 'data:,', onload() {}}));
            return window.ran === true""")
        check(not ran, "an injected script ran")
        errors = self.browser.errors()
        check(sum("Content Security Policy" in error for error in errors) >= 2, f"no policy violations: {errors}")

    def gold(self, data):
        """States of links and AER of each sentence equal those computed here."""
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
            check({link for link, _ in states} == proposed | sure | possible, f"{pair['id']}: gold links are missing")
            rate = 1 - (len(proposed & sure) + len(proposed & (sure | possible))) / (len(proposed) + len(sure))
            rates = text_of(browser, "#measures")
            check(f"{rate:.3f}" in rates, f"{pair['id']}: AER {rate:.3f} is not in {rates}")
            browser.press("j")
        browser.press("Home", "g")
        check(count(browser, "[data-state]") == 0, "gold links are shown although switched off")
        browser.press("g")
        check(count(browser, "#legend > span") == 5, "the legend does not have five states")

    def hovering(self):
        """A word highlights its linked words, with pointer and keyboard."""
        browser = self.browser
        word = ".word[data-side=target][data-index='1']"
        for view in ("links", "matrix"):
            browser.hover(word)
            check(count(browser, ".word.lit[data-side=source]") >= 1, f"{view}: no linked word highlighted")
            check("%" in text_of(browser, "#readout"), f"{view}: no weights shown")
            by_pointer = text_of(browser, "#readout")
            browser.hover("#sentence")
            check(count(browser, ".lit") == 0, f"{view}: still highlighted")
            browser.run("document.querySelector(arguments[0]).focus()", word)
            check(text_of(browser, "#readout") == by_pointer, f"{view}: focus and pointer show different weights")
            browser.press("Escape", "v")

    def selecting(self):
        """Search, sorting, filters, tokens and threshold."""
        browser = self.browser
        total = text_of(browser, "#count")
        for query in ("WATCH", "montre"):
            browser.write("#search", query)
            rows = browser.run("return [...document.querySelectorAll('.row .sides')].map((row) => row.textContent)")
            check(rows and all(query.lower() in row.lower() for row in rows), f"search for {query}")
        browser.write("#search", "no such words")
        check("No pair" in text_of(browser, "#drawing"), "an empty search result is not explained")
        self.screenshot("nothing-found")
        browser.click("#drawing button")
        check(text_of(browser, "#count") == total, "clearing does not restore all pairs")
        for measure in ("length", "score", "entropy", "uncovered", "aer"):
            browser.run(change("sort", measure))
            for sign in (1, -1):
                notes = browser.run("return [...document.querySelectorAll('.row .note')].map((note) => note.textContent)")
                values = [sign * float(note.replace("\u2212", "-")) for note in notes]
                check(len(values) > 5 and values == sorted(values), f"not sorted by {measure}: {notes}")
                first = browser.run("return document.querySelector('.row').getAttribute('aria-selected')")
                check(first == "true", f"{measure}: the first pair of the new order is not shown")
                browser.click("#direction")
        browser.run("document.getElementById('filters').open = true")
        browser.write("input[data-measure=length][data-bound=to]", "9")
        browser.write("input[data-measure=uncovered][data-bound=from]", "1")
        check(0 < int(text_of(browser, "#count").split()[0]) < 500, f"filters leave {text_of(browser, '#count')}")
        self.screenshot("filters")
        browser.click("#clear")
        browser.run("document.getElementById('filters').open = false")
        browser.run(change("sort", "file"))
        words = count(browser, ".word")
        browser.press("Escape", "Home", "w")
        check(count(browser, ".word") >= words and count(browser, "[data-state]") == 0, "no tokens, or gold links with tokens")
        browser.press("w")
        set_threshold(browser, 950)
        few = len(links_shown(browser))
        set_threshold(browser, 20)
        check(len(links_shown(browser)) > few, "a lower threshold gives no more links")
        browser.run("document.getElementById('threshold').focus()")
        browser.press("ArrowRight")
        check(text_of(browser, "#threshold-value") != "2 %", "the slider does not react to keys")
        set_threshold(browser, 400)

    def keys(self):
        browser = self.browser
        browser.press("Escape", "Home", "j", "ArrowDown", "k", "ArrowDown")
        check(shown(browser) == "Sentence 3", f"keys lead to {shown(browser)}")
        browser.press("End")
        check(shown(browser) == "Sentence 1000", "End does not show the last sentence")
        browser.press("Home")
        browser.click("label:has([value=matrix])")
        browser.press("ArrowDown")
        check(shown(browser) == "Sentence 2" and count(browser, ".cell") > 0, "arrow keys stay with the view buttons")
        browser.click("label:has([value=links])")
        browser.click("#theme")
        check(browser.run("return document.documentElement.dataset.theme") == "dark", "the button does not select the dark theme")
        browser.press("t", "t")
        check(browser.run("return document.documentElement.dataset.theme") == "auto", "t does not restore the automatic theme")
        browser.press("Home", "/")
        check(browser.run("return document.activeElement.id") == "search", "/ does not focus the search field")
        browser.press("v")
        check(browser.run("return document.getElementById('search').value") == "v", "letters in the search field act as shortcuts")
        browser.write("#search", "")
        browser.press("Escape", "?")
        check(browser.run("return document.getElementById('help').open"), "? does not open the help")
        self.screenshot("help")
        browser.press("Escape")
        check(not browser.run("return document.getElementById('help').open"), "Escape does not close the help")
        browser.run("document.getElementById('threshold').focus()")
        browser.press("Tab", "Tab")
        check(browser.run("return document.activeElement.dataset.side") == "source", "Tab does not reach the words")
        browser.press("ArrowRight", "Tab")
        check(browser.run("return document.activeElement.dataset.side") == "target", "Tab does not reach the target")
        browser.press("j")
        check(browser.run("return document.activeElement.dataset.side") == "target", "the next sentence loses the focus")
        browser.press("Escape", "Home")

    def saving(self):
        """A saved drawing is a complete SVG document."""
        for view in ("links", "matrix"):
            self.browser.press("s")
            path = self.browser.downloaded(f"softalign-1-{view}.svg")
            words = svg_texts(path.read_text(encoding="utf-8"), path.name)
            check({"She", "watch", "montre."} <= set(words), f"{path.name} has the words {words}")
            self.browser.press("v")

    def appearance(self):
        """Takes screenshots for review; checks only that the page fits into a narrow window."""
        browser = self.browser
        go(browser, 3)
        for scheme in ("light", "dark"):
            browser.set_color_scheme(scheme)
            for gold in ("gold", "plain"):
                for view in ("links", "matrix"):
                    self.screenshot(f"{view}-{scheme}-{gold}")
                    browser.hover(".word[data-side=target][data-index='2']")
                    self.screenshot(f"{view}-{scheme}-{gold}-hover")
                    browser.hover("#sentence")
                    browser.press("v")
                browser.press("g")
            browser.press("w")
            self.screenshot(f"tokens-{scheme}")
            browser.press("w")
        browser.set_color_scheme("light")
        browser.resize(400, 860)
        for view in ("links", "matrix"):
            width = browser.run("return document.documentElement.scrollWidth")
            check(width <= 400, f"{view}: {width} pixels wide in a window of 400")
            browser.run("document.querySelector('.stage').scrollIntoView()")
            self.screenshot(f"narrow-{view}")
            browser.press("v")
        browser.run("scrollTo(0, 0)")
        self.screenshot("narrow-top")
        browser.resize(1280, 800)

    def many(self):
        """Measures common actions with 5,000 pairs."""
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
        check(5 < count(browser, ".row") < 100, "invisible rows are in the document")
        # Includes the time of the layout.
        timed = "const began = performance.now(); {}; document.body.getBoundingClientRect(); return performance.now() - began"
        steps = {
            "next sentence": "document.body.dispatchEvent(new KeyboardEvent('keydown', {key: 'j', bubbles: true}))",
            "search": change("search", "chat", "input"),
            "clear the search": change("search", "", "input"),
            "sort by entropy": change("sort", "entropy"),
            "sort by uncovered": change("sort", "uncovered"),
            "threshold": change("threshold", 100, "input"),
            "scroll to the end": "const list = document.getElementById('list'); list.scrollTop = 1e9; "
                                 "list.dispatchEvent(new Event('scroll'))",
        }
        times = {"load": browser.run("return performance.getEntriesByType('navigation')[0].domComplete")}
        times |= {name: browser.run(timed.replace("{}", step)) for name, step in steps.items()}
        print(", ".join(f"{name} {milliseconds:.0f} ms" for name, milliseconds in times.items()))
        check(max(times.values()) < 10_000, "an action takes more than ten seconds")
        check(5 < count(browser, ".row") < 100, "the end of the list is not shown")
        self.check_console("5,000 pairs")

    def empty(self):
        """A page without pairs."""
        pairs = self.directory / "none.tsv"
        pairs.write_text("")
        self.browser.open(align(self.binary, pairs, "html", self.directory / "none.html"))
        check("no sentence pairs" in text_of(self.browser, "#drawing"), "an empty file is not explained")
        self.browser.press("j", "v", "s", "End")
        self.screenshot("none")
        self.check_console("no pairs")


    def training(self):
        """The page with attention during training."""
        pairs = self.directory / "some.tsv"
        lines = (HERE / "data/train.tsv").read_text(encoding="utf-8").splitlines(keepends=True)
        pairs.write_text("".join(lines[:300]), encoding="utf-8")
        model = self.directory / "training"
        softalign(self.binary, "train", "--quiet", "--train", pairs, "--out", model, "--preset", "tiny", "--max-epochs", "4",
                  "--validate-every", "4", "--keep-attention")
        steps = data_of(model / "attention.html")["steps"]
        check(len(steps) > 3 and steps == sorted(set(steps)), f"steps {steps}")
        browser = self.browser
        browser.open(model / "attention.html")
        step = lambda: text_of(browser, "#step-value")
        check(step() == str(steps[-1]), f"the page opens after step {step()}")
        check(text_of(browser, "#translation").startswith("The model says: "), "the translation is missing")
        browser.press("v")
        cells = "return [...document.querySelectorAll('#drawing rect')].map((cell) => cell.getAttribute('fill-opacity') ?? cell.getAttribute('fill')).join()"
        last = browser.run(cells)
        browser.press(",")
        check(step() == str(steps[-2]), "the comma key does not show the previous validation")
        browser.run(change("step", 0, "input"))
        check(step() == str(steps[0]) and browser.run(cells) != last, "the slider does not change the drawing")
        self.screenshot("training")
        browser.press("p")
        time.sleep(0.2 * len(steps) + 1)
        check(step() == str(steps[-1]) and browser.run(cells) == last, "playing does not end at the last validation")
        check(text_of(browser, "#play") == "▶", "playing does not stop")
        self.check_console("training")
        chart = xml.parse(model / "training.svg").getroot()
        kinds = {element.tag.rpartition("}")[2] for element in chart.iter()}
        check(kinds <= SVG_ELEMENTS, f"training.svg: unexpected elements {kinds - SVG_ELEMENTS}")
        browser.open(model / "training.svg")
        self.screenshot("curves")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--binary", type=Path, default=HERE / "target/release/softalign")
    parser.add_argument("--screenshots", type=Path, metavar="DIR", help="directory for screenshots")
    arguments = parser.parse_args()
    found = installed()
    if not found:
        print("chromium not found: HTML page not tested")
        return
    if arguments.screenshots:
        arguments.screenshots.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory() as directory, Browser(*found, directory) as browser:
        browser.resize(1280, 800)
        browser.set_color_scheme("light")
        checks = Check(browser, arguments.binary.resolve(), Path(directory), arguments.screenshots)
        checks.empty()
        checks.crafted()
        checks.shipped()
        checks.many()
        checks.training()
    print("test_html_page: all checks passed")


if __name__ == "__main__":
    main()
