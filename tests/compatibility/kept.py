"""A switch that any user can start, and its control socket, for the tests of this folder."""

import json
import os
import re
import signal
import socket
import subprocess
import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "scripts"))
from lib.netns import Trouble, wait_for  # noqa: E402

BIN = Path(os.environ.get("EDDY_BIN", ROOT / "build" / "dev" / "bin"))
PATIENCE = 60  # seconds, on a machine that is busy
REPORTS = ("ports", "queues", "pgs", "pfc", "pfcwd", "buffers", "watermarks", "drops", "rlb", "paths", "flows", "schemes",
           "workers", "neighbors", "routes", "events")
REQUESTS = [*({"command": "show", "report": report, "all": True, "id": report} for report in REPORTS),
            {"command": "show", "report": "ports", "port": "host2"},
            {"command": "show", "report": "prots"},
            {"command": "set", "port": "host2", "tx": "off"},
            {"command": "set", "port": "host2", "tx": "on"},
            {"command": "clear", "what": "counters"},
            {"command": "clear", "what": "persistent-watermarks", "kind": "pg-headroom"},
            {"command": "reload"},
            {"command": "walk"},
            # Since 0.2.0.
            {"command": "show", "report": "isolation", "all": True},
            {"command": "show", "report": "isolated", "all": True},
            {"command": "configuration"},
            {"command": "explain", "packet": "src=10.0.1.2 dst=10.0.2.9 dport=4791 dscp=3"},
            {"command": "set", "port": "host2", "admin": "down"},
            {"command": "set", "port": "host2", "admin": "up"},
            {"command": "set", "pfcwd": {"detection_time": "300ms"}},
            {"command": "reload", "check": True}]


class Switch:
    """An eddyd of a configuration, with a name and a folder of its own."""

    def __init__(self, configuration):
        self._folder = tempfile.TemporaryDirectory(prefix="eddy-kept-")
        folder = Path(self._folder.name)
        self.socket = folder / "kept.sock"
        self.name = f"kept-{os.getpid()}"
        text = Path(configuration).read_text(encoding="utf-8")
        text = re.sub(r"name: kept\b", f"name: {self.name}", text) + f"control: {{socket: {self.socket}}}\n"
        (folder / "switch.yaml").write_text(text, encoding="utf-8")
        self._log = folder / "log"
        with open(self._log, "w", encoding="utf-8") as log:
            self._process = subprocess.Popen([BIN / "eddyd", "--config", folder / "switch.yaml", "--", "--no-huge", "-m", "256"],
                                             stdout=log, stderr=log, env=os.environ | {"XDG_RUNTIME_DIR": str(folder)})

    def __enter__(self):
        try:
            wait_for(self._answers, PATIENCE, "a switch that answers")
        except BaseException:
            self.__exit__()
            raise
        return self

    def __exit__(self, *_):
        self._process.send_signal(signal.SIGTERM)
        self._process.wait(timeout=PATIENCE)
        self._folder.cleanup()

    def _answers(self):
        if self._process.poll() is not None:
            raise Trouble(f"eddyd ended: {self._log.read_text(encoding='utf-8')}")
        try:
            rows = self.ask({"command": "show", "report": "ports", "all": True})["result"]["rows"]
        except OSError:
            return False
        return all(row["oper"] != "down" for row in rows)

    def ask(self, request):
        with socket.socket(socket.AF_UNIX, socket.SOCK_STREAM) as client:
            client.settimeout(PATIENCE)
            client.connect(str(self.socket))
            with client.makefile("rw") as lines:
                lines.write(json.dumps(request) + "\n")
                lines.flush()
                return json.loads(lines.readline())
