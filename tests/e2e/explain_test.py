"""eddyctl explain on a real fabric: what a leaf says it would do with a packet is what a capture of it shows, and what is no
description is one clear line."""

import json
import re
import signal
import subprocess

from support import BINARIES, Flow, OnFabric, main, wait_for

SEND = "import socket,sys;s=socket.socket(socket.AF_INET,socket.SOCK_DGRAM);s.setsockopt(0,1,int(sys.argv[4])<<2);" \
       "s.bind(('',int(sys.argv[1])));s.sendto(bytes(400),(sys.argv[2],int(sys.argv[3])))"


class Explain(OnFabric):
    plan = {"scheme": "ecmp"}

    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        cls.leaf = cls.fabric.switch("leaf1")
        cls.here = [host for host in cls.fabric.hosts][0]
        cls.there = [host for host in cls.fabric.hosts][2]
        cls.world.run(cls.here.namespace, "ping", "-c", "1", "-W", "5", cls.there.ipv4, check=False)

    def packet(self, sport, dscp=3):
        return f"src={self.here.ipv4} dst={self.there.ipv4} proto=udp sport={sport} dport=4000 dscp={dscp} len=442"

    def explain(self, *words):
        done = self.leaf.eddyctl("explain", *words, "--json")
        self.assertEqual(done.returncode, 0, done.stderr)
        return json.loads(done.stdout)

    def captured(self, sports, dscp):
        """Sends a packet from each source port; the (port, queue, group) by which each left, as a capture has it."""
        path = self.world.directory / "explained.pcapng"
        before = self.log().count("packets are captured")
        words = (BINARIES / "eddyctl", "--name", self.leaf.name, "capture", "all", "--direction", "out", "--filter",
                 "udp dst port 4000", "--count", str(len(sports)), "-w", path)
        with subprocess.Popen(words, stderr=subprocess.PIPE, text=True) as process:
            self.addCleanup(process.kill)
            wait_for(lambda: self.log().count("packets are captured") > before, 10, "the capture")
            for sport in sports:
                self.world.run(self.here.namespace, "python3", "-c", SEND, str(sport), self.there.ipv4, "4000", str(dscp))
            process.communicate(timeout=30)
        fields = ("udp.srcport", "frame.comment")
        lines = subprocess.run(["tshark", "-r", path, "-T", "fields", *(w for f in fields for w in ("-e", f))], text=True,
                               stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, check=False, timeout=60).stdout.split("\n")
        found = {}
        for line in lines:
            if "\t" in line:
                sport, comment = line.split("\t")
                said = dict(word.split("=") for word in comment.split() if "=" in word)
                found[int(sport)] = (said["port"], int(said["queue"]), int(said["pg"]))
        return found

    def log(self):
        return self.leaf.process.output()

    def test_what_is_said_is_what_a_capture_shows(self):
        sports = list(range(20_001, 20_013))
        said = {}
        for sport in sports:
            story = self.explain(self.packet(sport))
            self.assertEqual(story["fate"], "queued", story)
            steps = {step["step"]: step for step in story["steps"]}
            self.assertEqual(steps["select"]["port"], story["egress"])
            self.assertEqual(len(steps["select"]["paths"]), 2)
            said[sport] = (story["egress"], steps["enqueue"]["queue"], steps["classify"]["pg"])
        self.assertEqual(self.captured(sports, 3), said)
        self.assertEqual(len({port for port, _, _ in said.values()}), 2, "ecmp used one spine alone")

    def test_it_is_not_sent(self):
        def counted():  # beside what hosts say by themselves
            return sum(row[key] for row in self.leaf.show("ports")["rows"] if row["port"] == "h1" for key in ("rx_packets", "drops")
                       if key in row)
        before = counted()
        for sport in range(60):
            self.explain(self.packet(1_000 + sport) if sport % 2 else f"src={self.here.ipv4} dst=192.0.2.1")
        self.assertLess(counted() - before, 20)

    def test_lines_for_people(self):
        done = self.leaf.eddyctl("explain", f"src={self.here.ipv4}", f"dst={self.there.ipv4}", "dport=4791", "dscp=3", "ecn=ect0")
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertRegex(done.stdout, r"\n  4   classify   DSCP 3: traffic class 3, PG 3\n")
        self.assertRegex(done.stdout, r"\n  8   select     ecmp wants spine[12]: by the hash of the flow\n")
        self.assertRegex(done.stdout, r"\n +->  [01] +spine[12] ")
        self.assertRegex(done.stdout, r"\n  => it goes into queue 3 of spine[12]\n$")

    def test_a_packet_that_would_be_dropped(self):
        story = self.explain(f"src={self.here.ipv4} dst=192.0.2.1")
        self.assertEqual((story["fate"], story["reason"]), ("dropped", "no_route"))

    def test_nonsense_is_one_line_and_problems_are_said_together(self):
        done = self.leaf.eddyctl("explain", "which way is up?")
        self.assertEqual((done.returncode, done.stdout, done.stderr.count("\n")), (1, "", 1), done.stderr)
        self.assertIn("src, dst", done.stderr)
        done = self.leaf.eddyctl("explain", "src=1.2.3", "dst=10.0.0.1", "dscp=99", "port=nowhere")
        self.assertEqual((done.returncode, done.stderr.count("\n")), (1, 3), done.stderr)
        self.assertEqual(self.leaf.eddyctl("explain").returncode, 2)
        done = self.leaf.eddyctl("explain", "src=1.2.3.4", "--count", "3")
        self.assertEqual((done.returncode, "--count does not concern explain" in done.stderr), (2, True), done.stderr)

    def trace(self, *words):
        """A trace that has begun."""
        before = self.log().count("packets are captured")
        process = subprocess.Popen((str(BINARIES / "eddyctl"), "--name", self.leaf.name, "trace", *words), stdout=subprocess.PIPE,
                                   stderr=subprocess.PIPE, text=True)
        self.addCleanup(process.kill)
        wait_for(lambda: self.log().count("packets are captured") > before, 10, "the trace")
        return process

    def send(self, sport, dport=4000, dscp=3):
        self.world.run(self.here.namespace, "python3", "-c", SEND, str(sport), self.there.ipv4, str(dport), str(dscp))

    def test_explained_captured_and_traced_it_goes_the_same_way(self):
        sports = list(range(21_001, 21_007))
        said = {sport: self.explain(self.packet(sport)) for sport in sports}
        captured = self.captured(sports, 3)
        process = self.trace("--filter", "udp dst port 4000", "--count", str(len(sports)), "--json")
        for sport in sports:
            self.send(sport)
        out, err = process.communicate(timeout=30)
        self.assertEqual((process.returncode, err), (0, "eddyctl: 6 packets traced\n"), out)
        stories = {story["packet"]["sport"]: story for story in map(json.loads, out.splitlines())}
        self.assertEqual(sorted(stories), sports)
        for sport, story in stories.items():
            self.assertEqual((story["fate"], story["as_said"]), ("sent", True), story)
            self.assertEqual(story["egress"], said[sport]["egress"])
            self.assertEqual((story["egress"], story["queue"]), captured[sport][:2])
            self.assertEqual([step["step"] for step in story["steps"]][-1], "transmit")
            self.assertGreater(story["left_ns"], story["came_ns"])

    def test_a_trace_in_words_and_of_a_drop(self):
        process = self.trace("--filter", "udp dst port 4001", "--count", "1")
        self.send(22_000, 4001)
        out, err = process.communicate(timeout=30)
        self.assertEqual(process.returncode, 0, err)
        self.assertRegex(out, r"\n  15  transmit   by spine[12], queue 3, [0-9.]+ [mu]s after it came\n")
        process = self.trace("--filter", "udp dst port 4002", "--count", "1", "--json")
        self.world.run(self.here.namespace, "python3", "-c", SEND, "22001", "192.0.2.1", "4002", "3")
        out, err = process.communicate(timeout=30)
        story = json.loads(out)
        self.assertEqual((story["fate"], story["reason"], story["as_said"]), ("dropped", "no_route", True))

    def test_a_trace_that_cannot_be(self):
        for words, code, part in ((("--filter", "udp prot 3"), 2, "pcap-filter"), (("--count", "4001"), 2, "--count 4001: no whole number from 1 to 4000"),
                                  (("--count", "0"), 2, "from 1 to 4000"), (("--count", "-3"), 2, "from 1 to 4000"),
                                  (("--count", "99999999999999999999"), 2, "from 1 to 4000"), (("--count", "ten"), 2, "from 1 to 4000"),
                                  (("h1",), 2, "too much"), (("-w", "x"), 2, "does not concern trace")):
            done = self.leaf.eddyctl("trace", *words)
            self.assertEqual((done.returncode, part in done.stderr, done.stderr.count("\n")), (code, True, 1), done.stderr)
        process = self.trace("--filter", "udp dst port 4003")
        done = self.leaf.eddyctl("trace")
        self.assertEqual((done.returncode, "one at a time" in done.stderr), (1, True), done.stderr)
        process.send_signal(signal.SIGINT)
        self.assertEqual(process.communicate(timeout=20)[1], "eddyctl: 0 packets traced\n")
        self.assertEqual(process.returncode, 0)

    def test_a_trace_whose_reader_stalls_and_a_flood(self):
        process = self.trace("--count", "4000", "--json")
        self.send(23_000)
        self.assertIn("fate", json.loads(process.stdout.readline()))  # it reads
        process.send_signal(signal.SIGSTOP)
        self.assert_flows(self.run_flows([Flow("flood", self.here, self.there, udp=True, rate=20_000_000)], 2))
        process.send_signal(signal.SIGINT)  # which it finds when it goes on, with all that is in the ring
        process.send_signal(signal.SIGCONT)
        out, err = process.communicate(timeout=60)
        self.assertEqual(process.returncode, 0, err)
        self.assertRegex(err, r"^eddyctl: \d+ packets traced(, \d+ lost: .*)?\n$")
        self.assertGreater(len(out.splitlines()), 100)
        ping = self.world.run(self.here.namespace, "ping", "-q", "-c", "20", "-i", "0.01", self.there.ipv4, check=False)
        self.assertIn(" 0% packet loss", ping.stdout)

    def test_many_questions_at_once(self):
        words = [str(BINARIES / "eddyctl"), "--name", self.leaf.name, "explain", self.packet(7), "--json"]
        asking = [subprocess.Popen(words, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) for _ in range(40)]
        flood = self.world.run(self.here.namespace, "ping", "-q", "-c", "200", "-i", "0.005", self.there.ipv4, check=False)
        answers = [process.communicate(timeout=60) for process in asking]
        self.assertEqual([process.returncode for process in asking], [0] * len(asking), answers)
        self.assertEqual({json.loads(out)["egress"] for out, _ in answers}, {json.loads(answers[0][0])["egress"]})
        self.assertRegex(flood.stdout, re.compile(r"\b0% packet loss"))


if __name__ == "__main__":
    main()
