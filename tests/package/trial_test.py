#!/usr/bin/python3
"""The packages of the build tree at hand in a fresh root: installed where no compiler is, used, upgraded under a running
switch, removed, purged. Needs root, and Debian's mirror for what they depend on."""

import os
import subprocess
import sys
import tempfile
import time
import unittest
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "scripts"))
from lib.fresh_root import FreshRoot  # noqa: E402
from lib.netns import Trouble  # noqa: E402
from lib.package import NATIVE, base_root  # noqa: E402
from lib.package_trial import Trial  # noqa: E402

BUILD = Path(os.environ["EDDY_BIN"]).parent
NEWCOMER_SECONDS = 120


class InAFreshRoot(unittest.TestCase):
    """One root; the steps build on each other, so that they are one test."""

    def test_the_life_of_an_installation(self):
        with tempfile.TemporaryDirectory(prefix="eddy-trial-") as out:
            subprocess.run([ROOT / "scripts/package", "--build", BUILD, "--no-build", "--no-lint", "--out", out], check=True,
                           stdout=subprocess.DEVNULL)
            packages = sorted(Path(out).glob("*.deb"))
            with FreshRoot(base_root(NATIVE)) as root:
                path = root.path
                self.live(Trial(root, packages))
            self.assertFalse(path.exists(), "the root is still there")

    def live(self, trial):
        began = time.monotonic()
        trial.install()
        trial.fabric()
        self.assertLess(time.monotonic() - began, NEWCOMER_SECONDS, "from packages to a running fabric")
        trial.experiment()
        trial.upgrade()
        trial.remove()
        trial.purge()


class BadInput(unittest.TestCase):
    def test_a_base_that_is_none(self):
        with tempfile.TemporaryDirectory() as place:
            bad = Path(place) / "base.tar"
            bad.write_text("no tar\n")
            with self.assertRaisesRegex(Trouble, "cannot be unpacked"):
                FreshRoot(bad)


if __name__ == "__main__":
    sys.exit(unittest.main())
