"""A WebDriver (W3C) client for a browser, with only Python's standard library."""

import base64
import json
import os
import shutil
import subprocess
import time
import urllib.error
import urllib.request
from pathlib import Path

ELEMENT = "element-6066-11e4-a52e-4f735466cecf"
KEYS = {"Escape": "\ue00c", "Enter": "\ue007", "Tab": "\ue004", "ArrowLeft": "\ue012", "ArrowUp": "\ue013",
        "ArrowRight": "\ue014", "ArrowDown": "\ue015", "Home": "\ue011", "End": "\ue010", "Shift": "\ue008"}


def installed():
    """Returns the paths of chromedriver and the browser, or None if one is missing."""
    driver = shutil.which("chromedriver")
    browser = next(filter(None, map(shutil.which, ["chromium", "chromium-browser", "google-chrome", "chrome"])), None)
    return (driver, browser) if driver and browser else None


class Browser:
    """A headless browser window that saves downloads to a directory."""

    def __init__(self, driver, browser, downloads):
        self.downloads = Path(downloads)
        self.process = subprocess.Popen([driver, "--port=0"], stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
        line = next(line for line in self.process.stdout if "successfully on port" in line)
        self.address = f"http://127.0.0.1:{line.split('on port')[1].strip().rstrip('.')}"
        flags = ["--headless=new", "--disable-gpu", "--no-first-run", "--hide-scrollbars", "--disable-dev-shm-usage"]
        # A click during a scrolling animation would hit what moves under the pointer.
        flags.append("--force-prefers-reduced-motion")
        # The browser's sandbox does not work for root, which containers run as.
        flags += ["--no-sandbox"] if hasattr(os, "geteuid") and os.geteuid() == 0 else []
        options = {"binary": browser, "args": flags}
        capabilities = {"browserName": "chrome", "goog:chromeOptions": options, "goog:loggingPrefs": {"browser": "ALL"},
                        "unhandledPromptBehavior": "ignore"}
        try:
            created = self.request("POST", "/session", {"capabilities": {"alwaysMatch": capabilities}})
            self.session = f"/session/{created['sessionId']}"
            self.devtools("Browser.setDownloadBehavior", behavior="allow", downloadPath=str(downloads))
        except BaseException:
            self.process.kill()
            raise

    def __enter__(self):
        return self

    def __exit__(self, *_):
        try:
            self.request("DELETE", self.session)
        finally:
            self.process.terminate()
            self.process.wait()

    def request(self, method, path, body=None):
        """Sends a request and returns its value; raises the driver's error."""
        data = json.dumps(body if body is not None else {}).encode() if method == "POST" else None
        request = urllib.request.Request(self.address + path, data, {"Content-Type": "application/json"}, method=method)
        try:
            # No proxy: the driver is on this machine.
            opener = urllib.request.build_opener(urllib.request.ProxyHandler({}))
            with opener.open(request, timeout=120) as response:
                return json.load(response)["value"]
        except urllib.error.HTTPError as error:
            value = json.load(error)["value"]
            raise RuntimeError(f"{value['error']}: {value['message'].splitlines()[0]}") from None

    def devtools(self, command, **parameters):
        """Runs a command of the Chrome DevTools Protocol."""
        return self.request("POST", f"{self.session}/goog/cdp/execute", {"cmd": command, "params": parameters})

    def open(self, path):
        self.visit(Path(path).resolve().as_uri())

    def visit(self, address):
        self.request("POST", f"{self.session}/url", {"url": address})

    def run(self, script, *arguments):
        """Runs a function body in the page and returns its value."""
        return self.request("POST", f"{self.session}/execute/sync", {"script": script, "args": list(arguments)})

    def find(self, selector):
        return self.request("POST", f"{self.session}/element", {"using": "css selector", "value": selector})[ELEMENT]

    def click(self, selector):
        self.request("POST", f"{self.session}/element/{self.find(selector)}/click")

    def hover(self, selector, tries=5):
        """Moves the pointer to the center of an element; retries if the page is redrawn meanwhile."""
        self.run("document.querySelector(arguments[0]).scrollIntoView({block: 'center', inline: 'center'})", selector)
        move = {"type": "pointerMove", "duration": 0, "origin": {ELEMENT: self.find(selector)}, "x": 0, "y": 0}
        pointer = {"type": "pointer", "id": "mouse", "parameters": {"pointerType": "mouse"}, "actions": [move]}
        try:
            self.request("POST", f"{self.session}/actions", {"actions": [pointer]})
        except RuntimeError as error:
            if tries == 1 or "stale" not in str(error):
                raise
            self.hover(selector, tries - 1)

    def drag(self, start, end):
        """Drags from a point of the window to another one."""
        move = lambda point: {"type": "pointerMove", "duration": 50, "x": round(point[0]), "y": round(point[1])}
        actions = [move(start), {"type": "pointerDown", "button": 0}, move(end), {"type": "pointerUp", "button": 0}]
        pointer = {"type": "pointer", "id": "mouse", "parameters": {"pointerType": "mouse"}, "actions": actions}
        self.request("POST", f"{self.session}/actions", {"actions": [pointer]})

    def press_with(self, modifier, key):
        """Presses a key while a modifier is held."""
        keys = [("keyDown", modifier), ("keyDown", key), ("keyUp", key), ("keyUp", modifier)]
        actions = [{"type": kind, "value": KEYS.get(name, name)} for kind, name in keys]
        self.request("POST", f"{self.session}/actions", {"actions": [{"type": "key", "id": "keys", "actions": actions}]})

    def press(self, *keys):
        """Presses keys in the focused element."""
        actions = []
        for key in keys:
            value = KEYS.get(key, key)
            actions += [{"type": "keyDown", "value": value}, {"type": "keyUp", "value": value}]
        self.request("POST", f"{self.session}/actions", {"actions": [{"type": "key", "id": "keys", "actions": actions}]})

    def write(self, selector, text):
        """Replaces the text of a field by typing."""
        select_all_and_delete = "\ue009a\ue000\ue017"
        element = self.find(selector)
        self.request("POST", f"{self.session}/element/{element}/value", {"text": select_all_and_delete + text})

    def resize(self, width, height):
        self.devtools("Emulation.setDeviceMetricsOverride", width=width, height=height, deviceScaleFactor=1, mobile=False)

    def set_color_scheme(self, scheme):
        self.devtools("Emulation.setEmulatedMedia", features=[{"name": "prefers-color-scheme", "value": scheme},
                                                                   {"name": "prefers-reduced-motion", "value": "reduce"}])

    def screenshot(self, path):
        Path(path).write_bytes(base64.b64decode(self.request("GET", f"{self.session}/screenshot")))

    def downloaded(self, name):
        """Waits until a download is complete and returns its path: the browser creates the file before it writes into it."""
        path = self.downloads / name
        end = time.time() + 20
        while time.time() < end:
            if path.exists() and path.stat().st_size > 0 and not [*self.downloads.glob("*.crdownload")]:
                return path
            time.sleep(0.02)
        raise RuntimeError(f"{name} was not saved; there is: {sorted(other.name for other in self.downloads.iterdir())}")

    def errors(self):
        """Returns warnings and errors of the console since the last call."""
        entries = self.request("POST", f"{self.session}/se/log", {"type": "browser"})
        return [entry["message"] for entry in entries if entry["level"] in ("WARNING", "SEVERE")]

    def has_alert(self):
        try:
            self.request("GET", f"{self.session}/alert/text")
            return True
        except RuntimeError:
            return False
