#!/usr/bin/python3
"""Completion of all programs, in shells that somebody types into: what Tab makes of a line is what the program would get.

A shell has functions in place of the programs that print their arguments; completion itself asks the real programs. A control
socket that answers as a switch does stands in for a running one.
"""

import json
import os
import pty
import select
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import threading
import time
import unittest
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
BIN = Path(os.environ["EDDY_BIN"])
COMPLETION = BIN.parent / "packaging" / "completion"
PROGRAMS = ("eddyd", "eddyctl", "eddylab", "eddyhost", "eddywire", *(["eddylab-mpi"] if (BIN / "eddylab-mpi").exists() else []))
PATIENCE = 60  # seconds, on a machine that is busy


class Switch:
    """Answers `show ports` and `show paths` on leaf7.sock."""

    def __init__(self, folder):
        self._socket = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
        self._socket.bind(str(folder / "leaf7.sock"))
        self._socket.listen()
        threading.Thread(target=self._serve, daemon=True).start()

    def close(self):
        self._socket.close()

    def _serve(self):
        while True:
            try:
                client, _ = self._socket.accept()
            except OSError:
                return
            with client, client.makefile("rw") as lines:
                for line in lines:
                    report = json.loads(line).get("report")
                    rows = {"ports": [{"port": "uplink1"}, {"port": "host1"}, {"port": "host2"}],
                            "paths": [{"leaf": 12}, {"leaf": 3}]}.get(report, [])
                    lines.write(json.dumps({"ok": True, "result": {"report": report, "switch": "leaf7", "generation": 1,
                                                                   "uptime_ns": 1, "rows": rows}}) + "\n")
                    lines.flush()


class Shell:
    """An interactive shell on a pseudo terminal."""

    def __init__(self, words, setup):
        self.child, self.fd = pty.fork()
        if self.child == 0:
            os.execvpe(words[0], words, os.environ | {"PATH": f"{BIN}:{os.environ['PATH']}", "TERM": "dumb", "PS1": "> ", "ZDOTDIR": "/nonexistent"})
        self.said = ""
        shows = "".join(f"{name}() {{ printf '<%s>' \"$@\"; echo '(all)'; }}; " for name in PROGRAMS)
        self.answer(f"{setup}; {shows}echo rea''dy", "ready")

    def answer(self, line, until):
        """What is said from the line to `until`, at its end."""
        start = len(self.said)
        os.write(self.fd, (line + "\n").encode())
        deadline = time.monotonic() + PATIENCE
        while until not in self.said[start:]:
            ready, _, _ = select.select([self.fd], [], [], max(0.0, deadline - time.monotonic()))
            if not ready:
                raise AssertionError(f"no {until} after {line!r}: {self.said[start:]}")
            self.said += os.read(self.fd, 1 << 16).decode()
        return self.said[start:self.said.index(until, start)]

    def completed(self, line):
        """The words that the program gets of a line in which Tab is pressed at its end."""
        said = self.answer(line + "\t", "(all)").splitlines()[-1]
        return said[said.index("<") + 1:said.rindex(">")].split("><")

    def close(self):
        os.kill(self.child, signal.SIGKILL)
        os.waitpid(self.child, 0)
        os.close(self.fd)


class Completion(unittest.TestCase):
    """What is typed, and the words that the program then has."""

    @classmethod
    def setUpClass(cls):
        cls.place = tempfile.TemporaryDirectory(prefix="eddy-tab-")
        cls.addClassCleanup(cls.place.cleanup)
        cls.folder = Path(cls.place.name)
        switch = Switch(cls.folder)
        cls.addClassCleanup(switch.close)
        (cls.folder / "mine.yaml").write_text("id: mine\n")

    def lines(self):
        return {
            "eddylab ru": ["run"],
            "eddylab run letflow-w": ["run", "letflow-weights"],
            "eddylab run leaf-spine --si": ["run", "leaf-spine", "--size"],
            "eddylab run leaf-spine --size f": ["run", "leaf-spine", "--size", "full"],
            "eddylab run leaf-spine --size=re": ["run", "leaf-spine", "--size=reduced"],
            "eddylab run leaf-spine --variant scheme=dr": ["run", "leaf-spine", "--variant", "scheme=drill"],
            "eddylab run rlb-s1 --variant 'scheme=presto rlb=d": ["run", "rlb-s1", "--variant", "scheme=presto rlb=default"],
            "eddylab run leaf-spine --set load_balancer.sch": ["run", "leaf-spine", "--set", "load_balancer.scheme="],
            "eddylab run leaf-spine --set load_balancer.scheme=cong": ["run", "leaf-spine", "--set", "load_balancer.scheme=conga"],
            "eddylab schema tab": ["schema", "tables"],
            f"eddylab validate {self.folder}/mi": ["validate", f"{self.folder}/mine.yaml"],
            "eddyhost fidelity-w": ["fidelity-web"],
            "eddyhost leaf-spine --idle bu": ["leaf-spine", "--idle", "busy"],
            "eddywire jo": ["join"],
            "eddyctl healthy --ports fa": ["healthy", "--ports", "fabric"],
            "eddyd --clock pc": ["--clock", "pcap"],
            f"eddyd --config {self.folder}/mi": ["--config", f"{self.folder}/mine.yaml"],
            "eddyctl show wat": ["show", "watermarks"],
            "eddyctl clear persistent-watermarks he": ["clear", "persistent-watermarks", "headroom-pool"],
            f"eddyctl --dir {self.folder} --name l": ["--dir", str(self.folder), "--name", "leaf7"],
            f"eddyctl --dir {self.folder} --name leaf7 --port up": ["--dir", str(self.folder), "--name", "leaf7", "--port", "uplink1"],
            f"eddyctl --dir {self.folder} --name leaf7 set port up": ["--dir", str(self.folder), "--name", "leaf7", "set", "port", "uplink1"],
            "eddyctl set port any tx of": ["set", "port", "any", "tx", "off"],
            f"eddyctl --dir {self.folder} --name leaf7 --leaf 1": ["--dir", str(self.folder), "--name", "leaf7", "--leaf", "12"],
        }

    def check(self, shell):
        self.addCleanup(shell.close)
        for line, words in self.lines().items():
            with self.subTest(line=line):
                self.assertEqual(shell.completed(line), words)

    def test_bash(self):
        sources = "; ".join(f"source {COMPLETION}/bash/{name}" for name in PROGRAMS)
        self.check(Shell(["bash", "--norc", "--noprofile", "-i"], f"bind 'set bell-style none'; {sources}"))

    @unittest.skipUnless(shutil.which("zsh"), "zsh is not installed: its completion is NOT tested")
    def test_zsh(self):
        self.check(Shell(["zsh", "-f", "-i"], f"unsetopt beep; unset zle_bracketed_paste; "
                         f"fpath=({COMPLETION}/zsh $fpath); autoload -Uz compinit; compinit -u -D"))

    def offered(self, line):
        """All that bash would show."""
        name = line.split()[0]
        script = (f"source {COMPLETION}/bash/{name}; COMP_LINE=$1 COMP_POINT=${{#1}}; _{name.replace('-', '_')} 2>/dev/null; "
                  "printf '%s\\n' \"${COMPREPLY[@]}\"")
        done = subprocess.run(["bash", "-c", script, "bash", line], capture_output=True, text=True, check=True,
                              env=os.environ | {"PATH": f"{BIN}:{os.environ['PATH']}"})
        return done.stdout.split()

    def test_every_option_and_command_of_the_help_is_offered(self):
        for name in PROGRAMS:
            said = subprocess.run([BIN / name, "--help"], capture_output=True, text=True, check=True).stdout
            options = [word for line in said.splitlines() if line.startswith("  -") for word in line.split()[0].split(",")]
            self.assertGreater(len(options), 1)
            self.assertEqual(self.offered(f"{name} -"), options)
        self.assertIn("run", self.offered("eddylab "))

    def test_every_scheme_and_experiment_is_offered(self):
        schemes = [line for line in (ROOT / "lb/schemes.txt").read_text().split("\n") if line and not line.startswith("#")]
        self.assertEqual([word.rpartition("=")[2] for word in self.offered("eddylab run x --set load_balancer.scheme=")], schemes)
        ids = sorted(path.stem for path in (ROOT / "config/experiments").glob("*.yaml"))
        self.assertEqual([word for word in self.offered("eddylab run ") if not word.endswith("/")], ids)

    def test_after_dashes_words_are_those_of_the_eal(self):
        self.assertEqual(self.offered("eddyd --config x -- --"), [])


if __name__ == "__main__":
    sys.exit(unittest.main())
