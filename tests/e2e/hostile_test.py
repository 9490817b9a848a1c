"""eddyctl beside a socket where somebody answers who is no switch, and eddylab with files that it did not write: bounded in
size, depth, values and time, and nothing of what is said reaches the terminal as a command. No root."""

import contextlib
import json
import os
import re
import resource
import socket
import subprocess
import sys
import tempfile
import threading
import time
import unittest
from pathlib import Path

BINARIES = Path(os.environ.get("EDDY_BIN", Path(__file__).resolve().parents[2] / "build" / "dev" / "bin"))
REPORTS = ("ports", "queues", "pgs", "pfc", "pfcwd", "buffers", "watermarks", "drops", "rlb", "paths", "flows", "schemes",
           "workers", "neighbors", "routes", "events")
PATIENCE = 2  # seconds that eddyctl waits for an answer
SLACK = 3  # what starting it and reading the answer may take besides
MEMORY = 3 << 30
EVIL = "\x1b[2J\x1b]0;owned\x07\r\n2026-01-01 eddyd: all is well\x9b2J\u202e"
OBEYED = re.compile("[\x00-\x09\x0b-\x1f\x7f-\x9f\u200e\u200f\u2028-\u202e\u2066-\u2069]")


class Answering:
    """A Unix socket whose clients are handed, one at a time, to `answer(client)`; with None it never accepts."""

    def __init__(self, path, answer, backlog=8):
        self.ended = threading.Event()
        self._listener = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
        self._listener.bind(str(path))
        self._listener.listen(backlog)
        self._thread = threading.Thread(target=self._serve, args=(answer,)) if answer else None
        if self._thread:
            self._thread.start()

    def _serve(self, answer):
        while True:
            try:
                client, _ = self._listener.accept()
            except OSError:  # it is closed
                return
            with client:
                try:
                    answer(client)
                except OSError:  # eddyctl has gone
                    pass

    def close(self):
        self.ended.set()
        try:
            self._listener.shutdown(socket.SHUT_RDWR)
        except OSError:
            pass
        self._listener.close()
        if self._thread:
            self._thread.join()


def saying(octets):
    """An answer that is the same whatever is asked."""
    def answer(client):
        client.recv(65536)
        client.sendall(octets)
    return answer


def good(result):
    return json.dumps({"ok": True, "result": result}).encode() + b"\n"


class Hostile(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory(prefix="eddy-hostile-")
        self.addCleanup(folder.cleanup)
        self.path = Path(folder.name) / "s.sock"

    def serve(self, answer, **more):
        server = Answering(self.path, answer, **more)
        self.addCleanup(server.close)
        return server

    @contextlib.contextmanager
    def answering(self, octets):
        server = Answering(self.path, saying(octets))
        try:
            yield
        finally:
            server.close()
            self.path.unlink()

    def eddyctl(self, *words, patience=PATIENCE):
        """What it said and how it ended: by itself, in time, in little memory."""
        started = time.monotonic()
        done = subprocess.run([BINARIES / "eddyctl", "--socket", self.path, *words], capture_output=True, stdin=subprocess.DEVNULL,
                              timeout=60, check=False,
                              preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_AS, (MEMORY, MEMORY)))
        self.assertLess(time.monotonic() - started, patience + SLACK)
        self.assertIn(done.returncode, (0, 1), done.stderr[-300:])
        for stream in (done.stdout, done.stderr):
            found = OBEYED.search(stream.decode())
            self.assertIsNone(found, f"{words}: {found and stream[:200]}")
        return done.returncode, done.stdout.decode(), done.stderr.decode()

    def refused(self, octets, said, *words):
        with self.answering(octets):
            status, _, errors = self.eddyctl(*(words or ("show", "ports")))
        self.assertEqual(status, 1)
        self.assertRegex(errors, said)

    def test_a_million_deep(self):
        for text in (b"[" * 1_000_000 + b"\n", b'{"a":' * 1_000_000 + b"1" + b"}" * 1_000_000 + b"\n",
                     b'{"ok":true,"result":' + b"[" * 1_000_000 + b"]" * 1_000_000 + b"}\n"):
            with self.subTest(text[:30]), self.answering(text):
                for words in (("show", "ports"), ("--json", "show", "ports"), ("reload",), ("top",)):
                    status, _, errors = self.eddyctl(*words)
                    self.assertEqual(status, 1)
                    self.assertIn("is nested more than 32 deep", errors)

    def test_more_values_than_memory(self):
        self.refused(b'{"ok":true,"result":{"rows":[' + b"0," * 10_000_000 + b"0]}}\n", "has more than 4000000 values")

    def test_keys_that_take_the_square_of_their_number(self):
        keys = ",".join(f'"k{i}":0' for i in range(300_000))
        self.refused(b'{"ok":true,"result":{' + keys.encode() + b"}}\n", "objects of too many keys")

    def test_without_end(self):
        server = None

        def pour(client):
            while not server.ended.is_set():
                client.sendall(b" " * 65536)
        server = self.serve(pour)
        status, _, errors = self.eddyctl("show", "ports")
        self.assertEqual(status, 1)
        self.assertRegex(errors, "the answer has no end|no answer within 2 s")

    def test_a_drop_at_a_time(self):
        server = None

        def drip(client):
            while not server.ended.wait(0.1):
                client.sendall(b" ")
        server = self.serve(drip)
        for words in (("show", "ports"), ("clear", "counters"), ("set", "port", "p", "tx", "on"), ("top",)):
            status, _, errors = self.eddyctl(*words)
            self.assertEqual((status, errors), (1, f"eddyctl: {self.path}: no answer within 2 s\n"))

    def test_silence(self):
        server = None
        server = self.serve(lambda client: server.ended.wait())
        started = time.monotonic()
        status, _, errors = self.eddyctl("show", "ports")
        self.assertGreater(time.monotonic() - started, 0.9 * PATIENCE)
        self.assertEqual((status, errors), (1, f"eddyctl: {self.path}: no answer within 2 s\n"))

    def test_nobody_takes_the_connection(self):
        self.serve(None, backlog=0)
        waiting = []
        try:
            while True:  # until the queue is full
                client = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
                waiting.append(client)
                client.setblocking(False)
                client.connect(str(self.path))
        except BlockingIOError:
            pass
        self.addCleanup(lambda: [client.close() for client in waiting])
        status, _, errors = self.eddyctl("show", "ports")
        self.assertEqual((status, errors), (1, f"eddyctl: {self.path}: no answer within 2 s\n"))

    def test_a_reload_may_take_longer_and_that_is_said(self):
        asked = threading.Event()

        def late(client):
            client.recv(65536)
            asked.wait(PATIENCE + 0.5)
            client.sendall(good({"generation": 3, "changes": []}))
        self.serve(late)
        status, out, errors = self.eddyctl("reload", patience=PATIENCE + 1)
        self.assertEqual((status, out), (0, "generation 3, 0 keys changed\n"))
        self.assertEqual(errors, "eddyctl: no answer yet; a reload that restarts ports may take 60 s\n")

    def test_an_answer_of_other_types(self):
        for result in (None, 1, "x", [], {}, {"rows": None}, {"rows": 5}, {"rows": "x"}, {"rows": {"a": 1}}, {"rows": [1]},
                       {"rows": [[1]]}, {"rows": [None]}, {"rows": [{"port": [1]}]}, {"rows": [{"port": {"a": 1}}]},
                       {"rows": [], "switch": 1}, {"rows": [{"port": -1, "queue": 1e300, "live": True}]},
                       {"changes": 1}, {"changes": [1]}, {"changes": [{"key": 1}]}, {"changes": [], "restarted": [1]},
                       {"generation": "x", "changes": []}, {"a": 1}):
            named = {**result, "report": "flows"} if isinstance(result, dict) else result
            for answer in (result, named):
                with self.answering(good(answer)):
                    for words in (("show", "flows"), ("--json", "show", "flows"), ("top",), ("reload",), ("clear", "counters")):
                        with self.subTest(result=answer, words=words):
                            self.eddyctl(*words)

    def test_answers_that_are_none(self):
        for octets, said in ((b"\n", "is no JSON"), (b"words\n", "is no JSON"), (b"[]\n", "not a JSON object"),
                             (b'{"ok":"yes"}\n', "not as expected"), (b'{"ok":false,"problems":1}\n', "not as expected"),
                             (b'{"ok":false,"problems":[]}\n', "neither result nor problems"),
                             (b'{"ok":true,"result":"\xff"}\n', "is no JSON"), (b"", "closed without an answer"),
                             (b'{"ok":true', "closed without an answer")):
            with self.subTest(octets):
                self.refused(octets, said)

    def test_commands_for_all_switches_of_a_folder(self):
        """Nobody of this kind is healthy, and nothing of it ends eddyctl by a signal."""
        rows = ([], [{"port": 1}], [{"port": EVIL, "role": 7, "admin": [], "oper": {}}], [{"mac": 5, "peer_mac": "x", "tx_bps": "no"}],
                [{"worker": "x", "polls": None}], [{"polls": 3}], [[]], [None], "rows")
        for octets in (*(good({"report": "ports", "rows": each, "uptime_ns": "x", "generation": []}) for each in rows),
                       b'{"ok":false,"problems":[]}\n', b'{"ok":true}\n', b'{"ok":true,"result":5}\n', b"[]\n", b""):
            with self.answering(octets):
                for words in (("healthy", "--all"), ("top", "--all"), ("--json", "top", "--all"), ("techsupport", "--out", "-")):
                    with self.subTest(octets=octets, words=words):
                        done = subprocess.run([BINARIES / "eddyctl", "--dir", self.path.parent, *words], capture_output=True,
                                              stdin=subprocess.DEVNULL, timeout=60, check=False)
                        self.assertEqual(done.returncode, 1 if "healthy" in words else 0, done.stderr[-300:])
                        self.assertIsNone(OBEYED.search(done.stderr.decode()))

    def test_texts_reach_the_terminal_as_texts(self):
        row = {key: EVIL for key in ("port", "role", "oper", "pool", "kind", "reason", "help", "path", "why", "flow", "scheme",
                                     "parameter", "value", "address", "mac", "prefix", "event", "live", "active", "profile",
                                     "device", "ports", EVIL)}
        for report in REPORTS:
            with self.answering(good({"report": report, "switch": EVIL, "guard": EVIL, "scheme": EVIL, "watched_places": 1,
                                      "scheme_places": 1, "rows": [row, row]})):
                for words in (("show", report), ("--json", "show", report)):
                    with self.subTest(words):
                        status, out, _ = self.eddyctl(*words)
                        self.assertEqual(status, 0)
                        self.assertIn("all is well", out)
                        self.assertFalse([line for line in out.split("\n") if line.startswith("2026")])

    def test_changes_problems_and_other_reports_are_texts(self):
        for answer in (good({"cleared": EVIL, EVIL: EVIL}),
                       good({"changes": [{"key": EVIL, "class": EVIL, "before": EVIL, "after": EVIL}], "restarted": [EVIL]}),
                       json.dumps({"ok": False, "problems": [EVIL, EVIL]}).encode() + b"\n",
                       good({"report": EVIL, "rows": [{EVIL: EVIL}]}),
                       EVIL.encode() + b"\n", json.dumps({"ok": EVIL}).encode() + b"\n"):
            with self.answering(answer):
                for words in (("clear", "counters"), ("reload",), ("show", "ports"), ("--json", "reload"), ("top",)):
                    with self.subTest(answer=answer[:60], words=words):
                        _, out, errors = self.eddyctl(*words)
                        self.assertFalse([line for line in (out + errors).split("\n") if line.startswith("2026")])

    def test_wide_cells_are_cut(self):
        rows = [{"port": "x" * 1_000_000}] + [{"port": "y"}] * 50_000
        self.serve(saying(good({"report": "ports", "rows": rows})))
        status, out, _ = self.eddyctl("show", "ports")
        self.assertEqual(status, 0)
        self.assertLess(len(out), 50_000_000)
        self.assertIn("xxx...", out)


class CommandLines(unittest.TestCase):
    """A program that says what it does not understand quotes it."""

    def test_words_reach_the_terminal_as_texts(self):
        for program in ("eddyctl", "eddylab", "eddyd", "eddyhost"):
            for words in ((f"--{EVIL}",), (EVIL, EVIL, EVIL, EVIL), ("show", EVIL), ("--config", EVIL), ("--name", EVIL, "list")):
                with self.subTest(program=program, words=words):
                    done = subprocess.run([BINARIES / program, *words], capture_output=True, stdin=subprocess.DEVNULL, timeout=60,
                                          check=False)
                    self.assertNotEqual(done.returncode, 0)
                    self.assertIsNone(OBEYED.search((done.stdout + done.stderr).decode()), done.stderr)


class Files(unittest.TestCase):
    """eddylab reads files of results that others wrote."""

    def setUp(self):
        folder = tempfile.TemporaryDirectory(prefix="eddy-hostile-")
        self.addCleanup(folder.cleanup)
        self.path = Path(folder.name) / "result.json"

    def eddylab(self, *words):
        done = subprocess.run([BINARIES / "eddylab", *words], capture_output=True, stdin=subprocess.DEVNULL, timeout=60, check=False,
                              preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_AS, (MEMORY, MEMORY)))
        self.assertIn(done.returncode, (0, 1, 2), done.stderr[-300:])
        for stream in (done.stdout, done.stderr):
            found = OBEYED.search(stream.decode())
            self.assertIsNone(found, f"{words}: {found and stream[:200]}")
        return done.returncode, done.stdout.decode(), done.stderr.decode()

    def test_nested_a_million_deep(self):
        for text in ("[" * 1_000_000, "[" * 1_000_000 + "]" * 1_000_000, '{"schema_version":' * 1_000_000):
            self.path.write_text(text)
            for words in (("show", self.path), ("compare", self.path, self.path)):
                status, out, errors = self.eddylab(*words)
                self.assertEqual((status, out), (1, ""))
                self.assertIn("result.json: it is nested more than 32 deep", errors)

    def test_a_file_without_an_end(self):
        for path in ("/dev/zero", "/dev/stdin"):
            status, _, errors = self.eddylab("show", path)
            self.assertEqual((status, errors), (1, f"eddylab: {path}: cannot be read: this is no regular file\n"))

    def test_texts_reach_the_terminal_as_texts(self):
        runs = [{"variant": name, "seed": 1, "commit": EVIL, "config_hash": EVIL, "fct_mean_us": 1.5, "warnings": [EVIL],
                 "violations": [EVIL], "bins": [{"name": EVIL, "from_bytes": 1, "flows": 1}]} for name in (EVIL, EVIL + "b")]
        self.path.write_text(json.dumps({
            "schema_version": 1, "experiment": EVIL, "title": EVIL, "size": EVIL, "expect": [EVIL], "commit": EVIL,
            "config_hashes": {EVIL: EVIL}, "units": {EVIL: EVIL}, "runs": runs}))
        for words in (("show", self.path), ("show", "--json", self.path), ("compare", self.path, self.path),
                      ("compare", "--json", self.path, self.path), ("show", self.path, "--variant", EVIL + "c")):
            with self.subTest(words):
                _, out, errors = self.eddylab(*words)
                self.assertIn("all is well", out + errors)
                self.assertFalse([line for line in (out + errors).split("\n") if line.startswith("2026")])


if __name__ == "__main__":
    sys.exit(unittest.main(verbosity=2))
