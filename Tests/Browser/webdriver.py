"""A client of chromedriver: the few commands that the tests need, with Python's own library only."""
import base64
import json
import os
import shutil
import socket
import subprocess
import time
import urllib.error
import urllib.request

ELEMENT = "element-6066-11e4-a52e-4f735466cecf"


def free_port():
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


class Browser:
    """One Chromium without a screen."""

    def __init__(self, folder, hosts="--host-resolver-rules=MAP rebound.example 127.0.0.1"):
        driver = shutil.which("chromedriver")
        if not driver:
            raise SystemExit("there is no chromedriver; Scripts/install-dependencies installs it")
        self.port = free_port()
        self.process = subprocess.Popen(
            [driver, f"--port={self.port}"], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        arguments = ["--headless=new", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage", "--no-first-run",
                     "--hide-scrollbars", "--window-size=1280,900", hosts,
                     f"--user-data-dir={folder}/profile"]
        options = {"args": arguments, "prefs": {"download.default_directory": str(folder), "download.prompt_for_download": False}}
        binary = shutil.which("chromium")
        if binary:
            options["binary"] = binary
        capabilities = {"alwaysMatch": {"browserName": "chrome", "goog:chromeOptions": options,
                                        "goog:loggingPrefs": {"browser": "ALL"}}}
        for _ in range(100):
            try:
                answer = self._send("POST", "/session", {"capabilities": capabilities})
                break
            except (ConnectionError, urllib.error.URLError):
                time.sleep(0.1)
        else:
            raise SystemExit("chromedriver does not answer")
        self.session = "/session/" + answer["sessionId"]

    def _send(self, method, path, body=None):
        data = json.dumps(body).encode() if body is not None else None
        request = urllib.request.Request(
            f"http://127.0.0.1:{self.port}{path}", data, {"Content-Type": "application/json"}, method=method)
        try:
            with urllib.request.urlopen(request, timeout=60) as answer:
                return json.load(answer)["value"]
        except urllib.error.HTTPError as error:
            raise AssertionError(json.load(error)["value"]["message"].split("\n")[0]) from None

    def _do(self, path, body=None):
        return self._send("POST", self.session + path, body or {})

    def close(self):
        try:
            self._send("DELETE", self.session)
        finally:
            self.process.terminate()
            self.process.wait()

    def open(self, address):
        self._do("/url", {"url": address})

    @property
    def address(self):
        return self._send("GET", self.session + "/url")

    def script(self, text, *arguments):
        return self._do("/execute/sync", {"script": text, "args": list(arguments)})

    def later(self, text, *arguments):
        """A script that calls its last argument with the result."""
        return self._do("/execute/async", {"script": text, "args": list(arguments)})

    def find(self, selector):
        return self._do("/element", {"using": "css selector", "value": selector})[ELEMENT]

    def count(self, selector):
        return self.script("return document.querySelectorAll(arguments[0]).length", selector)

    def text(self, selector="main"):
        return self.script("return document.querySelector(arguments[0])?.innerText ?? ''", selector)

    def click(self, selector):
        self._do(f"/element/{self.find(selector)}/click")

    def type(self, selector, text, clear=False):
        element = self.find(selector)
        if clear:
            self._do(f"/element/{element}/clear")
        self._do(f"/element/{element}/value", {"text": text})

    def keys(self, text):
        self._do("/actions", {"actions": [{"type": "key", "id": "keys", "actions": [
            {"type": kind, "value": key} for key in text for kind in ("keyDown", "keyUp")]}]})

    def until(self, what, condition, seconds=10):
        end = time.monotonic() + seconds
        while True:
            try:
                found = condition()
            except AssertionError:
                found = None
            if found:
                return found
            if time.monotonic() > end:
                raise AssertionError(f"{what}: not within {seconds} seconds; the page says:\n{self.text('body')[:800]}")
            time.sleep(0.02)

    def devtools(self, command, parameters):
        return self._do("/goog/cdp/execute", {"cmd": command, "params": parameters})

    def look(self, width, dark, height=900):
        self.devtools("Emulation.setDeviceMetricsOverride",
                      {"width": width, "height": height, "deviceScaleFactor": 1, "mobile": width < 600})
        self.devtools("Emulation.setEmulatedMedia",
                      {"features": [{"name": "prefers-color-scheme", "value": "dark" if dark else "light"}]})

    def screenshot(self, path):
        with open(path, "wb") as file:
            file.write(base64.b64decode(self._send("GET", self.session + "/screenshot")))

    def complaints(self):
        """What the console has said since it was asked last."""
        return [entry["message"] for entry in self._do("/se/log", {"type": "browser"}) if entry["level"] in ("SEVERE", "WARNING")]
