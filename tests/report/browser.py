"""A headless Chromium driven over its debugging pipe: JSON, a NUL after each message, on file descriptors 3 and 4."""

import base64
import json
import os
import select
import shutil
import subprocess
import sys
import tempfile
import time

WAIT = 20.0
_OPTIONS = (  # noqa: SIM905
    "--headless --no-sandbox --disable-gpu --disable-dev-shm-usage --disable-extensions --hide-scrollbars "
    "--no-first-run --disable-background-networking --disable-component-update --remote-debugging-pipe"
).split()
_KEYS = {"Enter": (13, "\r"), " ": (32, " "), "Tab": (9, ""), "ArrowDown": (40, ""), "ArrowRight": (39, "")}
# What becomes the browser first puts the pipes where that looks for them; copies, as one may be in the other's place.
_MOVE_PIPES = """
import os, sys
ours = [os.dup(os.dup(int(fd))) for fd in sys.argv[1:3]]
os.dup2(ours[0], 3)
os.dup2(ours[1], 4)
os.execv(sys.argv[3], sys.argv[3:])
"""


class Browser:
    """The browser; ``open`` gives pages."""

    def __init__(self, program):
        self._profile = tempfile.mkdtemp(prefix="similitude-browser-")
        theirs_in, self._out = os.pipe()
        self._in, theirs_out = os.pipe()
        arguments = [program, *_OPTIONS, f"--user-data-dir={self._profile}", "about:blank"]
        self._process = subprocess.Popen(
            [sys.executable, "-c", _MOVE_PIPES, str(theirs_in), str(theirs_out), *arguments],
            pass_fds=(theirs_in, theirs_out),
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
        )
        os.close(theirs_in)
        os.close(theirs_out)
        self._rest, self._last, self.events = b"", 0, []

    def close(self):
        os.close(self._out)
        os.close(self._in)
        try:
            self._process.wait(5)  # it ends when the pipe does
        except subprocess.TimeoutExpired:
            self._process.kill()
            self._process.wait()
        shutil.rmtree(self._profile, ignore_errors=True)

    def call(self, method, session=None, **parameters):
        """Send a command and return its answer; events that come before are kept."""
        self._last += 1
        message = {"id": self._last, "method": method, "params": parameters}
        if session is not None:
            message["sessionId"] = session
        os.write(self._out, json.dumps(message).encode() + b"\0")
        end = time.monotonic() + WAIT
        while True:
            answer = self._next(end)
            if answer.get("id") == self._last:
                if "error" in answer:
                    raise RuntimeError(f"{method}: {answer['error']}")
                return answer["result"]
            self.events.append(answer)

    def _next(self, end):
        while b"\0" not in self._rest:
            if not select.select([self._in], [], [], max(end - time.monotonic(), 0))[0]:
                raise TimeoutError("the browser did not answer")
            more = os.read(self._in, 2**20)
            if not more:
                raise RuntimeError("the browser has ended")
            self._rest += more
        message, self._rest = self._rest.split(b"\0", 1)
        return json.loads(message)

    def open(self, url, width=1200, height=900, dark=False, ready=True):
        """A page at this address, once its scripts have run (unless ``ready`` is False)."""
        target = self.call("Target.createTarget", url="about:blank")["targetId"]
        page = Page(self, self.call("Target.attachToTarget", targetId=target, flatten=True)["sessionId"], target)
        self.events.clear()
        for domain in ("Page", "Runtime", "Network", "Log"):
            page.call(f"{domain}.enable")
        page.call("Emulation.setDeviceMetricsOverride", width=width, height=height, deviceScaleFactor=1, mobile=False)
        scheme = {"name": "prefers-color-scheme", "value": "dark" if dark else "light"}
        page.call("Emulation.setEmulatedMedia", features=[scheme])
        if ready:
            page.go(url)
        return page


class Page:
    """A page: what is asked of it is JavaScript."""

    def __init__(self, browser, session, target):
        self._browser, self._session, self._target = browser, session, target

    def call(self, method, **parameters):
        return self._browser.call(method, self._session, **parameters)

    def go(self, url):
        self.call("Page.navigate", url=url)
        self.wait("document.documentElement?.dataset.ready === 'yes'")

    def run(self, script):
        """The value of an expression; a promise is waited for."""
        answer = self.call("Runtime.evaluate", expression=script, returnByValue=True, awaitPromise=True)
        if "exceptionDetails" in answer:
            raise RuntimeError(answer["exceptionDetails"])
        return answer["result"].get("value")

    def wait(self, condition):
        end = time.monotonic() + WAIT
        while not self.run(f"Boolean({condition})"):
            if time.monotonic() > end:
                raise TimeoutError(condition)
            time.sleep(0.02)

    def mouse(self, selector, kinds=("mouseMoved", "mousePressed", "mouseReleased"), at=(0.5, 0.5)):
        """Move to a place in an element, given as shares of its size, and click there."""
        self.run(f"document.querySelector({selector!r}).scrollIntoView({{block: 'center'}})")
        box = self.run(f"document.querySelector({selector!r}).getBoundingClientRect().toJSON()")
        x, y = box["x"] + at[0] * box["width"], box["y"] + at[1] * box["height"]
        for kind in kinds:
            self.call("Input.dispatchMouseEvent", type=kind, x=x, y=y, button="left", clickCount=1)

    def press(self, key):
        code, text = _KEYS.get(key, (ord(key[0].upper()), key))
        same = {"key": key, "windowsVirtualKeyCode": code}
        self.call("Input.dispatchKeyEvent", type="keyDown", text=text, **same)
        self.call("Input.dispatchKeyEvent", type="keyUp", **same)

    def screenshot(self, path):
        """The whole page as a PNG."""
        size = self.call("Page.getLayoutMetrics")["cssContentSize"]
        clip = {"x": 0, "y": 0, "width": size["width"], "height": size["height"], "scale": 1}
        shot = self.call("Page.captureScreenshot", clip=clip, captureBeyondViewport=True)
        path.write_bytes(base64.b64decode(shot["data"]))

    def complaints(self):
        """What was written to the console as an error or a warning, and what scripts threw."""
        kinds = ("Runtime.exceptionThrown", "Log.entryAdded", "Runtime.consoleAPICalled")
        return [event for event in self._browser.events if event["method"] in kinds]

    def requests(self):
        """The addresses that the page asked for."""
        sent = [event for event in self._browser.events if event["method"] == "Network.requestWillBeSent"]
        return [event["params"]["request"]["url"] for event in sent]

    def close(self):
        self._browser.call("Target.closeTarget", targetId=self._target)
