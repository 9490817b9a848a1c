"""eddylab export: folders for compose, containerlab and Kubernetes, and what it refuses. No root, no container."""

import os
import shutil
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

import yaml

ROOT = Path(__file__).resolve().parents[2]
BINARIES = Path(os.environ.get("EDDY_BIN", ROOT / "build" / "dev" / "bin"))
UPDATE = ROOT / "docker" / "examples" / "update"


def eddylab(*words, **options):
    return subprocess.run([BINARIES / "eddylab", *map(str, words)], capture_output=True, text=True, cwd=ROOT,
                          timeout=60, check=False, **options)


class Exported(unittest.TestCase):
    def setUp(self):
        place = tempfile.TemporaryDirectory()
        self.addCleanup(place.cleanup)
        self.place = Path(place.name)
        self.out = self.place / "out"

    def export(self, *words):
        done = eddylab("export", *words, "--out", self.out)
        self.assertEqual(done.returncode, 0, done.stderr)
        return self.out

    def refused(self, line, *words, code=2):
        done = eddylab("export", *words)
        self.assertEqual(done.returncode, code, done.stderr)
        self.assertIn(line, done.stderr)
        said = [line for line in done.stderr.splitlines() if line != "Run with --help for more information."]
        self.assertEqual(len(said), 1, done.stderr)
        self.assertEqual(sorted(p.name for p in self.place.iterdir() if p.name.startswith("out.")), [])

    def test_every_switch_takes_its_file(self):
        for hosts in ("eddyhost", "linux"):
            folder = self.export("demo", "--to", "compose", "--hosts", hosts)
            files = sorted(folder.glob("config/*.yaml"))
            self.assertEqual([f.stem for f in files], ["leaf1", "leaf2", "spine1", "spine2"])
            for file in files:
                done = subprocess.run([BINARIES / "eddyd", "--config", file, "--check"], capture_output=True, text=True,
                                      check=False)
                self.assertEqual(done.returncode, 0, done.stdout + done.stderr)
            shutil.rmtree(folder)

    def test_the_words_of_eddyhost_are_for_the_folder_s_experiment(self):
        """What stands in the folder is loaded without anything else, and says what the switches were made from."""
        folder = self.export("leaf-spine", "--size", "ci", "--variant", "scheme=drill", "--to", "compose")
        words = yaml.safe_load((folder / "compose.yaml").read_text())["services"]["hosts"]["command"]
        sets = [word for at, word in enumerate(words) if words[at - 1] == "--set"]
        self.assertTrue(any(s.startswith("run.time_dilation=") for s in sets), sets)
        done = eddylab("config", folder / "experiment" / "leaf-spine.yaml", "leaf1", "--size", "ci", "--variant",
                       "scheme=drill", *(w for s in sets for w in ("--set", s)))
        self.assertEqual(done.returncode, 0, done.stderr)
        meant = subprocess.run([BINARIES / "eddyd", "--config", folder / "config" / "leaf1.yaml", "--print-config"],
                               capture_output=True, text=True, check=False)
        self.assertEqual(done.stdout, meant.stdout)

    def test_the_same_files_wherever_it_runs(self):
        first = self.export("demo", "--to", "k8s")
        text = (first / "demo.k8s.yaml").read_text()
        shutil.rmtree(first)
        again = subprocess.run([BINARIES / "eddylab", "export", ROOT / "config/experiments/demo.yaml", "--to", "k8s",
                                "--out", "out"], cwd=self.place, check=False)
        self.assertEqual(again.returncode, 0)
        self.assertEqual((self.out / "demo.k8s.yaml").read_text(), text)

    def test_bad_words_are_refused_in_a_line(self):
        out = ("--out", self.out)
        self.refused("a Pod gets its interfaces", "demo", "--to", "k8s", "--hosts", "linux", *out)
        self.refused("--to: swarm not in", "demo", "--to", "swarm", *out)
        self.refused("--size: huge not in", "demo", "--to", "clab", "--size", "huge", *out)
        self.refused("no experiment", "no-such", "--to", "clab", *out)
        self.refused("34 hosts: eddyhost has a port for each and at most 32", "demo", "--to", "compose", "--set",
                     "topology.leaves=17", *out)
        self.refused("33 ports, a real eddyd has at most 32", "demo", "--to", "compose", "--hosts", "linux", "--set",
                     "topology.hosts_per_leaf=31", "--set", "topology.leaves=1", "--set", "buffer.size=64MiB", *out)
        large = eddylab("export", "leaf-spine", "--variant", "scheme=drill", "--to", "compose", *out)
        self.assertEqual(large.returncode, 2)
        self.assertIn("288 hosts: eddyhost has a port for each and at most 32", large.stderr)
        self.assertNotIn("headroom", large.stderr)  # which would not fit either, but that is not what to say
        self.refused("valid are 1 to 20 of", "demo", "--to", "compose", "--name", "a/b", *out)
        self.refused("faults: real switches have none", "demo", "--to", "compose", "--set",
                     "faults=[{type: link_flap, links: [leaf1-spine1], start: 1ms, duration: 1ms}]", *out)
        self.assertFalse(self.out.exists())

    def test_a_folder_that_cannot_be_written(self):
        self.out.mkdir()
        (self.out / "mine").write_text("x")
        self.refused("is there and is not empty", "demo", "--to", "compose", "--out", self.out, code=1)
        self.assertEqual([p.name for p in self.out.iterdir()], ["mine"])
        self.refused("there is no folder ", "demo", "--to", "compose", "--out", self.place / "no" / "out", code=1)
        self.refused("out/mine: is there, and is no folder", "demo", "--to", "compose", "--out", self.out / "mine",
                     code=1)

    def test_a_full_disk(self):
        """As a file that may not grow."""
        done = subprocess.run(["/bin/sh", "-c", 'ulimit -f 1; exec "$@"', "sh", BINARIES / "eddylab",
                               "export", "demo", "--to", "compose", "--out", self.out], capture_output=True, text=True,
                              cwd=ROOT, check=False)
        self.assertEqual(done.returncode, 1, done.stderr)
        self.assertIn("File too large", done.stderr)
        self.assertEqual(done.stderr.count("\n"), 1, done.stderr)
        self.assertEqual(list(self.place.iterdir()), [])


class Examples(unittest.TestCase):
    def test_they_are_as_exported(self):
        done = subprocess.run([UPDATE, "--check"], capture_output=True, text=True, check=False)
        self.assertEqual(done.returncode, 0, done.stdout + done.stderr)

    def test_a_stale_one_is_named(self):
        """In a copy of the folder, with a line changed, a file too many and one too few."""
        with tempfile.TemporaryDirectory() as place:
            copy = Path(place) / "docker" / "examples"
            shutil.copytree(UPDATE.parent, copy)
            (Path(place) / "config").symlink_to(ROOT / "config")
            with (copy / "demo-k8s" / "demo.k8s.yaml").open("a") as file:
                file.write("# more\n")
            (copy / "demo-clab" / "extra").write_text("x")
            (copy / "demo-compose" / ".env").unlink()
            done = subprocess.run([copy / "update", "--check", "demo-k8s", "demo-clab", "demo-compose"],
                                  capture_output=True, text=True, check=False,
                                  env=os.environ | {"EDDY_BIN": str(BINARIES)})
        self.assertEqual(done.returncode, 1)
        self.assertEqual(done.stdout.splitlines(), [
            "docker/examples/demo-k8s is stale (demo.k8s.yaml); docker/examples/update demo-k8s",
            "docker/examples/demo-clab is stale (extra); docker/examples/update demo-clab",
            "docker/examples/demo-compose is stale (.env); docker/examples/update demo-compose"])


if __name__ == "__main__":
    unittest.main(argv=sys.argv)
