"""eddylab up, down and run --real with --containers: the same results as in namespaces, and nothing stays behind."""

import json
import os
import shlex
import shutil
import signal
import sqlite3
import subprocess
import tempfile
from pathlib import Path
from statistics import median

from support import BINARIES, STORE, InContainers, find_engine, images, main, run, shared, wait_for

from lib.release import version  # noqa: E402

EXPERIMENT = """
id: contained
title: Two leaves, four hosts
# A round trip of 0.4 s and headroom for 0.5 s between polls: no machine is too busy for that.
topology: {kind: leaf_spine, leaves: 2, spines: 1, hosts_per_leaf: 2, host_rate: 10Gbps, fabric_rate: 10Gbps, host_delay: 100us}
buffer: {size: 32MiB}
switches: {poll_gap: 500ms}
traffic:
  - {type: poisson, cdf: own, load: 0.3, reference: host}
run: {seeds: [1], warmup: 0us, duration: 1ms, drain: 40ms, max_flows: 4, time_dilation: 1000}
sizes: {ci: {}}
"""
# What the hosts in their container are to read from beside the experiment, wherever that is.
WORKLOAD = "size_bytes,cumulative_probability\n20000,0\n100000,1\n"
NODES = {"leaf1", "leaf2", "spine1"}
# Slower than the experiment's file has it, so that a machine with other work to do can run it, too.
FIDELITY = ("fidelity-incast", "--variant", "scheme=letflow", "--set", "run.duration=900us", "--set",
            "switches.poll_gap=100ms", "--time-dilation", "10000")
POLL_GAP_NS = 100_000_000
MOST_TURNS = 5  # two, unless a run was held up
BUSY = 10  # attempts of a run that a busy machine may refuse


class RealFabric(InContainers):
    """Each test has an experiment and a fabric's name of its own."""

    containers_option = "--containers=docker"

    def setUp(self):
        super().setUp()
        self.directory = Path(tempfile.mkdtemp(prefix="eddy-contained-test-"))
        self.addCleanup(shutil.rmtree, self.directory, ignore_errors=True)
        (self.directory / "own.csv").write_text(WORKLOAD, encoding="utf-8")
        self.file = self.directory / "contained.yaml"
        self.file.write_text(EXPERIMENT, encoding="utf-8")
        self.fabric = f"c{os.getpid()}"
        self.state = Path("/run/eddy/lab") / self.fabric
        self.processes = []
        self.addCleanup(self.end)

    def end(self):
        for process in self.processes:
            if process.poll() is None:
                process.kill()
            process.wait()
        self.eddylab("down", self.fabric, self.containers_option)
        self.engine.remove(*self.containers().values())  # where that has failed

    def environment(self):
        return self.engine.environ()

    def eddylab(self, *words, environment=None, timeout=120):
        return subprocess.run([str(w) for w in (BINARIES / "eddylab", *words)], capture_output=True, text=True,
                              timeout=timeout, check=False, env=environment or self.environment(), cwd=self.directory)

    def begin(self, until, *words):
        """Starts it with its fabric in containers and waits until it has said `until`."""
        out = self.directory / f"out{len(self.processes)}"
        with open(out, "w", encoding="utf-8") as file:
            command = (BINARIES / "eddylab", words[0], self.file, "--size", "ci", "--name", self.fabric, self.containers_option,
                       *words[1:])
            process = subprocess.Popen([str(w) for w in command], stdout=file, stderr=subprocess.STDOUT,
                                       env=self.environment(), cwd=self.directory)
        self.processes.append(process)
        wait_for(lambda: until in out.read_text() or process.poll() is not None, 60, until)
        self.assertIsNone(process.poll(), out.read_text())
        return process

    def containers(self):
        """{node: container} of the fabric."""
        names = self.engine.call("ps", "--all", "--filter", f"label=org.eddy.fabric={self.fabric}", "--format",
                                 "{{.Names}}").stdout.split()
        return {name.removeprefix(f"eddy-{self.fabric}-"): name for name in names}

    def clients(self):
        return [pid for pid, _ in json.loads((self.state / "state.json").read_text())["processes"]]

    def assert_gone(self, folder=True):
        wait_for(lambda: not self.containers(), 15, "end of all containers")
        if folder:
            self.assertFalse(self.state.exists())

    def kill_all_clients(self):
        """A fabric whose clients and eddylab are gone all at once; its containers go on."""
        up = self.begin("look at it", "up")
        up.send_signal(signal.SIGSTOP)
        for pid in (*self.clients(), up.pid):
            os.kill(pid, signal.SIGKILL)
        up.wait()
        self.assertEqual(set(self.containers()), NODES)

    def result(self, out):
        return json.loads(next(out.rglob("run.json")).read_text())["run"]


class Docker(RealFabric):
    def test_a_run_leaves_results_of_the_callers_and_nothing_else(self):
        done = self.eddylab("run", self.file, "--size", "ci", "--name", self.fabric, "--real", "--containers")
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assert_gone()
        out = self.directory / "results"
        contained = self.result(out)
        self.assertTrue(contained["real"])
        self.assertEqual((contained["flows"], contained["unfinished"], contained["lossless_drops"]), (4, 0, 0))
        self.assertEqual({path.owner() for path in out.rglob("*")}, {self.file.owner()})
        self.assertEqual({path.name for path in self.directory.iterdir()}, {"contained.yaml", "own.csv", "results"})
        beside = self.directory / "namespaces"
        done = self.eddylab("run", self.file, "--size", "ci", "--name", self.fabric, "--real", "--out", beside)
        self.assertEqual(done.returncode, 0, done.stderr)
        alone = self.result(beside)
        for key in ("trace_digest", "config_hash", "flows", "time_dilation", "unfinished", "lossless_drops"):
            self.assertEqual(contained[key], alone[key], key)
        self.assertLess(abs(contained["fct_p50_us"] / alone["fct_p50_us"] - 1), 0.1)

    def test_up_is_ended_from_elsewhere(self):
        up = self.begin("look at it", "up")
        containers = self.containers()
        self.assertEqual(set(containers), NODES)
        ports = self.engine.exec(containers["spine1"], "eddyctl", "show", "ports").stdout
        self.assertRegex(ports, r"leaf1 +fabric +up +up")
        for name in containers.values():
            host = self.engine.inspect(name)["HostConfig"]
            self.assertEqual((host["NetworkMode"], host["CapAdd"], host["CapDrop"], host["ReadonlyRootfs"]),
                             ("none", None, ["ALL"], True), name)
        second = self.eddylab("up", self.file, "--size", "ci", "--name", self.fabric, "--containers")
        self.assertIn("is up already", second.stderr)
        elsewhere = {key: value for key, value in os.environ.items() if key != "DOCKER_HOST"}
        down = self.eddylab("down", self.fabric, environment=elsewhere)
        self.assertEqual(down.returncode, 0, down.stderr)
        self.assertEqual(up.wait(10), 0)
        self.assert_gone()

    def test_a_killed_up_leaves_no_container(self):
        up = self.begin("look at it", "up")
        up.kill()
        up.wait()
        self.assert_gone(folder=False)
        self.assertEqual(self.eddylab("down", self.fabric).returncode, 0)
        self.assert_gone()

    def test_a_client_that_is_killed(self):
        up = self.begin("look at it", "up")
        os.kill(self.clients()[0], signal.SIGKILL)
        self.assertEqual(up.wait(20), 1)
        self.assertIn("eddyd leaf1 ended (137)", (self.directory / "out0").read_text())
        self.assert_gone()

    def test_containers_are_found_without_their_folder(self):
        self.kill_all_clients()
        shutil.rmtree(self.state)
        self.assertEqual(self.eddylab("down", self.fabric).returncode, 1)
        self.assertEqual(self.eddylab("down", self.fabric, "--containers").returncode, 0)
        self.assert_gone()

    def test_a_switch_that_dies_is_named(self):
        up = self.begin("look at it", "up")
        self.engine.call("kill", self.containers()["spine1"])
        self.assertEqual(up.wait(20), 1)
        self.assertIn("eddyd spine1 ended (137)", (self.directory / "out0").read_text())
        self.assert_gone()

    def test_a_run_that_is_interrupted_keeps_what_there_is(self):
        process = self.begin("hosts are up", "run", "--real", "--set", "run.duration=100ms", "--set", "run.max_flows=100")
        self.assertEqual(set(self.containers()), NODES | {"hosts"})
        process.send_signal(signal.SIGINT)
        self.assertEqual(process.wait(30), 130)
        self.assertTrue(self.result(self.directory / "results")["interrupted"])
        self.assert_gone()

    def test_somebody_elses_container_is_left_alone(self):
        other = f"eddy-{self.fabric}-leaf2"
        self.names.append(other)
        self.engine.run("eddy-host", options=("--name", other, "--network", "none"))
        done = self.eddylab("up", self.file, "--size", "ci", "--name", self.fabric, "--containers")
        self.assertEqual(done.returncode, 1)
        self.assertIn(f"a container named {other} is there already", done.stderr)
        self.assertTrue(self.engine.inspect(other)["State"]["Running"])
        self.assertFalse(self.state.exists())


def layers(engine, image):
    return engine.inspect(image)["RootFS"]["Layers"]


class Podman(RealFabric):
    """No daemon, no DOCKER_HOST, and other words for what is listed."""

    containers_option = "--containers=podman"

    def setUp(self):
        self.podman = find_engine("podman", own=STORE, private=True)
        image = f"eddy:{version()}"
        if not self.podman.has_image(image) or layers(self.podman, image) != layers(shared.engine, image):
            images.copy_images(shared.engine, self.podman, [image])
        super().setUp()
        self.engine = self.podman
        client = self.directory / "bin" / "podman"  # as a user has it who has images of his own
        client.parent.mkdir()
        client.write_text(f"#!/bin/sh\nexec {shlex.join(self.engine.words)} \"$@\"\n", encoding="utf-8")
        client.chmod(0o755)

    def environment(self):
        return self.engine.environ(PATH=f"{self.directory / 'bin'}:{os.environ['PATH']}")

    def test_up_and_down(self):
        up = self.begin("look at it", "up")
        self.assertEqual(set(self.containers()), NODES)
        self.assertEqual(self.eddylab("down", self.fabric).returncode, 0)
        self.assertEqual(up.wait(10), 0)
        self.assert_gone()

    def test_containers_whose_clients_were_killed_are_found_again(self):
        self.kill_all_clients()
        done = self.eddylab("down", self.fabric)
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assert_gone()


class Fidelity(InContainers):
    """A run among containers is one among namespaces."""

    def one(self, out, *words):
        """FCTs of the flows, in us, and the digest of these; tried again where the machine had no time for it."""
        command = ["nice", "-n", "-15", BINARIES / "eddylab", "run", *FIDELITY, "--seed", "1", "--size", "ci", "--quiet",
                   "--fresh", "--real", "--out", out, "--name", f"f{os.getpid()}", *words]
        said = []
        for attempt in range(BUSY):
            done = subprocess.run([str(w) for w in command], capture_output=True, text=True, check=False,
                                  env=shared.engine.environ())
            said.append(done.stderr)
            if done.returncode == 0:
                found = json.loads(next(out.rglob("run.json")).read_text())["run"]
                if found["counters"]["host_poll_gap_max_ns"] > POLL_GAP_NS and attempt < BUSY - 1:
                    continue  # the hosts were off their core for too long
                self.assertEqual((found["unfinished"], found["lossless_drops"]), (0, 0))
                with sqlite3.connect(next(out.rglob("flows.sqlite"))) as flows:
                    times = [ns / 1000 for (ns,) in flows.execute("SELECT fct_ns FROM flows WHERE measured AND finished")]
                return found["trace_digest"], found["config_hash"], times
            self.assertIn("polled every", done.stderr)
        self.fail("".join(said))

    def test_containers_agree_with_namespaces(self):
        folder = self.folder()
        medians = {"namespaces": [], "containers": []}
        runs = {"namespaces": set(), "containers": set()}
        for turn in range(MOST_TURNS):  # in turns, so that whatever else the machine does is in both
            for where, words in (("namespaces", ()), ("containers", ("--containers",))):
                trace, configuration, found = self.one(folder / f"{where}{turn}", *words)
                medians[where].append(median(found))
                print(f"{where}: median FCT {median(found):.1f} us", flush=True)
                runs[where].add((trace, configuration, len(found)))
            if turn > 0 and self.difference(medians) < 0.1:
                break
        self.assertEqual(runs["namespaces"], runs["containers"])
        self.assertEqual(len(runs["namespaces"]), 1)
        self.assertLess(self.difference(medians), 0.1, medians)

    def difference(self, medians):
        """Of one world from the other, each by its middle run: a run that a busy machine held up is not that."""
        return abs(median(medians["containers"]) / median(medians["namespaces"]) - 1)


if __name__ == "__main__":
    main()
