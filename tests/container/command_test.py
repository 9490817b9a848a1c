"""scripts/images as people call it: what it refuses, and that a full disk is said and leaves nothing."""

import os
import shutil
import struct
import subprocess
import sys
from pathlib import Path
from unittest import mock

from support import PACKAGES, ROOT, STORE, InContainers, Trouble, images, main, run

from lib.emulation import emulation

COMMAND = ROOT / "scripts" / "images"
RULES = Path("/proc/sys/fs/binfmt_misc")
FULL_AT = "250M"  # the base, its tar and the lists of packages fit, what the image eddy depends on does not


class Command(InContainers):
    def images(self, *words, **environment):
        return subprocess.run([COMMAND, *words], capture_output=True, text=True, check=False, timeout=300,
                              env={**os.environ, **environment})

    def assert_refused(self, done, pattern):
        self.assertEqual(done.returncode, 1, done.stdout + done.stderr)
        self.assertEqual(len(done.stderr.strip().split("\n")), 1, done.stderr)
        self.assertRegex(done.stderr, pattern)

    def test_wrong_words(self):
        for words, pattern in ((("--only", "eddy,other"), "--only: 'other' is none of eddy, eddy-lab, eddy-host"),
                               (("--arch", "sparc"), "--arch: 'sparc' is none of amd64, arm64"),
                               (("--arch", ","), "--arch: ',' is none of amd64, arm64"),
                               (("--tag", "a b;c"), "--tag: 'a b;c' is no tag")):
            with self.subTest(words=words):
                done = self.images(*words)
                self.assertEqual(done.returncode, 2, done.stdout + done.stderr)
                self.assertRegex(done.stderr, f"\nscripts/images: error: argument {pattern}")

    def test_a_folder_without_packages(self):
        folder = self.folder()
        self.assert_refused(self.images("--packages", folder), f"{folder} has no package eddy_VERSION_{images.NATIVE}.deb")

    def test_packages_of_several_versions(self):
        folder = self.folder()
        for name in ("eddy_1.0_", "eddy-lab_2.0_"):
            (folder / f"{name}{images.NATIVE}.deb").touch()
        self.assert_refused(self.images("--packages", folder), "are of several versions: 1.0, 2.0$")
        (folder / f"eddy_2.0_{images.NATIVE}.deb").touch()
        self.assert_refused(self.images("--packages", folder), "has several packages eddy: ")

    def test_a_daemon_that_is_not_there(self):
        self.assert_refused(self.images("--packages", PACKAGES, DOCKER_HOST="unix:///nowhere/docker.sock"),
                            "no docker daemon answers at unix:///nowhere/docker.sock")

    def test_a_base_that_nobody_has(self):
        done = self.images("--packages", PACKAGES, "--base", "no.such.invalid/base:1", DOCKER_HOST=self.host())
        self.assert_refused(done, "there is no image no.such.invalid/base:1 here and no registry that has it$")

    def host(self):
        return self.engine.environment["DOCKER_HOST"]

    def test_a_base_on_which_nothing_can_be_installed(self):
        root = self.folder() / "root.tar"
        (root.parent / "empty").mkdir()
        run("tar", "-C", root.parent / "empty", "-cf", root, ".")
        self.engine.load_root(root, "test-empty:1")
        self.addCleanup(self.engine.call, "rmi", "--force", "test-empty:1")
        done = self.images("--packages", PACKAGES, "--base", "test-empty:1", "--tag", "test", DOCKER_HOST=self.host())
        self.assert_refused(done, "^scripts/images: building the image eddy failed: ")

    def test_none_is_left_where_one_of_them_fails(self):
        before = self.all_images()
        made = []
        build = images.build_image

        def building(engine, target, *words):
            if target == "eddy-host":
                self.assertNotEqual(self.all_images(), before)
                raise Trouble("building the image eddy-host failed")
            made.append(target)
            return build(engine, target, *words)
        with mock.patch.object(images, "build_image", building), self.assertRaises(Trouble):
            images.build_images(self.engine, PACKAGES, only=("eddy", "eddy-host"), revision="of-a-test", store=STORE)
        self.assertEqual(made, ["eddy"])
        self.assertEqual(self.all_images(), before)

    def all_images(self):
        return sorted(self.engine.call("images", "--all", "--quiet", "--no-trunc").stdout.split())

    def test_a_full_disk(self):
        store = self.folder()
        run("mount", "-t", "tmpfs", "-o", f"size={FULL_AT}", "tmpfs", store)
        self.addCleanup(run, "umount", "--lazy", store)
        shutil.copy(STORE / f"base-bookworm-{images.NATIVE}.tar", store)
        script = (f"import sys; sys.path.insert(0, {str(ROOT / 'scripts')!r}); from lib import images, engine; "
                  f"sys.argv = ['images', '--packages', {str(PACKAGES)!r}, '--store', {str(store)!r}]; "
                  "engine.DEFAULT_HOST = 'unix:///nowhere/docker.sock'; sys.exit(images.main())")
        environment = {key: value for key, value in os.environ.items() if key != "DOCKER_HOST"}
        done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=False, timeout=300,
                              env=environment)
        self.assert_refused(done, "^scripts/images: .*the disk is full")
        self.assertNotIn(f"{store}/", run("ps", "-e", "-o", "args").stdout)


class Emulation(InContainers):
    """A program of another processor runs, in a container that knows nothing of an emulator, and then no longer."""

    CODE = {"arm64": (0xB7, "400580d2a80b80d2010000d4"),  # mov x0, 42; mov x8, 93; svc 0
            "amd64": (0x3E, "bf2a000000b83c0000000f05")}  # mov edi, 42; mov eax, 60; syscall

    def program(self, architecture):
        """A whole ELF file whose exit status is 42."""
        machine, code = self.CODE[architecture]
        body, start = bytes.fromhex(code), 0x400000
        size = 64 + 56 + len(body)
        header = struct.pack("<4s5B7xHHIQQQIHHHHHH", b"\x7fELF", 2, 1, 1, 0, 0, 2, machine, 1, start + 120, 64, 0, 0, 64, 56,
                             1, 0, 0, 0)
        return header + struct.pack("<IIQQQQQQ", 1, 5, 0, start, start, size, size, 0x10000) + body

    def test_of_a_program(self):
        other = "amd64" if images.NATIVE == "arm64" else "arm64"
        if not shutil.which("qemu-aarch64-static" if other == "arm64" else "qemu-x86_64-static"):
            self.skipTest("qemu-user-static is not installed")
        folder = self.folder()
        root = folder / "root"
        root.mkdir()
        (root / "program").write_bytes(self.program(other))
        (root / "program").chmod(0o755)
        run("tar", "-C", root, "-cf", folder / "root.tar", ".")
        self.engine.load_root(folder / "root.tar", "test-other:1", other)
        self.addCleanup(self.engine.call, "rmi", "--force", "test-other:1")
        before = RULES.exists() and sorted(RULES.iterdir())
        with emulation(other):
            self.assertEqual(subprocess.run([root / "program"], check=False).returncode, 42)
            done = self.engine.once("test-other:1", "/program", options=("--network", "none",))
            self.assertEqual(done.returncode, 42, done.stderr)
        self.assertEqual(RULES.exists() and sorted(RULES.iterdir()), before)

    def test_of_the_own_processor_and_of_one_that_nobody_knows(self):
        with emulation(images.NATIVE):
            pass
        with self.assertRaisesRegex(Trouble, "no emulation of sparc is known"), emulation("sparc"):
            pass


if __name__ == "__main__":
    main()
