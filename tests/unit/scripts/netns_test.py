"""How programs that own namespaces are scheduled, and how they end."""

import json
import os
import signal
import subprocess
import sys
import unittest
from pathlib import Path

SCRIPTS = Path(__file__).resolve().parents[3] / "scripts"
sys.path.insert(0, str(SCRIPTS))
from lib.netns import AHEAD  # noqa: E402

PROGRAM = """\
import signal, sys
from lib.netns import end_like_ctrl_c
end_like_ctrl_c()
try:
    print("works", flush=True)
    signal.pause()
except KeyboardInterrupt:
    print("closes", flush=True)
    print("heard", sys.stdin.readline().strip(), flush=True)
"""

# Prints the nice value, and that of the session, of itself, of what it asks, of what it starts and of its poller.
WATCHER = """\
import json, os, subprocess
from lib.netns import World, put_ahead, session_nice, wait_for
put_ahead()
put_ahead()
asked = subprocess.Popen(["sleep", "60"])
world = World(f"eddy-ahead-{os.getpid()}")
try:
    started = [world.spawn(None, "sleep", "60"), world.spawn_poller(None, "sleep", "60")]
    for process in started:
        wait_for(lambda: os.readlink(f"/proc/{process.pid}/exe").endswith("/sleep"), 60, "sleep")
    print(json.dumps([(os.getpriority(os.PRIO_PROCESS, pid), session_nice(pid))
                      for pid in (os.getpid(), asked.pid, *(process.pid for process in started))]))
finally:
    asked.kill()
    world.close()
"""


# Runs another in its session; prints what that session's nice value is before and behind it.
SESSION = """\
import os, subprocess, sys
from lib.netns import session_nice
print(session_nice(os.getpid()), flush=True)
subprocess.run([sys.executable, "-c", sys.argv[1]], check=True)
print(session_nice(os.getpid()))
"""


class Scheduling(unittest.TestCase):
    @unittest.skipIf(os.geteuid(), "only root may put a process ahead")
    def test_a_watcher_is_ahead_as_its_pollers_are_and_nobody_else_is(self):
        done = subprocess.run([sys.executable, "-c", SESSION, WATCHER], cwd=SCRIPTS, text=True, stdout=subprocess.PIPE,
                              check=True, start_new_session=True)
        before, scheduled, after = done.stdout.splitlines()
        self.assertEqual(after, before)
        usual = os.getpriority(os.PRIO_PROCESS, 0)
        nice = [AHEAD, AHEAD, usual, usual + AHEAD]
        sessions = [AHEAD, AHEAD, 0, AHEAD] if before != "None" else [None] * 4  # the kernel schedules no sessions
        self.assertEqual(json.loads(scheduled), [list(both) for both in zip(nice, sessions)])


class Endings(unittest.TestCase):
    def test_a_signal_that_ends_lets_close_once(self):
        for number in (signal.SIGTERM, signal.SIGHUP):
            with subprocess.Popen([sys.executable, "-c", PROGRAM], cwd=SCRIPTS, text=True, stdin=subprocess.PIPE,
                                  stdout=subprocess.PIPE) as program:
                self.assertEqual(program.stdout.readline(), "works\n")
                program.send_signal(number)
                self.assertEqual(program.stdout.readline(), "closes\n")
                program.send_signal(number)
                self.assertEqual(program.communicate("all of it\n")[0], "heard all of it\n")
                self.assertEqual(program.returncode, 0)


if __name__ == "__main__":
    unittest.main()
