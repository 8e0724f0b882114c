"""A real headless Chromium, driven over a pipe with nothing but the standard library.

``--remote-debugging-pipe`` makes the browser speak the DevTools protocol over two file
descriptors, one JSON message after the other with a zero byte between them: no port, no web
socket, no driver program, no package. See docs/decisions/041-browser-over-a-pipe.md.
"""

from __future__ import annotations

import base64
import json
import os
import select
import shutil
import subprocess
import tempfile
import time
from pathlib import Path

_NAMES = ("chromium", "chromium-browser", "google-chrome-stable", "google-chrome", "chrome")
_FLAGS = (
    "--headless",
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--disable-dev-shm-usage",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
    "--hide-scrollbars",
    "--remote-debugging-pipe",
)
_ANSWER_SECONDS = 60.0
HOW_TO_INSTALL = (
    "no Chromium was found; install it (Debian: `apt-get install chromium`), or put the path of "
    "one into MIXORACLE_CHROMIUM"
)


def find_browser():
    """The path of a Chromium, or None where there is none."""
    chosen = os.environ.get("MIXORACLE_CHROMIUM")
    found = (shutil.which(name) for name in ([chosen] if chosen else _NAMES))
    return next(filter(None, found), None)


class Browser:
    """One browser with one page; all that it says meanwhile is kept in ``events``."""

    def __init__(self, path):
        self._profile = tempfile.TemporaryDirectory(ignore_cleanup_errors=True)
        read_here, write_there = os.pipe()
        read_there, write_here = os.pipe()
        # The browser reads commands from descriptor 3 and writes answers to descriptor 4; a shell
        # puts our ends there, since they may have any number here.
        plumbing = f'exec 3<&{read_there} 4>&{write_there}; exec "$@"'
        self._process = subprocess.Popen(
            [
                "bash",
                "-c",
                plumbing,
                "bash",
                path,
                *_FLAGS,
                f"--user-data-dir={self._profile.name}",
            ],
            pass_fds=(read_there, write_there),
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
        )
        os.close(read_there)
        os.close(write_there)
        self._read, self._write = read_here, write_here
        self._buffer = b""
        self._number = 0
        self._session = None
        self.events = []
        target = self.call("Target.createTarget", url="about:blank")["targetId"]
        attached = self.call("Target.attachToTarget", targetId=target, flatten=True)
        self._session = attached["sessionId"]
        for domain in ("Page", "Runtime", "Log", "Network", "DOM"):
            self.call(f"{domain}.enable")
        self.call("Page.setLifecycleEventsEnabled", enabled=True)

    def call(self, method, **parameters):
        """Send a command and wait for its answer."""
        self._number += 1
        message = {"id": self._number, "method": method, "params": parameters}
        if self._session:
            message["sessionId"] = self._session
        os.write(self._write, json.dumps(message).encode() + b"\0")
        while True:
            answer = self._receive(_ANSWER_SECONDS)
            if answer.get("id") == self._number:
                if "error" in answer:
                    raise RuntimeError(f"{method}: {answer['error']['message']}")
                return answer["result"]
            self.events.append(answer)

    def _receive(self, seconds):
        end = time.monotonic() + seconds
        while b"\0" not in self._buffer:
            ready, _, _ = select.select([self._read], [], [], max(end - time.monotonic(), 0))
            chunk = os.read(self._read, 1 << 20) if ready else b""
            if not chunk:
                raise RuntimeError("the browser does not answer")
            self._buffer += chunk
        message, self._buffer = self._buffer.split(b"\0", 1)
        return json.loads(message)

    def open(self, path, width=1280, height=900, scheme="light", reduced_motion=True):
        """Show a file at a window size and in a colour scheme, and wait until it is loaded."""
        self.call(
            "Emulation.setDeviceMetricsOverride",
            width=width,
            height=height,
            deviceScaleFactor=1,
            mobile=width < 600,
        )
        features = [{"name": "prefers-color-scheme", "value": scheme}]
        if reduced_motion:
            features.append({"name": "prefers-reduced-motion", "value": "reduce"})
        self.call("Emulation.setEmulatedMedia", features=features)
        self.events.clear()
        loader = self.call("Page.navigate", url=Path(path).resolve().as_uri())["loaderId"]
        self._wait_until_loaded(loader)

    def _wait_until_loaded(self, loader):
        """Wait for this navigation; on a busy machine the load of an earlier page is told late."""
        looked_at = 0
        while True:
            for event in self.events[looked_at:]:
                told = event.get("params", {})
                if (told.get("loaderId"), told.get("name")) == (loader, "load"):
                    return
            looked_at = len(self.events)
            self.events.append(self._receive(_ANSWER_SECONDS))

    def run(self, script):
        """The value of a JavaScript expression in the page."""
        answer = self.call(
            "Runtime.evaluate", expression=script, returnByValue=True, awaitPromise=True
        )
        if "exceptionDetails" in answer:
            raise RuntimeError(json.dumps(answer["exceptionDetails"]))
        return answer["result"].get("value")

    def show_on(self, medium):
        """Show the page on paper (``print``) or a screen (``""``), and wait until it was told so.

        Where its styles are being computed, it is told a frame later than it is drawn.
        """
        self.run(
            "window.paper = matchMedia('print'); window.told = new Promise((done) =>"
            "paper.addEventListener('change', () => done(0), {once: true})); 0"
        )
        self.call("Emulation.setEmulatedMedia", media=medium)
        self.run("told")

    def click(self, selector):
        """Press the mouse in the middle of an element, as a person would."""
        x, y = self.run(
            f"(() => {{ const e = document.querySelector({json.dumps(selector)});"
            "e.scrollIntoView({block: 'center'}); const b = e.getBoundingClientRect();"
            "return [b.x + b.width / 2, b.y + b.height / 2]; })()"
        )
        for kind in ("mouseMoved", "mousePressed", "mouseReleased"):
            self.call("Input.dispatchMouseEvent", type=kind, x=x, y=y, button="left", clickCount=1)

    def press(self, key, code, text=""):
        """Press a key."""
        names = {"key": key, "code": code, "windowsVirtualKeyCode": {"Tab": 9}.get(key, 0)}
        self.call("Input.dispatchKeyEvent", type="keyDown", text=text, **names)
        self.call("Input.dispatchKeyEvent", type="keyUp", **names)

    def complaints(self):
        """Everything that the page wrote to the console, and every error that it raised."""
        self.run("0")
        wanted = {"Runtime.consoleAPICalled", "Runtime.exceptionThrown", "Log.entryAdded"}
        return [event for event in self.events if event.get("method") in wanted]

    def requests(self):
        """The addresses that the page asked for, itself included."""
        self.run("0")
        return [
            event["params"]["request"]["url"]
            for event in self.events
            if event.get("method") == "Network.requestWillBeSent"
        ]

    def screenshot(self, path, clip=None, full=False):
        """A picture of the window, of the whole page, or of a part of it."""
        more = {"clip": {**clip, "scale": 1}} if clip else {}
        shot = self.call("Page.captureScreenshot", captureBeyondViewport=full, **more)
        Path(path).write_bytes(base64.b64decode(shot["data"]))

    def close(self):
        """End the browser that this object started."""
        os.close(self._write)
        os.close(self._read)
        try:
            self._process.wait(timeout=10)
        except subprocess.TimeoutExpired:
            self._process.kill()
            self._process.wait()
        self._profile.cleanup()
