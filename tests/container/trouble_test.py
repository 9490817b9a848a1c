"""A switch in a container that cannot have what it wants: one clear line, and an exit code."""

import json
import time

from support import CONFINED, SWITCH, InContainers, main, seconds_since

NULL = {"p1": "net_null0"}
PACKET = {"p1": "net_af_packet0,iface=eth1"}
NETWORK = ("--user", "0:6480", "--cap-add", "NET_ADMIN", "--cap-add", "NET_RAW")


class Waiting(InContainers):
    def test_an_interface_that_does_not_come(self):
        began = time.monotonic()
        name = self.start_switch("leaf1", PACKET, "--wait", "300ms", options=NETWORK)
        self.assert_refused(name, "^eddyd: not there after 300ms: interface eth1$")
        self.assertLess(seconds_since(began), 10)

    def test_interfaces_of_containerlab_that_do_not_come(self):
        name = self.start_switch("leaf1", PACKET, "--wait", "300ms", options=(*NETWORK, "--env", "CLAB_INTFS=2"))
        self.assert_refused(name, "^eddyd: not there after 300ms: interface eth1, 2 of the 2 interfaces that CLAB_INTFS "
                                  "counts beside lo and eth0$")

    def test_a_number_of_interfaces_that_is_none(self):
        name = self.start_switch("leaf1", NULL, options=("--env", "CLAB_INTFS=many"))
        self.assert_refused(name, "^eddyd: CLAB_INTFS is no number of interfaces from 0 to 1024: .many.$", status=2)

    def test_interfaces_that_come_late_are_used(self):
        name = self.start_switch("leaf1", PACKET, options=(*NETWORK, "--env", "CLAB_INTFS=2"))
        self.assertNotEqual(self.engine.exec(name, "eddyctl", "show", "ports", check=False).returncode, 0)
        self.wire((name, "eth1"), (name, "eth2"))
        self.running(name)

    def test_sigterm_ends_the_waiting(self):
        """Of process 1, which no signal ends that it does not ask for."""
        name = self.start_switch("leaf1", PACKET, options=NETWORK)
        began = time.monotonic()
        self.engine.call("stop", "--time", "20", name)
        self.assertLess(seconds_since(began), 5)
        status, lines = self.lines_at_end(name)
        self.assertEqual(status, 0)
        self.assertRegex(lines[-1], "ended while waiting for interface eth1$")


class Trouble(InContainers):
    def test_a_volume_that_cannot_be_written(self):
        folder = self.folder()
        folder.chmod(0o755)
        name = self.start_switch("leaf1", NULL, volume=folder)
        self.assert_refused(name, "^eddyd: .*/run/eddy/leaf1.sock: Permission denied$")

    def test_no_folder_for_dpdk(self):
        options = (*CONFINED, "--network", "none", "--volume", f"{self.volume()}:/run/eddy")
        path = self.folder() / "leaf1.yaml"
        path.write_text(json.dumps({"switch": {"name": "leaf1"}, "ports": {"p1": {"device": "net_null0"}}}))
        name = self.name("leaf1")
        self.engine.run("eddy", "--config", "/etc/eddy/leaf1.yaml",
                        options=("--name", name, *options, "--volume", f"{path}:/etc/eddy/leaf1.yaml:ro"))
        self.assert_refused(name, "^eddyd: /run/dpdk/eddy-leaf1: Read-only file system$")

    def test_no_configuration(self):
        name = self.name("leaf1")
        self.engine.run("eddy", "--config", "/etc/eddy/leaf1.yaml", options=("--name", name, *SWITCH))
        self.assert_refused(name, "^/etc/eddy/leaf1.yaml: cannot be opened, name a readable file$", status=2)

    def test_an_image_of_another_version(self):
        name = self.start_switch("leaf1", NULL, "--require-version", "7.8.9")
        self.assert_refused(name, r"^eddyd: version 7\.8\.9 is required and this is version \d+\.\d+\.\d+: ", status=2)

    def test_a_socket_that_two_containers_want(self):
        memif = {"p1": "net_memif0,role=server,socket=/run/eddy/x.memif,socket-abstract=no"}
        volume = self.volume()
        self.running(self.start_switch("leaf1", memif, volume=volume))
        name = self.start_switch("leaf2", memif, volume=volume)
        self.assert_refused(name, "^eddyd: port p1 .* socket /run/eddy/x.memif is served by another process$")

    def test_a_name_that_two_containers_want(self):
        volume = self.volume()
        self.running(self.start_switch("leaf1", NULL, volume=volume))
        self.names[:] = [self.rename(name) for name in self.names]
        name = self.start_switch("leaf1", NULL, volume=volume)
        self.assert_refused(name, "^eddyd: .*/run/eddy/leaf1.sock is served by another process$")

    def rename(self, name):
        self.engine.call("rename", name, f"{name}-first")
        return f"{name}-first"

    def test_thirty_three_ports(self):
        name = self.start_switch("leaf1", {f"p{number}": f"net_null{number}" for number in range(33)})
        self.assert_refused(name, r"33 ports, at most 32 \(DPDK's build limit\)$", status=2)

    def test_without_hugepages_it_says_what_it_takes(self):
        name = self.running(self.start_switch("leaf1", NULL))
        self.assertIn("memory: ordinary pages (", self.engine.logs(name))


class JsonLog(InContainers):
    """With --json-log each line is an object, whoever writes it."""

    def objects(self, name, status):
        code, lines = self.lines_at_end(name)
        self.assertEqual(code, status, lines)
        objects = [json.loads(line) for line in lines]
        for line in objects:
            self.assertLessEqual({"time", "level"}, set(line), line)
        return [line.get("message", "") for line in objects]

    def test_of_a_driver_that_does_not_exist(self):
        said = self.objects(self.start_switch("leaf1", {"p1": "net_wrong0"}, "--json-log"), 1)
        self.assertIn('EAL: failed to parse device "net_wrong0"', said)
        self.assertRegex(said[-1], r"^eddyd: port p1 \(net_wrong0\): ")

    def test_of_an_option_that_eal_does_not_know(self):
        said = self.objects(self.start_switch("leaf1", NULL, "--json-log", "--", "--nonsense"), 1)
        self.assertIn("eddyd: unrecognized option '--nonsense'", said)
        self.assertIn("Usage: eddyd [options]", said)

    def test_of_an_option_that_eddyd_does_not_know(self):
        said = self.objects(self.start_switch("leaf1", NULL, "--json-log", "--nonsense"), 2)
        self.assertIn("The following argument was not expected: --nonsense", said)

    def test_of_a_switch_that_runs(self):
        name = self.running(self.start_switch("leaf1", NULL, "--json-log"))
        self.engine.call("stop", name)
        self.assertRegex(self.objects(name, 0)[-1], "^switch leaf1 ends, ")


if __name__ == "__main__":
    main()
