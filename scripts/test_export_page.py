#!/usr/bin/env python3
"""Uses exported translators in a browser, by file:// and without a network: types, hovers, looks into steps, steers and intervenes.

    softalign export --output page.html && softalign export --page plain --output plain.html
    scripts/test_export_page.py page.html plain.html [--screenshots DIRECTORY]

Needs Debian's chromium and chromium-driver; does nothing without these.
"""

import argparse
import tempfile
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
    for width in [360, 1200]:
        browser.resize(width, 900)
        time.sleep(0.3)
        check(browser.run("return document.documentElement.scrollWidth <= innerWidth"), f"wider than {width} pixels")
        if shots:
            browser.screenshot(shots / f"plain-{width}.png")
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


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("full", type=Path)
    parser.add_argument("plain", type=Path)
    parser.add_argument("--screenshots", type=Path)
    arguments = parser.parse_args()
    programs = installed()
    if not programs:
        print("skipped: chromium and chromedriver are not installed")
        return
    with tempfile.TemporaryDirectory() as directory, Browser(*programs, directory) as browser:
        browser.devtools("Network.emulateNetworkConditions", offline=True, latency=0, downloadThroughput=0, uploadThroughput=0)
        use_full_page(browser, arguments.full, arguments.screenshots)
        use_plain_page(browser, arguments.plain, arguments.screenshots)
        for page in [arguments.full, arguments.plain]:
            check_damage(browser, page, Path(directory))
    print("test_export_page: passed")


main()
