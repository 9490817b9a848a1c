"""What the table of capabilities says, by leaving out one at a time: each kind of port runs with exactly those of its
row, and without one that it needs eddyd ends with one line that names it."""

import json
import os

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


class Rows(EndToEnd):

    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        cls.namespace = cls.world.namespace("rows")
        cls.world.veth((cls.namespace, "s0"), (cls.namespace, "h0"))
        for device in ("s0", "h0"):
            cls.world.run(cls.namespace, "ethtool", "-K", device, "tx", "off", "rx", "off")
            cls.world.run(cls.namespace, "ip", "link", "set", device, "up")
        (cls.world.directory / "in.pcap").write_bytes(EMPTY_CAPTURE)
        cls.name = f"p{os.getpid()}"
        cls.socket = cls.world.directory / "control.sock"

    def start(self, row, capabilities, who=""):
        device, host = DEVICES[row["kind"], row["when"].split("=")[0]]
        device = device.format(folder=self.world.directory)
        config = {"switch": {"name": self.name + who}, "control": {"socket": f"{self.socket}{who}"},
                  "ports": {"p": {"device": device, "addresses": [f"{GATEWAY}/24"]}}}
        path = self.world.directory / f"switch{who}.yaml"
        path.write_text(yaml.safe_dump(config))
        process = self.world.spawn(self.namespace, *with_capabilities(capabilities), BINARIES / "eddyd", "--config", path,
                                   log=f"eddyd{who}")
        self.addCleanup(self.end, process)
        return process, host

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


if __name__ == "__main__":
    main()
