"""eddyd@.service under a systemd that really boots: start and ready, status, reload, kill -9, a worker that stands still,
stop with XON. And what the unit gives a switch, held against the table of capabilities and systemd's own judgement.

Where systemd cannot boot that part is skipped, loudly, and the exit status is 77.
"""

import hashlib
import json
import os
import re
import shutil
import subprocess
import sys
import sysconfig
import tempfile
import unittest
from pathlib import Path

sys.path.append(str(Path(__file__).resolve().parents[1] / "e2e"))
from booted import ROOT, Booted, CannotBoot, run, wait_for  # noqa: E402
from standstill import has_ended, held_still, polling_thread  # noqa: E402

BINARIES = Path(os.environ.get("EDDY_BIN", ROOT / "build" / "dev" / "bin"))
UNITS = ROOT / "packaging" / "systemd"
UNIT = UNITS / "eddyd@.service"
EXPOSURE = 3.0
SCHEMES = f"usr/lib/{sysconfig.get_config_var('MULTIARCH')}/eddy/schemes"
SKIPPED = 77
BASE_KINDS = ("af_packet", "memif", "null", "pcap", "ring", "tap", "vhost", "virtio")

SWITCH = """
switch: {name: leaf1, loopbacks: [10.9.0.1]}
port_defaults: {pgs: {3: lossless}}
ports:
  a: {device: 'net_af_packet0,iface=s0', addresses: [10.9.1.1/24]}
  b: {device: 'net_af_packet1,iface=s1', addresses: [10.9.2.1/24], watchdog: {enabled: false}}
neighbors: [{address: 10.9.2.77, mac: 02:00:00:00:00:77, port: b}]
"""
MEMIF = """
switch: {name: quiet}
ports:
  line: {device: 'net_memif0,role=server,socket=/run/eddy/quiet-line.memif,socket-abstract=no'}
"""

# Host b pauses class 3 of its port for good; host a sends lossless packets to b until the switch pauses it, says so, and
# waits for the switch to let it go.
PAUSED_HOST = r"""
import select, socket, struct, sys, time
def frames(interface):
    end = socket.socket(socket.AF_PACKET, socket.SOCK_RAW, socket.htons(3))
    end.bind((interface, 0))
    return end
a, b = frames("h0"), frames("h1")
pause = bytes.fromhex("0180c2000001" "020000000077" "8808" "0101" "0008") + struct.pack(">8H", 0, 0, 0, 65535, 0, 0, 0, 0)
flood = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
flood.setsockopt(socket.IPPROTO_IP, socket.IP_TOS, 3 << 2)
paused, last = False, 0.0
end = time.monotonic() + 30
while time.monotonic() < end:
    if time.monotonic() - last > 0.005:
        b.send(pause.ljust(60, b"\0"))
        last = time.monotonic()
    if not paused:
        flood.sendto(bytes(1000), ("10.9.2.77", 9))
    while select.select([a], [], [], 0)[0]:
        frame = a.recv(2048)
        if frame[12:16] != b"\x88\x08\x01\x01" or frame[17] != 8:
            continue
        time_of_3 = struct.unpack(">8H", frame[18:34])[3]
        if time_of_3 and not paused:
            paused = True
            print("paused", flush=True)
        if paused and not time_of_3:
            print("resumed", flush=True)
            sys.exit(0)
print("left alone", flush=True)
"""


def assembled(*dropins):
    """The unit with drop-ins, as one text."""
    return "\n".join(path.read_text() for path in (UNIT, *dropins))


def exposure_of(text):
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "eddyd@x.service"
        path.write_text(text)
        done = run("systemd-analyze", "security", "--offline=true", "--no-pager", path, check=False)
    found = re.search(r"Overall exposure level for \S+: ([0-9.]+) ", done.stdout)
    if not found or re.search("Unknown|ignoring", done.stderr):
        raise AssertionError(done.stdout + done.stderr)
    return float(found[1])


def capabilities_in(text, key):
    """As systemd reads them: lists add up, and an empty one starts anew."""
    held = set()
    for words in re.findall(rf"^{key}=(.*)$", text, re.MULTILINE):
        held = held | set(words.split()) if words else set()
    return held


def demand_of(kinds):
    table = json.loads(run(BINARIES / "eddyd", "--capabilities", "--json").stdout)["kinds"]
    rows = [row for row in table if row["kind"] in kinds]
    return {f"CAP_{name}" for row in rows for name in row["needs"] + row["comfort"]}


class OfTheUnit(unittest.TestCase):

    @unittest.skipUnless(shutil.which("systemd-analyze"), "systemd-analyze is not installed")
    def test_exposure(self):
        self.assertLessEqual(exposure_of(assembled()), EXPOSURE)
        self.assertLess(exposure_of(assembled(UNITS / "examples" / "memif.conf")), 1.5)
        self.assertLessEqual(exposure_of(assembled(UNITS / "examples" / "af_xdp.conf")), EXPOSURE)
        self.assertLess(exposure_of(assembled(UNITS / "examples" / "pci.conf")), 4.5)

    def test_capabilities_are_those_of_the_table(self):
        for kinds, dropins in ((BASE_KINDS, ()), ((*BASE_KINDS, "af_xdp"), ("af_xdp",)), ((*BASE_KINDS, "pci"), ("pci",)),
                               (("memif", "ring", "null", "vhost"), ("memif",))):
            with self.subTest(dropins=dropins):
                text = assembled(*(UNITS / "examples" / f"{name}.conf" for name in dropins))
                self.assertEqual(capabilities_in(text, "CapabilityBoundingSet"), demand_of(kinds))
                ambient = capabilities_in(text, "AmbientCapabilities")
                self.assertEqual(ambient, set() if "pci" in dropins else demand_of(kinds))


class UnderSystemd(unittest.TestCase):
    """One machine for all; each test begins with leaf1 running."""

    machine = None  # main() boots it

    @classmethod
    def setUpClass(cls):
        root = cls.machine.path("")
        for name in ("eddyd", "eddyctl"):
            shutil.copy(BINARIES / name, root / "usr/bin" / name)
        shutil.copy(UNIT, root / "etc/systemd/system" / UNIT.name)
        cls.write("leaf1", SWITCH)
        cls.drop_in("leaf1", "short.conf", "[Service]\nWatchdogSec=2s\n")
        for pair in (("s0", "h0"), ("s1", "h1")):
            cls.must("ip", "link", "add", pair[0], "type", "veth", "peer", "name", pair[1])
            for end in pair:
                cls.must("ip", "link", "set", end, "up")
        cls.must("ip", "link", "set", "lo", "up")
        cls.must("ip", "addr", "add", "10.9.1.2/24", "dev", "h0")
        cls.must("ip", "route", "add", "10.9.2.0/24", "via", "10.9.1.1", "dev", "h0")
        cls.must("ethtool", "-K", "h0", "tx", "off")
        cls.must("systemctl", "daemon-reload")

    @classmethod
    def must(cls, *command):
        done = cls.machine.call(*command)
        if done.returncode:
            raise AssertionError(f"{command}: {done.stdout}{done.stderr}\n{cls.said('leaf1')}{cls.said('quiet')}")
        return done.stdout

    @classmethod
    def said(cls, name="leaf1"):
        log = cls.machine.path(f"run/{name}.log")
        return log.read_text(errors="replace") if log.exists() else ""

    @classmethod
    def write(cls, name, text):
        path = cls.machine.path(f"etc/eddy/{name}.yaml")
        path.write_text(text)
        path.chmod(0o644)
        cls.drop_in(name, "log.conf", f"[Service]\nStandardOutput=append:/run/{name}.log\nStandardError=inherit\n")

    @classmethod
    def drop_in(cls, name, file, text):
        folder = cls.machine.path(f"etc/systemd/system/eddyd@{name}.service.d")
        folder.mkdir(exist_ok=True)
        (folder / file).write_text(text)

    def show(self, name="leaf1"):
        shown = self.must("systemctl", "show", f"eddyd@{name}", "--property",
                          "ActiveState,SubState,StatusText,MainPID,NRestarts,Result")
        return dict(line.split("=", 1) for line in shown.splitlines())

    def status_of(self, name="leaf1"):
        """Of the main process, in the kernel's words."""
        text = (Path("/proc") / str(self.pid_of(name)) / "status").read_text()
        return dict(line.split(":\t", 1) for line in text.splitlines() if ":\t" in line)

    def pid_of(self, name="leaf1"):
        return self.machine.outer_pid(int(self.show(name)["MainPID"]))

    def setUp(self):
        self.must("systemctl", "reset-failed")
        self.must("systemctl", "start", "eddyd@leaf1")

    def restarted(self, before):
        now = self.show()
        return now["ActiveState"] == "active" and int(now["NRestarts"]) > int(before["NRestarts"]) and now

    def test_started_it_is_ready_with_its_ports_up_and_little_else(self):
        shown = self.show()
        self.assertEqual(shown["ActiveState"], "active")
        wait_for(lambda: self.show()["StatusText"] == "ports up: 2 of 2", 10, "the status")
        self.must("ping", "-c", "2", "-i", "0.2", "-W", "2", "10.9.1.1")
        status = self.status_of()
        self.assertEqual(set(status["Uid"].split()), {"6480"})
        kept = f"{1 << 12 | 1 << 13 | 1 << 14:016x}"
        self.assertEqual((status["CapEff"], status["CapPrm"], status["CapAmb"]), (kept, kept, "0" * 16))
        self.assertEqual((status["NoNewPrivs"], status["Seccomp"]), ("1", "2"))
        folder = self.machine.path("run/eddy").stat()
        self.assertEqual((folder.st_uid, folder.st_mode & 0o7777), (6480, 0o2770))
        self.assertIn("leaf1", self.must("eddyctl", "--name", "leaf1", "show", "ports", "--json"))

    def test_a_reload_ends_when_it_is_done_and_fails_when_it_is_refused(self):
        self.write("leaf1", SWITCH.replace("{name: leaf1", "{poll_gap: 2ms, name: leaf1"))
        self.must("systemctl", "reload", "eddyd@leaf1")
        wait_for(lambda: "generation 2 is in force" in self.show()["StatusText"], 10, "the status")
        self.write("leaf1", "nonsense: 1\n")
        self.addCleanup(self.write, "leaf1", SWITCH)
        self.assertNotEqual(self.machine.call("systemctl", "reload", "eddyd@leaf1").returncode, 0)
        shown = self.show()
        self.assertEqual(shown["ActiveState"], "active")
        self.assertIn("last reload: refused", shown["StatusText"])

    def test_killed_it_is_started_again(self):
        before = self.show()
        # The main process alone: a signal to all may find the unit's group gone with it, and fails then.
        self.must("systemctl", "kill", "--kill-whom=main", "--signal=KILL", "eddyd@leaf1")
        after = wait_for(lambda: self.restarted(before), 20, "the restart")
        self.assertNotEqual(after["MainPID"], before["MainPID"])

    def test_a_worker_that_stands_still_is_a_reason_to_start_again(self):
        before = self.show()
        thread = polling_thread(self.pid_of())
        with held_still(thread):
            wait_for(lambda: has_ended(thread), 20, "the watchdog")
        wait_for(lambda: self.restarted(before), 20, "the restart")
        wait_for(lambda: self.show()["StatusText"].startswith("ports up: 2 of 2"), 10, "the ports")

    def test_stopped_it_lets_a_paused_host_go(self):
        wait_for(lambda: self.show()["StatusText"].startswith("ports up: 2 of 2"), 10, "the ports")
        script = self.machine.path("tmp/host.py")
        script.write_text(PAUSED_HOST)
        host = subprocess.Popen(["nsenter", f"--net=/proc/{self.machine.pid}/ns/net", sys.executable, script],
                                stdout=subprocess.PIPE, text=True)
        self.addCleanup(host.stdout.close)
        self.addCleanup(host.wait)
        self.addCleanup(host.kill)
        self.assertEqual(host.stdout.readline(), "paused\n")
        self.must("systemctl", "stop", "eddyd@leaf1")
        self.assertEqual(host.stdout.readline(), "resumed\n")
        shown = self.show()
        self.assertEqual((shown["ActiveState"], shown["Result"]), ("inactive", "success"), self.said())

    def test_what_cannot_run_is_refused_once_and_says_why(self):
        for name, text, said in (("leaf2", SWITCH, "/etc/eddy/leaf2.yaml is of switch leaf1, not of leaf2"),
                                 ("leaf3", "nonsense: 1\n", "nonsense")):
            with self.subTest(name=name):
                self.write(name, text)
                self.must("systemctl", "daemon-reload")
                self.assertNotEqual(self.machine.call("systemctl", "start", f"eddyd@{name}").returncode, 0)
                shown = self.show(name)
                self.assertEqual((shown["Result"], shown["NRestarts"]), ("exit-code", "0"))
                self.assertIn(said, self.said(name))

    def by_hand(self, name, path, mode, more=""):
        """Started by root with all that root may; its process here, and what it has said."""
        file, log = self.machine.path(path), self.machine.path(f"run/{name}.log")
        file.write_text(f"switch: {{name: {name}}}\nports: {{a: {{device: net_null0}}}}\n{more}")
        file.chmod(mode)
        inner = self.must("sh", "-c", 'exec "$@" </dev/null >"$0" 2>&1 & echo $!', f"/run/{name}.log", "eddyd", "--config",
                          f"/{path}").strip()
        self.addCleanup(self.must, "kill", inner)
        wait_for(lambda: " runs: " in log.read_text(), 20, "the switch")
        status = (Path("/proc") / str(self.machine.outer_pid(int(inner))) / "status").read_text()
        return dict(line.split(":\t", 1) for line in status.splitlines() if ":\t" in line), log.read_text()

    def test_started_by_root_it_becomes_eddy_where_eddy_has_the_files(self):
        status, said = self.by_hand("hand1", "etc/eddy/hand1.yaml", 0o644)
        self.assertEqual((set(status["Uid"].split()), set(status["Gid"].split())), ({"6480"}, {"6480"}))
        self.assertIn("runs as eddy with no capability", said)
        self.assertTrue(self.machine.path("run/eddy/dpdk/eddy-hand1/dpdk_telemetry.v2").is_socket())
        self.assertIn('"a"', self.must("eddyctl", "--name", "hand1", "show", "ports", "--json"))

    def test_started_by_root_it_stays_root_where_eddy_lacks_one(self):
        status, said = self.by_hand("hand2", "etc/eddy/hand2.yaml", 0o600)
        self.assertEqual((set(status["Uid"].split()), set(status["Gid"].split())), ({"0"}, {"6480"}))
        self.assertEqual({status[name] for name in ("CapEff", "CapPrm", "CapBnd")}, {"0" * 16})
        self.assertIn("the user stays root: user eddy cannot read /etc/eddy/hand2.yaml", said)
        socket = self.machine.path("run/eddy/hand2.sock").stat()
        self.assertEqual((socket.st_uid, socket.st_gid, socket.st_mode & 0o777), (0, 6480, 0o660))

    def put_plugin(self, folder, trailer=b""):
        """The tests' plugin, and contents that nobody has loaded, in a folder of the machine; its SHA-256."""
        contents = (BINARIES.parent / "plugins" / "trouble.so").read_bytes() + trailer
        self.machine.path(folder).mkdir(parents=True, exist_ok=True)
        self.machine.path(f"{folder}/trouble.so").write_bytes(contents)
        return hashlib.sha256(contents).hexdigest()

    def assert_plugin(self, name, folder, digest):
        report = json.loads(self.must("eddyctl", "--name", name, "show", "schemes", "--json"))
        self.assertEqual((report["plugin"], report["plugin_sha256"]), (f"/{folder}/trouble.so", digest), self.said(name))

    def test_a_plugin_is_loaded_within_the_unit(self):
        digest = self.put_plugin(SCHEMES)
        text = "switch: {name: plug}\nload_balancer: {plugin: PLUGIN, scheme: calm}\nports: {a: {device: net_null0}}\n"
        self.write("plug", text.replace("PLUGIN", "trouble.so"))
        self.must("systemctl", "daemon-reload")
        self.must("systemctl", "start", "eddyd@plug")
        self.addCleanup(self.must, "systemctl", "stop", "eddyd@plug")
        self.assertEqual((set(self.status_of("plug")["Uid"].split()), self.status_of("plug")["Seccomp"]), ({"6480"}, "2"))
        self.assert_plugin("plug", SCHEMES, digest)
        digest = self.put_plugin(SCHEMES, b"other contents")
        self.must("systemctl", "reload", "eddyd@plug")
        self.assert_plugin("plug", SCHEMES, digest)
        for folder, said in (("home/someone", "Permission denied"), ("tmp/schemes", "can be written to by everybody")):
            with self.subTest(folder=folder):
                self.put_plugin(folder)
                self.write("plug", text.replace("PLUGIN", f"/{folder}/trouble.so"))
                self.assertNotEqual(self.machine.call("systemctl", "reload", "eddyd@plug").returncode, 0)
                self.assertRegex(self.show("plug")["StatusText"], f"last reload: refused, .*{said}")
                self.assert_plugin("plug", SCHEMES, digest)

    def test_a_plugin_is_loaded_after_becoming_eddy(self):
        digest = self.put_plugin(SCHEMES, b"hand")
        status, _ = self.by_hand("hand3", "etc/eddy/hand3.yaml", 0o644, "load_balancer: {plugin: trouble.so, scheme: calm}\n")
        self.assertEqual((set(status["Uid"].split()), status["CapEff"]), ({"6480"}, "0" * 16))
        self.assert_plugin("hand3", SCHEMES, digest)
        digest = self.put_plugin(SCHEMES, b"other contents")
        self.must("eddyctl", "--name", "hand3", "reload")
        self.assert_plugin("hand3", SCHEMES, digest)

    def test_other_kinds_of_ports_run_within_the_unit(self):
        self.must("systemctl", "stop", "eddyd@leaf1")  # which has s0
        for name, device, dropin, kept in (("xdp", "net_af_xdp0,iface=s0", "af_xdp", (12, 13, 14, 21)),
                                           ("tap", "net_tap0,iface=t0", None, (12,))):
            with self.subTest(name=name):
                self.write(name, f"switch: {{name: {name}}}\nports: {{a: {{device: '{device}', addresses: [10.9.1.1/24]}}}}\n")
                if dropin:
                    self.drop_in(name, f"{dropin}.conf", (UNITS / "examples" / f"{dropin}.conf").read_text())
                self.must("systemctl", "daemon-reload")
                self.must("systemctl", "start", f"eddyd@{name}")
                self.assertEqual(self.show(name)["StatusText"], "ports up: 1 of 1", self.said(name))
                self.assertEqual(self.status_of(name)["CapEff"], f"{sum(1 << bit for bit in kept):016x}")
                if name == "xdp":
                    self.must("ping", "-c", "2", "-i", "0.2", "-W", "2", "10.9.1.1")
                self.must("systemctl", "stop", f"eddyd@{name}")

    def test_a_switch_of_memif_alone_runs_with_nothing(self):
        self.write("quiet", MEMIF)
        self.drop_in("quiet", "memif.conf", (UNITS / "examples" / "memif.conf").read_text())
        self.drop_in("quiet", "soon.conf", "[Service]\nExecStart=\nExecStart=/usr/bin/eddyd --config /etc/eddy/quiet.yaml "
                                           "--ready-within 1s\n")
        self.must("systemctl", "daemon-reload")
        self.must("systemctl", "start", "eddyd@quiet")
        self.addCleanup(self.must, "systemctl", "stop", "eddyd@quiet")
        self.assertEqual(self.show("quiet")["StatusText"], "ports up: 0 of 1; down: line")
        status = self.status_of("quiet")
        self.assertEqual({status[name] for name in ("CapEff", "CapPrm", "CapBnd", "CapAmb")}, {"0" * 16})
        self.assertTrue(self.machine.path("run/eddy/quiet-line.memif").is_socket())
        self.must("systemctl", "reload", "eddyd@quiet")


def main():
    try:
        machine = Booted().__enter__()
    except CannotBoot as why:
        print(f"SKIPPED, ALL OF UnderSystemd: {why}", file=sys.stderr)
        done = unittest.main(verbosity=2, argv=[sys.argv[0], "OfTheUnit"], exit=False)
        sys.exit(SKIPPED if done.result.wasSuccessful() else 1)
    try:
        UnderSystemd.machine = machine
        unittest.main(verbosity=2)
    finally:
        machine.close()


if __name__ == "__main__":
    main()
