#!/usr/bin/env python3
"""Uses the page of `softalign serve` in a browser: types, looks into steps, steers, moves attention, compares, saves.

Needs Chromium and chromedriver (Debian: chromium chromium-driver), and a release build. Without them it does nothing. Trains
two small models on some of the shipped pairs for the comparison, and starts a server of its own, or tests the one of --url.
--screenshots DIR keeps pictures to look at. Prints how long a sentence of 15 words takes from a key press to its drawing,
which says something only on a quiet machine.
"""

import argparse
import json
import re
import statistics
import subprocess
import tempfile
import time
import urllib.parse
from pathlib import Path

from webdriver import Browser, installed

HERE = Path(__file__).resolve().parent.parent
SENTENCE = "Is her father buying the new bottles this week?"
FIFTEEN = "My father will go to the bakery when the boys buy the new bottles this week."
HOSTILE = "<img src=x onerror=alert(1)> <script>alert(2)</script> &amp; \"'"


def check(condition, message):
    if not condition:
        raise SystemExit(f"test_serve_page: {message}")


def train(binary, pairs, directory, *options):
    command = [binary, "train", "--quiet", "--train", pairs, "--out", directory, "--preset", "tiny", "--max-epochs", "2"]
    subprocess.run([*map(str, command), *options], cwd=HERE, check=True, capture_output=True)


class Server:
    """The program with three models, on a free port."""

    def __init__(self, binary, directory):
        lines = (HERE / "data/train.tsv").read_text(encoding="utf-8").splitlines(keepends=True)
        pairs = directory / "some.tsv"
        pairs.write_text("".join(lines[:1500]), encoding="utf-8")
        train(binary, pairs, directory / "mean", "--attention", "mean")
        train(binary, pairs, directory / "heads", "--heads", "4")
        self.collected = directory / "collected.tsv"
        models = ["en-fr=checkpoints", f"mean={directory / 'mean'}", f"heads={directory / 'heads'}"]
        command = [str(binary), "serve", "--port", "0", "--collect", str(self.collected)]
        command += [argument for model in models for argument in ("--model", model)]
        self.process = subprocess.Popen(command, cwd=HERE, stderr=subprocess.PIPE, text=True)
        first = self.process.stderr.readline()
        check("http://" in first, f"the server says {first}")
        self.url = re.search(r"http://\S+", first)[0]

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.process.terminate()
        check(self.process.wait(timeout=15) == 0, "the server does not end with 0")


class Check:
    """Checks that share a browser and a server."""

    def __init__(self, browser, url, collected, screenshots):
        self.browser, self.url, self.collected, self.screenshots = browser, url, collected, screenshots

    # ---- Looking

    def screenshot(self, name):
        if self.screenshots:
            self.browser.screenshot(self.screenshots / f"{name}.png")

    def count(self, selector):
        return self.browser.run("return document.querySelectorAll(arguments[0]).length", selector)

    def text(self, selector):
        return self.browser.run("return document.querySelector(arguments[0])?.textContent", selector)

    def texts(self, selector):
        return self.browser.run("return [...document.querySelectorAll(arguments[0])].map((one) => one.textContent)", selector)

    def is_hidden(self, selector):
        return self.browser.run("return document.querySelector(arguments[0]).hidden", selector)

    def until(self, condition, message):
        end = time.time() + 10
        while time.time() < end:
            if condition():
                return
            time.sleep(0.02)
        check(False, f"{message}; the page says {self.text('#problem')!r}, {self.text('#output')!r}")

    def until_complete(self, message):
        """Waits for the end of the first translation of a visit; its words appear before, one by one."""
        self.until(lambda: not self.is_hidden("#inspector"), message)

    def until_text(self, selector, expected):
        self.until(lambda: self.text(selector) == expected, f"{selector} is not {expected!r}")

    def check_console(self, label):
        errors = self.browser.errors()
        check(not errors, f"{label}: console errors {errors}")
        check(not self.browser.has_alert(), f"{label}: an alert is open")

    # ---- Acting

    def visit(self, fields=None):
        self.browser.visit("about:blank")
        self.browser.visit(self.url + (f"#{urllib.parse.urlencode(fields)}" if fields else ""))

    def start(self, text=SENTENCE, **fields):
        """Opens the page with a sentence, and waits for the translation."""
        self.visit({"text": text, **fields})
        self.until_complete(f"no translation of {text}")

    def change(self, name, value, event="input"):
        self.browser.run("""const field = document.getElementById(arguments[0]);
            if (field.type === 'checkbox') field.checked = arguments[1]; else field.value = arguments[1];
            field.dispatchEvent(new Event(arguments[2], {bubbles: true}))""", name, value, event)

    def change_model(self, index):
        """Chooses a model, and waits for its translation."""
        complete = lambda: self.browser.run("return performance.getEntriesByName('translated').length")
        before = complete()
        self.change("model", index, "change")
        self.until(lambda: complete() > before, f"model {index} does not answer")

    def word(self, index):
        self.browser.click(f"#output .target[data-index='{index}']")

    # ---- Checks

    def first_visit(self):
        """The page opens with an example that moves."""
        self.visit()
        self.until(lambda: self.count("#output .target") > 5, "the first visit shows no example")
        self.until(lambda: self.count("#drawing .link") > 4, "the example has no links")
        self.screenshot("first")
        first = self.text("#output")
        self.browser.click("#example")
        self.until(lambda: self.text("#output") != first and self.count("#output .target") > 0, "there is one example only")
        self.check_console("first visit")

    def typing(self):
        """The translation follows what is typed; nothing becomes markup."""
        browser = self.browser
        self.start()
        browser.write("#source", "She sleeps.")
        self.until_text("#output", "Elle dort.")
        check(self.texts("#drawing .word[data-side=target] text:not(.share)") == ["Elle", "dort."], "the drawing shows other words")
        browser.write("#source", "")
        self.until(lambda: "Type a sentence" in self.text("#drawing"), "an empty sentence is not explained")
        check(self.text("#output") == "" and self.is_hidden("#inspector"), "an empty sentence leaves a translation")
        self.screenshot("empty")
        browser.write("#source", HOSTILE)
        self.until(lambda: self.count("#output .target") > 0, "no translation of markup")
        check(self.count("main img, main script, main b") == 0, "text was parsed as HTML")
        browser.write("#source", "שלום, עולם!")
        time.sleep(0.5)
        direction = browser.run("return getComputedStyle(document.getElementById('source')).direction")
        check(direction == "rtl", "Hebrew is not written from right to left")
        self.screenshot("hebrew")
        browser.write("#source", "word " * 90)
        self.until(lambda: self.count("#drawing .word[data-side=source]") == 90, "a long sentence is not drawn")
        self.screenshot("long")
        browser.write("#source", "word " * 300)
        self.until(lambda: "tokens" in (self.text("#problem") or ""), "a sentence that is too long is not explained")
        browser.errors()
        self.check_console("typing")

    def hovering(self):
        self.start()
        for selector in ("#output .target[data-index='3']", "#drawing .word[data-side=target][data-index='3']"):
            self.browser.hover(selector)
            check(self.texts("#drawing .word.lit[data-side=source] text:not(.share)") == ["father"], f"{selector} does not light up father")
            check("%" in self.text("#readout"), "no weights shown")
            self.browser.hover("h1")
            check(self.count(".lit") == 0, "still highlighted")
        for view, kinds in (("matrix", (1, 0)), ("both", (0, 1)), ("links", (0, 0))):
            self.browser.click(f"label:has([value={view}])")
            shown = tuple(int(self.count(f"{box} .cell") > 0 and not self.is_hidden(figure)) for box, figure in
                          (("#drawing", "#drawings"), ("#matrix-drawing", "#matrix-figure")))
            check(shown == kinds, f"{view} shows matrices {shown}")
            self.screenshot(f"view-{view}")
        self.browser.click("label:has([value=tokens])")
        check(self.count("#drawing .word") > 20, "no tokens")
        self.screenshot("tokens")
        self.browser.click("label:has([value=words])")
        self.check_console("hovering")

    def steps(self):
        """Candidates, weights, entropy and the tree of the beam."""
        self.start()
        self.word(3)
        check(self.text("#step-name") == "Step 6: père", f"the word leads to {self.text('#step-name')}")
        check(self.count("#candidates .candidate") == 10 and self.text("#candidates [aria-current]") == "père", "candidates")
        check(self.count("#weights input") == 11 and "nats" in self.text("#measures"), "weights of attention")
        self.until(lambda: self.count("#tree .node") > 20, "no tree")
        best = self.texts("#tree .node text[font-weight='600']")
        check(best == self.texts("#strip .token"), f"the best path {best} is not the translation")
        self.browser.run("document.activeElement.blur()")
        self.browser.press("]", "]", "[")
        check(self.text("#step-name") == "Step 7: achète", "the brackets do not go along the steps")
        self.browser.click("#strip .token")
        self.browser.press("ArrowRight")
        check(self.text("#step-name").startswith("Step 2"), "the arrow does not go along the tokens")
        self.browser.resize(1280, 1700)
        self.word(3)
        self.browser.run("scrollTo(0, 0)")
        self.screenshot("steps")
        self.browser.resize(1280, 900)
        self.check_console("steps")

    def steering(self):
        """Another word, another hypothesis, other attention; undone one by one."""
        self.start()
        plain = self.text("#output")
        self.word(3)
        self.browser.click("#candidates li:nth-child(2) .candidate")
        self.until(lambda: self.count("#strip .forced") == 6, "the forced tokens are not marked")
        steered = self.text("#output")
        check(self.count("#output .changed") > 0 and steered.startswith("Est-ce que son "), f"steered to {steered}")
        self.screenshot("steered")
        self.browser.click("#steering .change")
        self.until_text("#output", plain)
        check(self.is_hidden("#steering"), "the change is still listed")
        self.browser.click("#tree .node[data-node='1']")
        self.until(lambda: not self.is_hidden("#steering"), "a node of the beam does not steer")
        self.browser.run("document.activeElement.blur()")
        self.browser.press("u")
        self.until_text("#output", plain)
        self.check_console("steering")

    def intervening(self):
        """Attention moved by slider, by keys and by dragging."""
        self.start()
        plain = self.text("#output")
        self.word(3)
        self.browser.run("""const slider = document.querySelectorAll('#weights input')[6];
            slider.focus(); slider.value = 1000; slider.dispatchEvent(new Event('input', {bubbles: true}))""")
        self.until(lambda: "attention moved at step 6" in (self.text("#steering") or ""), "the slider moves no attention")
        self.until(lambda: self.text("#output") != plain, f"attention on 'bottles' leaves {plain}")
        check("bouteilles" in self.text("#candidates li"), f"attention on 'bottles' gives {self.texts('#candidates li')[:2]}")
        check(self.texts("#weights .weight")[6] == "100 %", "the weights do not follow the slider")
        self.browser.resize(1280, 1700)
        self.browser.run("scrollTo(0, 0)")
        self.screenshot("intervention")
        self.browser.resize(1280, 900)
        self.browser.click("#free")
        self.until_text("#output", plain)
        self.browser.click("label:has([value=matrix])")
        cell = lambda s: self.browser.run("""const drawing = document.querySelector('#drawing svg');
            const word = document.querySelector(".word[data-side=target][data-index='3'] .area").getBoundingClientRect();
            const column = document.querySelector(`#drawing .link[data-source='${arguments[0]}'] rect`).getBoundingClientRect();
            drawing.scrollIntoView({block: 'center'});
            const again = document.querySelector(".word[data-side=target][data-index='3'] .area").getBoundingClientRect();
            return [column.left + column.width / 2, again.top + again.height / 2]""", s)
        cell(2)
        self.browser.drag(cell(2), cell(6))
        self.until(lambda: "attention moved" in (self.text("#steering") or ""), "dragging a cell moves no attention")
        self.until(lambda: "bouteilles" in self.text("#candidates li"), "dragging to 'bottles' does not change the candidates")
        self.screenshot("dragged")
        self.browser.press("Escape", "u")
        self.until_text("#output", plain)
        self.browser.run("document.querySelector(\".word[data-side=target][data-index='3']\").focus()")
        self.browser.press_with("Shift", "ArrowRight")
        self.until(lambda: "attention moved" in (self.text("#steering") or ""), "Shift and an arrow move no attention")
        self.browser.press("Escape", "u")
        self.until_text("#output", plain)
        self.check_console("intervening")

    def sentences(self):
        """Each sentence of a text has its own steps, and what is doubtful is told."""
        self.start("She sleeps. They bought a black hat. He sings.")
        plain = "Elle dort. Ils ont acheté un chapeau noir. Il chante."
        self.until_text("#output", plain)
        check(self.count("#drawing .word[data-side=source]") == 9 and self.count("#drawing .link") > 7, "sentences without links")
        self.word(6)
        check(self.text("#step-name").endswith("chapeau"), f"the word leads to {self.text('#step-name')}")
        self.browser.click("#candidates li:nth-child(2) .candidate")
        self.until(lambda: self.text("#output") not in (plain, ""), "no sentence was steered")
        steered = self.text("#output")
        check(steered.startswith("Elle dort. ") and steered.endswith(" Il chante."), f"steered to {steered}")
        self.browser.press("Escape", "u")
        self.until_text("#output", plain)
        self.word(6)
        names = self.texts("#weights bdi")
        check("black" in "".join(names) and "sleeps" not in "".join(names), f"attention on other sentences: {names}")
        self.browser.run("""const slider = document.querySelectorAll('#weights input')[0];
            slider.focus(); slider.value = 1000; slider.dispatchEvent(new Event('input', {bubbles: true}))""")
        self.until(lambda: "attention moved" in (self.text("#steering") or ""), "the slider moves no attention")
        self.until(lambda: self.texts("#weights .weight")[0] == "100 %", "the weights do not follow the slider")
        self.browser.resize(1280, 1700)
        self.browser.run("scrollTo(0, 0)")
        self.screenshot("sentences")
        self.browser.resize(1280, 900)
        self.start("Die Katze schnarcht unter dem Regal.")
        self.until(lambda: "Doubtful" in (self.text("#doubt") or ""), "nonsense is not doubtful")
        self.screenshot("doubtful")
        self.browser.write("#source", "She sleeps.")
        self.until_text("#output", "Elle dort.")
        self.until(lambda: self.is_hidden("#doubt"), "the doubt stays")
        self.check_console("sentences")

    def searching(self):
        """Sliders of search change the result, and errors are told in words."""
        self.start()
        nodes = self.count("#tree .node")
        self.change("beam", 1)
        self.until(lambda: 0 < self.count("#tree .node") < nodes, "a beam of 1 is as wide as before")
        self.word(3)
        before = self.text("#weights")
        self.change("temperature", 20)
        self.until(lambda: self.text("#weights") != before, "the temperature changes nothing")
        check(self.text("#temperature-value") == "10", "the temperature is not shown")
        self.browser.click("#reset")
        self.change("hard", True, "change")
        self.until(lambda: "100 %" in self.texts("#weights .weight"), "hard attention is not hard")
        self.browser.click("#reset")
        self.visit({"text": SENTENCE, "prefix": "99999999"})
        self.until(lambda: "prefix" in (self.text("#problem") or "").lower(), "an error is not told")
        check(not self.is_hidden("#problem"), "the error is hidden")
        self.screenshot("problem")
        self.browser.errors()

    def comparing(self):
        self.start()
        self.change("compare", "1", "change")
        self.until(lambda: self.count("#comparison-drawing .word") > 0, "no second drawing")
        self.until(lambda: "first difference" in (self.text("#difference") or ""), "no difference")
        check(self.count("#own-output .differs") == 1 and self.count("#comparison-output .differs") == 1, "the difference is not marked")
        self.browser.resize(1280, 1100)
        self.browser.run("scrollTo(0, 0)")
        self.screenshot("compared")
        self.browser.resize(1280, 900)
        self.change("compare", "0", "change")
        self.until(lambda: "same" in (self.text("#difference") or ""), "a model differs from itself")
        self.change("compare", "", "change")
        self.change_model(1)
        self.until(lambda: "mean" in self.text("#summary"), "the model was not changed")
        check(self.browser.run("return document.getElementById('temperature').disabled"), "mean attention has a temperature")
        self.change_model(2)
        self.until(lambda: "heads" in self.text("#summary"), "the model was not changed")
        self.word(0)
        self.until(lambda: self.count("#heads rect") > 4, "no heads")
        self.browser.resize(1280, 1700)
        self.browser.run("scrollTo(0, 0)")
        self.screenshot("heads")
        self.browser.resize(1280, 900)
        self.check_console("comparing")

    def keeping(self):
        """A link brings the same state back; text, JSON and SVG are complete; a corrected pair arrives in the file."""
        self.start(view="matrix", beam="3")
        self.word(3)
        self.browser.click("#candidates li:nth-child(3) .candidate")
        self.until(lambda: not self.is_hidden("#steering"), "not steered")
        time.sleep(0.6)
        address, steered = self.browser.run("return location.href"), self.text("#output")
        step = self.text("#step-name")
        self.browser.visit("about:blank")
        self.browser.visit(address)
        self.until_complete("no translation of the link")
        check(self.text("#output") == steered, "the link brings another translation")
        check(self.text("#step-name") == step and self.count("#drawing .cell") > 0 and self.text("#beam-value") == "3",
              f"the link does not bring the state back: {address}")
        copied = lambda button, label: (self.browser.run("""window.copied = null;
            navigator.clipboard.writeText = async (text) => { window.copied = text; }"""), self.browser.click(button),
            self.until(lambda: label in (self.text("#kept") or ""), f"{button} copies nothing"),
            self.browser.run("return window.copied"))[-1]
        check(copied("#copy-text", "Text copied") == steered, "the text was not copied")
        alignment = json.loads(copied("#copy-json", "JSON copied"))
        check(alignment["translation"] == steered and len(alignment["attention"]) == len(alignment["target"]), "JSON")
        check(copied("#copy-link", "Link copied") == address, "the link is not the address")
        self.browser.click("#save-svg")
        svg = self.browser.downloaded("softalign-matrix.svg").read_text(encoding="utf-8")
        check("<svg" in svg and "father" in svg and svg.rstrip().endswith("</svg>"), "the SVG is incomplete")
        if self.collected:
            self.browser.click("#correct")
            self.browser.write("#corrected", "Est-ce que son père achète ces bouteilles?")
            self.screenshot("correcting")
            self.browser.click("#add-pair")
            self.until(lambda: "Pair added" in (self.text("#kept") or ""), "the pair was not added")
            check(self.collected.read_text(encoding="utf-8") == f"{SENTENCE}\tEst-ce que son père achète ces bouteilles?\n",
                  "the file does not have the pair")
        self.check_console("keeping")

    def files(self):
        """Files are chosen or dropped, translated by the chosen model, and downloaded; problems are told."""
        browser = self.browser
        self.start()
        given = browser.downloads / "letter.md"
        given.write_text("# She sleeps.\n\nThey bought a **black** hat.\n", encoding="utf-8")
        field = f"{browser.session}/element/{browser.find('#file')}/value"
        browser.request("POST", field, {"text": str(given)})
        self.until(lambda: self.count("#download") == 1, "the file is not translated")
        check(browser.run("return document.activeElement.id") == "download", "the download is not focused")
        self.screenshot("file")
        browser.press("Enter")
        translated = browser.downloaded("letter_fr.md").read_text(encoding="utf-8")
        check(translated == "# Elle dort.\n\nIls ont acheté un chapeau **noir**.\n", f"the file has {translated!r}")
        self.drop("notes.pdf", "%PDF-1.7", ["dragenter", "dragover"])
        check(browser.run("return document.body.classList.contains('dropping')"), "nothing shows that a file can be dropped")
        self.screenshot("dropping")
        self.drop("notes.pdf", "%PDF-1.7", ["drop"])
        self.until(lambda: "this is a PDF" in (self.text("#problem") or ""), "a PDF is not named")
        check(self.is_hidden("#file-state"), "a file that failed is still shown")
        browser.errors()  # The console has the status 400.
        self.drop("<img src=x onerror=alert(1)>.txt", "They bought a black hat.\n" * 1500, ["drop"])
        self.until(lambda: "onerror" in (self.text("#file-state") or ""), "the translation in progress is not shown")
        browser.click("#file-state button")
        check(self.is_hidden("#file-state"), "a canceled translation is still shown")
        browser.resize(390, 844)
        self.drop("a-long-name-" * 8 + ".txt", "She sleeps.\n", ["drop"])
        self.until(lambda: self.count("#download") == 1, "the second file is not translated")
        check(browser.run("return document.documentElement.scrollWidth") <= 390, "the file's state is too wide for a phone")
        self.screenshot("file-phone")
        browser.resize(1280, 900)
        self.check_console("files")

    def drop(self, name, text, events):
        """Sends the events of dragging a file over the page."""
        self.browser.run("""const data = new DataTransfer();
            data.items.add(new File([arguments[1]], arguments[0]));
            for (const kind of arguments[2]) document.querySelector('main').dispatchEvent(
              new DragEvent(kind, {bubbles: true, cancelable: true, dataTransfer: data}))""", name, text, events)

    def appearance(self):
        """Both themes, a phone's width, printing, and names of all controls."""
        browser = self.browser
        self.start()
        self.word(6)
        browser.run("scrollTo(0, 0)")
        for scheme in ("light", "dark"):
            browser.set_color_scheme(scheme)
            time.sleep(0.2)
            self.screenshot(scheme)
            self.browser.resize(1280, 1700)
            self.screenshot(f"{scheme}-whole")
            self.browser.resize(1280, 900)
        browser.press("Escape", "t")
        check(browser.run("return document.documentElement.dataset.theme") == "dark", "t does not change the theme")
        browser.press("t", "t", "?")
        check(browser.run("return document.getElementById('help').open"), "? does not open the help")
        self.screenshot("help")
        browser.press("Escape")
        browser.set_color_scheme("light")
        browser.resize(390, 844)
        time.sleep(0.3)
        for view in ("links", "matrix", "both"):
            browser.run("document.querySelector(`input[value=${arguments[0]}]`).click()", view)
            width = browser.run("return document.documentElement.scrollWidth")
            check(width <= 390, f"{view}: {width} pixels wide in a window of 390")
        browser.run("document.querySelector('input[value=links]').click()")
        browser.resize(390, 2600)
        time.sleep(0.3)
        self.screenshot("phone")
        browser.resize(1280, 900)
        unnamed = browser.run("""return [...document.querySelectorAll('button, input, select, textarea')]
            .filter((one) => !one.closest('[hidden]') && !(one.textContent.trim() || one.labels?.length || one.ariaLabel))
            .map((one) => one.outerHTML)""")
        check(not unnamed, f"controls without a name: {unnamed}")
        browser.devtools("Emulation.setEmulatedMedia", media="print")
        self.screenshot("print")
        browser.devtools("Emulation.setEmulatedMedia", media="")
        self.check_console("appearance")

    def policy(self):
        """The policy of the server blocks scripts and images that the page does not contain."""
        self.start()
        ran = self.browser.run("""const script = document.createElement('script');
            script.textContent = 'window.ran = true';
            document.body.append(script, Object.assign(document.createElement('img'), {src: 'https://example.org/x'}));
            return window.ran === true""")
        check(not ran, "an injected script ran")
        time.sleep(0.2)
        errors = self.browser.errors()
        check(sum("Content Security Policy" in error for error in errors) >= 2, f"no policy violations: {errors}")

    def speed(self):
        """Prints the time from a key press to the drawing of a sentence of 15 words."""
        self.start(FIFTEEN[:-1])
        times = []
        for round in range(15):
            self.browser.run("performance.clearMarks(); document.getElementById('source').focus()")
            before = self.text("#output")
            self.browser.press("End", "." if round % 2 == 0 else "\ue003")
            self.until(lambda: self.browser.run("return performance.getEntriesByName('translated').length > 0"), "no translation")
            times.append(self.browser.run("""return performance.getEntriesByName('translated').at(-1).startTime -
                performance.getEntriesByName('typed')[0].startTime"""))
            check(self.text("#output") or before, "nothing shown")
        print(f"15 words, from a key press to the drawing: median {statistics.median(times):.0f} ms, most {max(times):.0f} ms")
        self.check_console("speed")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--binary", type=Path, default=HERE / "target/release/softalign")
    parser.add_argument("--url", help="a server that runs with the shipped model, one of mean attention, and one of 4 heads")
    parser.add_argument("--screenshots", type=Path, metavar="DIR", help="directory for screenshots")
    parser.add_argument("--only", nargs="*", help="names of checks")
    arguments = parser.parse_args()
    found = installed()
    if not found:
        print("chromium not found: the page of the server is not tested")
        return
    if arguments.screenshots:
        arguments.screenshots.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory() as directory:
        if arguments.url:
            run(found, arguments, Path(directory), arguments.url, None)
        else:
            with Server(arguments.binary.resolve(), Path(directory)) as server:
                run(found, arguments, Path(directory), server.url, server.collected)
    print("test_serve_page: all checks passed")


def run(found, arguments, directory, url, collected):
    with Browser(*found, directory) as browser:
        browser.resize(1280, 900)
        browser.set_color_scheme("light")
        checks = Check(browser, url, collected, arguments.screenshots)
        names = ["first_visit", "typing", "hovering", "steps", "steering", "intervening", "sentences", "searching", "comparing",
                 "keeping", "files", "appearance", "speed", "policy"]
        for name in arguments.only or names:
            getattr(checks, name)()


if __name__ == "__main__":
    main()
