"""eddyctl explain on a real fabric: what a leaf says it would do with a packet is what a capture of it shows, and what is no
description is one clear line."""

import json
import re
import subprocess

from support import BINARIES, OnFabric, main, wait_for

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
