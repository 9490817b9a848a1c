"""A report of 100 runs with 2,000 flows each: how long it takes to make, and to open in a browser."""

import subprocess
import tempfile
import time
from pathlib import Path

from .bench_results import result
from .browser import Browser
from .netns import Trouble

ROOT = Path(__file__).resolve().parents[2]
SEEDS = 25  # of four schemes
FEWEST_FLOWS = 2000
ROUNDS = 5
MEBIBYTE = 1 << 20


def measure(binaries, say):
    with tempfile.TemporaryDirectory(prefix="eddy-bench-report-") as folder:
        results = sweep(binaries, Path(folder))
        say("report: 100 runs are there")
        page = Path(folder) / "report.html"
        made = [timed(lambda: run([binaries / "eddylab", "report", results, "--out", page]))
                for _ in range(ROUNDS)]
        opened = [open_page(page) for _ in range(ROUNDS)]
        return [result("report.build.100runs", made, "s"), result("report.open.100runs", opened, "s"),
                result("report.size.100runs", [page.stat().st_size / MEBIBYTE], "MiB")]


def sweep(binaries, folder):
    run([binaries / "eddylab", "run", ROOT / "config" / "experiments" / "leaf-spine.yaml", "--size", "ci", "--seed",
         f"1-{SEEDS}", "--set", "traffic.0.truncate=20kB", "--set", "run.duration=1ms", "--jobs", "2", "--quiet",
         "--out", folder])
    results = folder / "leaf-spine" / "ci"
    said = run([binaries / "eddylab", "show", results]).stdout
    rows = [line.split() for line in said.splitlines() if line.startswith("scheme=")]
    if not all(int(row[1]) == SEEDS and float(row[2]) >= FEWEST_FLOWS for row in rows[:4]):
        raise Trouble(f"the sweep is not what the report's rows are about:\n{said}")
    return results


def open_page(page):
    """Until it is drawn, in a browser that runs already and has not seen it."""
    with Browser() as browser:
        browser.screen(1280, 900)

        def look():
            browser.open(page)
            browser.frames()
        seconds = timed(look)
        if browser.evaluate("document.documentElement.dataset.ready") != "yes" or browser.complaints():
            raise Trouble(f"the page did not come up: {browser.complaints()}")
        return seconds


def timed(does):
    start = time.monotonic()
    does()
    return time.monotonic() - start


def run(command):
    done = subprocess.run([str(word) for word in command], capture_output=True, text=True, check=False)
    if done.returncode:
        raise Trouble(f"'{' '.join(map(str, command))}' failed:\n{done.stdout}{done.stderr}")
    return done
