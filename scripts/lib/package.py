#!/usr/bin/python3
"""Makes the Debian packages eddy, eddy-lab, eddy-doc, eddy-dev and, where there is Open MPI, eddylab-mpi of a build tree, has
lintian look at them, and tries them in a fresh root: installed, a fabric of four switches, an experiment, an upgrade, removal, purge.

  scripts/package                          the release preset's, into build/release/packages
  scripts/package --build build/dev        those of another tree; programs are stripped in any case
  scripts/package --out DIR --no-lint      into DIR, without lintian and without a trial
  scripts/package --no-trial               without a trial, which needs root and Debian's mirror
  scripts/package --arch arm64             cross-compiled, into build/arm64-release/packages; programs are started under qemu-user

Prints the files it made and how long each step took. Exits 1 where a step fails or lintian finds an error.
"""

import argparse
import os
import re
import shutil
import subprocess
import sys
import tempfile
import time
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "scripts"))
from lib.fresh_root import FreshRoot  # noqa: E402
from lib.images import STORE, make_root  # noqa: E402
from lib.netns import Trouble  # noqa: E402
from lib.package_trial import Trial  # noqa: E402

SHOWN_LINES = 20
NO_SPACE = "No space left on device"
NATIVE = {"x86_64": "amd64", "aarch64": "arm64"}.get(os.uname().machine, os.uname().machine)
PRESETS = {NATIVE: "release", "arm64": "release" if NATIVE == "arm64" else "arm64-release"}
EMULATOR = "qemu-aarch64"
PROGRAMS = ("eddyd", "eddyctl", "eddylab", "eddyhost", "eddywire")


def run(what, command, **options):
    """Runs a step silently. What it printed is shown if it fails."""
    done = subprocess.run([str(word) for word in command], stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True,
                          check=False, errors="replace", **options)
    if done.returncode != 0:
        if NO_SPACE in done.stdout:
            raise Trouble(f"{what} failed: {NO_SPACE[0].lower()}{NO_SPACE[1:]}")
        tail = "\n".join(done.stdout.splitlines()[-SHOWN_LINES:])
        raise Trouble(f"{what} failed ({command[0]} exited with {done.returncode}):\n{tail}")
    return done.stdout


def need(tool, package):
    if not shutil.which(tool):
        raise Trouble(f"{tool} is missing: install Debian's package {package}")


def build(tree):
    """What the packages hold. A tree that is one of the presets is configured where it is not yet."""
    if not (tree / "CMakeCache.txt").exists():
        if tree.parent != ROOT / "build":
            raise Trouble(f"{tree} is no build tree and no preset's: cmake -B {tree} makes one")
        if tree.name.startswith("arm64"):
            run("fetching what cross-compiling needs", [ROOT / "scripts" / "setup", "--arm64"])
        run("configuring", ["cmake", "--preset", tree.name], cwd=ROOT)
    run("building", ["cmake", "--build", tree, "--target", "packaged"])


def architecture_of(tree):
    """What a tree's programs run on."""
    try:
        text = (tree / "CPackConfig.cmake").read_text(encoding="utf-8")
    except FileNotFoundError:
        raise Trouble(f"{tree} is no build tree that knows packages: cmake -B {tree} makes one") from None
    return re.search(r'set\(CPACK_DEBIAN_PACKAGE_ARCHITECTURE "(\w+)"\)', text)[1]


def pack(tree, out):
    """Makes the packages and says where they are. They replace others of the same name only when all are whole."""
    need("dpkg-shlibdeps", "dpkg-dev")
    out.mkdir(parents=True, exist_ok=True)
    # dpkg does not know the libraries of another processor.
    cross = [] if architecture_of(tree) == NATIVE else ["-D", f"SHLIBDEPS_EXECUTABLE={ROOT}/packaging/debian/cross_shlibdeps"]
    with tempfile.TemporaryDirectory(dir=out, prefix=".making-") as work:
        run("packing", ["cpack", "--config", tree / "CPackConfig.cmake", *cross, "-B", work], cwd=tree)
        made = sorted(Path(work).glob("*.deb"))
        if not made:
            raise Trouble(f"packing made no package in {work}")
        for file in made:
            os.replace(file, out / file.name)
        return [out / file.name for file in made]


def lint(packages):
    need("lintian", "lintian")
    return run("lintian", ["lintian", "--allow-root", "--fail-on", "error", "--tag-display-limit", "0", *packages])


def base_root(architecture):
    """The tar of a small Debian; scripts/images stands on the same."""
    tar = STORE / f"base-bookworm-{architecture}.tar"
    if not tar.exists():
        timed("fresh root", make_root, tar, architecture)
    return tar


def try_out(packages, architecture):
    """Installs them where nothing else is, uses them, and takes them away again."""
    if os.geteuid() != 0:
        print("NOT TRIED in a fresh root: that needs root", flush=True)
        return
    with FreshRoot(base_root(architecture)) as root:
        trial = Trial(root, packages)
        for step in (trial.install, trial.fabric, trial.experiment, trial.start_switch, trial.stop_switch, trial.upgrade,
                     trial.remove, trial.purge):
            timed(f"  {step.__name__}", step)


def start_emulated(packages):
    """Programs of another processor, unpacked, run once under qemu-user beside the libraries that they were linked with."""
    need(EMULATOR, "qemu-user")
    sysroot = run("the sysroot", [ROOT / "scripts" / "lib" / "arm64_sysroot"]).strip()
    with tempfile.TemporaryDirectory(prefix="eddy-emulated-") as place:
        for package in packages:
            run("unpacking", ["dpkg-deb", "--extract", package, place])

        def emulated(program, *words):
            return run(f"{program} under {EMULATOR}", [EMULATOR, "-L", sysroot, f"{place}/usr/bin/{program}", *words], cwd=place)
        for program in PROGRAMS:
            emulated(program, "--version")
        emulated("eddyd", "--config", f"{place}/usr/share/doc/eddy/examples/leaf.yaml", "--check")
        emulated("eddylab", "run", "leaf-spine", "--size", "ci", "--variant", "scheme=letflow", "--quiet")


def timed(what, step, *arguments):
    began = time.monotonic()
    result = step(*arguments)
    print(f"{what:<16} {time.monotonic() - began:5.1f} s", flush=True)
    return result


def parse():
    parser = argparse.ArgumentParser(prog="scripts/package", description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--arch", choices=sorted(PRESETS), default=NATIVE, help=f"which processor (default: {NATIVE})")
    parser.add_argument("--build", type=Path, metavar="DIR", help="the build tree (default: the preset of the processor's release)")
    parser.add_argument("--out", type=Path, metavar="DIR", help="where the packages go (BUILD/packages)")
    parser.add_argument("--no-build", action="store_true", help="everything is built already")
    parser.add_argument("--no-lint", action="store_true", help="only make them")
    parser.add_argument("--no-trial", action="store_true", help="make them and have lintian look, no more")
    return parser.parse_args()


def main():
    asked = parse()
    tree = (asked.build or ROOT / "build" / PRESETS[asked.arch]).resolve()
    out = (asked.out or tree / "packages").resolve()
    if not asked.no_build:
        timed("build", build, tree)
    architecture = architecture_of(tree)
    packages = timed("pack", pack, tree, out)
    if not asked.no_lint:
        warnings = timed("lintian", lint, packages)
        print(warnings, end="")
    if not asked.no_lint and not asked.no_trial:
        if architecture == NATIVE:
            try_out(packages, architecture)
        else:
            timed("emulated", start_emulated, packages)
    for package in packages:
        print(f"{package.stat().st_size / 1e6:6.2f} MB  {package}")


if __name__ == "__main__":
    try:
        main()
    except (Trouble, OSError) as problem:
        print(f"scripts/package: {problem}", file=sys.stderr)
        sys.exit(1)
