"""A switch in a container: what it may do, what its health check says, and how it ends."""

import errno
import os
import signal
import socket
import struct
import time
from pathlib import Path

from support import InContainers, main, run, seconds_since, wait_for

MEMIF = {"p1": "net_memif0,role=server,socket=/run/eddy/x.memif,socket-abstract=no", "p2": "net_null0"}
FABRIC = {"ports": {"p1": {"device": MEMIF["p1"], "role": "fabric"}}}
MOST_RESIDENT_KIB = 160 * 1024
SOON = ("--health-interval", "300ms", "--health-timeout", "2s", "--health-retries", "1", "--health-start-period", "0s")
NETWORK = ("--user", "0:6480", "--cap-add", "NET_ADMIN", "--cap-add", "NET_RAW", "--cap-add", "IPC_LOCK")
ETH_P_ALL = 3
PFC = struct.pack(">HH", 0x8808, 0x0101)
GATEWAY = "02:ed:00:00:aa:01"
FRAMES = 500  # 5.8 s of p2's shaper: the queue is not what resumes the peer
CLASS = 3  # of DSCP 3, by default
SO_RCVBUFFORCE = 33  # of Linux; socket has no name for it
RECEIVE_BUFFER = 64 << 20  # some 80,000 PFC frames


class Confined(InContainers):
    def status(self, name):
        lines = Path(f"/proc/{self.engine.pid(name)}/status").read_text(encoding="ascii").splitlines()
        return {key: value.split() for key, value in (line.split(":", 1) for line in lines)}

    def test_it_has_no_capability_and_writes_nowhere_else(self):
        name = self.running(self.start_switch("leaf1", MEMIF))
        status = self.status(name)
        for kind in ("CapInh", "CapPrm", "CapEff", "CapBnd", "CapAmb"):
            self.assertEqual(int(status[kind][0], 16), 0, kind)
        self.assertEqual(status["NoNewPrivs"], ["1"])
        self.assertEqual((status["Uid"][1], status["Gid"][1]), ("6480", "6480"))
        resident = int(status["VmRSS"][0])
        print(f"resident: {resident / 1024:.0f} MiB")
        self.assertLess(resident, MOST_RESIDENT_KIB)
        for path in ("/x", "/etc/eddy/x", "/usr/x"):
            self.assertNotEqual(self.engine.exec(name, "touch", path, check=False).returncode, 0, path)
        modes = self.engine.exec(name, "stat", "--format", "%n %A %U:%G", "/run/eddy/leaf1.sock", "/run/eddy/x.memif").stdout
        self.assertRegex(modes, r"leaf1.sock srw.rw.--- eddy:eddy\n.*x.memif srw.rw.--- eddy:eddy\n")

    def test_no_shell_is_needed(self):
        empty = self.folder() / "empty"
        empty.write_text("")
        hidden = [word for shell in ("dash", "bash", "sh") for word in ("--volume", f"{empty}:/usr/bin/{shell}:ro")]
        name = self.start_switch("leaf1", MEMIF, options=(*hidden, *SOON))
        self.assertNotEqual(self.engine.exec(name, "sh", "-c", "true", check=False).returncode, 0)
        self.wait_for_health(name, "healthy")

    def wait_for_health(self, name, wanted):
        wait_for(lambda: self.engine.inspect(name)["State"]["Health"]["Status"] == wanted, 20, f"{name} is {wanted}",
                 pause=0.1)

    def test_its_health_follows_the_switch(self):
        name = self.start_switch("leaf1", MEMIF, options=SOON)
        self.wait_for_health(name, "healthy")
        self.engine.call("kill", "--signal", "STOP", name)
        self.wait_for_health(name, "unhealthy")
        self.engine.call("kill", "--signal", "CONT", name)
        self.wait_for_health(name, "healthy")

    def test_a_fabric_port_without_its_peer_is_unhealthy(self):
        name = self.start_switch("leaf1", {}, options=SOON, more=FABRIC)
        self.wait_for_health(name, "unhealthy")
        self.assertIn("p1", self.engine.inspect(name)["State"]["Health"]["Log"][-1]["Output"])

    def test_sigterm_ends_it_at_once(self):
        name = self.running(self.start_switch("leaf1", MEMIF))
        began = time.monotonic()
        self.engine.call("stop", "--time", "20", name)
        self.assertLess(seconds_since(began), 5)
        status, lines = self.lines_at_end(name)
        self.assertEqual(status, 0)
        self.assertRegex("\n".join(lines), r"(?m) switch leaf1 ends, 0 packets given up$")


class Ending(InContainers):
    """SIGTERM while a peer is paused: the peer is told to go on before the switch is gone."""

    ports = {"p1": "net_af_packet0,iface=eth1", "p2": "net_af_packet1,iface=eth2"}

    def setUp(self):
        super().setUp()
        # Everything that comes in for p2 waits: it sends 1 Mb/s.
        more = {"ports": {
            "p1": {"device": self.ports["p1"], "addresses": ["10.0.1.1/24"], "pgs": {CLASS: "small"}, "speed": "1Gbps",
                   "mac": GATEWAY},
            "p2": {"device": self.ports["p2"], "addresses": ["10.0.2.1/24"], "shaper": "1Mbps", "speed": "1Gbps"}},
            "buffer": {"size": "4MiB", "profiles": {
                "small": {"lossless": True, "mode": "static", "xoff": "30KiB", "headroom": "1MiB"}}},
            "neighbors": [{"address": "10.0.2.2", "mac": "02:00:00:00:02:02", "port": "p2"}]}
        self.container = self.start_switch("leaf1", {}, options=NETWORK, more=more)
        self.peer = f"t{self.engine.pid(self.container)}"
        self.wire((self.container, "eth1"), (None, self.peer))
        self.addCleanup(run, "ip", "link", "del", self.peer, check=False)
        self.wire((self.container, "eth2"), (self.container, "other"))
        for interface in ("eth1", "eth2", "other"):
            self.enter(self.container, "ip", "link", "set", interface, "up")
        run("ip", "link", "set", self.peer, "up", "addrgenmode", "none")
        self.line = socket.socket(socket.AF_PACKET, socket.SOCK_RAW, socket.htons(ETH_P_ALL))
        self.addCleanup(self.line.close)
        self.line.bind((self.peer, ETH_P_ALL))
        self.line.settimeout(0.2)
        # A pause is renewed every 100 us: what comes while nobody reads must not push out the XON behind it.
        self.line.setsockopt(socket.SOL_SOCKET, SO_RCVBUFFORCE, RECEIVE_BUFFER)

    def quanta_heard(self, until, seconds):
        """Of our class, from each PFC frame, until one of them is as wanted.

        The interface goes when the container has ended. The socket tells that once; then it gives what was heard before.
        """
        heard, deadline = [], time.monotonic() + seconds
        while time.monotonic() < deadline:
            try:
                frame = self.line.recv(2048)
            except TimeoutError:
                continue
            except OSError as error:
                if error.errno != errno.ENETDOWN:
                    raise
                continue
            if frame[12:16] != PFC or not struct.unpack(">H", frame[16:18])[0] >> CLASS & 1:
                continue
            heard.append(struct.unpack(">H", frame[18 + 2 * CLASS:20 + 2 * CLASS])[0])
            if until(heard[-1]):
                break
        return heard

    def frame(self):
        payload = bytes(1400)
        udp = struct.pack(">HHHH", 4000, 4000, 8 + len(payload), 0) + payload
        head = struct.pack(">BBHHHBBH4s4s", 0x45, CLASS << 2, 20 + len(udp), 0, 0, 64, 17, 0,
                           socket.inet_aton("10.0.1.2"), socket.inet_aton("10.0.2.2"))
        total = sum(struct.unpack(">10H", head))
        total = (total & 0xFFFF) + (total >> 16)
        head = head[:10] + struct.pack(">H", ~((total & 0xFFFF) + (total >> 16)) & 0xFFFF) + head[12:]
        return bytes.fromhex(GATEWAY.replace(":", "") + "020000000102") + b"\x08\x00" + head + udp

    def test_a_paused_peer_hears_xon(self):
        self.running(self.container)
        wait_for(lambda: self.engine.exec(self.container, "eddyctl", "healthy", "--ports", "all", check=False)
                 .returncode == 0, 10, "both ports are up", pause=0.1)
        frame, pid = self.frame(), self.engine.pid(self.container)
        for _ in range(FRAMES):
            self.line.send(frame)
        self.assertTrue(any(self.quanta_heard(lambda quanta: quanta > 0, 10)), "no pause was heard")
        os.kill(pid, signal.SIGTERM)
        self.assertIn(0, self.quanta_heard(lambda quanta: quanta == 0, 3), "no XON was heard")
        self.assertEqual(self.engine.wait(self.container, 10), 0)


if __name__ == "__main__":
    main()
