#!/usr/bin/python3
"""eddy-dev: a scheme out of the tree compiles against what is installed, found by CMake and by pkg-config, and runs."""

import os
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "scripts"))
from lib.schemes import scheme_names  # noqa: E402

BUILD = Path(os.environ["EDDY_BIN"]).parent
SCHEME = Path(__file__).resolve().parent / "scheme"
SAID = f"first takes path 1; {len(scheme_names())} schemes come with the library\n"


def output_of(*command, **options):
    done = subprocess.run([str(word) for word in command], capture_output=True, text=True, check=False, **options)
    if done.returncode != 0:
        raise AssertionError(f"{command[0]} exited with {done.returncode}: {done.stdout}{done.stderr}")
    return done.stdout


class Dev(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.folder = tempfile.TemporaryDirectory(prefix="eddy-dev-")
        cls.addClassCleanup(cls.folder.cleanup)
        cls.work = Path(cls.folder.name)
        cls.prefix = cls.work / "prefix"
        output_of("cmake", "--install", BUILD, "--prefix", cls.prefix, "--component", "eddy-dev")

    def test_by_cmake(self):
        build = self.work / "cmake"
        output_of("cmake", "-S", SCHEME, "-B", build, f"-DCMAKE_PREFIX_PATH={self.prefix}", "-DCMAKE_BUILD_TYPE=Debug")
        output_of("cmake", "--build", build)
        self.assertEqual(output_of(build / "first_scheme"), SAID)

    def test_by_pkg_config(self):
        places = {str(path.parent) for path in self.prefix.rglob("*.pc")}
        self.assertEqual(len(places), 1)
        flags = output_of("pkg-config", "--cflags", "--libs", "eddy", env=os.environ | {"PKG_CONFIG_PATH": places.pop()}).split()
        program = self.work / "by_pkg_config"
        output_of("c++", SCHEME / "first_scheme.cpp", "-o", program, *flags)
        self.assertEqual(output_of(program), SAID)

    def test_another_minor_version_is_refused(self):
        project = self.work / "later"
        project.mkdir()
        text = (SCHEME / "CMakeLists.txt").read_text()
        (project / "CMakeLists.txt").write_text(text.replace("find_package(eddy 0.1 ", "find_package(eddy 0.2 "))
        with self.assertRaisesRegex(AssertionError, "0.2"):
            output_of("cmake", "-S", project, "-B", self.work / "later-build", f"-DCMAKE_PREFIX_PATH={self.prefix}")

    def test_every_header_that_a_header_includes_is_there(self):
        headers = self.prefix / "include/eddy"
        for path in headers.rglob("*.h"):
            for line in path.read_text().splitlines():
                if line.startswith('#include "'):
                    self.assertTrue((headers / line.split('"')[1]).exists(), f"{path}: {line}")


if __name__ == "__main__":
    sys.exit(unittest.main())
