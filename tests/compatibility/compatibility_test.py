#!/usr/bin/python3
"""What docs/compatibility.md promises of files and answers of earlier versions, held against those that are checked in: a folder
for each version, 0.1.0 and later."""

import json
import os
import socket
import subprocess
import sys
import tempfile
import threading
import unittest
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent))
from kept import BIN, REPORTS, ROOT, Switch  # noqa: E402

HERE = Path(__file__).resolve().parent
VERSIONS = sorted(path for path in HERE.iterdir() if path.is_dir() and path.name[0].isdigit())
# Tests that hold the frames between switches against octets that are written down.
FRAMES = {"tests/unit/net/control_frames_test.cpp": ("TEST(Cnm, IsTheGoldenMessage)", "TEST(Shim, HasTheLayoutOfTheReference)",
                                                     "TEST(PauseFrame, IsTheGoldenPfc)"),
          "tests/golden/cases/shim_transit/switch.yaml": ("switch",),
          "tests/golden/cases/cnm_on_host_port/switch.yaml": ("switch",),
          "tests/golden/cases/pfc_xoff_refresh_xon/switch.yaml": ("switch",)}


def output_of(*command, code=0):
    done = subprocess.run([str(word) for word in command], cwd=ROOT, capture_output=True, text=True, check=False)
    if done.returncode != code:
        raise AssertionError(f"{command} exited with {done.returncode}: {done.stdout}{done.stderr}")
    return done.stdout if code == 0 else done.stderr


def lacks(kept, now, where=""):
    """What is in `kept` and not in `now`, or of another type there. Rows of a report are alike: the first stands for all."""
    if isinstance(kept, dict):
        if not isinstance(now, dict):
            return [f"{where} is no object any more"]
        return [text for key, value in kept.items()
                for text in (lacks(value, now[key], f"{where}.{key}") if key in now else [f"{where}.{key} is gone"])]
    if isinstance(kept, list) and isinstance(now, list):
        return lacks(kept[0], now[0], f"{where}[]") if kept and now else [] if not kept else [f"{where} is empty"]
    return [] if type(kept) is type(now) else [f"{where} was {kept!r} and is {now!r}"]


class Past:
    """Answers on a control socket as an earlier version did."""

    def __init__(self, path, said):
        self._said = said
        self._socket = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
        self._socket.bind(str(path))
        self._socket.listen()
        threading.Thread(target=self._serve, daemon=True).start()

    def close(self):
        self._socket.close()

    def _answer(self, request):
        alike = [one["answer"] for one in self._said
                 if all(one["request"].get(key) == request.get(key) for key in ("command", "report", "what", "tx"))]
        return {key: value for key, value in alike[0].items() if key != "id"}

    def _serve(self):
        while True:
            try:
                client, _ = self._socket.accept()
            except OSError:
                return
            with client, client.makefile("rw") as lines:
                for line in lines:
                    lines.write(json.dumps(self._answer(json.loads(line))) + "\n")
                    lines.flush()


# What the preset `rlb: default` was when the files were made, and is now: docs/compatibility.md.
CHANGED = {"placement: alternative": "placement: least_delay"}


class Files(unittest.TestCase):
    def test_a_configuration_means_what_it_meant(self):
        for folder in VERSIONS:
            short, whole = (output_of(BIN / "eddyd", "--config", folder / name, "--print-config")
                            for name in ("leaf.yaml", "leaf.printed.yaml"))
            self.assertEqual(short, whole, f"{folder.name}: a default has changed")

    def test_an_experiment_means_what_it_meant(self):
        for folder in VERSIONS:
            documents = (folder / "experiment.printed.yaml").read_text().split("--- # ")[1:]
            now = output_of(BIN / "eddylab", "config", folder / "experiment.yaml", "--size", "ci").split("--- # ")[1:]
            self.assertEqual(len(documents), len(now))
            with tempfile.TemporaryDirectory() as place:
                for kept, fresh in zip(documents, now):
                    variant, _, text = kept.partition("\n")
                    self.assertEqual(variant, fresh.partition("\n")[0])
                    for was, now_is in CHANGED.items():
                        text = text.replace(was, now_is)
                    (Path(place) / "printed.yaml").write_text(text)
                    self.assertEqual(output_of(BIN / "eddylab", "config", Path(place) / "printed.yaml"), fresh.partition("\n")[2],
                                     f"{folder.name}: a default has changed")

    def test_a_result_is_read_and_keeps_its_keys(self):
        for folder in VERSIONS:
            kept = json.loads((folder / "result.json").read_text())
            now = json.loads(output_of(BIN / "eddylab", "show", folder / "result.json", "--json"))
            self.assertEqual(lacks(kept, now), [])
            shown = output_of(BIN / "eddylab", "show", folder / "result.json")
            for run in kept["runs"]:
                self.assertIn(f"{run['variant']} ", shown)

    def test_a_result_of_another_schema_is_refused_with_both_numbers(self):
        kept = json.loads((VERSIONS[-1] / "result.json").read_text())
        with tempfile.TemporaryDirectory() as place:
            other = Path(place) / "result.json"
            other.write_text(json.dumps(kept | {"schema_version": kept["schema_version"] + 1}))
            said = output_of(BIN / "eddylab", "show", other, code=1)
        for version in (kept["schema_version"], kept["schema_version"] + 1):
            self.assertRegex(said, rf"\b{version}\b")

    def test_frames_between_switches_have_their_tests(self):
        document = (ROOT / "docs/compatibility.md").read_text()
        for file, texts in FRAMES.items():
            self.assertIn(file.removesuffix("/switch.yaml"), document)
            for text in texts:
                self.assertIn(text, (ROOT / file).read_text())


class ControlSocket(unittest.TestCase):
    def test_todays_switch_answers_requests_of_then(self):
        for folder in VERSIONS:
            with Switch(folder / "switch.yaml") as switch:
                for one in json.loads((folder / "socket.json").read_text()):
                    answer = switch.ask(one["request"])
                    self.assertEqual(answer["ok"], one["answer"]["ok"], one["request"])
                    self.assertEqual(lacks(one["answer"], answer), [], one["request"])

    def test_todays_eddyctl_reads_answers_of_then(self):
        for folder in VERSIONS:
            said = json.loads((folder / "socket.json").read_text())
            with tempfile.TemporaryDirectory() as place:
                path = Path(place) / "past.sock"
                past = Past(path, said)
                self.addCleanup(past.close)
                for report in REPORTS:
                    result = next(one["answer"]["result"] for one in said if one["request"].get("report") == report)
                    shown = output_of(BIN / "eddyctl", "--socket", path, "--all", "show", report)
                    for row in result["rows"]:
                        self.assertIn(str(next(value for value in row.values() if isinstance(value, str))), shown)
                    self.assertEqual(json.loads(output_of(BIN / "eddyctl", "--socket", path, "--json", "show", report)), result)
                for words in (("set", "port", "host2", "tx", "off"), ("clear", "counters"), ("reload",)):
                    output_of(BIN / "eddyctl", "--socket", path, *words)


if __name__ == "__main__":
    sys.exit(unittest.main())
