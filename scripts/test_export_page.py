#!/usr/bin/env python3
"""Uses exported translators in a browser, by file:// and without a network: types, hovers, looks into steps, steers and intervenes.

    softalign export --output page.html && softalign export --page plain --output plain.html
    scripts/test_export_page.py page.html plain.html [--screenshots DIRECTORY]

With --measure it instead prints, for each page, the time until the first result, that of sentences of 15 words, also with all
processes of the page slowed by four, and its memory; first, the memory of an empty page:

    scripts/test_export_page.py --measure page.html other.html

Needs Debian's chromium and chromium-driver; does nothing without these.
"""

import argparse
import os
import signal
import statistics
import tempfile
import threading
import time
from pathlib import Path

from webdriver import Browser, installed

DAMAGED = "This file is damaged or incomplete. Please get it again."


def check(condition, message):
    if not condition:
        raise SystemExit(f"test_export_page: {message}")


def wait(browser, script, what, seconds=20):
    """Waits until a script returns something true, and returns it."""
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        if found := browser.run(f"return {script}"):
            return found
        time.sleep(0.02)
    raise SystemExit(f"test_export_page: {what} did not come; {browser.run('return document.body.innerText')[:400]}")


def text_of(selector):
    return f"document.querySelector('{selector}').textContent"


def open_page(browser, page):
    browser.visit(page.resolve().as_uri())
    # Requests that the page makes would be listed here; the policy of the page reports those it stops to the console.
    browser.run("window.problems = []; addEventListener('securitypolicyviolation', e => problems.push(e.blockedURI))")


def check_quiet(browser):
    check(not browser.errors(), "the console has errors")
    requests = browser.run("return performance.getEntriesByType('resource').map(one => one.name)")
    check(all(name.startswith(("blob:", "data:")) for name in requests), f"the page requested {requests}")
    check(browser.run("return problems.length") == 0, "the policy stopped something")


def translated(browser, sentence):
    """Types a sentence and returns its translation."""
    browser.run("performance.clearMarks()")
    browser.write("#source", sentence)
    wait(browser, "performance.getEntriesByName('translated').length > 0", "a translation")
    time.sleep(0.5)
    return browser.run(f"return {text_of('#output')}")


def use_full_page(browser, page, shots):
    open_page(browser, page)
    wait(browser, "document.querySelectorAll('#output .target').length > 2", "the first translation")
    check(translated(browser, "She sleeps.") == "Elle dort.", "the translation is another one")
    check(browser.run("return document.querySelectorAll('#drawing path').length") > 0, "no links are drawn")
    browser.hover("#output .target")
    check(browser.run(f"return {text_of('#readout')}") != "", "hovering shows nothing")
    browser.click("#output .target")
    wait(browser, "document.querySelectorAll('#candidates button').length === 10", "the candidates")
    browser.click("#candidates li:nth-child(2) button")
    wait(browser, "!document.querySelector('#steering').hidden", "the steered translation")
    browser.click("#steering button")
    wait(browser, "document.querySelector('#steering').hidden", "the translation without changes")
    browser.run("const slider = document.querySelector('#weights input'); slider.value = 900;"
                "slider.dispatchEvent(new Event('input', {bubbles: true}))")
    wait(browser, "document.querySelector('#steering').textContent.includes('attention moved')", "the intervention")
    browser.click("#steering button")
    check(translated(browser, "I am hungry.") == "J'ai faim.", "the translation is another one")
    for scheme in ["light", "dark"]:
        browser.set_color_scheme(scheme)
        for width in [390, 1200]:
            browser.resize(width, 900)
            time.sleep(0.3)
            overflow = browser.run("return document.documentElement.scrollWidth - innerWidth")
            check(overflow <= 0, f"the page is wider than {width} pixels by {overflow}")
            if shots:
                browser.screenshot(shots / f"export-{scheme}-{width}.png")
    check_quiet(browser)


def use_plain_page(browser, page, shots):
    open_page(browser, page)
    text = "She sleeps. The cat sleeps.\nI am hungry."
    check(translated(browser, text) == "Elle dort. Le chat dort.\nJ'ai faim.", "the text is translated otherwise")
    browser.click("#output button")
    check(browser.run(f"return {text_of('#origin mark')}") == "She", "the word comes from another one")
    for scheme in ["light", "dark"]:
        browser.set_color_scheme(scheme)
        for width in [360, 1200]:
            browser.resize(width, 900)
            time.sleep(0.3)
            check(browser.run("return document.documentElement.scrollWidth <= innerWidth"), f"wider than {width} pixels")
            if shots:
                browser.screenshot(shots / f"plain-{scheme}-{width}.png")
    check_quiet(browser)


def check_damage(browser, page, directory):
    """Opens the page with a part missing, and with another part in its place."""
    text = page.read_text(encoding="utf-8")
    start = text.index('id="packed-model"') + 200
    damaged = {"cut": text[:len(text) * 3 // 4], "without a model": text[:start - 300],
               "changed": text[:start] + ("A" if text[start] != "A" else "B") + text[start + 1:]}
    for name, content in damaged.items():
        path = directory / "damaged.html"
        path.write_text(content, encoding="utf-8")
        browser.visit(path.as_uri())
        found = wait(browser, text_of("#problem"), f"the message of a page that is {name}")
        check(found == DAMAGED, f"a page that is {name} says {found!r}")


SENTENCES = [
    "A man in a blue shirt is standing on a ladder and cleaning a window.",
    "Two young women with long hair are playing with a dog near the house.",
    "The old man is sitting on a bench and reading a book in the park.",
    "A little girl in a red dress is running over the grass with her brother.",
    "Many people are waiting for the bus on a cold day in front of the station.",
]


def renderers(browser):
    """Returns the process ids of the browser's pages."""
    parents, pages = {}, []
    for status in Path("/proc").glob("[0-9]*/status"):
        try:
            fields = dict(line.split(":\t", 1) for line in status.read_text().splitlines() if ":\t" in line)
            command = (status.parent / "cmdline").read_text()
        except OSError:
            continue
        process = int(status.parent.name)
        parents[process] = int(fields["PPid"])
        if "--type=renderer" in command:
            pages.append(process)
    return [page for page in pages if browser.process.pid in ancestors(page, parents)]


def ancestors(process, parents):
    found = []
    while process in parents:
        process = parents[process]
        found.append(process)
    return found


def private_mebibytes(process):
    """Memory that a process does not share with others."""
    lines = Path(f"/proc/{process}/smaps_rollup").read_text().splitlines()
    return sum(int(line.split()[1]) for line in lines if line.startswith("Private_")) / 1024


class Slowed:
    """Lets processes run for a part of the time only, all of their threads."""

    def __init__(self, processes, factor, period=0.008):
        self.processes, self.running, self.pause = processes, period / factor, period - period / factor
        self.is_over = threading.Event()
        self.thread = threading.Thread(target=self.slow)

    def slow(self):
        while not self.is_over.wait(self.running):
            self.signal(signal.SIGSTOP)
            time.sleep(self.pause)
            self.signal(signal.SIGCONT)

    def signal(self, number):
        for process in self.processes:
            os.kill(process, number)

    def __enter__(self):
        self.thread.start()

    def __exit__(self, *_):
        self.is_over.set()
        self.thread.join()


def typed_milliseconds(browser, sentence, beam):
    """Milliseconds from typing a sentence to its translation."""
    browser.run("const beam = document.querySelector('#beam'); beam.value = arguments[0];"
                "beam.dispatchEvent(new Event('input'))", beam)
    time.sleep(0.5)
    browser.run("performance.clearMarks(); const source = document.querySelector('#source'); source.value = arguments[0];"
                "source.dispatchEvent(new Event('input'))", sentence)
    wait(browser, "performance.getEntriesByName('translated').length > 0", "a translation")
    marks = "performance.getEntriesByName('{}')[0].startTime"
    return browser.run(f"return {marks.format('translated')} - {marks.format('typed')}")


def measured_sentences(browser):
    for beam in [1, 5]:
        typed_milliseconds(browser, SENTENCES[0], beam)
        yield statistics.median(typed_milliseconds(browser, sentence, beam) for sentence in SENTENCES)


def measure_empty_page(browser, page):
    page.write_text("<!doctype html><title>empty</title>")
    browser.visit(page.as_uri())
    memory = max(private_mebibytes(process) for process in renderers(browser))
    print(f"an empty page: private memory of its process {memory:.0f} MiB")


def measure(browser, page):
    browser.visit("about:blank")
    browser.visit(page.resolve().as_uri())
    wait(browser, "performance.getEntriesByName('translated').length > 0", "the first translation")
    first = browser.run("return performance.getEntriesByName('translated')[0].startTime")
    greedy, beam = measured_sentences(browser)
    pages = renderers(browser)
    memory = max(private_mebibytes(process) for process in pages)
    with Slowed(pages, 4):
        slow_greedy, slow_beam = measured_sentences(browser)
    browser.devtools("HeapProfiler.collectGarbage")
    browser.devtools("Memory.simulatePressureNotification", level="critical")
    time.sleep(20)
    collected = max(private_mebibytes(process) for process in pages)
    print(f"{page.name}, {page.stat().st_size / 1e6:.2f} MB: first result after {first:.0f} ms; 15 words: greedy {greedy:.0f} ms, beam 5 "
          f"{beam:.0f} ms; slowed by four: {slow_greedy:.0f} and {slow_beam:.0f} ms; private memory of its process {memory:.0f} MiB, "
          f"after a collection of garbage {collected:.0f} MiB")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("full", type=Path)
    parser.add_argument("plain", type=Path)
    parser.add_argument("--screenshots", type=Path)
    parser.add_argument("--measure", action="store_true")
    arguments = parser.parse_args()
    programs = installed()
    if not programs:
        print("skipped: chromium and chromedriver are not installed")
        return
    with tempfile.TemporaryDirectory() as directory, Browser(*programs, directory) as browser:
        browser.devtools("Network.emulateNetworkConditions", offline=True, latency=0, downloadThroughput=0, uploadThroughput=0)
        if arguments.measure:
            measure_empty_page(browser, Path(directory) / "empty.html")
            for page in [arguments.full, arguments.plain]:
                measure(browser, page)
            return
        use_full_page(browser, arguments.full, arguments.screenshots)
        use_plain_page(browser, arguments.plain, arguments.screenshots)
        for page in [arguments.full, arguments.plain]:
            check_damage(browser, page, Path(directory))
    print("test_export_page: passed")


main()
