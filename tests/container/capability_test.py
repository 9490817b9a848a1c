"""Each kind of port in a container that has exactly the capabilities of `eddyd --capabilities`, and in one with one fewer.

One fewer of those that a port needs: it is refused in one line that names it. One fewer of those for comfort: it runs, and
says once what is missing.
"""

import json
import re
from contextlib import contextmanager
from pathlib import Path

from support import (
    ABOUT_HUGEPAGES, BINARIES, InContainers, give_back_hugepages, main, reserve_hugepages, run, total_hugepages, wait_for)

# For each row of the table, by kind and by what its device must say: a device of that kind.
DEVICES = {
    ("af_packet", ""): "net_af_packet0,iface=eth1",
    ("af_xdp", ""): "net_af_xdp0,iface=eth1",
    ("memif", ""): "net_memif0,role=server,socket=/run/eddy/x.memif,socket-abstract=no",
    ("null", ""): "net_null0",
    ("pcap", "iface=, rx_iface=, rx_iface_in= or tx_iface="): "net_pcap0,iface=eth1",
    ("pcap", ""): "net_pcap0,rx_pcap=/etc/eddy/none.pcap,tx_pcap=/run/eddy/out.pcap",
    ("ring", ""): "net_ring0",
    ("tap", ""): "net_tap0,iface=tap0",
    ("vhost", ""): "net_vhost0,iface=/run/eddy/v.sock",
    ("virtio", ""): "net_virtio_user0,path=/run/eddy/v.sock",
}
PEERS = {("virtio", ""): "net_vhost0,iface=/run/eddy/v.sock"}
NUMBERS = {"NET_ADMIN": 12, "NET_RAW": 13, "IPC_LOCK": 14, "SYS_RAWIO": 17, "SYS_ADMIN": 21, "SYS_NICE": 23}
HAVE_PEERS = ("memif", "vhost", "virtio")  # which are down until one connects
LOCKS_ALL = (("af_xdp", ""),)  # of its packet buffers, far more than MEMLOCK
MEMLOCK = "memlock=8388608:8388608"  # the kernel's own limit
EMPTY_PCAP = bytes.fromhex("d4c3b2a1020004000000000000000000ffff000001000000")
HUGE_MIB = 256


def table():
    rows = json.loads(run(BINARIES / "eddyd", "--capabilities", "--json").stdout)["kinds"]
    return {(row["kind"], row["when"]): row for row in rows}


def row_of_hugepages():
    return json.loads(run(BINARIES / "eddyd", "--capabilities", "--json").stdout)["hugepages"]


def measured():
    return [(key, row) for key, row in table().items() if row["measured"]]


def mask(capabilities):
    return sum(1 << NUMBERS[name] for name in capabilities)


class EachKind(InContainers):
    def start(self, device, capabilities, files="", *, up=True):
        """As uid 0 where there is a capability to hold; an engine gives none to others. A peer comes first."""
        user = ("--user", "0:6480") if capabilities else ()
        volume = self.volume()
        for peer, of_peer in PEERS.items():
            if device == DEVICES[peer]:
                self.running(self.start_switch("peer", {"p1": of_peer}, volume=volume))
        pcap = self.folder() / "none.pcap"
        pcap.write_bytes(EMPTY_PCAP)
        name = self.start_switch("leaf1", {"p1": device}, volume=volume, options=(
            *user, "--ulimit", MEMLOCK, *(word for name in capabilities for word in ("--cap-add", name)),
            *(word for file in files.split() for word in ("--device", file)),
            "--volume", f"{pcap}:/etc/eddy/none.pcap:ro"))
        if "iface=eth1" in device:
            self.wire((name, "eth1"), (name, "eth2"))
            for interface in ("eth1", "eth2") if up else ():
                self.enter(name, "ip", "link", "set", interface, "up")
        return name

    def warnings(self, name):
        return [line for line in self.engine.logs(name).splitlines()
                if re.search(r"\[(warning|error)\]", line) and "poll_gap" not in line]

    def warnings_of_port(self, name):
        """Without what is said of hugepages that somebody reserved on this machine."""
        return [line for line in self.warnings(name) if ABOUT_HUGEPAGES not in line]

    @contextmanager
    def row(self, key, **more):
        """A part of a test for one row of the table; its containers are gone after it, also when it fails."""
        with self.subTest(kind=key, **more):
            try:
                yield
            except Exception:
                self.show_logs()
                raise
            finally:
                self.remove_containers()

    def test_every_measured_row_has_a_device_here(self):
        self.assertEqual({key for key, _ in measured()}, set(DEVICES))

    def test_it_runs_with_exactly_what_the_table_says(self):
        for key, row in measured():
            with self.row(key):
                self.runs_with_exactly(DEVICES[key], row, [*row["needs"], *row["comfort"]])

    def runs_with_exactly(self, device, row, capabilities):
        name = self.running(self.start(device, capabilities, row["files"]))
        status = Path(f"/proc/{self.engine.pid(name)}/status").read_text(encoding="ascii")
        for kind, held in (("CapPrm", capabilities), ("CapEff", capabilities), ("CapInh", ())):
            self.assertEqual(int(re.search(rf"{kind}:\s+(\S+)", status)[1], 16), mask(held), kind)
        if row["kind"] not in HAVE_PEERS:
            wait_for(lambda: self.engine.exec(name, "eddyctl", "healthy", "--ports", "all", check=False).returncode == 0,
                     10, f"{device} is up", pause=0.1)
        self.assertEqual(self.warnings_of_port(name), [])

    def one_fewer(self, of):
        """Of each row, what is left without each of its needs or comforts."""
        for key, row in measured():
            for missing in row[of]:
                yield key, row, missing, [name for name in [*row["needs"], *row["comfort"]] if name != missing]

    def test_without_one_that_it_needs_it_is_refused(self):
        for key, row, missing, rest in self.one_fewer("needs"):
            with self.row(key, missing=missing):
                name = self.start(DEVICES[key], rest, row["files"], up=False)
                self.assert_refused(name, rf"^eddyd: port p1 .*\bCAP_{missing}\b")

    def test_without_one_for_comfort_it_warns_once(self):
        for key, row, missing, rest in self.one_fewer("comfort"):
            with self.row(key, missing=missing):
                name = self.start(DEVICES[key], rest, row["files"], up=key not in LOCKS_ALL)
                if key in LOCKS_ALL:
                    self.assert_refused(name, rf"^eddyd: port p1.* must be locked, the limit is 8 MiB: .*CAP_{missing}\b")
                else:
                    warnings = self.warnings_of_port(self.running(name))
                    self.assertEqual(len(warnings), 1, warnings)
                    self.assertRegex(warnings[0], rf"port p1: without the capability CAP_{missing}\b")

    def test_hugepages(self):
        """What they ask for comfort is asked when there are some."""
        before = total_hugepages()
        self.addCleanup(give_back_hugepages, before)
        if reserve_hugepages(HUGE_MIB) < HUGE_MIB:
            self.skipTest(f"this machine has no {HUGE_MIB} MiB of hugepages to give")
        row = row_of_hugepages()
        with_all = self.running(self.start("net_null0", row["comfort"]))
        self.assertRegex(self.engine.logs(with_all), r"memory: \d+ MiB of hugepages")
        self.assertEqual(self.warnings(with_all), [])
        self.remove_containers()
        without = self.running(self.start("net_null0", []))
        self.assertRegex(self.engine.logs(without), r"memory: ordinary pages \(")
        warnings = self.warnings(without)
        self.assertEqual(len(warnings), 1, warnings)
        self.assertIn("without the capability CAP_SYS_NICE", warnings[0])


if __name__ == "__main__":
    main()
