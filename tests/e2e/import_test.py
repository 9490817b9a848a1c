"""eddylab import: what other simulators are given, made over and run. No root, no network."""

import json
import os
import re
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

import yaml

sys.path.insert(0, str(Path(__file__).resolve().parent))
import simulator_files as files  # noqa: E402
import sonic_files  # noqa: E402

ROOT = Path(__file__).resolve().parents[2]
BINARIES = Path(os.environ.get("EDDY_BIN", ROOT / "build" / "dev" / "bin"))


def eddylab(*words, **options):
    return subprocess.run([BINARIES / "eddylab", *map(str, words)], capture_output=True, text=True, timeout=120, check=False,
                          **options)


class Import(unittest.TestCase):
    def setUp(self):
        place = tempfile.TemporaryDirectory()
        self.addCleanup(place.cleanup)
        self.place = Path(place.name)
        self.out = self.place / "made"

    def write(self, **texts):
        """Files of these names, '_' for '.', below the folder that is returned."""
        folder = self.place / "mix"
        folder.mkdir(exist_ok=True)
        for name, text in texts.items():
            (folder / name.replace("_", ".", 1)).write_text(text)
        return folder

    def hpcc(self, topology=None, flows=None, **keys):
        topology = topology or files.leaf_spine()
        hosts = int(topology.split()[0]) - int(topology.split()[1])
        return self.write(config_txt=files.hpcc_config(**keys), topology_txt=topology, flow_txt=flows or files.flows(hosts))

    def conweave(self, topology, flows, **keys):
        """As ConWeave's tree has it: the run's folder is three below what its names begin at."""
        (self.place / "config").mkdir()
        (self.place / "config" / "fabric.txt").write_text(topology)
        (self.place / "config" / "load.txt").write_text(flows)
        run = self.place / "mix" / "output" / "7"
        run.mkdir(parents=True)
        (run / "config.txt").write_text(files.conweave_config("fabric", "load", **keys))
        return run

    def imported(self, kind, source, *words):
        done = eddylab("import", kind, source, "--out", self.out, *words)
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertEqual(done.stderr, "")
        self.assertTrue(done.stdout.startswith((self.out / "import.txt").read_text()))
        return yaml.safe_load((self.out / "experiment.yaml").read_text()), done.stdout

    def run_it(self, *words):
        done = eddylab("run", self.out / "experiment.yaml", "--out", self.place / "results", "--quiet", "--check", *words)
        self.assertEqual(done.returncode, 0, done.stderr)
        done = eddylab("show", self.place / "results" / "made" / "full", "--json")
        run = yaml.safe_load(done.stdout)["runs"][0]
        self.assertEqual(run["unfinished"], 0)
        return run

    def refused(self, kind, source, *lines):
        done = eddylab("import", kind, source, "--out", self.out)
        self.assertEqual(done.returncode, 2, done.stdout + done.stderr)
        said = [line for line in done.stderr.splitlines() if line]
        for line in lines:
            self.assertTrue(any(line in one for one in said), f"{line}\n{done.stderr}")
        self.assertEqual(len(said), len(lines), done.stderr)
        self.assertEqual([p for p in self.place.iterdir() if p.name.startswith("made")], [])

    def test_every_congestion_control_of_hpcc_runs(self):
        for mode, control in ((1, "dcqcn"), (3, "swift"), (7, "timely"), (8, "dctcp"), (10, "swift")):
            windowed = {"HAS_WIN": 1, "VAR_WIN": 1, "EWMA_GAIN": "0.0625" if mode == 8 else "0.00390625"} if mode != 1 else {}
            made, said = self.imported("hpcc", self.hpcc(CC_MODE=mode, **windowed))
            self.assertEqual(made["host"]["congestion_control"], control)
            self.assertIn("taken" if mode in (1, 7) else "approximated", re.search(r"(\w+) .*CC_MODE", said)[1])
            self.run_it("--hpcc")
            fct = next((self.place / "results").rglob("fct.txt")).read_text().splitlines()
            self.assertEqual(len(fct), 40)
            self.assertTrue(all(line.split()[3] == "100" and int(line.split()[5]) >= 2_000_000_000 for line in fct))
            subprocess.run(["rm", "-r", self.out, self.place / "results"], check=True)

    def test_every_line_is_told(self):
        folder = self.hpcc()
        _, said = self.imported("hpcc", folder)
        lines = (folder / "config.txt").read_text().splitlines()
        for number, line in enumerate(lines, 1):
            told = re.search(rf"^(taken|approximated|ignored) +\S+/config.txt:{number} +(.*)$", said, re.MULTILINE)
            self.assertEqual(told is not None, bool(line.strip()), line)
            if told:
                self.assertTrue(told[2].startswith(line.strip()[:40]), told[2])

    def test_values_have_their_units(self):
        made, _ = self.imported("hpcc", self.hpcc(HAS_WIN=1))
        self.assertEqual(made["buffer"]["size"], "32MiB")
        self.assertEqual(made["wred"]["default"], {"ecn": True, "mark": "dequeue", "kmin": "400kB", "kmax": "1600kB", "pmax": 0.2})
        self.assertEqual(made["host"]["bdp"], "104000B")  # as those programs print it for such a fabric
        self.assertEqual(made["host"]["dcqcn"]["hyper_increase"], "200Mbps")
        self.assertEqual(made["traffic"], [{"type": "trace", "file": "flow.txt", "start": "2s"}])

    def test_a_value_that_eddy_has_not_is_told_with_its_line(self):
        folder = self.hpcc(RP_TIMER="0")
        done = eddylab("import", "hpcc", folder, "--out", self.out)
        self.assertEqual(done.returncode, 1, done.stderr)
        line = 1 + (folder / "config.txt").read_text().splitlines().index("RP_TIMER 0")
        self.assertRegex(done.stderr, rf"made, but refused: \S+/made/experiment.yaml:\d+:\d+: host.dcqcn.increase_timer: .*; "
                                      rf"it is from line {line}: RP_TIMER 0\n$")
        self.assertFalse(self.out.exists())

    def test_a_full_disk_is_a_failure(self):
        file = self.write(config_db_json=json.dumps({"PORT": {"Ethernet0": {"speed": "100000"}}})) / "config.db_json"
        for words in ((BINARIES / "eddyd", "--import-sonic", file), (BINARIES / "eddyd", "--schema"), (BINARIES / "eddylab", "list"),
                      (BINARIES / "eddylab", "import", "hpcc", self.hpcc(), "--out", self.out), (BINARIES / "eddyctl", "counters", "--markdown")):
            with open("/dev/full", "w", encoding="utf-8") as full:
                done = subprocess.run(words, stdout=full, stderr=subprocess.PIPE, text=True, check=False, timeout=60, cwd=ROOT)
            self.assertEqual(done.returncode, 1, words)
            self.assertRegex(done.stderr, r"(?m)^(eddyd|eddylab|eddyctl): standard output: (No space left on device|not all of it could be written)$")

    def test_ports_of_another_rate_have_its_thresholds(self):
        made, said = self.imported("hpcc", self.hpcc(files.leaf_spine(up="400Gbps")))
        self.assertEqual(made["wred"]["of_400Gbps"], {"ecn": True, "mark": "dequeue", "kmin": "1600kB", "kmax": "6400kB", "pmax": 0.2})
        self.assertEqual(made["switches"]["by_rate"], [{"rate": "400Gbps", "wred": "of_400Gbps", "lossless": "of_400Gbps"}])
        for key in ("KMIN_MAP", "KMAX_MAP", "PMAX_MAP"):
            self.assertRegex(said, rf"(?m)^taken +\S+ +{key}")
        self.assertIn("8 ports of 400Gbps: WRED profile of_400Gbps, buffer profile of_400Gbps",
                      eddylab("topology", self.out / "experiment.yaml").stdout)
        self.run_it()

    def test_their_notes_and_what_is_beyond_the_counts_is_left_out(self):
        flows = "2\n" + "\n".join(f"{i} 7 3 100 5000 2" for i in range(6)) + files.FLOW_NOTES
        _, said = self.imported("hpcc", self.hpcc(flows=flows))
        self.assertRegex(said, r"ignored +\S+flow.txt:4 +7 lines from here on")
        self.assertEqual((self.out / "flow.txt").read_text(), "2\n0 7 3 100 5000 2\n1 7 3 100 5000 2\n")
        self.run_it()

    def test_hosts_with_two_links_have_one(self):
        topology = files.leaf_spine(leaves=4, hosts=4, rate="50Gbps", homes=2)
        made, said = self.imported("hpcc", self.hpcc(topology, KMAX_MAP="2 50000000000 800 100000000000 800",
                                                     KMIN_MAP="2 50000000000 200 100000000000 200",
                                                     PMAX_MAP="2 50000000000 0.2 100000000000 0.2"))
        self.assertRegex(said, r"approximated +\S+topology.txt:4 +8 hosts with several links")
        links = [line.split() for line in (self.out / "topology.txt").read_text().splitlines()[2:]]
        at = [int(b) for a, b, rate, *_ in links if int(a) < 8]
        self.assertEqual(at, [8, 9, 8, 9, 10, 11, 10, 11])
        self.assertEqual({rate for a, b, rate, *_ in links if int(a) < 8}, {"100Gbps"})
        self.assertEqual(made["wred"]["default"]["kmin"], "200kB")
        self.run_it()

    def test_links_that_fail_and_lose(self):
        made, said = self.imported("hpcc", self.hpcc(LINK_DOWN="100 8 10", ERROR_RATE_PER_LINK="1e-4"))
        kinds = [fault["type"] for fault in made["faults"]]
        self.assertEqual(kinds, ["random_drop"] * 12 + ["link_flap"])
        self.assertEqual(made["faults"][-1], {"type": "link_flap", "links": ["switch8-switch10"], "start": "100us"})
        self.assertEqual(made["faults"][0]["hosts"], ["switch8.host1"])
        self.assertRegex(said, r"approximated +\S+ +LINK_DOWN")
        done = eddylab("run", self.out / "experiment.yaml", "--out", self.place / "results", "--quiet")
        self.assertEqual(done.returncode, 0, done.stderr)

    def test_a_link_that_is_down_before_the_first_flow_is_no_link(self):
        made, _ = self.imported("hpcc", self.hpcc(flows="1\n0 7 3 100 30000 2.001\n", LINK_DOWN="1000 8 10"))
        self.assertEqual(made["topology"]["failed"], [{"links": ["switch8-switch10"]}])
        self.run_it()

    def test_comments_of_their_documentation(self):
        config = re.sub(r"(?m)^(\S+ .*)$", r"\1 {0: disable, 1: enable}", files.hpcc_config())
        folder = self.hpcc()
        (folder / "config.txt").write_text(config)
        _, said = self.imported("hpcc", folder)
        self.assertNotIn("disable", said)

    def test_every_balancing_of_conweave_runs(self):
        for mode, scheme in ((0, "ecmp"), (2, "drill"), (3, "conga"), (6, "letflow"), (9, "conweave")):
            run = self.conweave(files.leaf_spine(notes=False), files.flows(8, dialect="conweave", notes=False), LB_MODE=mode)
            made, _ = self.imported("conweave", run)
            self.assertEqual(made["load_balancer"]["scheme"], scheme)
            self.assertEqual(made["host"]["dcqcn"]["additive_increase"], "40Mbps")
            self.assertEqual(made["host"]["window"], False)
            if scheme == "conweave":
                self.assertEqual({key: made["load_balancer"][key] for key in ("reply", "busy", "inactive", "slack", "wait")},
                                 {"reply": "8us", "busy": "16us", "inactive": "300us", "slack": "16us", "wait": "200us"})
            self.run_it("--conweave")
            subprocess.run(["rm", "-r", self.out, self.place / "results", self.place / "config", self.place / "mix"], check=True)

    def test_irn_without_pfc_in_a_fat_tree(self):
        run = self.conweave(files.fat_tree(k=4, over=2), files.flows(32, dialect="conweave"), ENABLE_PFC=0, ENABLE_IRN=1)
        made, _ = self.imported("conweave", run)
        self.assertEqual(made["host"]["recovery"], "irn")
        self.assertEqual(made["host"]["bdp"], "156000B")  # as those programs have it for three tiers
        self.assertEqual(made["switches"]["pfc"], False)
        self.run_it()

    def test_matrices_of_htsim_run(self):
        for shape, hosts in (({}, 32), ({"tiers": 3, "hosts": 64, "pod": 16, "down": 4, "up": 4, "bundle": 2}, 64),
                             ({"switch_latency": 300}, 32)):
            folder = self.write(flows_cm=files.htsim_permutation(hosts), fabric_topo=files.htsim_topology(**shape))
            made, said = self.imported("htsim", folder / "flows.cm", folder / "fabric.topo")
            self.assertEqual(made["traffic"][0]["start"], "0s")
            self.assertRegex(said, r"approximated +- +transport, path selection, ECN")
            run = self.run_it()
            self.assertEqual(run["flows"], hosts)
            subprocess.run(["rm", "-r", self.out, self.place / "results"], check=True)

    def test_what_is_wrong_with_files_of_htsim(self):
        folder = self.write(flows_cm="Connections 1\n0->99 start 0 size 5\nhello\n", fabric_topo=files.htsim_topology())
        done = eddylab("import", "htsim", folder / "flows.cm", folder / "fabric.topo", "--out", self.out)
        self.assertEqual(done.returncode, 2)
        self.assertIn("flows.cm:2:1: '0->99': hosts are 0 to 31", done.stderr)
        self.assertIn("flows.cm:3:1: 'hello' is nothing", done.stderr)
        self.assertFalse(self.out.exists())
        self.refused("htsim", folder / "flows.cm", "two files are needed, FILE.cm FILE.topo")
        done = eddylab("import", "hpcc", folder, folder / "fabric.topo", "--out", self.out)
        self.assertEqual(done.returncode, 2)
        self.assertIn("a second file is for htsim", done.stderr)

    def test_all_that_is_wrong_is_said_at_once(self):
        topology = files.leaf_spine().replace("0 8 100Gbps", "0 8 fast").replace("1 8 100Gbps 1000ns", "1 99 100Gbps soon")
        folder = self.hpcc(topology, CC_MODE=5, BUFFER_SIZE="much")
        self.refused("hpcc", folder, "topology.txt:3:5: 'fast' is no rate", "topology.txt:4:3: '99' is no whole number",
                     "topology.txt:4:14: 'soon' is no time", "CC_MODE 5, valid are", "BUFFER_SIZE 'much'")
        folder = self.hpcc(flows="3\n0 9 3 100 5 2\n0 0 3 100 5 2\n1 2 3 5 2\n", CC_MODE=5, BUFFER_SIZE="much", RATE_AI=None,
                           KMAX_MAP="1 25000000000 400", PMAX_MAP="9 1 2")
        self.refused("hpcc", folder, "flow.txt:2: node 9 is a switch", "flow.txt:3: a flow from host 0 to itself",
                     "flow.txt:4: 5 words", "PMAX_MAP has too few values", "CC_MODE 5, valid are", "BUFFER_SIZE 'much'",
                     "KMAX_MAP has no value for 100Gbps", "RATE_AI is missing", "PMAX_MAP is missing")

    def test_foreign_files_are_refused(self):
        config = ROOT / "config" / "experiments" / "demo.yaml"
        folder = self.hpcc()
        self.refused("hpcc", self.write(config_txt=config.read_text()), "there is no key of HPCC's simulator in this file")
        for empty in ("", "\n# nothing\n", '{"json": 1}\n'):
            (folder / "topology.txt").unlink(missing_ok=True)
            self.refused("hpcc", self.write(config_txt=empty), "config.txt:1:1: there is no key of HPCC's simulator in this file")
        folder = self.hpcc(TOPOLOGY_FILE=None)
        (folder / "topology.txt").unlink()
        self.refused("hpcc", folder, "TOPOLOGY_FILE does not name it, looked for")
        folder = self.hpcc()
        (folder / "topology.txt").write_bytes(b"\x7fELF\0\0")
        self.refused("hpcc", folder, "topology.txt: is no text, octet 4 is zero")
        self.refused("hpcc", self.hpcc(flows=files.flows(8, dialect="conweave")), *[f"flow.txt:{i}: 5 words" for i in range(2, 22)])
        (folder / "config.txt").unlink()
        (folder / "config_fat.txt").write_text(files.hpcc_config())
        self.refused("hpcc", folder, "--config FILE names another, there are config_fat.txt")
        self.refused("hpcc", self.place / "none", "there is no such file")
        (folder / "flow.txt").unlink()
        self.refused("hpcc", folder / "config_fat.txt", "the flow file is not there, looked for")

    def test_files_of_windows(self):
        """With a byte order mark, ends of lines of two octets, and tabs."""
        folder = self.hpcc()
        for name in ("config.txt", "topology.txt", "flow.txt"):
            text = (folder / name).read_text().replace(" ", "\t").replace("\n", "\r\n")
            (folder / name).write_bytes(b"\xef\xbb\xbf" + text.encode())
        self.imported("hpcc", folder)

    def test_files_that_end_too_soon(self):
        cut = files.leaf_spine(notes=False).splitlines()[:-3]
        self.refused("hpcc", self.hpcc("\n".join(cut)), "topology.txt:11:1: the file ends 3 links before the 12")
        flows = files.flows(8, count=9, notes=False).splitlines()[:-2]
        self.refused("hpcc", self.hpcc(flows="\n".join(flows)), "flow.txt:8: the file ends 2 flows before the 9")

    def test_a_large_file_is_bounded(self):
        folder = self.hpcc()
        (folder / "flow.txt").write_text("1\n" + "0 1 3 100 5 2\n" * 5_000_000)
        self.refused("hpcc", folder, "flow.txt: has more than 67108864 octets")


class Sonic(unittest.TestCase):
    """Files after three public platforms become configurations that eddyd takes."""

    def setUp(self):
        place = tempfile.TemporaryDirectory()
        self.addCleanup(place.cleanup)
        self.place = Path(place.name)

    def imported(self, text):
        file = self.place / "config_db.json"
        file.write_text(text)
        done = subprocess.run([BINARIES / "eddyd", "--import-sonic", file, "--report"], capture_output=True, text=True, check=False,
                              timeout=60)
        self.assertEqual(done.returncode, 0, done.stderr)
        made = self.place / "made.yaml"
        made.write_text(done.stdout)
        check = subprocess.run([BINARIES / "eddyd", "--config", made, "--check"], capture_output=True, text=True, check=False, timeout=60)
        self.assertEqual(check.returncode, 0, check.stdout + check.stderr)
        return yaml.safe_load(done.stdout), done.stderr

    def told_all(self, db, report):
        """Every table has a line; and what is not covered is said."""
        for table in db:
            if db[table]:
                self.assertRegex(report, rf"(taken|approximated|ignored) +\S+ +{table}", table)

    def test_arista_7050cx3(self):
        platform = sonic_files.arista_7050cx3()
        made, report = self.imported(platform.text())
        self.assertEqual(len(made["ports"]), 32)
        self.assertEqual(made["buffer"]["size"], "33933KiB")  # the pool and its shared headroom
        profile = made["buffer"]["profiles"]["pg_lossless_100000_300m_profile"]
        self.assertEqual((profile["headroom"], profile["reserved"], profile["dynamic_th"]), ("160000B", "4608B", 0))
        self.told_all(platform.db, report)
        ports = made["ports"]
        self.assertEqual(ports["Ethernet0"]["addresses"], ["10.0.0.0/31", "fc00::1/126"])
        self.assertEqual(ports["Ethernet12"]["addresses"], ["10.0.0.58/31", "fc00::71/126"])  # alone in its aggregate
        self.assertEqual(ports["Ethernet4"]["addresses"], [])
        for line in (r"ignored +\S+ +PORTCHANNEL: there are no link aggregates", r"ignored +\S+ +VLAN_INTERFACE: there is no bridging",
                     r"ignored +\S+ +QUEUE beyond 7 \(2 times\)", r"ignored +\S+ +PORTCHANNEL min_links"):
            self.assertRegex(report, line)

    def test_mellanox_sn2700(self):
        made, report = self.imported(sonic_files.mellanox_sn2700().text())
        self.assertEqual(made["buffer"]["size"], "11MiB")
        self.assertEqual(made["buffer"]["overcommit"], True)
        self.assertEqual(made["buffer"]["profiles"]["by_pfc"]["headroom"], "auto")
        self.assertRegex(report, r"approximated +\S+ +BUFFER_PG with profile NULL \(64 times\): buffer profile by_pfc")

    def test_dell_s6100(self):
        platform = sonic_files.dell_s6100()
        made, report = self.imported(platform.text())
        self.assertEqual(len(made["ports"]), 32)
        self.assertEqual(made["ports"]["Ethernet0"]["watchdog"]["detection_time"], "200ms")
        self.assertEqual(made["ports"]["Ethernet0"]["pgs"][3], "pg_lossless_40000_40m_profile")
        self.told_all(platform.db, report)
        self.assertRegex(report, r"ignored +\S+ +PORT beyond 32 \(32 times\)")

    def test_all_that_is_wrong_is_said_and_nothing_comes_out(self):
        file = self.place / "config_db.json"
        file.write_text(sonic_files.dell_s6100().text().replace('"40000"', '"fast"', 3).replace('"drop"', '"explode"', 2))
        done = subprocess.run([BINARIES / "eddyd", "--import-sonic", file], capture_output=True, text=True, check=False, timeout=60)
        self.assertEqual((done.returncode, done.stdout), (2, ""))
        said = done.stderr.splitlines()
        self.assertEqual(len(said), 5, done.stderr)
        self.assertTrue(all(re.search(r"config_db.json:\d+: ", line) for line in said), done.stderr)

    def test_what_is_no_config_db(self):
        for text, problem in (("", "is no JSON"), ("ports: {}\n", "is no JSON"), ("{}", "there is no table PORT")):
            file = self.place / "config_db.json"
            file.write_text(text)
            done = subprocess.run([BINARIES / "eddyd", "--import-sonic", file], capture_output=True, text=True, check=False, timeout=60)
            self.assertEqual((done.returncode, done.stdout), (2, ""))
            self.assertIn(problem, done.stderr)
            self.assertEqual(len(done.stderr.splitlines()), 1)


if __name__ == "__main__":
    unittest.main()
