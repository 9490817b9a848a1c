"""eddyctl healthy beside real switches: what it calls healthy, and what it says of the rest."""

import json
import os
import signal
import socket
import subprocess
import time

from pair import HeldThread, Pair
from support import BINARIES, EndToEnd, main, seconds_since, wait_for

LEAF_IS_HEALTHY = "leaf is healthy (up: 1 of 1 fabric ports, 1 of 2 host ports; advancing: 2 of 2 workers)\n"
SPINE_IS_HEALTHY = "spine is healthy (up: 1 of 1 fabric ports, 0 of 0 host ports; advancing: 1 of 1 workers)\n"
BOUND = 5  # seconds; a worker is given 2


class Healthy(EndToEnd):
    def setUp(self):
        self.pair = Pair(self.world, self.world.directory)
        self.addCleanup(self.pair.stop)
        self.pair.start_both()

    def says(self, words, status, out="", error="", **environment):
        done = self.pair.eddyctl("healthy", *words, **environment)
        self.assertEqual((done.returncode, done.stdout, done.stderr), (status, out, error))

    def test_what_is_healthy_and_which_ports_count(self):
        self.says(("--all",), 0, LEAF_IS_HEALTHY + SPINE_IS_HEALTHY)
        self.says(("--name", "leaf"), 0, LEAF_IS_HEALTHY)
        self.says(("--all", "--ports", "all"), 1, SPINE_IS_HEALTHY, "eddyctl: leaf: host port nobody is down\n")
        self.says((), 1, "", "eddyctl: several switches run here, choose with --name: leaf, spine\n")
        self.says((), 0, SPINE_IS_HEALTHY, EDDY_SWITCH="spine")
        self.says(("--name", "leaf"), 0, LEAF_IS_HEALTHY, EDDY_SWITCH="spine")
        self.says(("--all",), 0, LEAF_IS_HEALTHY + SPINE_IS_HEALTHY, EDDY_SWITCH="spine")
        answer = json.loads(self.pair.eddyctl("--json", "healthy", "--all", "--ports", "all").stdout)
        self.assertEqual([(each["switch"], each["healthy"]) for each in answer["switches"]], [("leaf", False), ("spine", True)])
        self.assertFalse(answer["healthy"])

    def test_wrong_lines(self):
        self.says(("--all", "--name", "leaf"), 2, "", "eddyctl: --all is every switch of the folder; --name and --socket are one\n")
        done = self.pair.eddyctl("healthy", "--ports", "some")
        self.assertEqual(done.returncode, 2)
        self.assertIn("some not in {fabric,all,none}", done.stderr)
        done = self.pair.eddyctl("show", "ports", EDDY_SWITCH="../leaf")
        self.assertEqual(done.returncode, 2)
        self.assertRegex(done.stderr, r"^eddyctl: EDDY_SWITCH '../leaf' is no plain name; .*\n$")

    def test_every_command_takes_the_switch_of_the_environment(self):
        self.assertEqual(json.loads(self.pair.eddyctl("--json", "show", "ports", EDDY_SWITCH="spine").stdout)["switch"],
                         f"spine-{os.getpid()}")
        self.assertIn("to-leaf", self.pair.eddyctl("top", EDDY_SWITCH="spine").stdout)
        self.assertEqual(self.pair.eddyctl("clear", "counters", EDDY_SWITCH="spine").returncode, 0)
        done = subprocess.run([BINARIES / "eddyctl", "--dir", "/nowhere", "list"], capture_output=True, text=True, check=False)
        self.assertEqual((done.returncode, done.stdout, done.stderr), (1, "", "eddyctl: --dir /nowhere: there is no such folder\n"))
        self.assertEqual(self.pair.eddyctl("list", EDDY_SWITCH="spine").stdout, "leaf\nspine\n")

    def test_tables_of_sonic(self):
        """Every table of a switch that runs has SONiC's heads and a line for each port."""
        for words, heads in (("show pfc counters", "Port Rx PFC0 PFC1 PFC2 PFC3 PFC4 PFC5 PFC6 PFC7"),
                             ("show queue watermark unicast", "Port UC0 UC1 UC2 UC3 UC4 UC5 UC6 UC7"),
                             ("show priority-group watermark headroom", "Port PG0 PG1 PG2 PG3 PG4 PG5 PG6 PG7"),
                             ("show queue counters", "Port TxQ Counter/pkts Counter/bytes Drop/pkts Drop/bytes")):
            done = self.pair.eddyctl("--name", "leaf", *words.split(), "--style", "sonic")
            self.assertEqual(done.returncode, 0, done.stderr)
            lines = done.stdout.splitlines()
            self.assertEqual(lines[0].split(), heads.split())
            self.assertTrue(set(lines[1]) <= {"-", " "})
            self.assertEqual({line.split()[0] for line in lines[2:5]} & {"to-spine", "lone", "nobody"},
                             {"to-spine"} if "counters" in words and "queue" in words else {"to-spine", "lone", "nobody"})
            self.assertNotIn("N/A", "" if heads.endswith("Drop/bytes") else done.stdout)
        done = self.pair.eddyctl("--name", "leaf", "show", "vlan", "--style", "sonic")
        self.assertEqual(done.returncode, 2)
        self.assertIn("show pfc counters; ", done.stderr)

    def test_a_switch_that_was_killed(self):
        self.pair.processes["spine"].kill()
        path = self.pair.folder / "spine.sock"
        nobody = f"{path}: nobody answers; a switch that was killed leaves its socket behind\n"
        wait_for(lambda: "is down" in self.pair.eddyctl("healthy", "--name", "leaf").stderr, 20, "the leaf notices")
        self.says(("--all",), 1, "", f"eddyctl: leaf: fabric port to-spine is down\neddyctl: spine: {nobody}")
        self.says(("--name", "spine"), 1, "", f"eddyctl: {nobody}")
        self.says(("--name", "leaf", "--ports", "none"), 0, LEAF_IS_HEALTHY.replace("1 of 1 fabric", "0 of 1 fabric"))
        answer = json.loads(self.pair.eddyctl("--json", "healthy", "--name", "spine").stdout)
        self.assertEqual(answer, {"healthy": False, "problems": [nobody.strip()], "switches": []})
        self.pair.start("spine")
        wait_for(lambda: self.pair.eddyctl("healthy", "--all").returncode == 0, 20, "both switches healthy again")

    def test_a_worker_that_stands_still(self):
        with HeldThread(self.pair.worker_thread("leaf", 1)):
            began = time.monotonic()
            done = self.pair.eddyctl("healthy", "--all")
            self.assertLess(seconds_since(began), BOUND)
            self.assertEqual((done.returncode, done.stdout), (1, SPINE_IS_HEALTHY))
            self.assertRegex(done.stderr, r"^eddyctl: leaf: worker 1 stands still: it has not polled for 2\d\d\d ms \(ports lone,nobody\)\n$")
        self.says(("--all",), 0, LEAF_IS_HEALTHY + SPINE_IS_HEALTHY)

    def test_a_switch_that_hangs_holds_up_nobody_else(self):
        os.kill(self.pair.processes["leaf"].popen.pid, signal.SIGSTOP)
        self.addCleanup(os.kill, self.pair.processes["leaf"].popen.pid, signal.SIGCONT)
        began = time.monotonic()
        done = self.pair.eddyctl("healthy", "--all", "--ports", "none")
        self.assertLess(seconds_since(began), BOUND)
        self.assertEqual((done.returncode, done.stdout), (1, SPINE_IS_HEALTHY))
        self.assertEqual(done.stderr, f"eddyctl: leaf: {self.pair.folder}/leaf.sock: no answer within 2 s\n")


class Nobody(EndToEnd):
    def test_a_folder_without_switches(self):
        pair = Pair(self.world, self.world.directory)
        for words in ((), ("--all",)):
            done = pair.eddyctl("healthy", *words)
            self.assertEqual((done.returncode, done.stdout, done.stderr),
                             (1, "", f"eddyctl: no switch runs here (looked in {pair.folder})\n"))
        pair.folder = self.world.directory / "none"
        done = pair.eddyctl("healthy")
        self.assertEqual((done.returncode, done.stderr), (1, f"eddyctl: --dir {pair.folder}: there is no such folder\n"))

    def test_what_is_no_control_socket_is_no_switch(self):
        pair = Pair(self.world, self.world.directory)
        with socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET) as memif:
            memif.bind(str(pair.folder / "line.sock"))
            memif.listen()
            (pair.folder / "text.sock").write_text("text")
            done = pair.eddyctl("healthy", "--all")
            self.assertEqual((done.returncode, done.stderr), (1, f"eddyctl: no switch runs here (looked in {pair.folder})\n"))


if __name__ == "__main__":
    main()
