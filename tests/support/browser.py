# tests/support/browser.py - a headless chromium that opens pages and answers questions about them. Python's own library
# suffices: the browser speaks its DevTools protocol over two pipes, as JSON messages that end with a zero byte.
import base64
import fcntl
import json
import os
import pathlib
import select
import shutil
import subprocess
import tempfile
import time

NAMES = ("chromium", "chromium-browser", "google-chrome")
LIMIT_S = 60  # for any answer; a busy machine needs seconds to start a browser


def find_browser():
    return next(filter(None, map(shutil.which, NAMES)), None)


class Browser:
    """One process for many pages. Use as a context manager."""

    def __init__(self, program):
        self.profile = tempfile.mkdtemp(prefix="salient-browser-")
        to_browser, self.input = os.pipe()
        self.output, from_browser = os.pipe()
        high = [fcntl.fcntl(fd, fcntl.F_DUPFD, 10) for fd in (to_browser, from_browser)]  # clear of 3 and 4
        os.close(to_browser), os.close(from_browser)

        def connect():  # the browser reads messages from descriptor 3 and writes to 4
            os.dup2(high[0], 3)
            os.dup2(high[1], 4)

        self.process = subprocess.Popen(
            [program, "--headless=new", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage", "--no-first-run",
             "--disable-background-networking", "--disable-component-update", "--hide-scrollbars",
             f"--user-data-dir={self.profile}", "--remote-debugging-pipe", "about:blank"],
            preexec_fn=connect, pass_fds=(3, 4), stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        for fd in high:
            os.close(fd)
        self.received, self.num_calls, self.events = b"", 0, []

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.process.kill()
        self.process.wait()
        os.close(self.input), os.close(self.output)
        shutil.rmtree(self.profile, ignore_errors=True)

    def receive(self, deadline):
        while b"\0" not in self.received:
            if not select.select([self.output], [], [], max(0, deadline - time.monotonic()))[0]:
                raise TimeoutError(f"no answer from the browser in {LIMIT_S} s")
            more = os.read(self.output, 1 << 20)
            if not more:
                raise RuntimeError(f"the browser ended with code {self.process.wait()}")
            self.received += more
        message, self.received = self.received.split(b"\0", 1)
        return json.loads(message)

    def call(self, method, session=None, **parameters):
        """The result of a DevTools method. Events that come before it are kept in self.events."""
        self.num_calls += 1
        message = {"id": self.num_calls, "method": method, "params": parameters}
        if session:
            message["sessionId"] = session
        os.write(self.input, json.dumps(message).encode() + b"\0")
        deadline = time.monotonic() + LIMIT_S
        while True:
            answer = self.receive(deadline)
            if answer.get("id") == self.num_calls:
                if "error" in answer:
                    raise RuntimeError(f"{method}: {answer['error']['message']}")
                return answer["result"]
            if "method" in answer:
                self.events.append(answer)

    def open(self, path, scheme="light", width=1100, height=900):
        """A page as a reader with this colour scheme sees it, loaded and drawn. @param path  a file's, or an address"""
        target = self.call("Target.createTarget", url="about:blank")["targetId"]
        session = self.call("Target.attachToTarget", targetId=target, flatten=True)["sessionId"]
        page = Page(self, session, target)
        for domain in ("Page", "Runtime", "Log"):
            page.call(f"{domain}.enable")
        page.call("Emulation.setEmulatedMedia", features=[{"name": "prefers-color-scheme", "value": scheme}])
        page.call("Emulation.setDeviceMetricsOverride", width=width, height=height, deviceScaleFactor=1, mobile=False)
        page.call("Page.navigate", url=path if "://" in str(path) else pathlib.Path(path).resolve().as_uri())
        deadline = time.monotonic() + LIMIT_S
        while not any(event["method"] == "Page.loadEventFired" for event in page.events()):
            self.events.append(self.receive(deadline))
        page.evaluate("new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done)))")
        return page


class Page:
    def __init__(self, browser, session, target):
        self.browser, self.session, self.target = browser, session, target

    def call(self, method, **parameters):
        return self.browser.call(method, session=self.session, **parameters)

    def events(self):
        return [event for event in self.browser.events if event.get("sessionId") == self.session]

    def evaluate(self, expression):
        """The value of a JavaScript expression, as JSON carries it; of a promise, what it becomes."""
        result = self.call("Runtime.evaluate", expression=expression, returnByValue=True, awaitPromise=True)
        if "exceptionDetails" in result:
            details = result["exceptionDetails"]
            raise RuntimeError(details.get("exception", {}).get("description", details["text"]))
        return result["result"].get("value")

    def problems(self):
        """What the console has: exceptions, errors and warnings of the script, and of the browser about the page."""
        found = []
        for event in self.events():
            method, what = event["method"], event["params"]
            if method == "Runtime.exceptionThrown":
                details = what["exceptionDetails"]
                found.append(details.get("exception", {}).get("description", details["text"]))
            elif method == "Runtime.consoleAPICalled" and what["type"] in ("error", "warning", "assert"):
                found.append(" ".join(str(a.get("value", a.get("description"))) for a in what["args"]))
            elif method == "Log.entryAdded" and what["entry"]["level"] in ("error", "warning"):
                found.append(what["entry"]["text"])
        return found

    def move_pointer(self, x, y):
        self.call("Input.dispatchMouseEvent", type="mouseMoved", x=x, y=y)

    def screenshot(self, path):
        """The whole page as a PNG, for a person to look at."""
        height = self.evaluate("document.documentElement.scrollHeight")
        width = self.evaluate("document.documentElement.scrollWidth")
        data = self.call("Page.captureScreenshot", captureBeyondViewport=True,
                         clip={"x": 0, "y": 0, "width": width, "height": height, "scale": 1})["data"]
        pathlib.Path(path).write_bytes(base64.b64decode(data))

    def close(self):
        self.browser.call("Target.closeTarget", targetId=self.target)
