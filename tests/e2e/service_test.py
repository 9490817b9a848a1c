"""eddyd and a service manager: a socket of this test plays systemd, and hears when the switch is ready, what it is
doing, and signs of life for as long as every worker advances."""

import contextlib
import json
import os
import socket
import time

import yaml
from standstill import held_still, polling_thread
from support import BINARIES, EndToEnd, main, run, wait_for

WATCHDOG = 1.2  # seconds; a sign of life is due in a quarter of it


class Manager:
    """What systemd is to a service: a socket that it is told things on."""

    def __init__(self, path):
        self.path = path
        self.socket = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)
        self.socket.bind(str(path))
        self.heard = []  # (when, {"READY": "1", ...})

    def environment(self, watchdog=None):
        words = [f"NOTIFY_SOCKET={self.path}"]
        return [*words, f"WATCHDOG_USEC={int(watchdog * 1e6)}"] if watchdog else words

    def listen(self):
        """Takes what has come by now."""
        with contextlib.suppress(BlockingIOError):
            while True:
                lines = self.socket.recv(4096, socket.MSG_DONTWAIT).decode().split("\n")
                self.heard.append((time.monotonic(), dict(line.split("=", 1) for line in lines)))
        return self.heard

    def wait_for(self, seconds=20, **wanted):
        """The first message from now on with these words; what was heard before it is forgotten."""
        def found():
            while self.listen():
                when, words = self.heard.pop(0)
                if all(words.get(name) == value or (callable(value) and value(words.get(name, "")))
                       for name, value in wanted.items()):
                    return when, words
            return None
        return wait_for(found, seconds, f"a message with {list(wanted)}")

    def statuses(self):
        return [words["STATUS"] for _, words in self.listen() if "STATUS" in words]

    def close(self):
        self.socket.close()
        self.path.unlink()


class Notified(EndToEnd):

    def setUp(self):
        self.manager = Manager(self.world.directory / "notify")
        self.addCleanup(self.manager.close)
        self.name = f"n{os.getpid()}"

    def start(self, ports, *arguments, watchdog=None, who="", manager=True):
        """A switch with these ports, each with its device alone or with all its keys."""
        config = {"switch": {"name": self.name + who}, "control": {"socket": str(self.socket(who))},
                  "ports": {name: port if isinstance(port, dict) else {"device": port} for name, port in ports.items()}}
        self.path(who).write_text(yaml.safe_dump(config))
        environment = self.manager.environment(watchdog) if manager else []
        process = self.world.spawn(None, "env", *environment, BINARIES / "eddyd", "--config", self.path(who), *arguments,
                                   log=f"eddyd{who}")
        self.addCleanup(self.end, process)
        return process

    def socket(self, who=""):
        return self.world.directory / f"control{who}.sock"

    def path(self, who=""):
        return self.world.directory / f"switch{who}.yaml"

    def end(self, process):
        process.popen.terminate()
        process.popen.wait(10)
        self.world.forget(process)

    def memif(self, role):
        return f"net_memif0,role={role},socket={self.world.directory}/line.sock,socket-abstract=no"

    def test_ready_when_the_ports_are_up_and_stopping_at_the_end(self):
        process = self.start({"a": "net_null0", "b": "net_null1"})
        self.manager.wait_for(STATUS="starts")
        self.manager.wait_for(READY="1", STATUS="ports up: 2 of 2")
        process.popen.terminate()
        self.manager.wait_for(STOPPING="1")
        self.assertEqual(process.wait(10), 0, process.output())

    def test_two_switches_that_wait_for_each_other(self):
        """The second is started only when the first is ready, which it is without its peer after some time."""
        began = time.monotonic()
        self.start({"a": "net_null0", "line": self.memif("client")}, "--ready-within", "1s")
        when, words = self.manager.wait_for(READY="1")
        self.assertEqual(words["STATUS"], "ports up: 1 of 2; down: line")
        self.assertGreaterEqual(when - began, 1)
        self.start({"line": self.memif("server")}, who="-peer", manager=False)
        self.manager.wait_for(STATUS="ports up: 2 of 2")

    def test_a_reload_is_said_and_what_came_of_it(self):
        self.start({"a": "net_null0"})
        self.manager.wait_for(READY="1")
        before = time.clock_gettime_ns(time.CLOCK_MONOTONIC) // 1000
        self.assertEqual(run(BINARIES / "eddyctl", "--socket", self.socket(), "reload").returncode, 0)
        _, words = self.manager.wait_for(RELOADING="1")
        self.assertLessEqual(before, int(words["MONOTONIC_USEC"]))
        self.assertLessEqual(int(words["MONOTONIC_USEC"]), time.clock_gettime_ns(time.CLOCK_MONOTONIC) // 1000)
        self.manager.wait_for(READY="1", STATUS="last reload: generation 1 is in force")
        self.path().write_text("nonsense: 1\n")
        self.assertEqual(run(BINARIES / "eddyctl", "--socket", self.socket(), "reload", check=False).returncode, 1)
        self.manager.wait_for(RELOADING="1")
        self.manager.wait_for(READY="1", STATUS=lambda text: text.startswith("last reload: refused, "))

    def test_reloads_take_a_port_up_and_down(self):
        """Also one that was down when the switch started."""
        self.start({"a": "net_null0", "b": {"device": "net_null1", "admin_up": False}})
        self.manager.wait_for(READY="1")
        text = self.path().read_text()
        control = (BINARIES / "eddyctl", "--socket", self.socket())

        def states():
            rows = json.loads(run(*control, "show", "ports", "--json").stdout)["rows"]
            return {row["port"]: (row["admin"], row["oper"]) for row in rows}
        for state in ("down", "up", "down", "up"):
            with self.subTest(state=state):
                self.path().write_text(text.replace("admin_up: false", f"admin_up: {str(state == 'up').lower()}"))
                run(*control, "reload")
                wait_for(lambda wanted=state: states() == {"a": ("up", "up"), "b": (wanted, wanted)}, 10, state)

    def test_a_switch_of_another_name_is_refused(self):
        process = self.start({"a": "net_null0"}, "--require-name", "leaf1")
        self.assertEqual(process.wait(20), 2)
        self.assertEqual(process.output(), f"eddyd: {self.path()} is of switch {self.name}, not of leaf1\n")

    def test_signs_of_life_stop_with_a_worker_and_go_on_with_it(self):
        process = self.start({"a": "net_null0"}, watchdog=WATCHDOG)
        self.manager.wait_for(READY="1")
        last, _ = self.manager.wait_for(WATCHDOG="1")
        for _ in range(6):
            when, _ = self.manager.wait_for(WATCHDOG="1")
            self.assertLess(when - last, WATCHDOG)
            last = when
        with held_still(polling_thread(process.pid)):
            self.manager.wait_for(STATUS="ports up: 1 of 1; workers that do not advance: 0")
            silent_from = time.monotonic()
            wait_for(lambda: time.monotonic() - silent_from > 2 * WATCHDOG, 5, "two intervals")
            self.assertEqual([words for _, words in self.manager.listen() if "WATCHDOG" in words], [])
        self.manager.wait_for(WATCHDOG="1")
        self.manager.wait_for(STATUS="ports up: 1 of 1")


if __name__ == "__main__":
    main()
