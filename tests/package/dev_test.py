#!/usr/bin/python3
"""eddy-dev: schemes out of the tree compile against what is installed, found by CMake and by pkg-config, and run: in a program
of their own, and as plugins of the programs that are installed."""

import hashlib
import json
import os
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
sys.path[:0] = [str(ROOT / "scripts"), str(ROOT / "tests" / "e2e")]
from lib.schemes import scheme_names  # noqa: E402
from plugin_support import trusted_folder  # noqa: E402

BUILD = Path(os.environ["EDDY_BIN"]).parent
SCHEME = Path(__file__).resolve().parent / "scheme"
EXPERIMENT = """
topology: {kind: leaf_spine, leaves: 2, spines: 4, hosts_per_leaf: 2, host_delay: 1us, fabric_delay: 1us}
buffer: {size: 9MiB}
load_balancer: {plugin: last_choice.so, margin: 3KiB}
traffic:
  - {type: poisson, name: web, cdf: web_search, truncate: 50kB, load: 0.4, reference: core}
run: {seeds: [1], warmup: 50us, duration: 300us, drain: 20ms}
"""
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
        (project / "CMakeLists.txt").write_text(text.replace("find_package(eddy 0.2 ", "find_package(eddy 0.3 "))
        with self.assertRaisesRegex(AssertionError, "0.2"):
            output_of("cmake", "-S", project, "-B", self.work / "later-build", f"-DCMAKE_PREFIX_PATH={self.prefix}")

    def test_every_header_that_a_header_includes_is_there(self):
        headers = self.prefix / "include/eddy"
        for path in headers.rglob("*.h"):
            for line in path.read_text().splitlines():
                if line.startswith('#include "'):
                    self.assertTrue((headers / line.split('"')[1]).exists(), f"{path}: {line}")


class Plugin(unittest.TestCase):
    """The example that comes with eddy-dev, with the programs of the other packages below one prefix."""

    @classmethod
    def setUpClass(cls):
        cls.work = trusted_folder(cls)
        cls.prefix = cls.work / "prefix"
        for component in ("eddy", "eddy-lab", "eddy-dev"):
            output_of("cmake", "--install", BUILD, "--prefix", cls.prefix, "--component", component)
        cls.example = cls.prefix / "share/doc/eddy-dev/examples/scheme_plugin"
        build = cls.work / "build"
        output_of("cmake", "-S", cls.example, "-B", build, f"-DCMAKE_PREFIX_PATH={cls.prefix}", "-DCMAKE_BUILD_TYPE=Release")
        output_of("cmake", "--build", build)
        cls.plugin = build / "last_choice.so"
        (cls.work / "tiny.yaml").write_text(EXPERIMENT.replace("last_choice.so", str(cls.plugin)))

    def call(self, program, *words, code=0):
        done = subprocess.run([self.prefix / "bin" / program, *map(str, words)], cwd=self.work, capture_output=True, text=True,
                              timeout=120, check=False)
        self.assertEqual(done.returncode, code, done.stdout + done.stderr)
        return done

    def by_hand(self, name, *more):
        """The example, without CMake."""
        places = {str(path.parent) for path in self.prefix.rglob("*.pc")}
        environment = os.environ | {"PKG_CONFIG_PATH": places.pop()}
        flags = [word for words in (("--variable=plugin_flags",), ("--cflags", "--libs"))
                 for word in output_of("pkg-config", *words, "eddy-scheme", env=environment).split()]
        plugin = self.work / name
        output_of("c++", "-O1", "-shared", self.example / "last_choice.cpp", "-o", plugin, *flags, *more)
        return plugin, flags

    def test_an_experiment_runs_with_it_and_says_so(self):
        self.call("eddylab", "run", "tiny.yaml", "--out", "out", "--quiet", "--check")
        (run,) = json.loads((self.work / "out/tiny/full/result.json").read_text())["runs"]
        self.assertEqual((run["scheme"], run["plugin"], run["unfinished"]), ("last_choice", str(self.plugin), 0))
        self.assertEqual(run["plugin_sha256"], hashlib.sha256(self.plugin.read_bytes()).hexdigest())
        self.assertIn(f"eddyd {run['plugin_version']} ", self.call("eddyd", "--version").stdout)

    def test_it_keeps_the_rules_of_all_schemes(self):
        told = json.loads(self.call("eddylab", "conformance", self.plugin, "--json").stdout)
        (scheme,) = told["schemes"]
        self.assertEqual((scheme["scheme"], scheme["holds"]), ("last_choice", True))
        left_out = {each["check"] for each in scheme["checks"] if each["verdict"] == "left out"}
        listed = json.loads(self.call("eddylab", "conformance", "--list", "--json").stdout)["checks"]
        self.assertLess(len(left_out), len(listed) / 2, left_out)  # those about order; it promises none

    def test_eddyd_takes_it(self):
        path = self.work / "switch.yaml"
        path.write_text(f"load_balancer: {{plugin: {self.plugin}, margin: 3KiB}}\nports: {{a: {{device: net_null0}}}}\n")
        self.assertIn("load balancer: last_choice, margin 3KiB\n", self.call("eddyd", "--config", path, "--check").stdout)
        path.write_text(path.read_text().replace("3KiB", "2MiB"))
        self.assertIn("load_balancer.margin", self.call("eddyd", "--config", path, "--check", code=2).stderr)

    def test_it_is_found_where_packages_put_schemes(self):
        (library,) = {path.parent for path in self.prefix.rglob("libeddy_lb.a")}
        schemes = library / "eddy/schemes"
        schemes.mkdir(parents=True, exist_ok=True)
        (schemes / "packaged.so").write_bytes(self.plugin.read_bytes())
        path = self.work / "switch.yaml"
        path.write_text("load_balancer: {plugin: packaged.so}\nports: {a: {device: net_null0}}\n")
        self.assertIn(str(schemes / "packaged.so"), self.call("eddyd", "--config", path, "--check").stdout)
        self.assertIn("plugin: packaged.so\n", self.call("eddyd", "--config", path, "--print-config").stdout)
        path = self.work / "packaged.yaml"
        path.write_text(EXPERIMENT.replace("last_choice.so", "packaged.so"))
        self.call("eddylab", "export", path, "--to", "compose", "--out", "exported")
        leaves = list((self.work / "exported").rglob("leaf?.yaml"))
        self.assertEqual(len(leaves), 2)
        for leaf in leaves:
            self.assertIn("plugin: packaged.so\n", leaf.read_text())

    def test_it_shows_one_symbol_of_ours_and_needs_none(self):
        shown = [line for line in output_of("nm", "-D", "--defined-only", "-C", self.plugin).splitlines() if "std::" not in line]
        self.assertEqual([line.split()[-1] for line in shown], ["eddy_plugin"])
        wanted = output_of("nm", "-D", "--undefined-only", "-C", self.plugin)
        self.assertNotIn("eddy::", wanted)

    def test_by_pkg_config(self):
        plugin, _ = self.by_hand("by_hand.so")
        self.assertIn("last_choice", self.call("eddylab", "schema", "experiment", "--plugin", plugin).stdout)

    def test_other_headers_are_refused_by_name(self):
        _, flags = self.by_hand("probe.so")
        other = "-UEDDY_FAULT_SITES" if "-DEDDY_FAULT_SITES" in flags else "-DEDDY_FAULT_SITES"
        plugin, _ = self.by_hand("other.so", other)
        self.assertRegex(self.call("eddylab", "schema", "experiment", "--plugin", plugin, code=2).stderr,
                         rf"^eddylab: {plugin}: it was built with Eddy \S+ by .*, where fault sites is \d, and here it is \d; .*\n$")


if __name__ == "__main__":
    sys.exit(unittest.main())
