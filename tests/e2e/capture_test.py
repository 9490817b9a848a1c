"""eddyctl capture on a real switch with two hosts: tshark reads what it writes, and whatever stands in the way of a
capture is one line and no worker's trouble."""

import os
import resource
import signal
import subprocess
import time

from support import BINARIES, ROOT, OnFabric, main, run, wait_for

DISSECTOR = ROOT / "packaging" / "wireshark" / "eddy.lua"
FIELDS = ("frame.interface_name", "frame.len", "frame.cap_len", "eddy.capture.direction", "eddy.capture.port",
          "eddy.capture.queue", "eddy.capture.pg", "eddy.capture.drop", "eddy.capture.from", "icmp.type", "_ws.col.Protocol")


def tshark(*words, **options):
    done = subprocess.run(["tshark", "-X", f"lua_script:{DISSECTOR}", *words], stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                          text=True, timeout=60, check=False, **options)
    return [line for line in done.stdout.split("\n") if line]


def rows(path, display="icmp"):
    """Packets of the file, as {field: text}."""
    asked = [word for field in FIELDS for word in ("-e", field)]
    lines = tshark("-r", path, "-Y", display, "-T", "fields", "-E", "separator=|", *asked)
    return [dict(zip(FIELDS, line.split("|"), strict=True)) for line in lines]


class Capture(OnFabric):
    plan = {"leaves": 1, "spines": 0}

    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        (cls.switch,) = cls.fabric.switches
        cls.ports = [port for port in cls.switch.config["ports"]]
        cls.hosts = cls.fabric.hosts
        # Neighbors are known from now on.
        cls.world.run(cls.hosts[0].namespace, "ping", "-c", "1", "-W", "5", cls.hosts[1].ipv4, check=False)

    def path(self, name):
        return self.world.directory / name

    def begin(self, *words, out=None, **options):
        """A capture that has begun."""
        before = self.log().count("packets are captured")
        words = (BINARIES / "eddyctl", "--name", self.switch.name, "capture", *words)
        process = subprocess.Popen([*words, *(("-w", out) if out else ())], stderr=subprocess.PIPE, text=True,
                                   stdin=subprocess.DEVNULL, **options)
        self.addCleanup(process.kill)
        wait_for(lambda: self.log().count("packets are captured") > before, 10, "the capture")
        if out:
            wait_for(lambda: self.path(out).exists() and self.path(out).stat().st_size > 0, 10, "its file")
        return process

    def end(self, process, number=signal.SIGINT):
        process.send_signal(number)
        said = process.communicate(timeout=20)[1]
        return process.returncode, said

    def log(self):
        return self.switch.process.output()

    def ended(self):
        return self.log().count("the capture has ended") == self.log().count("packets are captured")

    def ping(self, *words, source=0, target=None):
        target = target or self.hosts[1 - source].ipv4
        return self.world.run(self.hosts[source].namespace, "ping", "-n", "-W", "5", *words, target, check=False)

    def refused(self, *words, code=1):
        done = self.switch.eddyctl("capture", *words)
        self.assertEqual(done.returncode, code, done.stderr)
        self.assertEqual(done.stderr.count("\n"), 1, done.stderr)
        return done.stderr.strip()

    def test_a_packet_that_passes_and_one_that_does_not(self):
        path = self.path("passes.pcapng")
        process = self.begin("all", out=path)
        self.assertEqual(self.ping("-c", "3", "-i", "0.2").returncode, 0)
        self.ping("-c", "1", target="192.0.2.1")
        code, said = self.end(process)
        self.assertEqual(code, 0, said)
        self.assertRegex(said, r"^eddyctl: \d+ packets captured\n$")
        first, second = self.ports
        requests = rows(path, "icmp.type == 8 && ip.dst == " + self.hosts[1].ipv4)
        self.assertEqual([(r["eddy.capture.direction"], r["frame.interface_name"], r["eddy.capture.from"]) for r in requests],
                         [("in", first, ""), ("out", second, first)] * 3)
        for row in requests:
            self.assertEqual((row["eddy.capture.port"], row["eddy.capture.queue"], row["eddy.capture.pg"], row["frame.len"]),
                             (row["frame.interface_name"], "1", "0", "98"))
        drops = rows(path, 'eddy.capture.drop == "no_route"')
        self.assertEqual([(r["eddy.capture.direction"], r["eddy.capture.port"], r["_ws.col.Protocol"]) for r in drops],
                         [("drop", first, "ICMP")])
        # What the switch says to the host comes from no port.
        answers = rows(path, "icmp.type == 3")
        self.assertEqual([(r["eddy.capture.direction"], r["eddy.capture.from"]) for r in answers], [("out", "")])

    def test_stamps_are_the_machines_time_to_the_nanosecond(self):
        path = self.path("stamps.pcapng")
        process = self.begin("all", out=path)
        before = time.time()
        self.ping("-c", "2", "-i", "0.2")
        after = time.time()
        self.end(process)
        stamps = [float(line) for line in tshark("-r", path, "-Y", "icmp", "-T", "fields", "-e", "frame.time_epoch")]
        self.assertGreaterEqual(len(stamps), 8)
        self.assertTrue(all(before - 0.1 < stamp < after + 0.1 for stamp in stamps), (before, stamps, after))
        self.assertIn("nanoseconds (9)", run("capinfos", path).stdout)

    def test_direction_filter_snap_count_and_port(self):
        path = self.path("chosen.pcapng")
        words = (self.ports[1], "--direction", "out", "--filter", "icmp", "--snap", "60", "--count", "2")
        process = self.begin(*words, out=path)
        self.ping("-c", "4", "-i", "0.2")
        said = process.communicate(timeout=20)[1]
        self.assertEqual(process.returncode, 0, said)
        self.assertIn("2 packets captured", said)
        found = rows(path, "frame")
        self.assertEqual([(r["eddy.capture.direction"], r["frame.interface_name"], r["icmp.type"], r["frame.cap_len"],
                           r["frame.len"]) for r in found], [("out", self.ports[1], "8", "60", "98")] * 2)

    def test_dir_is_a_direction_or_the_sockets_folder_or_both(self):
        folder = "/run/eddy"
        for words in (("--dir", "in"), ("--dir=in",), ("--dir", folder, "--dir", "in"), ("--dir", "in", "--dir", folder)):
            path = self.path("dir.pcapng")
            process = self.begin("all", *words, "--filter", "icmp", "--count", "2", out=path)
            self.ping("-c", "2", "-i", "0.2")
            said = process.communicate(timeout=20)[1]
            self.assertEqual(process.returncode, 0, said)
            self.assertEqual([row["eddy.capture.direction"] for row in rows(path, "frame")], ["in"] * 2)

    def test_a_filter_keeps_and_the_end_counts(self):
        path = self.path("filtered.pcapng")
        process = self.begin("all", "--filter", "icmp[icmptype] == icmp-echoreply", out=path)
        self.ping("-c", "2", "-i", "0.2")
        code, said = self.end(process)
        self.assertEqual(code, 0, said)
        self.assertRegex(said, r"4 packets captured, \d+ not let through by the filter")
        self.assertEqual({row["icmp.type"] for row in rows(path, "frame")}, {"0"})
        self.assertIn("Number of stat entries = 1", run("capinfos", path).stdout)

    def test_live_into_tshark(self):
        command = f"{BINARIES}/eddyctl --name {self.switch.name} capture all --filter icmp -w - | " \
                  f"tshark -X lua_script:{DISSECTOR} -l -r - -c 2 -T fields -e eddy.capture.direction -e icmp.type"
        before = self.log().count("packets are captured")
        with subprocess.Popen(["bash", "-c", command], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as pipe:
            wait_for(lambda: self.log().count("packets are captured") > before, 10, "the capture")
            self.ping("-c", "3", "-i", "0.2")
            out, said = pipe.communicate(timeout=30)
        self.assertEqual(out.split("\n")[:2], ["in\t8", "out\t8"])
        self.assertIn("eddyctl: standard output: its reader has closed it", said)
        wait_for(self.ended, 10, "the capture to end")

    def test_a_pipe_that_is_closed_while_nothing_passes(self):
        reader, writer = os.pipe()
        process = self.begin("all", "--filter", "udp port 9", "-w", "-", stdout=writer)
        os.close(writer)
        os.close(reader)
        said = process.communicate(timeout=20)[1]
        self.assertEqual(process.returncode, 1)
        self.assertIn("eddyctl: standard output: its reader has closed it\n", said)
        wait_for(self.ended, 10, "the capture to end")

    def test_a_full_disk(self):
        folder = self.path("small")
        folder.mkdir()
        run("mount", "-t", "tmpfs", "-o", "size=128k", "eddy-small", folder)
        self.addCleanup(run, "umount", folder)
        path = folder / "full.pcapng"
        process = self.begin("all", out=path)
        self.ping("-f", "-q", "-s", "1400", "-c", "300")
        said = process.communicate(timeout=20)[1]
        self.assertEqual(process.returncode, 1, said)
        self.assertIn(f"eddyctl: {path}: No space left on device; what it holds up to there can be read\n", said)
        kept = len(rows(path, "frame"))
        self.assertGreater(kept, 10)
        self.assertIn(f"eddyctl: {kept} packets captured", said, "those of the file")
        wait_for(self.ended, 10, "the capture to end")
        self.assertEqual(self.ping("-c", "1").returncode, 0)

    def test_a_file_that_may_not_grow(self):
        path = self.path("limited.pcapng")
        limit = lambda: resource.setrlimit(resource.RLIMIT_FSIZE, (16_384, 16_384))  # noqa: E731
        process = self.begin("all", out=path, preexec_fn=limit)
        self.ping("-f", "-q", "-s", "1400", "-c", "50")
        said = process.communicate(timeout=20)[1]
        self.assertEqual(process.returncode, 1, said)
        self.assertIn(f"eddyctl: {path}: File too large; what it holds up to there can be read\n", said)
        self.assertEqual(run("capinfos", path).returncode, 0)
        wait_for(self.ended, 10, "the capture to end")

    def test_a_reader_that_stalls_is_nobodys_trouble(self):
        path = self.path("stalled.pcapng")
        process = self.begin("all", out=path)
        process.send_signal(signal.SIGSTOP)
        done = self.ping("-f", "-q", "-s", "1400", "-c", "2000")  # 2000 x 4 records of 1.5 KB: more than the ring
        self.assertIn(" 0% packet loss", done.stdout)
        process.send_signal(signal.SIGCONT)
        code, said = self.end(process)
        self.assertEqual(code, 0, said)
        self.assertRegex(said, r"captured, \d+ lost: they came faster than they were written")
        lost = int(said.split("captured, ")[1].split()[0])
        self.assertGreater(lost, 0)
        self.assertGreater(len(rows(path)), 1000)

    def test_a_reader_that_is_killed_takes_its_capture_along(self):
        process = self.begin("all", out=self.path("killed.pcapng"))
        self.assertIn("packets of this switch are captured or traced already; one at a time",
                      self.refused("all", "-w", self.path("second.pcapng")))
        self.assertFalse(self.path("second.pcapng").exists())
        process.kill()
        process.communicate(timeout=20)
        wait_for(self.ended, 10, "the capture to end")
        self.end(self.begin("all", out=self.path("third.pcapng")))

    def test_what_cannot_be_is_one_line(self):
        out = ("-w", self.path("nothing.pcapng"))
        self.assertRegex(self.refused("nope", *out), r'port "nope" unknown; valid are all, ')
        self.assertIn("syntax error", self.refused("all", "--filter", "tcp prot 80", *out, code=2))
        self.assertIn("-w is missing", self.refused("all", code=2))
        for count in ("0", "-1", "99999999999999999999", "x"):
            self.assertIn(f"--count {count}: no whole number from 1 on", self.refused("all", "--count", count, *out, code=2))
        self.assertIn("--dir in and out: one of them", self.refused("all", "--dir", "in", "--direction", "out", *out, code=2))
        self.assertIn("--dir ./in: there is no such folder", self.refused("all", "--dir", "./in", *out))
        self.assertIn("name of the port missing", self.refused(*out, code=2))
        self.assertIn("No such file or directory", self.refused("all", "-w", self.path("no/such/folder")))
        self.assertFalse(self.path("nothing.pcapng").exists())
        wait_for(self.ended, 10, "the capture to end")


if __name__ == "__main__":
    main()
