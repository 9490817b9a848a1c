"""How programs that own namespaces end."""

import signal
import subprocess
import sys
import unittest
from pathlib import Path

SCRIPTS = Path(__file__).resolve().parents[3] / "scripts"
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
