#!/usr/bin/python3
"""scripts/mutate: makes small changes of meaning, and shows which no test notices."""

import argparse
import signal
import subprocess
import sys
import tempfile
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))
from lib import mutant_draw, mutant_ledger  # noqa: E402
from lib.mutant_build import Build, Variant  # noqa: E402
from lib.mutant_checks import PROGRAMS, Checks, checks_of, targets_of  # noqa: E402
from lib.mutants import KINDS  # noqa: E402
from lib.netns import Trouble  # noqa: E402

ROOT = Path(__file__).resolve().parents[2]
EXPLAINED = ROOT / "tests" / "mutants" / "explained.txt"


def parse_arguments(words=None):
    parser = argparse.ArgumentParser(
        prog="scripts/mutate", formatter_class=argparse.RawDescriptionHelpFormatter,
        description="Draws mutants by a seed, runs each against the tests of its folder, and prints a table of\n"
        "those that survive. CONTRIBUTING.md says what a mutant is and what to do about a survivor.",
        epilog="exit: 0 all killed or explained, 1 some survived, 2 usage, 3 nothing could be run")
    parser.add_argument("--seed", type=int, default=1, metavar="N", help="of the draw (default: 1)")
    parser.add_argument("--count", type=int, default=300, metavar="N",
                        help="mutants that compile (default: 300)")
    parser.add_argument("--folder", action="append", choices=mutant_draw.FOLDERS, metavar="NAME",
                        help="only of this one, may be repeated: " + ", ".join(mutant_draw.FOLDERS))
    parser.add_argument("--file", action="append", metavar="PATH", help="only of this one, may be repeated")
    parser.add_argument("--kind", action="append", choices=KINDS, metavar="NAME",
                        help="only of this one, may be repeated: " + ", ".join(KINDS))
    parser.add_argument("--jobs", type=int, default=1, metavar="N", help="mutants at once (default: 1)")
    parser.add_argument("--own", action="store_true",
                        help="only the tests of the folder: without golden cases, digests and other folders' tests")
    parser.add_argument("--ledger", type=Path, metavar="FILE",
                        help="where results go, a line each (default: build/mutate/SEED.jsonl), made anew")
    parser.add_argument("--resume", type=Path, metavar="LEDGER",
                        help="go on with this run; what survived another commit's tests, or --own, is run again")
    what = parser.add_mutually_exclusive_group()
    what.add_argument("--list", action="store_true", help="print the mutants of the draw, run nothing")
    what.add_argument("--replay", metavar="ID", help="run this one and print what its tests say")
    what.add_argument("--table", type=Path, metavar="LEDGER", help="print the table of a ledger, run nothing")
    arguments = parser.parse_args(words)
    for name in ("count", "jobs"):
        if getattr(arguments, name) < 1:
            parser.error(f"--{name} {getattr(arguments, name)}: valid is 1 and more")
    for path in arguments.file or ():
        if not (ROOT / path).is_file() or not mutant_draw.folder_of(path):
            parser.error(f"--file {path}: no file of {', '.join(mutant_draw.FOLDERS)}")
    for path in (arguments.resume, arguments.table):
        if path and not path.is_file():
            parser.error(f"{path}: there is no such ledger")
    return arguments


def say(line):
    print(line, file=sys.stderr, flush=True)


def commit():
    done = subprocess.run(["git", "-C", ROOT, "describe", "--always", "--dirty", "--abbrev=12", "--exclude=*"],
                          capture_output=True, text=True, check=False)
    return done.stdout.strip() or "unknown"


def drawn(settings):
    """The mutants of a draw, the first ones first; more than are wanted, as not all compile."""
    folders = settings["folders"] or sorted({mutant_draw.folder_of(path) for path in settings["files"]})
    candidates = mutant_draw.all_mutants(ROOT, folders or mutant_draw.FOLDERS, settings["files"])
    order = mutant_draw.draw(candidates, settings["seed"], mutant_draw.dependents(ROOT))
    return [mutant for mutant in order if not settings["kinds"] or mutant.kind in settings["kinds"]]


class Runner:
    """Runs mutants against the checks of their folders."""

    def __init__(self, folders, own_only, jobs):
        self.own_only = own_only
        say(f"building the tests of {', '.join(folders)}")
        self.build = Build(ROOT, targets_of(folders, own_only), jobs)
        self.checks = Checks(ROOT)
        for name in sorted({name for folder in folders for name in checks_of(folder, own_only)}):
            cpu = self.checks.measure(name, self.build.directory / "bin" / PROGRAMS.get(name, name))
            say(f"  {name} passes without a mutant in {cpu:.1f} s of CPU time")

    def run(self, mutant, show=None):
        """The entry of the ledger."""
        began = time.monotonic()
        text = (ROOT / mutant.path).read_text(encoding="utf-8")
        with tempfile.TemporaryDirectory(prefix="eddy-mutant-") as folder:
            variant = Variant(self.build, Path(folder), mutant.path, mutant.applied(text))
            verdict, check, test = self._verdict(variant, mutant, show)
        return {"id": mutant.id, "path": mutant.path, "line": mutant.line, "kind": mutant.kind,
                "before": mutant.before, "after": mutant.after, "verdict": verdict, "check": check, "test": test,
                "objects": len(variant.compiled), "seconds": round(time.monotonic() - began, 1)}

    def _verdict(self, variant, mutant, show):
        reached = False
        for name in checks_of(mutant_draw.folder_of(mutant.path), self.own_only):
            target = PROGRAMS.get(name, name)
            if not self.build.touched(target, mutant.path):
                continue
            reached = True
            program = variant.program(target)
            if program is None:
                return "did not compile", "", ""
            outcome = self.checks.run(name, program)
            if show:
                show(f"== {name}: {outcome.verdict}\n{outcome.output}")
            if outcome.verdict != "passed":
                return outcome.verdict, name, outcome.test
        return ("survived" if reached else "not linked"), "", ""


def run_all(arguments):
    if arguments.resume:
        ledger = mutant_ledger.Ledger.of_file(arguments.resume)
    else:
        settings = {"seed": arguments.seed, "count": arguments.count, "folders": arguments.folder or [],
                    "files": arguments.file or [], "kinds": arguments.kind or []}
        path = arguments.ledger or ROOT / "build" / "mutate" / f"{arguments.seed}.jsonl"
        ledger = mutant_ledger.Ledger.anew(path, settings)
    order = drawn(ledger.settings)
    folders = sorted({mutant_draw.folder_of(mutant.path) for mutant in order}, key=mutant_draw.FOLDERS.index)
    runner = Runner(folders, arguments.own, arguments.jobs)
    ledger.close(run_left(runner, order, ledger, arguments.jobs))
    return show_table(ledger)


def run_left(runner, order, ledger, jobs):
    """Mutants in the order of the draw, until so many compiled as were asked for; returns their ids."""
    ids, now, at = [mutant.id for mutant in order], commit(), 0
    with ThreadPoolExecutor(jobs) as pool:
        while at < len(order) and ledger.compiled(ids[:at]) < ledger.settings["count"]:
            wanted = ledger.settings["count"] - ledger.compiled(ids[:at])
            batch = order[at:at + min(jobs, wanted)]
            at += len(batch)
            batch = [mutant for mutant in batch if ledger.wants(mutant.id, now, runner.own_only)]
            for entry in pool.map(runner.run, batch):
                ledger.add(entry | {"commit": now, "own": runner.own_only})
                say(mutant_ledger.line_of(entry, ledger.compiled(ids[:at])))
    return ids[:at]


def show_table(ledger, every=False):
    reasons = mutant_draw.explained(EXPLAINED)
    print(*mutant_ledger.table(ledger, reasons, every), sep="\n")
    return 1 if any(entry["id"] not in reasons for entry in ledger.survivors()) else 0


def list_drawn(arguments):
    settings = {"seed": arguments.seed, "folders": arguments.folder or [], "files": arguments.file or [],
                "kinds": arguments.kind or []}
    for mutant in drawn(settings)[:arguments.count]:
        print(f"{mutant.id}  {mutant.path}:{mutant.line}  {mutant.kind}\n    {mutant.before}\n    {mutant.after}")
    return 0


def replay(arguments):
    candidates = mutant_draw.all_mutants(ROOT, arguments.folder or mutant_draw.FOLDERS, arguments.file or ())
    mutant = next((each for each in candidates if each.id == arguments.replay), None)
    if mutant is None:
        raise Trouble(f"{arguments.replay}: no mutant of these files has that id")
    print(f"{mutant.path}:{mutant.line}: {mutant.kind}\n  {mutant.before}\n  {mutant.after}", flush=True)
    entry = Runner([mutant_draw.folder_of(mutant.path)], arguments.own, arguments.jobs).run(mutant, print)
    print(mutant_ledger.line_of(entry, 1))
    return 1 if entry["verdict"] == "survived" else 0


def main():
    arguments = parse_arguments()
    signal.signal(signal.SIGTERM, signal.default_int_handler)  # folders of mutants are removed on the way out
    try:
        if arguments.table:
            return show_table(mutant_ledger.Ledger.of_file(arguments.table), every=True)
        if arguments.list:
            return list_drawn(arguments)
        return replay(arguments) if arguments.replay else run_all(arguments)
    except Trouble as trouble:
        say(f"scripts/mutate: {trouble}")
        return 3
    except KeyboardInterrupt:
        return 130


if __name__ == "__main__":
    sys.exit(main())
