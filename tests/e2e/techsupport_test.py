"""eddyctl techsupport beside real switches: what is in the archive, what is not, and what stands in its way."""

import io
import json
import os
import signal
import subprocess
import tarfile
import time

from pair import Pair
from support import BINARIES, EndToEnd, main, run, seconds_since

REPORTS = ("ports", "queues", "pgs", "pfc", "pfcwd", "buffers", "watermarks", "drops", "rlb", "paths", "flows", "schemes",
           "workers", "neighbors", "routes", "events")


class Techsupport(EndToEnd):
    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        cls.pair = Pair(cls.world, cls.world.directory)
        text = cls.pair.file("leaf").read_text()
        cls.pair.file("leaf").write_text("# api_key: hunter2\n" + text)
        cls.addClassCleanup(cls.pair.stop)
        cls.pair.start_both()

    def archive(self, *words, **environment):
        """What it said, and the files of the archive by their names below its folder."""
        out = self.world.directory / f"{self.id().rsplit('.', 1)[-1]}.tar.gz"
        done = self.pair.eddyctl("techsupport", "--out", out, *words, **environment)
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertEqual(out.stat().st_mode & 0o777, 0o600)
        with tarfile.open(out) as archive:
            return done, self.files(archive)

    def files(self, archive):
        members = archive.getmembers()
        self.assertTrue(all(each.isfile() and each.name.startswith("eddy-techsupport-") for each in members))
        return {each.name.split("/", 1)[1]: archive.extractfile(each).read().decode() for each in members}

    def test_all_that_helps_is_in_it(self):
        done, files = self.archive()
        self.assertRegex(done.stdout, r"\.tar\.gz: \d+ files of 2 switches\n$")
        self.assertEqual((done.stderr, files["problems.txt"]), ("", "none\n"))
        for name in ("leaf", "spine"):
            for report in REPORTS:
                self.assertIn("rows", json.loads(files[f"{name}/reports/{report}.json"]))
            dpdk = json.loads(files[f"{name}/dpdk.json"])
            self.assertIn("/ethdev/xstats,0", dpdk)
            self.assertIn("net_memif1", [each.get("name") for key, each in dpdk.items() if key.startswith("/ethdev/info")])
            self.assertRegex(files[f"{name}/versions.txt"], r"^eddyd \d+\.\d+\.\d+.*\nDPDK \d+")
            self.assertIn("Max locked memory", files[f"{name}/process.txt"])
            self.assertIn("rte-worker-1", files[f"{name}/process.txt"])
            self.assertIn(f"name: {name}-", files[f"{name}/configuration_in_force.yaml"])
        self.assertIn("poll_gap_p999_ns", json.loads(files["leaf/reports/workers.json"])["rows"][0])
        self.assertEqual(json.loads(files["links.json"])[0]["link"], "leaf-spine")
        for text in ("== kernel\nLinux", "PRETTY_NAME", "hugepages-2048kB/free_hugepages", "MemTotal"):
            self.assertIn(text, files["machine.txt"])

    def test_no_secret_is_in_it(self):
        _, files = self.archive(MY_SECRET_VARIABLE="hunter3")
        self.assertIn("# api_key: ***\n", files["leaf/configuration_file.yaml"])
        whole = "\n".join(files.values())
        for text in ("hunter2", "hunter3", "MY_SECRET_VARIABLE", "--config"):
            self.assertNotIn(text, whole)

    def test_one_switch_by_its_name_and_to_standard_output(self):
        _, files = self.archive(EDDY_SWITCH="spine")
        self.assertIn("spine/dpdk.json", files)
        self.assertFalse(any(name.startswith("leaf/") for name in files))
        done = subprocess.run([BINARIES / "eddyctl", "--dir", self.pair.folder, "--name", "leaf", "techsupport", "--out", "-"],
                              capture_output=True, timeout=60, check=True)
        with tarfile.open(fileobj=io.BytesIO(done.stdout)) as archive:
            self.assertIn("leaf/dpdk.json", self.files(archive))

    def test_a_switch_that_hangs_is_said_and_the_others_are_there(self):
        leaf = self.pair.processes["leaf"]
        os.kill(leaf.pid, signal.SIGSTOP)
        try:
            began = time.monotonic()
            done, files = self.archive()
            self.assertLess(seconds_since(began), 5)
        finally:
            os.kill(leaf.pid, signal.SIGCONT)
        line = f"leaf: {self.pair.folder}/leaf.sock: no answer within 2 s; nothing else was asked\n"
        self.assertEqual((done.stderr, files["problems.txt"]), (f"eddyctl: {line}", line))
        self.assertIn("State:\tT (stopped)", files["leaf/process.txt"])
        self.assertIn("spine/reports/events.json", files)
        self.assertEqual(json.loads(files["switches.json"])[0]["state"], "silent")

    def test_no_file_is_overwritten(self):
        out = self.world.directory / "precious"
        out.write_text("precious")
        done = self.pair.eddyctl("techsupport", "--out", out)
        self.assertEqual((done.returncode, done.stdout, done.stderr),
                         (1, "", f"eddyctl: {out}: there is such a file; nothing is overwritten\n"))
        self.assertEqual(out.read_text(), "precious")

    def test_a_full_disk_is_said_and_nothing_is_kept(self):
        script = 'mount -t tmpfs -o size=8k none "$0" && "$@" --out "$0/x.tar.gz"; status=$?; ls -A "$0"; exit $status'
        full = self.world.directory / "full"
        full.mkdir()
        done = run("unshare", "--mount", "sh", "-c", script, full, BINARIES / "eddyctl", "--dir", self.pair.folder, "techsupport",
                   check=False)
        self.assertEqual((done.returncode, done.stdout, done.stderr),
                         (1, "", f"eddyctl: {full}/x.tar.gz: No space left on device; nothing is kept\n"))
        with open("/dev/full", "wb") as nowhere:
            done = subprocess.run([BINARIES / "eddyctl", "--dir", self.pair.folder, "techsupport", "--out", "-"], stdout=nowhere,
                                  stderr=subprocess.PIPE, text=True, timeout=60, check=False)
        self.assertEqual((done.returncode, done.stderr), (1, "eddyctl: standard output: No space left on device\n"))

    def test_names_of_nobody(self):
        done = self.pair.eddyctl("--name", "other", "techsupport")
        self.assertEqual((done.returncode, done.stderr), (1, 'eddyctl: no switch "other" runs here; running: leaf, spine\n'))


class NobodyRuns(EndToEnd):
    def test_the_machine_is_described_where_no_switch_starts(self):
        pair = Pair(self.world, self.world.directory)
        out = self.world.directory / "x.tar.gz"
        done = pair.eddyctl("techsupport", "--out", out)
        self.assertEqual((done.returncode, done.stderr), (0, f"eddyctl: no switch runs here (looked in {pair.folder})\n"))
        with tarfile.open(out) as archive:
            self.assertEqual(len(archive.getmembers()), 5)


if __name__ == "__main__":
    main()
