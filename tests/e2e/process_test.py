"""eddyd as a process: signals, reload, bad configurations and what it cannot have."""

import contextlib
import itertools
import json
import os
import shutil
import signal
import socket
import threading
from pathlib import Path

from support import BINARIES, EndToEnd, Flow, OnFabric, Traffic, main, run, wait_for

RELOADS = 40
NOBODY = ("setpriv", "--reuid=65534", "--regid=65534", "--clear-groups")


class Running(OnFabric):
    """On one switch with two hosts."""

    plan = {"leaves": 1, "spines": 0}

    @property
    def switch(self):
        return self.fabric.switches[0]

    def generation(self):
        return self.switch.show("ports")["generation"]

    def test_a_second_one_of_the_same_name_is_refused(self):
        second = self.world.spawn_poller(self.fabric.switches[0].namespace, BINARIES / "eddyd", "--config",
                                  self.switch.path, log="second")
        self.assertNotIn(second.wait(10), (None, 0), second.output())
        self.assertIn(self.switch.name, second.output().strip().split("\n")[-1])
        self.assertTrue(self.switch.ports_up())

    def test_a_second_one_touches_nothing_of_the_first_however_it_is_started(self):
        """Whatever its folders are called, and although it has another control socket."""
        folder = Path("/var/run/dpdk") / f"eddy-{self.switch.name}"
        before = sorted(path.name for path in folder.iterdir())
        self.assertIn("dpdk_telemetry.v2", before)
        elsewhere = self.world.directory / "elsewhere"
        elsewhere.mkdir(exist_ok=True)
        other = self.world.directory / "other.yaml"
        other.write_text(self.switch.path.read_text().replace(f"name: {self.switch.name}", "name: other", 1))
        for path, environment, arguments in (
                (self.switch.path, {"RUNTIME_DIRECTORY": str(elsewhere)}, ()),
                (self.switch.path, {}, ("--", "--no-telemetry")),
                (other, {}, ("--", f"--file-prefix={folder.name}"))):
            with self.subTest(environment=environment, arguments=arguments):
                done = run("ip", "netns", "exec", self.switch.namespace, "env",
                           *(f"{key}={value}" for key, value in environment.items()),
                           BINARIES / "eddyd", "--config", path, *arguments, check=False)
                self.assertEqual(done.returncode, 1, done.stdout + done.stderr)
                self.assertRegex(done.stderr.strip().split("\n")[-1], r"^eddyd: a switch named \S+ runs already")
                self.assertEqual(sorted(path.name for path in folder.iterdir()), before)
                self.assertEqual(list(elsewhere.iterdir()), [])
        self.test_telemetry_answers_dpdks_own_protocol()

    def test_reloads_under_traffic_lose_nothing(self):
        h1, h2 = self.fabric.hosts
        flow = Flow("udp", h1, h2, udp=True, rate=500_000)  # a second without a core fits the buffers
        traffic = Traffic(self.world, [flow])
        traffic.start()
        traffic.tick(0, 4)
        first = self.generation()
        kmin = self.switch.config["wred"]["default"]
        for number in range(1, RELOADS + 1):
            kmin["kmin"] = f"{10 + number}KiB"
            self.switch.write()
            os.kill(self.switch.process.pid, signal.SIGHUP)
            wait_for(lambda n=number: self.generation() == first + n, 5, f"reload {number}")
        (result,) = traffic.finish()
        self.assertTrue(result.ok, result.error)
        self.assertEqual(result.lost_packets, 0)

    def test_a_bad_file_leaves_the_running_configuration(self):
        before = self.generation()
        good = self.switch.path.read_text()
        self.addCleanup(self.switch.path.write_text, good)
        self.switch.path.write_text(good.replace("scheme: ecmp", "scheme: nonsense"))
        done = self.switch.eddyctl("reload")
        self.assertNotEqual(done.returncode, 0)
        self.assertRegex(done.stdout + done.stderr, rf"{self.switch.path}:\d+:\d+: .*nonsense")
        self.assertEqual(self.generation(), before)

    def test_watermarks_are_cleared_by_scope(self):
        self.assert_mesh(self.fabric.hosts, versions=(4,))
        for words, said in ((("watermarks",), "cleared watermarks\n"),
                            (("persistent-watermarks", "pg-headroom"),
                             "cleared persistent-watermarks kind pg-headroom\n"),
                            (("watermarks", "queue", "--port", "h1"), "cleared watermarks kind queue\n")):
            done = self.switch.eddyctl("clear", *words)
            self.assertEqual((done.returncode, done.stdout), (0, said), done.stderr)
        for words, status, said in (
                (("watermarks", "pg"), 2, "\"pg\" is not valid after \"watermarks\"; valid are: pg-shared, "
                                          "pg-headroom, queue, pool, headroom-pool, stages"),
                (("counters", "queue"), 2, "\"queue\" is too much"),
                (("watermarks", "pool", "--port", "h1"), 1, "pool is of the whole switch, not of a port; of a port are "
                                                            "pg-shared, pg-headroom, queue")):
            done = self.switch.eddyctl("clear", *words)
            self.assertEqual((done.returncode, done.stderr), (status, f"eddyctl: {said}\n"))
        self.assert_mesh(self.fabric.hosts, versions=(4,))

    def test_eddyctl_shows_tables_and_json(self):
        for report in ("ports", "queues", "pgs", "pfc", "buffers", "watermarks", "drops", "paths",
                       "schemes", "workers", "neighbors", "routes"):
            with self.subTest(report=report):
                self.assertEqual(self.switch.show(report)["report"], report)
                self.assertEqual(self.switch.eddyctl("show", report).returncode, 0)
        table = self.switch.eddyctl("show", "ports").stdout
        self.assertIn("h1", table)
        self.assertIn("h2", table)

    def test_port_off_and_on(self):
        self.assertEqual(self.switch.eddyctl("set", "port", "h2", "tx", "off").returncode, 0)
        self.assertEqual(self.switch.eddyctl("set", "port", "h2", "tx", "on").returncode, 0)
        self.assert_mesh(self.fabric.hosts, versions=(4,))

    def test_telemetry_answers_dpdks_own_protocol(self):
        path = f"/var/run/dpdk/eddy-{self.switch.name}/dpdk_telemetry.v2"
        with socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET) as client:
            client.settimeout(5)
            client.connect(path)
            json.loads(client.recv(16384))
            client.send(b"/")
            commands = json.loads(client.recv(16384))["/"]
            self.assertIn("/eddy/ports", commands)
            client.send(b"/eddy/ports")
            self.assertIn("/eddy/ports", json.loads(client.recv(16384)))

    def test_unknown_words_are_refused_with_what_would_be_valid(self):
        done = self.switch.eddyctl("show", "nonsense")
        self.assertNotEqual(done.returncode, 0)
        self.assertIn("ports", done.stdout + done.stderr)


class Scraped(OnFabric):
    """Prometheus asks, and hears what eddyctl hears."""

    plan = {"leaves": 1, "spines": 0, "prometheus": "127.0.0.1:9477"}

    def metrics(self):
        ask = "import sys, urllib.request; sys.stdout.write(urllib.request.urlopen(sys.argv[1], timeout=10).read().decode())"
        text = self.world.run(self.fabric.switches[0].namespace, "python3", "-c", ask,
                              "http://127.0.0.1:9477/metrics").stdout
        return dict(line.rsplit(" ", 1) for line in text.splitlines() if not line.startswith("#"))

    def test_counters_are_those_of_eddyctl(self):
        self.assert_mesh(self.fabric.hosts, versions=(4,))
        switch = self.fabric.switches[0]
        before = {row["port"]: row for row in switch.show("ports")["rows"]}
        scraped = self.metrics()
        after = {row["port"]: row for row in switch.show("ports")["rows"]}
        for port, row in before.items():
            label = f'{{switch="{switch.name}",port="{port}"}}'
            packets = float(scraped["eddy_rx_packets_total" + label])
            self.assertGreater(packets, 0)
            self.assertTrue(row["rx_packets"] <= packets <= after[port]["rx_packets"])
            self.assertEqual(scraped["eddy_port_up" + label], "1")
        polls = f'eddy_worker_polls_total{{switch="{switch.name}",worker="0"}}'
        self.assertGreater(float(self.metrics()[polls]), float(scraped[polls]))

    def test_half_open_clients_keep_nobody_waiting_and_are_sent_away(self):
        """200 that say nothing or half of a request; Prometheus asks beside them."""
        script = """
import socket, sys, time, urllib.request
clients = [socket.create_connection(("127.0.0.1", 9477)) for _ in range(200)]
for client in clients[::2]:
    client.sendall(b"GET /metrics HTTP/1.1\\r\\nHost: ")
started = time.monotonic()
urllib.request.urlopen("http://127.0.0.1:9477/metrics", timeout=10).read()
print(time.monotonic() - started)
for client in clients:
    client.settimeout(20)
    client.recv(65536)
print(time.monotonic() - started)
"""
        said = self.world.run(self.fabric.switches[0].namespace, "python3", "-c", script).stdout.split()
        answered, all_gone = map(float, said)
        self.assertLess(answered, 2)
        self.assertLess(all_gone, 15)

    def test_sigterm_ends_it_and_the_address_is_free_again(self):
        switch = self.fabric.switches[0]
        switch.process.popen.terminate()
        self.assertEqual(switch.process.wait(30), 0, switch.process.output())
        switch.start()
        wait_for(switch.ports_up, 10, "ports up after the restart")
        self.assertTrue(self.metrics())


class Ending(OnFabric):
    """What a switch does with SIGTERM and after."""

    plan = {"leaves": 1, "spines": 0}

    def test_sigterm_exits_0_and_the_next_start_finds_a_clean_place(self):
        switch = self.fabric.switches[0]
        for _ in range(2):
            switch.process.popen.terminate()
            self.assertEqual(switch.process.wait(5), 0, switch.process.output())
            switch.start()
            wait_for(switch.ports_up, 10, "ports up after the restart")
        self.assert_mesh(self.fabric.hosts, versions=(4,))


class Killed(OnFabric):
    """What a switch leaves behind that could not clean up."""

    plan = {"leaves": 1, "spines": 1}

    def test_its_socket_is_told_to_be_dead_and_the_next_start_takes_the_place(self):
        leaf, spine = self.fabric.switches
        path = f"/run/eddy/{spine.name}.sock"
        spine.process.kill()
        self.addCleanup(lambda: spine.process.alive() or os.unlink(path))
        self.assertTrue(os.path.exists(path), "nothing is left")
        for which in (("--name", spine.name), ("--socket", path)):
            for words in (("show", "ports"), ("top",), ("reload",)):
                done = run(BINARIES / "eddyctl", *which, *words, check=False)
                self.assertEqual((done.returncode, done.stdout), (1, ""))
                self.assertRegex(done.stderr, rf"^eddyctl: {path}: nobody answers.*\n$")
        self.assertTrue(leaf.show("ports")["rows"])
        spine.start()
        wait_for(spine.ports_up, 10, "ports up after the restart")
        wait_for(leaf.ports_up, 10, "the neighbor's ports up")


class AmongSockets(EndToEnd):
    """eddyctl in a /run/eddy of its own, which `folder` is, in a /run without telemetry."""

    def setUp(self):
        self.folder = self.world.directory / self.id().rsplit(".", 1)[-1]
        self.folder.mkdir()

    def socket(self, name, answer=None):
        """A control socket: with `answer` one that is served, else one that was left behind."""
        listener = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
        listener.bind(str(self.folder / f"{name}.sock"))
        if answer is None:
            listener.close()
            return
        listener.listen()
        self.addCleanup(listener.close)
        self.addCleanup(listener.shutdown, socket.SHUT_RDWR)
        threading.Thread(target=self.serve, args=(listener, answer), daemon=True).start()

    @staticmethod
    def serve(listener, answer):
        with contextlib.suppress(OSError):  # it is closed
            while True:
                client, _ = listener.accept()
                with client:
                    if client.recv(4096):
                        client.sendall(json.dumps({"ok": True, "result": answer}).encode() + b"\n")

    def eddyctl(self, *words, who=()):
        script = 'mkdir /run/dpdk 2>&-; mount -t tmpfs none /run/dpdk; mount --bind "$0" /run/eddy && exec "$@"'
        os.makedirs("/run/eddy", exist_ok=True)
        return run("unshare", "--mount", "sh", "-c", script, self.folder, *who, BINARIES / "eddyctl", *words,
                   check=False)

    def test_the_one_that_lives_is_meant(self):
        self.socket("live", {"report": "ports", "switch": "live", "rows": []})
        self.socket("dead")
        self.assertEqual(self.eddyctl("list").stdout, "live\n")
        done = self.eddyctl("--json", "show", "ports")
        self.assertEqual((done.returncode, done.stderr), (0, ""))
        self.assertEqual(json.loads(done.stdout)["switch"], "live")
        done = self.eddyctl("--name", "other", "show", "ports")
        self.assertEqual((done.returncode, done.stderr), (1, 'eddyctl: no switch "other" runs here; running: live\n'))

    def test_two_that_live_are_a_choice_and_the_dead_is_not_in_it(self):
        for name in ("a", "b"):
            self.socket(name, {})
        self.socket("dead")
        done = self.eddyctl("show", "ports")
        self.assertEqual((done.returncode, done.stderr),
                         (1, "eddyctl: several switches run here, choose with --name: a, b\n"))

    def test_the_dead_alone_are_named(self):
        self.socket("dead")
        done = self.eddyctl("show", "ports")
        self.assertEqual(done.returncode, 1)
        self.assertRegex(done.stderr, r"^eddyctl: no switch runs here .*\n"
                                      r"eddyctl: /run/eddy/dead.sock: nobody answers.*\n$")

    def test_one_that_we_may_not_use_is_not_called_dead(self):
        self.world.directory.chmod(0o755)
        self.socket("live", {})
        (self.folder / "live.sock").chmod(0o660)
        for words in ((), ("--name", "live")):
            done = self.eddyctl(*words, "show", "ports", who=NOBODY)
            self.assertEqual(done.returncode, 1)
            self.assertEqual(done.stderr.splitlines()[-1],
                             "eddyctl: /run/eddy/live.sock: only its owner and group may use it")


    def test_a_folder_that_we_may_not_look_into_is_not_called_empty(self):
        self.world.directory.chmod(0o755)
        self.socket("live", {})
        self.folder.chmod(0o750)
        for words in (("show", "ports"), ("healthy", "--all"), ("top", "--all")):
            done = self.eddyctl(*words, who=NOBODY)
            self.assertEqual((done.returncode, done.stderr),
                             (1, "eddyctl: /run/eddy: only its owner and group may look into it\n"))
        self.assertEqual(self.eddyctl("--name", "live", "show", "ports", who=NOBODY).stderr,
                         "eddyctl: /run/eddy/live.sock: only its owner and group may use it\n")


class JsonLog(EndToEnd):
    """Whoever says it, and however early: every line is an object."""

    CONFIG = """
switch: {name: %s, id: 1}
ports:
  p0: {device: "net_null0", speed: 1Gbps}
  p1: {device: "net_null1", speed: 1Gbps}
"""

    def setUp(self):
        self.name = f"json{os.getpid()}"
        self.path = self.world.directory / f"{self.name}.yaml"
        self.path.write_text(self.CONFIG % self.name, encoding="utf-8")

    def objects(self, text):
        found = []
        for line in text.splitlines():
            try:
                found.append(json.loads(line))
            except ValueError:
                self.fail(f"no JSON: {line}")
            self.assertLessEqual({"time", "level"}, found[-1].keys(), line)
        self.assertTrue(found)
        return found

    def test_from_the_first_line_of_eal_to_the_last_of_the_switch(self):
        process = self.world.spawn(None, BINARIES / "eddyd", "--config", self.path, "--json-log", "--",
                                   "--log-level=*:debug", log=self.name)
        self.addCleanup(process.kill)
        wait_for(lambda: " runs: " in process.output() or not process.alive(), 20, "the switch")
        process.popen.terminate()
        self.assertEqual(process.wait(10), 0, process.output())
        said = self.objects(process.output())
        self.assertTrue(said[0]["message"].startswith("runs as "), said[0])
        self.assertTrue(said[1]["message"].startswith("EAL: "), said[1])
        self.assertTrue(any(each.get("message", "").startswith("EAL: Detected CPU lcores") for each in said))
        self.assertIn("debug", {each["level"] for each in said})
        self.assertTrue(any("link_up" == each.get("event") for each in said), "the log of events is in it")
        self.assertTrue(any(" ends, " in each.get("message", "") for each in said[-20:]))

    def test_a_start_that_is_refused(self):
        bad = self.world.directory / "bad.yaml"
        bad.write_text(self.CONFIG % self.name + "swtich: {}\n", encoding="utf-8")
        for words, code, level in ((("--config", bad), 2, "error"), (("--config", "none.yaml"), 2, "error"), ((), 2, "error"),
                                   (("--config", self.path, "--", "--lcores=nonsense"), 1, "error")):
            with self.subTest(words=words):
                done = run(BINARIES / "eddyd", "--json-log", *words, check=False)
                self.assertEqual(done.returncode, code, done.stderr)
                self.assertEqual(self.objects(done.stderr)[-1]["level"], level)


class Refusing(OnFabric):
    """Configurations that cannot be: one clear line and an exit status, nothing started."""

    plan = {"leaves": 1, "spines": 0}

    def start_with(self, *replace, check=False):
        path = self.world.directory / "bad.yaml"
        text = self.fabric.switches[0].path.read_text().replace("name: e", "name: x", 1)
        for old, new in zip(replace[::2], replace[1::2]):
            self.assertIn(old, text)
            text = text.replace(old, new, 1)
        path.write_text(text)
        extra = ["--check"] if check else []
        done = run("ip", "netns", "exec", self.fabric.switches[0].namespace, BINARIES / "eddyd", "--config", path,
                   *extra, check=False)
        return done.returncode, done.stdout + done.stderr, path

    def test_all_problems_at_once_with_their_places(self):
        for check in (True, False):
            status, said, path = self.start_with("speed: 100Mbps", "speed: 100", "role: host",
                                                 "role: guest", check=check)
            self.assertEqual(status, 2, said)
            self.assertEqual(len([x for x in said.split("\n") if x.startswith(f"{path}:")]), 2, said)
            self.assertRegex(said, rf"{path}:\d+:\d+: .*role")

    def test_options_without_a_value_mean_no_less(self):
        """As where a file of compose or a unit has a variable that is not set."""
        for option, value, said in (("--require-version", "", '"" is no version'), ("--require-name", "", 'not of ""'),
                                    ("--wait", "", "--wait: '' is not a duration"),
                                    ("--wait", "-5s", "--wait: '-5s' is not a duration")):
            with self.subTest(option=option):
                done = run(BINARIES / "eddyd", "--config", self.fabric.switches[0].path, option, value, check=False)
                self.assertEqual(done.returncode, 2, done.stderr)
                self.assertIn(said, done.stderr)

    def test_it_prints_one_thing_at_a_time(self):
        modes = ("--check", "--print-config", "--schema", "--capabilities")
        for first, second in itertools.combinations(modes, 2):
            done = run(BINARIES / "eddyd", "--config", self.fabric.switches[0].path, second, first, check=False)
            self.assertEqual((done.returncode, done.stdout), (2, ""), (first, second))
            self.assertRegex(done.stderr, "excludes")

    def test_a_file_that_is_not_there(self):
        done = run(BINARIES / "eddyd", "--config", "/nonexistent.yaml", check=False)
        self.assertEqual(done.returncode, 2)
        self.assertIn("/nonexistent.yaml", done.stdout + done.stderr)

    def test_a_file_prefix_that_leads_elsewhere(self):
        """In a /run of its own: a program that followed it would remove what stands there."""
        in_own_run = 'mount -t tmpfs none /run && mkdir /run/beside && "$@"; status=$?; ls /run >&2; exit $status'
        for arguments in (("--file-prefix=..",), ("--file-prefix", "../beside"), ("--file=..",)):
            for command in (("eddyd", "--config", self.fabric.switches[0].path),
                            ("eddyhost", "incast", "--size", "ci", "--port", "*=net_null{n}")):
                with self.subTest(command=command[0], arguments=arguments):
                    done = run("ip", "netns", "exec", self.fabric.switches[0].namespace, "unshare", "--mount", "sh", "-c",
                               in_own_run, "sh", BINARIES / command[0], *command[1:], "--", *arguments, check=False)
                    self.assertEqual(done.returncode, 2, done.stdout + done.stderr)
                    self.assertRegex(done.stderr,
                                     rf"^{command[0]}: --file-prefix '[^']*' is no plain name; valid are .*\nbeside\n$")

    def test_names_that_lead_elsewhere(self):
        for command in (("eddyctl", "--name", "../x", "show", "ports"),
                        ("eddyhost", "incast", "--size", "ci", "--port", "*=net_null{n}", "--name", "../x"),
                        ("eddyhost", "incast", "--size", "ci", "--port", "*=net_null{n}", "--switch", "../x")):
            with self.subTest(command=command):
                done = run(BINARIES / command[0], *command[1:], check=False)
                self.assertEqual(done.returncode, 2, done.stdout + done.stderr)
                self.assertRegex(done.stderr, rf"^{command[0]}: {command[-4] if command[0] == 'eddyctl' else command[-2]} "
                                              r"'../x' is no plain name; .*\n$")

    def test_a_file_named_as_a_memif_socket(self):
        precious = self.world.directory / "precious"
        precious.write_text("precious")
        status, said, _ = self.start_with(self.device(), f"net_memif7,role=server,socket={precious},socket-abstract=no")
        self.assertEqual(status, 1, said)
        self.assertRegex(said.strip().split("\n")[-1], rf"^eddyd: port h1 .*socket {precious}: the path exists and is not a socket$")
        self.assertEqual(precious.read_text(), "precious")

    def device(self):
        """The device of port h1, as its switch's file has it."""
        return self.fabric.switches[0].config["ports"]["h1"]["device"]

    def test_a_missing_device(self):
        status, said, _ = self.start_with("iface=h1", "iface=missing0")
        self.assertNotIn(status, (0, 2), said)
        self.assertIn("h1", said.strip().split("\n")[-1])

    def test_an_interface_that_cannot_take_the_mtu(self):
        """One that stands on another has at most the MTU of that one."""
        namespace = self.fabric.switches[0].namespace
        self.world.run(namespace, "ip", "link", "add", "link", "h1", "name", "above", "type", "macvlan")
        self.addCleanup(self.world.run, namespace, "ip", "link", "del", "above")
        path = self.world.directory / "long.yaml"
        path.write_text(f"switch: {{name: x{os.getpid()}}}\n"
                        "ports: {h1: {device: 'net_af_packet1,iface=above', mtu: 9000}}\n")
        done = run("ip", "netns", "exec", namespace, BINARIES / "eddyd", "--config", path, check=False)
        self.assertEqual(done.returncode, 1, done.stdout + done.stderr)
        self.assertRegex(done.stdout + done.stderr,
                         r"interface above has mtu 1500, the port 9000, and it cannot be raised: Invalid argument")

    def test_a_missing_capability(self):
        text = self.fabric.switches[0].path.read_text().replace("name: e", "name: x", 1)
        path = self.readable(text + f"control: {{socket: {self.world.directory}/x.sock}}\n")
        done = run("ip", "netns", "exec", self.fabric.switches[0].namespace, *NOBODY,
                   BINARIES / "eddyd", "--config", path, check=False)
        said = done.stdout + done.stderr
        self.assertEqual(done.returncode, 1, said)
        self.assertRegex(said, r"(?i)eddyd: .*(permi|privilege|capab|root)")

    def test_check_passes_without_root_and_without_devices(self):
        path = self.readable(self.fabric.switches[0].path.read_text())
        done = run(*NOBODY, BINARIES / "eddyd", "--config", path, "--check", check=False)
        self.assertEqual(done.returncode, 0, done.stdout + done.stderr)

    def readable(self, text):
        """A file that anybody may read, with `text` in it."""
        self.world.directory.chmod(0o755)
        path = self.world.directory / "readable.yaml"
        path.write_text(text)
        path.chmod(0o644)
        return path


class NotAsRoot(EndToEnd):
    """eddyd of a user who has nothing but a folder."""

    def setUp(self):
        self.world.directory.chmod(0o755)
        self.folder = self.world.directory / "nobodys"
        self.folder.mkdir(mode=0o700)
        self.addCleanup(shutil.rmtree, self.folder)
        self.config = self.folder / "switch.yaml"
        self.config.write_text(f"switch: {{name: nobodys-{os.getpid()}}}\ncontrol: {{socket: {self.folder}/s.sock}}\n"
                               "ports: {p0: {device: net_null0}, p1: {device: net_null1}}\n")
        for path in (self.folder, self.config):
            os.chown(path, 65534, 65534)

    def command(self, *variables):
        return ("env", "-u", "XDG_RUNTIME_DIR", *variables, *NOBODY, BINARIES / "eddyd", "--config", self.config)

    def test_its_files_are_in_its_own_folder_and_nowhere_else(self):
        """Whatever else the environment says; a second start is refused."""
        here = f"XDG_RUNTIME_DIR={self.folder}"
        namespace = self.world.namespace("n")
        first = self.world.spawn_poller(namespace, *self.command(here, f"RUNTIME_DIRECTORY={self.folder}/no"), log="nobodys")
        (files,) = wait_for(lambda: list(self.folder.glob("dpdk/eddy-*")), 10, "its folder")
        wait_for((self.folder / "s.sock").exists, 10, "its control socket")
        for variables in ((here,), (here, f"RUNTIME_DIRECTORY={self.folder}/other")):
            second = run("ip", "netns", "exec", namespace, *self.command(*variables), check=False)
            self.assertEqual(second.returncode, 1)
            self.assertIn("runs already", second.stderr)
            self.assertEqual({path.name for path in files.iterdir()}, {"eddy.lock", "dpdk_telemetry.v2"})
        first.popen.terminate()
        self.assertEqual(first.wait(10), 0, first.output())
        self.assertEqual([path.name for path in (self.folder / "dpdk").iterdir()], ["eddy.lock"])

    def test_without_a_folder_of_its_own_it_is_refused(self):
        """In /tmp anybody may have made it."""
        there = os.path.exists("/tmp/dpdk")
        done = run(*self.command(), check=False)
        self.assertEqual(done.returncode, 1)
        self.assertRegex(done.stderr, r"^eddyd: XDG_RUNTIME_DIR is not set: .*\n$")
        self.assertEqual(os.path.exists("/tmp/dpdk"), there)


if __name__ == "__main__":
    main()
