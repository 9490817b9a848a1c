#!/usr/bin/python3
"""The packages of the build tree at hand, as scripts/package makes them: what is in each, and what lintian says."""

import os
import subprocess
import sys
import sysconfig
import tempfile
import unittest
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
BUILD = Path(os.environ["EDDY_BIN"]).parent
MPI = ("eddylab-mpi",) if (BUILD / "bin/eddylab-mpi").exists() else ()
PACKAGES = ("eddy", "eddy-dev", "eddy-doc", "eddy-lab", *MPI)


def output_of(*command):
    done = subprocess.run([str(word) for word in command], capture_output=True, text=True, check=False)
    if done.returncode != 0:
        raise AssertionError(f"{command[0]} exited with {done.returncode}: {done.stdout}{done.stderr}")
    return done.stdout


class Packages(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.folder = tempfile.TemporaryDirectory(prefix="eddy-packages-")
        cls.addClassCleanup(cls.folder.cleanup)
        cls.out = Path(cls.folder.name)
        cls.said = output_of(ROOT / "scripts/package", "--build", BUILD, "--no-build", "--no-trial", "--out", cls.out)

    def package(self, name):
        found = list(self.out.glob(f"{name}_*.deb"))
        self.assertEqual(len(found), 1, f"one package {name} in {self.out}")
        return found[0]

    def field(self, name, field):
        return output_of("dpkg-deb", "--field", self.package(name), field).strip()

    def files(self, name):
        listed = output_of("dpkg-deb", "--contents", self.package(name)).splitlines()
        return {line.split(maxsplit=5)[5].split(" -> ")[0].lstrip(".") for line in listed}

    def test_each_is_made_and_nothing_else_is_left(self):
        self.assertEqual(sorted(path.name.split("_")[0] for path in self.out.iterdir()), sorted(PACKAGES))

    def test_lintian_has_nothing_to_say(self):
        self.assertEqual([line for line in self.said.splitlines() if line.startswith(("E:", "W:"))], [])

    def test_the_version_is_that_of_the_programs(self):
        said = output_of(BUILD / "bin/eddyd", "--version").split()
        for name in PACKAGES:
            self.assertIn(self.field(name, "Version"), said)

    def test_drivers_that_are_loaded_at_run_time_are_named(self):
        depends = self.field("eddy", "Depends")
        for driver in ("mempool-ring", "bus-vdev", "net-af-packet", "net-af-xdp", "net-memif", "net-null", "net-pcap",
                       "net-ring", "net-tap"):
            self.assertIn(f"librte-{driver}", depends)

    def test_data_of_the_lab_is_all_there(self):
        files = self.files("eddy-lab")
        for folder in ("experiments", "workloads"):
            for path in (ROOT / "config" / folder).rglob("*.*"):
                self.assertIn(f"/usr/share/eddy/{path.relative_to(ROOT / 'config')}", files)

    def test_the_switch_comes_with_unit_pages_and_completion(self):
        files = self.files("eddy")
        for path in ("lib/systemd/system/eddyd@.service", "share/man/man8/eddyd.8.gz", "share/man/man5/eddyd.yaml.5.gz",
                     "share/bash-completion/completions/eddyctl", "share/zsh/vendor-completions/_eddyctl",
                     "share/eddy/schema/eddyd.schema.json", "share/doc/eddy/examples/leaf.yaml",
                     f"lib/{sysconfig.get_config_var('MULTIARCH')}/wireshark/plugins/eddy.lua"):
            self.assertIn(f"/usr/{path}", files)

    @unittest.skipUnless(MPI, "there is no Open MPI: its package is NOT tested")
    def test_what_needs_mpi_is_a_package_that_nothing_else_depends_on(self):
        self.assertIn("/usr/bin/eddylab-mpi", self.files("eddylab-mpi"))
        self.assertIn("/usr/share/man/man1/eddylab-mpi.1.gz", self.files("eddylab-mpi"))
        depends = self.field("eddylab-mpi", "Depends")
        for package in ("openmpi-bin", "libopenmpi3", f"eddy-lab (= {self.field('eddy-lab', 'Version')})"):
            self.assertIn(package, depends)
        for name in PACKAGES:
            self.assertNotIn("mpi", self.field(name, "Depends") if name not in MPI else "", name)

    def test_no_file_is_in_two_packages(self):
        seen = [path for name in PACKAGES for path in self.files(name) if not path.endswith("/")]
        self.assertEqual(len(seen), len(set(seen)))

    def test_no_text_names_the_tree_it_was_built_in(self):
        with tempfile.TemporaryDirectory() as place:
            for name in PACKAGES:
                output_of("dpkg-deb", "--extract", self.package(name), place)
            texts = [path for path in Path(place).rglob("*") if path.is_file() and path.parent.name != "bin"]
            self.assertGreater(len(texts), 50)
            naming = [path for path in texts if str(ROOT).encode() in path.read_bytes()]
        self.assertEqual(naming, [])


class Installed(unittest.TestCase):
    """Below a prefix, run from a folder that has nothing: only the program's own place says where its data is."""

    @classmethod
    def setUpClass(cls):
        cls.folder = tempfile.TemporaryDirectory(prefix="eddy-installed-")
        cls.addClassCleanup(cls.folder.cleanup)
        cls.prefix = Path(cls.folder.name) / "prefix"
        cls.empty = Path(cls.folder.name) / "empty"
        cls.empty.mkdir()
        output_of("cmake", "--install", BUILD, "--prefix", cls.prefix, "--component", "eddy-lab")

    def eddylab(self, *words, data="", prefix=None):
        return subprocess.run([(prefix or self.prefix) / "bin/eddylab", *words], cwd=self.empty, capture_output=True,
                              text=True, check=False, env=os.environ | {"EDDY_DATA": str(data)})

    def test_a_prefix_and_a_component_can_be_chosen(self):
        self.assertTrue((self.prefix / "share/eddy/experiments/leaf-spine.yaml").exists())
        self.assertEqual(sorted(path.name for path in (self.prefix / "bin").iterdir()),
                         ["eddyhost", "eddylab", "eddywire"])
        self.assertFalse((self.prefix / "share/doc/eddy/README.md").exists(), "another component's file")

    def test_experiments_workloads_and_topologies_are_found(self):
        listed = self.eddylab("list")
        self.assertEqual([line.split()[0] for line in listed.stdout.splitlines()[1:]],
                         sorted(path.stem for path in (ROOT / "config/experiments").glob("*.yaml")), listed.stderr)
        for experiment in ("rlb-s1", "letflow-asymmetry"):
            done = self.eddylab("validate", experiment)
            self.assertEqual(done.returncode, 0, done.stderr)
            self.assertIn(f"{self.prefix}/share/eddy/experiments/{experiment}.yaml: good", done.stdout.replace("bin/../", ""))

    def test_what_the_user_names_is_first_and_the_rest_is_found_still(self):
        mine = Path(self.folder.name) / "mine"
        (mine / "experiments").mkdir(parents=True)
        text = (ROOT / "config/experiments/leaf-spine.yaml").read_text()
        for name in ("leaf-spine", "of-my-own"):
            (mine / f"experiments/{name}.yaml").write_text(text)
        for name, folder in (("leaf-spine", mine), ("of-my-own", mine), ("incast", self.prefix / "share/eddy")):
            done = self.eddylab("validate", name, data=mine)
            self.assertIn(f"{folder}/experiments/{name}.yaml: good", done.stdout, done.stderr)

    def test_the_python_package_is_found(self):
        done = self.eddylab("export-results", "nowhere")
        self.assertEqual((done.returncode, done.stderr), (1, "eddylab: export-results: nowhere: No such file or directory\n"))
        alone = Path(self.folder.name) / "alone"
        (alone / "bin").mkdir(parents=True)
        os.link(self.prefix / "bin/eddylab", alone / "bin/eddylab")
        if not Path("/usr/lib/python3/dist-packages/eddylab").exists():
            done = self.eddylab("export-results", "nowhere", prefix=alone)
            self.assertEqual((done.returncode, done.stderr),
                             (1, "eddylab: export-results: the Python package eddylab is not there; looked in "
                                 f"{alone}/lib/python3/dist-packages, /usr/lib/python3/dist-packages\n"))

    def test_a_lack_of_data_says_where_it_looked(self):
        bare = Path(self.folder.name) / "bare"
        (bare / "bin").mkdir(parents=True)
        os.link(self.prefix / "bin/eddylab", bare / "bin/eddylab")
        done = self.eddylab("run", "nowhere", data="/srv/mine", prefix=bare)
        self.assertEqual(done.returncode, 2)
        self.assertIn('no experiment "nowhere", looked in /srv/mine/experiments, config/experiments, '
                      f"{bare}/share/eddy/experiments, /usr/share/eddy/experiments; ", done.stderr)


class Trouble(unittest.TestCase):
    def refused(self, *arguments):
        done = subprocess.run([ROOT / "scripts/package", *map(str, arguments)], capture_output=True, text=True, check=False)
        self.assertEqual(done.returncode, 1, done.stdout)
        return done.stderr

    def test_a_tree_that_is_none(self):
        with tempfile.TemporaryDirectory() as place:
            said = self.refused("--build", place)
            self.assertIn("is no build tree", said)
            self.assertEqual(len(said.splitlines()), 1, said)

    @unittest.skipUnless(os.geteuid() == 0, "a full disk needs root to mount one: NOT TESTED")
    def test_a_full_disk(self):
        with tempfile.TemporaryDirectory() as place:
            kept = Path(place) / "eddy_0.2.0_amd64.deb"
            script = ('mount -t tmpfs -o size=300k tmpfs "$1" && echo old > "$1/eddy_0.2.0_amd64.deb"; shift; "$@"; code=$?; '
                      f'ls -A "{place}" >&2; exit $code')
            done = subprocess.run(["unshare", "--mount", "--propagation", "private", "sh", "-c", script, "sh", place,
                                   ROOT / "scripts/package", "--build", BUILD, "--no-build", "--no-lint", "--out", place],
                                  capture_output=True, text=True, check=False)
            self.assertEqual(done.returncode, 1)
            self.assertEqual(done.stderr.splitlines(), ["scripts/package: packing failed: no space left on device", kept.name])

    def test_a_folder_that_cannot_be_written(self):
        said = self.refused("--build", BUILD, "--no-build", "--out", "/proc/packages")
        self.assertIn("/proc/packages", said)
        self.assertEqual(len(said.splitlines()), 1, said)


if __name__ == "__main__":
    sys.exit(unittest.main())
