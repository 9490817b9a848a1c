"""Runs experiments with the program eddylab."""

import os
import re
import shutil
import subprocess

from eddylab.results import load

_HINT = "Run with --help for more information."  # below what is wrong with a command line
_RESULT = re.compile(r"^\d+ runs? in (.*result\.json);", re.M)  # what eddylab says when it has ended


class RunFailed(Exception):
    """eddylab has ended with an error: `status`, and `said`, what it printed."""

    def __init__(self, status, said):
        lines = [line for line in said.strip().splitlines() if line != _HINT]
        last = lines[-1] if lines else "it said nothing"
        super().__init__(f"eddylab ended with {status}: {last}")
        self.status = status
        self.said = said


def program():
    """$EDDYLAB, or the one in the path."""
    found = os.environ.get("EDDYLAB") or shutil.which("eddylab")
    if not found:
        raise RunFailed(127, "the program eddylab is not in the path, and EDDYLAB does not name it")
    return found


def _seeds(seeds):
    return str(seeds) if isinstance(seeds, (int, str)) else ",".join(str(seed) for seed in seeds)


def words(experiment, out, size=None, seeds=None, set=None, variant=None, jobs=None, threads=None, **flags):
    """The command line behind the program's name; flags: check=True is --check, timeline='a:b' is --timeline a:b."""
    line = ["run", str(experiment), "--out", str(out)]
    options = {"size": size, "seed": None if seeds is None else _seeds(seeds), "jobs": jobs, "threads": threads}
    options.update((name.replace("_", "-"), value) for name, value in flags.items())
    for name, value in options.items():
        if value is True:
            line.append(f"--{name}")
        elif value is not None and value is not False:
            line += [f"--{name}", str(value)]
    for key, value in (set or {}).items():
        line += ["--set", f"{key}={value}"]
    for name in [variant] if isinstance(variant, str) else variant or []:
        line += ["--variant", name]
    return line


def run(experiment, out="results", **options):
    """Runs an experiment, an ID or a file, and returns its Results; options are those of `words`.

    Finished runs of the folder are kept, as `eddylab run` does. RunFailed if it ends with an error.
    """
    command = [program(), *words(experiment, out, **options)]
    try:
        done = subprocess.run(command, capture_output=True, text=True, check=False)
    except OSError as error:
        raise RunFailed(127, f"the program {command[0]} cannot be run: {error.strerror}") from error
    where = _RESULT.search(done.stdout)
    if done.returncode or where is None:
        raise RunFailed(done.returncode, done.stderr or done.stdout)
    return load(where[1])
