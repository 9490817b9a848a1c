"""What is in the images, and what is not."""

import re

from support import CONFINED, ROOT, InContainers, images, main

MOST_BYTES = {"eddy": 160e6, "eddy-lab": 180e6, "eddy-host": 200e6}
TOOLS = {"eddy": ("eddyd", "eddyctl"), "eddy-lab": ("eddylab", "eddyhost", "eddyctl"),
         "eddy-host": ("eddyhost", "eddylab", "iperf", "iperf3", "ethtool", "tcpdump")}
BUILDING = re.compile(r"^(gcc|g\+\+|cpp|clang|binutils|make|cmake|ninja|libc6-dev|lib\S+-dev|dpkg-dev|python3?)(-(?!12-base$)|$)")


def version():
    text = (ROOT / "CMakeLists.txt").read_text(encoding="utf-8")
    return re.search(r"project\(\s*eddy\s+VERSION\s+([\d.]+)", text)[1]


class Contents(InContainers):
    def once(self, image, *command):
        done = self.engine.once(image, *command[1:], options=(*CONFINED, "--network", "none", "--entrypoint", command[0]))
        good = (0, 1) if command == ("iperf", "--version") else (0,)  # it says its version, and fails
        self.assertIn(done.returncode, good, f"{image}: {command}: {done.stderr}")
        return done.stdout

    def test_they_are_small(self):
        for image in images.IMAGES:
            with self.subTest(image=image):
                size = self.engine.image_bytes(f"{image}:{version()}")
                print(f"{image}: {size / 1e6:.0f} MB")
                self.assertLess(size, MOST_BYTES[image])

    def test_nothing_in_them_compiles(self):
        for image in images.IMAGES:
            with self.subTest(image=image):
                names = self.once(image, "dpkg-query", "--show", "--showformat", "${Package}\n").split()
                self.assertIn("eddy", names)
                self.assertEqual([name for name in names if BUILDING.match(name)], [])

    def test_no_caches_are_left_in_them(self):
        for image in images.IMAGES:
            with self.subTest(image=image):
                found = self.engine.once(image, "/var/lib/apt", "/var/cache", "/tmp", "-type", "f", "-size", "+1M",
                                         options=("--network", "none", "--entrypoint", "find")).stdout
                self.assertEqual(found, "")

    def test_their_programs_run_as_the_images_user(self):
        for image, programs in TOOLS.items():
            for program in programs:
                with self.subTest(image=image, program=program):
                    self.once(image, program, "--version")
            self.assertEqual(self.once(image, "id", "-u").strip(), "6480")
            self.assertEqual(self.once(image, "id", "-g").strip(), "6480")

    def test_the_lab_finds_its_experiments(self):
        self.assertIn("letflow", self.once("eddy-lab", "eddylab", "list"))

    def test_their_labels_say_what_they_are(self):
        for image in images.IMAGES:
            with self.subTest(image=image):
                labels = self.engine.inspect(image)["Config"]["Labels"]
                found = {key.removeprefix("org.opencontainers.image."): value for key, value in labels.items()}
                self.assertEqual(found["version"], version())
                self.assertEqual(found["licenses"], "BSD-3-Clause")
                self.assertTrue(found["title"].startswith("Eddy"))
                self.assertRegex(found["revision"], r"^[0-9a-f]{40}$")
                self.assertIn("source", found)

    def test_a_switch_starts_without_a_shell_in_between(self):
        config = self.engine.inspect("eddy")["Config"]
        self.assertEqual(config["Entrypoint"], ["eddyd", "--wait", "60s"])
        self.assertEqual(config["StopSignal"], "SIGTERM")
        self.assertEqual(config["Healthcheck"]["Test"], ["CMD", "eddyctl", "healthy"])
        self.assertEqual(config["User"], "6480:6480")

    def test_a_linux_host_ends_on_sigterm(self):
        name = self.name("host")
        self.engine.run("eddy-host", options=("--name", name, *CONFINED, "--network", "none"))
        self.engine.call("kill", "--signal", "TERM", name)
        self.assertEqual(self.engine.wait(name, 5), 0)


if __name__ == "__main__":
    main()
