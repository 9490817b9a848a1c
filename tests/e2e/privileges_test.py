"""What eddyd may do and what it keeps of it. The table of capabilities, by leaving out one at a time: each kind of port
runs with exactly those of its row, and without one that it needs eddyd ends with one line that names it. And what a
running eddyd holds: what its ports need, in every thread, and nothing else."""

import json
import os
import re
import shutil
from pathlib import Path

import yaml
from support import BINARIES, EndToEnd, main, run, wait_for

GATEWAY, HOST = "10.9.0.1", "10.9.0.2"
DEVICES = {  # by kind and how `when` begins: the device, and the host's interface that reaches it
    ("af_packet", ""): ("net_af_packet0,iface=s0", "h0"),
    ("af_xdp", ""): ("net_af_xdp0,iface=s0", "h0"),
    ("memif", ""): ("net_memif0,role=server,socket={folder}/port.sock,socket-abstract=no", None),
    ("null", ""): ("net_null0", None),
    ("pcap", "iface"): ("net_pcap0,iface=s0", "h0"),
    ("pcap", ""): ("net_pcap0,rx_pcap={folder}/in.pcap,tx_pcap={folder}/out.pcap", None),
    ("ring", ""): ("net_ring0", None),
    ("tap", ""): ("net_tap0,iface=t0", "t0"),
    ("vhost", ""): ("net_vhost0,iface={folder}/port.sock", None),
    ("virtio", ""): ("net_virtio_user0,path={folder}/port.sock", None),
}
EMPTY_CAPTURE = bytes.fromhex("d4c3b2a1020004000000000000000000ffff000001000000")


def table():
    return json.loads(run(BINARIES / "eddyd", "--capabilities", "--json").stdout)["kinds"]


def with_capabilities(names):
    """Root with these alone, as a container's engine starts it."""
    kept = ",".join(["-all", *(f"+{name.lower()}" for name in names)])
    return ("setpriv", "--bounding-set", kept, "--inh-caps=-all", "--no-new-privs")


class OnVeth(EndToEnd):
    """Switches of one port, whose host is the other end of a veth pair if the port has an interface."""

    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        cls.namespace = cls.world.namespace("veth")
        cls.world.veth((cls.namespace, "s0"), (cls.namespace, "h0"))
        for device in ("s0", "h0"):
            cls.world.run(cls.namespace, "ethtool", "-K", device, "tx", "off", "rx", "off")
            cls.world.run(cls.namespace, "ip", "link", "set", device, "up")
        (cls.world.directory / "in.pcap").write_bytes(EMPTY_CAPTURE)
        cls.name = f"p{os.getpid()}"
        cls.socket = cls.world.directory / "control.sock"

    def write(self, kind, who="", privileges=None, **port):
        """The configuration of a switch with a port of that kind; its path, and the host's interface."""
        device, host = DEVICES[kind if isinstance(kind, tuple) else (kind, "")]
        device = device.format(folder=self.world.directory)
        config = {"switch": {"name": self.name + who}, "control": {"socket": f"{self.socket}{who}"},
                  "ports": {"p": {"device": device, "addresses": [f"{GATEWAY}/24"], **port}}}
        if privileges:
            config["privileges"] = privileges
        path = self.world.directory / f"switch{who}.yaml"
        path.write_text(yaml.safe_dump(config))
        os.chmod(path, 0o644)
        return path, host

    def spawn(self, path, *before, who=""):
        process = self.world.spawn(self.namespace, *before, BINARIES / "eddyd", "--config", path, log=f"eddyd{who}")
        self.addCleanup(self.end, process)
        return process

    def start(self, row, capabilities, who=""):
        path, host = self.write((row["kind"], row["when"].split("=")[0]), who)
        return self.spawn(path, *with_capabilities(capabilities), who=who), host

    def end(self, process):
        process.popen.terminate()
        process.popen.wait(10)
        self.world.forget(process)
        (self.world.directory / "port.sock").unlink(missing_ok=True)

    def runs(self, process):
        wait_for(lambda: self.socket.exists() or not process.alive(), 20, "the switch")
        return process.alive()

    def start_vhost(self):
        """What a virtio port waits for."""
        self.start({"kind": "vhost", "when": ""}, [], "-peer")
        wait_for((self.world.directory / "port.sock").exists, 20, "the vhost port")

    def assert_answers(self, host):
        self.world.run(self.namespace, "ip", "addr", "replace", f"{HOST}/24", "dev", host)
        self.world.run(self.namespace, "ip", "link", "set", host, "up")
        self.world.run(self.namespace, "ping", "-c", "2", "-i", "0.2", "-W", "2", GATEWAY)
        self.world.run(self.namespace, "ip", "addr", "flush", "dev", host)


class Rows(OnVeth):

    def test_each_measured_row_runs_with_what_it_says(self):
        for row in table():
            if not row["measured"]:
                continue
            with self.subTest(kind=row["kind"], when=row["when"]):
                if row["kind"] == "virtio":
                    self.start_vhost()
                process, host = self.start(row, row["needs"] + row["comfort"])
                self.assertTrue(self.runs(process), process.output())
                if host:
                    self.assert_answers(host)
                self.doCleanups()

    def test_without_one_that_it_needs_there_is_one_line_that_names_it(self):
        for row in table():
            for missing in row["needs"] if row["measured"] else ():
                with self.subTest(kind=row["kind"], missing=missing):
                    process, _ = self.start(row, [name for name in row["needs"] + row["comfort"] if name != missing])
                    self.assertEqual(process.wait(20), 1, process.output())
                    self.assertRegex(process.output(), rf"\Aeddyd: port p \(.*\): needs the capability CAP_{missing}\n\Z")
                    self.doCleanups()


def held(process):
    """What each thread of the process holds, by thread."""
    sets = {}
    for task in Path(f"/proc/{process.pid}/task").iterdir():
        lines = dict(line.split(":\t") for line in (task / "status").read_text().splitlines() if ":\t" in line)
        sets[lines["Name"], task.name] = lines
    return sets


def mask(*names):
    numbers = {"NET_ADMIN": 12, "NET_RAW": 13, "IPC_LOCK": 14}
    return f"{sum(1 << numbers[name] for name in names):016x}"


class Kept(OnVeth):

    def assert_kept(self, process, kept):
        for thread, status in held(process).items():
            with self.subTest(thread=thread):
                self.assertEqual((status["CapPrm"], status["CapEff"]), (kept, kept))
                self.assertEqual({status["CapInh"], status["CapBnd"], status["CapAmb"]}, {mask()})
                self.assertEqual(status["NoNewPrivs"], "1")

    def eddyctl(self, *words):
        return run(BINARIES / "eddyctl", "--socket", self.socket, *words, check=False)

    def reload_to(self, kind, privileges=None):
        self.write(kind, privileges=privileges)
        done = self.eddyctl("reload")
        return done.returncode, done.stdout + done.stderr

    def test_every_thread_keeps_what_the_ports_need_and_nothing_else(self):
        for kind, kept in (("memif", mask()), ("af_packet", mask("NET_ADMIN", "NET_RAW", "IPC_LOCK"))):
            with self.subTest(kind=kind):
                path, _ = self.write(kind)
                process = self.spawn(path)
                self.assertTrue(self.runs(process), process.output())
                self.assertGreater(len(held(process)), 3)  # DPDK's own, control's, a worker's
                self.assert_kept(process, kept)
                self.doCleanups()

    def test_a_port_that_would_need_more_is_refused_at_a_reload(self):
        path, _ = self.write("null")
        self.assertTrue(self.runs(self.spawn(path)))
        status, said = self.reload_to("tap")
        self.assertEqual(status, 1)
        self.assertRegex(said, r"switch\.yaml:\d+:\d+: port p \(net_tap0,.*\): needs CAP_NET_ADMIN, which eddyd "
                               r"does not keep; name tap under privileges\.ports and restart it\n")
        self.assertEqual(said.count("\n"), 1, said)
        self.doCleanups()
        path, _ = self.write("null", privileges={"ports": ["tap"]})
        process = self.spawn(path)
        self.assertTrue(self.runs(process))
        self.assert_kept(process, mask("NET_ADMIN"))
        status, said = self.reload_to("tap", privileges={"ports": ["tap"]})
        self.assertEqual(status, 0, said)
        self.assert_answers("t0")

    def test_another_user_runs_the_ports_restarts_them_and_adds_others(self):
        """What it needs to be there is its own: in a /run/eddy for itself."""
        folder = self.world.directory / "own"
        folder.mkdir()
        self.addCleanup(shutil.rmtree, folder)
        shutil.chown(folder, "nobody")
        os.chmod(self.world.directory, 0o755)
        private = "mkdir -p /run/eddy; mount -t tmpfs -o mode=0777 none /run/eddy && exec \"$@\""
        self.socket, before = folder / "control.sock", self.socket
        self.addCleanup(setattr, self, "socket", before)
        path, host = self.write("af_packet", privileges={"user": "nobody"})
        config = yaml.safe_load(path.read_text())
        config["switch"]["spare_ports"] = 1
        path.write_text(yaml.safe_dump(config))
        process = self.spawn(path, "unshare", "--mount", "sh", "-c", private, "sh")
        self.assertTrue(self.runs(process), process.output())
        for status in held(process).values():
            self.assertEqual(set(status["Uid"].split()), {"65534"})
        self.assert_kept(process, mask("NET_ADMIN", "NET_RAW", "IPC_LOCK"))
        self.assert_answers(host)
        telemetry = Path(f"/proc/{process.pid}/root/run/eddy/dpdk/eddy-{self.name}/dpdk_telemetry.v2")
        self.assertTrue(telemetry.is_socket())
        self.assertEqual(os.stat(self.socket).st_mode & 0o777, 0o660)
        # Its own /proc/self/fd, where the sockets of drivers are found for what the kernel dropped.
        self.assertEqual(os.stat(f"/proc/{process.pid}/fd").st_uid, 65534)
        port = config["ports"]["p"]
        other = {"device": "net_null7"}
        for ports in ({"p": port | {"mtu": 1400}}, {"p": port, "q": other}, {"q": other}, {"p": port, "q": other}):
            path.write_text(yaml.safe_dump(config | {"ports": ports}))
            done = self.eddyctl("reload")
            self.assertEqual(done.returncode, 0, done.stdout + done.stderr)
            if "p" in ports:
                self.assert_answers(host)

    def test_a_user_that_lacks_a_file_is_refused_where_it_is_named(self):
        path, _ = self.write("null", privileges={"user": "nobody"})
        os.chmod(path, 0o600)
        process = self.spawn(path)
        self.assertEqual(process.wait(20), 1)
        self.assertEqual(process.output(), f"eddyd: privileges.user: user nobody cannot read {path}\n")

    def test_locked_memory_decides_without_ipc_lock(self):
        """One warning where the limit will do, one line where it will not."""
        for mtu, status, said in ((1500, None, r"(?s)\A[^\n]*\[warning\] port p: without the capability CAP_IPC_LOCK .*"),
                                  (9000, 1, r"\Aeddyd: port p: 32 MiB of packet memory must be locked, the limit is "
                                            r"\d+ MiB: needs the capability CAP_IPC_LOCK, .*\n\Z")):
            with self.subTest(mtu=mtu):
                path, _ = self.write("af_packet", mtu=mtu)
                process = self.spawn(path, "prlimit", f"--memlock={4 << 20}", *with_capabilities(["NET_ADMIN", "NET_RAW"]))
                self.assertEqual(self.runs(process), status is None, process.output())
                self.assertEqual(process.wait(0.1), status)
                self.assertRegex(process.output(), said)
                self.assertEqual(len(re.findall("CAP_IPC_LOCK", process.output())), 1, process.output())
                self.doCleanups()


if __name__ == "__main__":
    main()
