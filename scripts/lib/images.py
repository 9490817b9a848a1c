#!/usr/bin/python3
"""Builds the container images eddy, eddy-host and eddy-lab of the Debian packages.

  scripts/images                           makes the packages of preset release first (scripts/package)
  scripts/images --packages DIR            takes the packages of that folder
  scripts/images --engine podman --only eddy

Where no docker daemon runs, root starts one for itself, whose images stay in build/containers. The images stand on
debian:bookworm-slim: the engine's own, else a registry's, else one that mmdebstrap makes. Prints how long each step
took and how big each image is; exits 1 where a step fails, and then no image of this run is left.
"""

import argparse
import contextlib
import json
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
from lib.emulation import NATIVE, emulation  # noqa: E402
from lib.engine import CONFINED, find_engine, last_line  # noqa: E402
from lib.netns import Trouble  # noqa: E402

IMAGES = ("eddy", "eddy-lab", "eddy-host")
PACKAGES = ("eddy", "eddy-lab")
ARCHITECTURES = ("amd64", "arm64")
DOCKERFILE = ROOT / "docker" / "Dockerfile"
STORE = ROOT / "build" / "containers"
USUAL_BASE = "debian:bookworm-slim"
OWN_BASE = "eddy-base:bookworm"
PULL_SECONDS = 30
BUILD_SECONDS = {True: 600, False: 3_600}  # native, emulated
PROGRAMS = {"eddy": "eddyd", "eddy-lab": "eddylab", "eddy-host": "eddyhost"}
# What debian:bookworm-slim leaves out.
EXCLUDED = ("doc", "groff", "info", "linda", "lintian", "locale", "man")
MEMORY_NEEDED = 1 << 30


def timed(what, step, *arguments, **options):
    began = time.monotonic()
    result = step(*arguments, **options)
    print(f"{what:<28}{time.monotonic() - began:6.1f} s", flush=True)
    return result


# the base


def has_apt(engine, image):
    """Some bases of the right name are cut down so far that nothing can be installed."""
    return engine.once(image, "--version", options=("--network", "none", "--entrypoint", "apt-get")).returncode == 0


def pull(engine, image):
    """Whether a registry has it, and at once."""
    try:
        return engine.call("pull", "--quiet", image, check=False, timeout=PULL_SECONDS).returncode == 0
    except Trouble:
        return False


def own_base(architecture):
    return OWN_BASE if architecture == NATIVE else f"{OWN_BASE}-{architecture}"


def find_base(engine, wanted, architecture, store):
    """The name of the image to stand on; made where there is none."""
    if architecture == NATIVE:
        if wanted and not engine.has_image(wanted) and not pull(engine, wanted):
            raise Trouble(f"there is no image {wanted} here and no registry that has it")
        if wanted:
            return wanted
        if engine.has_image(USUAL_BASE) and has_apt(engine, USUAL_BASE):
            return USUAL_BASE
    elif wanted:
        raise Trouble(f"--base is for {NATIVE} only; the base for {architecture} is made")
    name = own_base(architecture)
    if engine.has_image(name):
        return name
    tar = store / f"base-bookworm-{architecture}.tar"
    if not tar.exists():
        if architecture == NATIVE and pull(engine, USUAL_BASE):
            return USUAL_BASE
        make_root(tar, architecture)
    engine.load_root(tar, name, None if architecture == NATIVE else architecture)
    return name


def make_root(tar, architecture):
    """debian:bookworm-slim in all but name. It replaces another only when it is whole."""
    if not shutil.which("mmdebstrap"):
        raise Trouble("no registry can be reached for the base image, and mmdebstrap, which makes one, is not installed")
    tar.parent.mkdir(parents=True, exist_ok=True)
    fresh = tar.with_suffix(".new")
    options = [f"--dpkgopt=path-exclude=/usr/share/{folder}/*" for folder in EXCLUDED]
    # Without usr-is-merged the package usrmerge comes, and all of Perl with it.
    command = ["mmdebstrap", "--quiet", "--variant=apt", "--skip=check/qemu", f"--architectures={architecture}", "--format=tar",
               "--include=usr-is-merged", "--hook-dir=/usr/share/mmdebstrap/hooks/merged-usr", *options,
               "--dpkgopt=path-include=/usr/share/doc/*/copyright", "--dpkgopt=force-unsafe-io",
               '--aptopt=Acquire::Languages "none"', "bookworm", str(fresh)]
    try:
        done = subprocess.run(command, capture_output=True, text=True, check=False, env=_environment_of_mmdebstrap())
        if done.returncode:
            raise Trouble(f"mmdebstrap failed: {last_line(done)}")
        fresh.replace(tar)
    finally:
        fresh.unlink(missing_ok=True)


def _environment_of_mmdebstrap():
    """In memory it takes half the time."""
    memory = Path("/dev/shm")
    if memory.is_dir() and shutil.disk_usage(memory).free > MEMORY_NEEDED:
        return {**os.environ, "TMPDIR": str(memory)}
    return dict(os.environ)


# the images


def find_packages(folder, architecture):
    """The files that the images are made of, and their version."""
    found = {}
    for name in PACKAGES:
        files = sorted(folder.glob(f"{name}_*_{architecture}.deb"))
        if not files:
            raise Trouble(f"{folder} has no package {name}_VERSION_{architecture}.deb: scripts/package makes it")
        if len(files) > 1:
            raise Trouble(f"{folder} has several packages {name}: {', '.join(file.name for file in files)}")
        found[name] = files[0]
    versions = {file.name.split("_")[1] for file in found.values()}
    if len(versions) > 1:
        raise Trouble(f"the packages in {folder} are of several versions: {', '.join(sorted(versions))}")
    return list(found.values()), versions.pop()


def build_image(engine, target, context, base, labels, architecture=NATIVE):
    """Builds one image without a name; returns its id."""
    with tempfile.TemporaryDirectory(prefix="eddy-image-") as folder:
        id_file = Path(folder) / "id"
        words = ["build", "--network", "host", "--file", DOCKERFILE, "--target", target, "--iidfile", id_file]
        if engine.kind == "podman":
            words += ["--format", "docker", "--layers"]  # which knows HEALTHCHECK
        if architecture != NATIVE:
            words += ["--platform", f"linux/{architecture}"]
        for name, value in {"BASE": base, **_proxies()}.items():
            words += ["--build-arg", f"{name}={value}"]
        for name, value in labels.items():
            words += ["--label", f"org.opencontainers.image.{name}={value}"]
        done = engine.call(*words, context, check=False, timeout=BUILD_SECONDS[architecture == NATIVE], DOCKER_BUILDKIT="1",
                           BUILDKIT_PROGRESS="plain")
        if done.returncode:
            raise Trouble(f"building the image {target} failed: {why_build_failed(done)}")
        return id_file.read_text(encoding="ascii").strip()


def start_once(engine, image, identity):
    """Its program says its version, under qemu-user if it must."""
    program = PROGRAMS[image]
    done = engine.once(identity, "--version", options=(*CONFINED, "--network", "none", "--entrypoint", program))
    if done.returncode or not done.stdout.startswith(program):
        raise Trouble(f"{program} does not start in the image {image}: {last_line(done)}")


def why_build_failed(done):
    """The line that says it, out of a log of hundreds."""
    said = (done.stderr + done.stdout).splitlines()
    for line in said:
        if "no space left on device" in line.lower():
            return "the disk is full (no space left on device)"
    telling = [line for line in said if re.search(r"\bE: |\berror: |ERROR|not found", line)]
    return re.sub(r"^#\d+ [\d.]* ?", "", (telling or said or ["no word of the builder's"])[0]).strip()


def tag_names(image, version, architecture):
    suffix = "" if architecture == NATIVE else f"-{architecture}"
    return [f"{image}:{version}{suffix}", f"{image}:latest{suffix}"]


def build_images(engine, packages, architecture=NATIVE, *, base=None, tag=None, only=IMAGES, revision="unknown",
                 store=STORE):
    """Builds the images and gives them their names when all are whole; returns the names."""
    files, version = find_packages(packages, architecture)
    made = {}
    with tempfile.TemporaryDirectory(prefix="eddy-context-") as folder, _removed_if_failing(engine, made), \
            emulation(architecture):
        base = timed(f"base for {architecture}", find_base, engine, base, architecture, store)
        for file in files:
            shutil.copy(file, folder)
        labels = {"version": version, "revision": revision, "source": "unknown"}
        for image in only:
            made[image] = timed(f"image {image} for {architecture}", build_image, engine, image, folder, base,
                                labels, architecture)
        for image, identity in made.items():
            start_once(engine, image, identity)
    names = {image: tag_names(image, tag or version, architecture) for image in only}
    for image, identity in made.items():
        for name in names[image]:
            engine.call("tag", identity, name)
    return names


@contextlib.contextmanager
def _removed_if_failing(engine, made):
    try:
        yield
    except BaseException:
        for identity in made.values():
            engine.call("rmi", identity, check=False)
        raise


def _proxies():
    return {name: os.environ[name] for name in ("http_proxy", "https_proxy", "no_proxy") if name in os.environ}


def copy_images(source, target, names):
    """From one engine to another."""
    with tempfile.TemporaryDirectory(prefix="eddy-images-") as folder:
        tar = Path(folder) / "images.tar"
        source.call("save", "--output", tar, *names, timeout=300)
        target.load(tar)


# the command


def make_packages(architecture):
    """By scripts/package; what it says of a failure is said."""
    preset = "release" if architecture == NATIVE else f"{architecture}-release"
    out = ROOT / "build" / preset / "packages"
    command = [ROOT / "scripts" / "package", "--build", ROOT / "build" / preset, "--out", out, "--no-lint"]
    done = subprocess.run([str(word) for word in command], capture_output=True, text=True, check=False)
    if done.returncode:
        raise Trouble(f"scripts/package failed: {last_line(done)}")
    return out


def revision_of(packages):
    """The commit, if the packages were made in this tree."""
    if not Path(packages).resolve().is_relative_to(ROOT):
        return "unknown"
    done = subprocess.run(["git", "-C", str(ROOT), "rev-parse", "HEAD"], capture_output=True, text=True, check=False)
    return done.stdout.strip() or "unknown"


def words_of(known):
    """What such an option takes: a list of known words."""
    def parse_words(text):
        words = [word for word in text.split(",") if word]
        unknown = [word for word in words if word not in known]
        if unknown or not words:
            raise argparse.ArgumentTypeError(f"'{','.join(unknown) or text}' is none of {', '.join(known)}")
        return list(dict.fromkeys(words))
    return parse_words


def a_tag(text):
    if not re.fullmatch(r"[A-Za-z0-9_][A-Za-z0-9_.-]{0,99}", text):
        raise argparse.ArgumentTypeError(f"'{text}' is no tag: letters, digits, _ . and -, at most 100, a letter or digit first")
    return text


def parse():
    parser = argparse.ArgumentParser(prog="scripts/images", description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--packages", type=Path, metavar="DIR", help="the packages (default: scripts/package makes them)")
    parser.add_argument("--engine", choices=("docker", "podman"), help="whose images (default: docker, else podman)")
    parser.add_argument("--arch", default=NATIVE, metavar="LIST", type=words_of(ARCHITECTURES),
                        help=f"amd64,arm64 (default: {NATIVE})")
    parser.add_argument("--tag", metavar="TAG", type=a_tag, help="instead of the packages' version")
    parser.add_argument("--only", default=",".join(IMAGES), metavar="LIST", type=words_of(IMAGES),
                        help=f"of {','.join(IMAGES)}")
    parser.add_argument("--base", metavar="IMAGE", help=f"stand on this image of Debian 12 (default: {USUAL_BASE})")
    parser.add_argument("--store", type=Path, default=STORE, metavar="DIR",
                        help="of the images of a daemon of our own, and of the base (build/containers)")
    return parser.parse_args()


def make(asked):
    for architecture in asked.arch if asked.packages else ():
        find_packages(asked.packages, architecture)
    began = time.monotonic()
    with find_engine(asked.engine, asked.store) as engine:
        for architecture in asked.arch:
            packages = asked.packages or timed(f"packages for {architecture}", make_packages, architecture)
            names = build_images(engine, packages, architecture, base=asked.base, tag=asked.tag, only=asked.only,
                                 revision=revision_of(packages), store=asked.store)
            for image in asked.only:
                size = engine.image_bytes(names[image][0]) / 1e6
                print(f"{' '.join(names[image]):<28}{size:6.0f} MB")
        print(f"{'in all':<28}{time.monotonic() - began:6.1f} s")
        if engine.is_own:
            print(f"No docker daemon runs here: the images are in {asked.store}.")


def main():
    try:
        make(parse())
    except (Trouble, OSError) as problem:
        print(f"scripts/images: {problem}", file=sys.stderr)
        return 1
    except KeyboardInterrupt:
        return 130
    return 0


if __name__ == "__main__":
    sys.exit(main())
