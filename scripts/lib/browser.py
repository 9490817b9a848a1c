"""A headless Chromium, spoken to over a pipe by its DevTools protocol: no port, no driver, no network.

Used by the tests of reports and of the live page, by scripts/bench report and web, by scripts/report_picture and scripts/web_picture.
"""

import base64
import contextlib
import fcntl
import json
import os
import select
import shutil
import signal
import tempfile
import time
from pathlib import Path

from .netns import Trouble

FLAGS = ("--headless", "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run",
         "--disable-background-networking", "--disable-component-update", "--disable-sync",
         "--disable-dev-shm-usage", "--remote-debugging-pipe")
PATIENCE = 60  # seconds, on a machine that is busy
_FREE = 20  # descriptors from here on are nobody's


class Browser:
    """One process with one page; what the page logs and asks of the network is kept."""

    def __init__(self, *flags):
        program = shutil.which("chromium")
        if program is None:
            raise Trouble("there is no chromium; scripts/setup installs it")
        self._home = tempfile.TemporaryDirectory(prefix="eddy-browser-",
                                                 ignore_cleanup_errors=True)
        self._pid, self._to, self._from = _start(
            [program, *FLAGS, *flags, f"--user-data-dir={self._home.name}", "about:blank"])
        self._rest = b""
        self._number = 0
        self._session = None
        self.events = []
        target = self._call("Target.createTarget", url="about:blank")["targetId"]
        self._session = self._call("Target.attachToTarget", targetId=target, flatten=True)["sessionId"]
        for domain in ("Page", "Runtime", "Log", "Network"):
            self._call(f"{domain}.enable")
        self._call("Emulation.setFocusEmulationEnabled", enabled=True)  # as the window that somebody looks at

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.close()

    def close(self):
        ending = os.pidfd_open(self._pid)
        self._session = None
        self._send("Browser.close")
        select.select([ending], [], [], PATIENCE)
        for end in (self._to, self._from, ending):
            os.close(end)
        try:
            os.killpg(self._pid, signal.SIGKILL)  # what did not end with it
        except ProcessLookupError:
            pass
        os.waitpid(self._pid, 0)
        self._home.cleanup()

    def open(self, path):
        """Loads a file; returns when all of it has run."""
        self.visit(Path(path).resolve().as_uri())

    def visit(self, url):
        self.events.clear()
        self._call("Page.navigate", url=url)
        self.until(lambda: self.seen("Page.loadEventFired"), f"{url} loads")

    def wait(self, condition, what):
        """Until an expression is true in the page."""
        deadline = time.monotonic() + PATIENCE
        while not self.evaluate(condition):
            if time.monotonic() > deadline:
                raise Trouble(f"it did not come: {what}")
            self.pass_time(0.02)

    def pass_time(self, seconds):
        """Lets the page go on meanwhile."""
        self.evaluate(f"new Promise(done => setTimeout(done, {1000 * seconds}))")

    @contextlib.contextmanager
    def trace(self, categories="devtools.timeline"):
        """Yields a list that has, in the end, what the renderer did meanwhile: events as Chromium's tracing has them."""
        kept = []
        self._call("Tracing.start", transferMode="ReportEvents", traceConfig={"includedCategories": categories.split(",")})
        yield kept
        self._call("Tracing.end")
        self.until(lambda: self.seen("Tracing.tracingComplete"), "the trace")
        for part in self.seen("Tracing.dataCollected"):
            kept += part["value"]

    def evaluate(self, expression):
        answer = self._call("Runtime.evaluate", expression=expression, returnByValue=True, awaitPromise=True)
        if "exceptionDetails" in answer:
            raise Trouble(f"{expression}: {answer['exceptionDetails']['exception'].get('description')}")
        return answer["result"].get("value")

    def press(self, key, text="", code=0):
        """A key as a person presses it; `text`: what it types, `code`: its Windows number."""
        named = {"key": key, "windowsVirtualKeyCode": code, "text": text}
        self._call("Input.dispatchKeyEvent", type="keyDown" if text else "rawKeyDown", **named)
        self._call("Input.dispatchKeyEvent", type="keyUp", key=key, windowsVirtualKeyCode=code)

    def screen(self, width, height, dark=False, scale=1, mobile=False):
        self._call("Emulation.setDeviceMetricsOverride", width=width, height=height, deviceScaleFactor=scale,
                   mobile=mobile)
        self._call("Emulation.setEmulatedMedia", features=[
            {"name": "prefers-color-scheme", "value": "dark" if dark else "light"}])
        self.frames()

    def frames(self):
        """Returns when what has changed is drawn."""
        self.evaluate("new Promise(done => requestAnimationFrame(() => requestAnimationFrame(done)))")

    def picture(self, path):
        shot = self._call("Page.captureScreenshot", format="png")
        Path(path).write_bytes(base64.b64decode(shot["data"]))

    def pdf(self):
        return base64.b64decode(self._call("Page.printToPDF", printBackground=True)["data"])

    def print_media(self):
        self._call("Emulation.setEmulatedMedia", media="print")

    def accessible(self):
        """Role and name of each node as a screen reader has it."""
        nodes = self._call("Accessibility.getFullAXTree")["nodes"]
        return [{"role": node["role"]["value"], "name": node.get("name", {}).get("value", "")}
                for node in nodes if not node["ignored"]]

    def seen(self, method):
        return [event["params"] for event in self.events if event["method"] == method]

    def complaints(self):
        """What went wrong in the page, as texts."""
        logged = [event["entry"]["text"] for event in self.seen("Log.entryAdded")]
        thrown = [event["exceptionDetails"]["text"] for event in self.seen("Runtime.exceptionThrown")]
        said = [str(event["args"]) for event in self.seen("Runtime.consoleAPICalled")]
        return logged + thrown + said

    def requests(self):
        return [event["request"]["url"] for event in self.seen("Network.requestWillBeSent")]

    def until(self, is_so, what):
        deadline = time.monotonic() + PATIENCE
        while not is_so():
            self._receive(deadline, what)

    def _send(self, method, **parameters):
        self._number += 1
        message = {"id": self._number, "method": method, "params": parameters}
        if self._session:
            message["sessionId"] = self._session
        data = json.dumps(message).encode() + b"\0"
        while data:
            data = data[os.write(self._to, data):]

    def _call(self, method, **parameters):
        self._send(method, **parameters)
        deadline = time.monotonic() + PATIENCE
        while True:
            answer = self._receive(deadline, method)
            if answer is not None and answer.get("id") == self._number:
                break
        if "error" in answer:
            raise Trouble(f"chromium, {method}: {answer['error']['message']}")
        return answer["result"]

    def _receive(self, deadline, what):
        """One message; events are kept."""
        while b"\0" not in self._rest:
            ready, _, _ = select.select([self._from], [], [], max(0, deadline - time.monotonic()))
            piece = os.read(self._from, 1 << 16) if ready else b""
            if not piece:
                raise Trouble(f"chromium did not answer: {what}")
            self._rest += piece
        text, self._rest = self._rest.split(b"\0", 1)
        message = json.loads(text)
        if "method" in message:
            self.events.append(message)
        return message


def _start(command):
    """In a group of its own, with its ends of the pipes as descriptors 3 and 4."""
    commands, to = os.pipe()
    back, answers = os.pipe()
    moved = [fcntl.fcntl(end, fcntl.F_DUPFD_CLOEXEC, _FREE) for end in (commands, answers)]
    nothing = os.open(os.devnull, os.O_RDWR)
    actions = [(os.POSIX_SPAWN_DUP2, nothing, end) for end in (0, 1, 2)]
    actions += [(os.POSIX_SPAWN_DUP2, moved[0], 3), (os.POSIX_SPAWN_DUP2, moved[1], 4)]
    pid = os.posix_spawn(command[0], command, os.environ, file_actions=actions, setpgroup=0)
    for end in (commands, answers, nothing, *moved):
        os.close(end)
    return pid, to, back
