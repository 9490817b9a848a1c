"""scripts/setup: which packages each purpose asks for; and that installing starts and enables no service."""

import os
import subprocess
import tempfile
import unittest
from pathlib import Path

ROOT = Path(__file__).resolve().parents[3]
WANTS = "etc/systemd/system/multi-user.target.wants"
NOT_FOR_DEMO = {"chromium", "prometheus", "librsvg2-bin", "tshark", "dpdk", "docker.io", "lintian", "clang-14", "libgtest-dev"}


def listed(*words):
    done = subprocess.run([ROOT / "scripts" / "setup", *words, "--list"], capture_output=True, text=True, check=True)
    return done.stdout.split()


class Packages(unittest.TestCase):
    def test_the_demo_needs_no_browser_no_service_and_no_tests(self):
        self.assertEqual(NOT_FOR_DEMO & set(listed("--demo")), set())
        self.assertLess({"g++", "libdpdk-dev", "iperf3"}, set(listed("--demo")))

    def test_without_words_all_that_tests_need_is_there(self):
        every = set(listed())
        self.assertEqual(set(listed("--demo")) - every, set())
        self.assertEqual(set(listed("--containers")) - every, set())
        self.assertEqual(NOT_FOR_DEMO - {"clang-14"} - every, set())
        self.assertEqual(set(listed("--check")) - every, {*listed("--check", "--demo")} - {*listed("--demo")})

    def test_no_package_is_named_twice(self):
        for words in ((), ("--demo", "--containers"), ("--check", "--bench", "--arm64")):
            self.assertEqual(len(listed(*words)), len(set(listed(*words))), words)

    def test_an_unknown_word_is_refused(self):
        done = subprocess.run([ROOT / "scripts" / "setup", "--demos"], capture_output=True, text=True, check=False)
        self.assertEqual(done.returncode, 2)
        self.assertIn("unknown option '--demos'", done.stderr)


class WithoutServices(unittest.TestCase):
    """A folder stands for the root, and a few words of shell for a package's scripts."""

    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.root = Path(folder.name)
        (self.root / WANTS).mkdir(parents=True)
        (self.root / "etc/rc2.d").mkdir()
        (self.root / "usr/sbin").mkdir(parents=True)
        self.policy = self.root / "usr/sbin/policy-rc.d"

    def install(self, *lines):
        return subprocess.run([ROOT / "scripts" / "lib" / "without_services", "sh", "-ec", "\n".join(lines)], cwd=self.root,
                              env=os.environ | {"DPKG_ROOT": str(self.root)}, capture_output=True, text=True, check=False)

    def link(self, name):
        return self.root / WANTS / name

    def test_no_service_may_be_started_meanwhile(self):
        done = self.install("usr/sbin/policy-rc.d thing start || exit $?")
        self.assertEqual(done.returncode, 101)
        self.assertFalse(self.policy.exists())

    def test_what_was_enabled_stays_and_what_was_not_is_not(self):
        self.link("before.service").symlink_to("/lib/systemd/system/before.service")
        unit = "lib/systemd/system/thing.service"
        done = self.install("mkdir -p lib/systemd/system", f"printf '[Install]\\nWantedBy=multi-user.target\\n' > {unit}",
                            f"ln -s /{unit} {WANTS}/", f"ln -s /gone.service {WANTS}/", "ln -s ../init.d/thing etc/rc2.d/S03thing")
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertEqual(os.listdir(self.root / WANTS), ["before.service"])
        self.assertEqual(os.listdir(self.root / "etc/rc2.d"), ["K01thing"])

    def test_a_policy_that_was_there_is_there_again(self):
        self.policy.write_text("#!/bin/sh\nexit 104\n")
        self.policy.chmod(0o755)
        self.assertEqual(self.install("usr/sbin/policy-rc.d thing start || exit $?").returncode, 101)
        self.assertIn("104", self.policy.read_text())

    def test_the_policy_of_one_that_was_killed_is_found_again(self):
        self.policy.write_text("#!/bin/sh\nexit 101\n")
        self.policy.with_name("policy-rc.d.kept").write_text("mine")
        self.install("true")
        self.assertEqual(self.policy.read_text(), "mine")
        self.assertEqual(os.listdir(self.policy.parent), ["policy-rc.d"])


if __name__ == "__main__":
    unittest.main()
