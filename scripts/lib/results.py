#!/usr/bin/python3
"""scripts/results: experiments are run, what documents need of their results is kept in docs/results, and the documents are
made from that."""

import argparse
import os
import re
import subprocess
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))
from lib.netns import Trouble  # noqa: E402
from lib.release import programs  # noqa: E402
from lib.scheme_table import scheme_document  # noqa: E402

ROOT = Path(__file__).resolve().parents[2]
KEPT = ROOT / "docs" / "results"
RESULTS, SCHEMES = ROOT / "docs" / "results.md", ROOT / "docs" / "schemes.md"
BEGIN, END = "<!-- claims: scripts/results -->", "<!-- end of claims -->"
INTERRUPTED = 130

# What the documents are of: size, seeds, and whether all variants are run or those of which something is claimed. The
# choice is one of CPU time: all of it together is some ten minutes.
ROWS = {
    "collectives": ("ci", "1", "all"),
    "cw-2t": ("full", "1", "all"),
    "cw-3t": ("ci", "1", "all"),
    "cw-best": ("reduced", "1", "all"),
    "deadlock": ("ci", "1", "all"),
    "dragonfly": ("reduced", "1", "all"),
    "failures": ("ci", "1", "all"),
    "fc-1": ("ci", "1", "all"),
    "fc-10": ("ci", "1", "all"),
    "fc-11": ("ci", "1", "all"),
    "fc-12": ("ci", "1", "all"),
    "fc-13": ("full", "1", "all"),
    "fc-14": ("full", "1", "all"),
    "fc-4": ("ci", "1", "all"),
    "fc-7": ("full", "1", "all"),
    "fc-8": ("full", "1", "all"),
    "fc-9": ("full", "1", "all"),
    "fc-t4": ("ci", "1", "all"),
    "flb": ("ci", "1", "all"),
    "flowbender": ("reduced", "1", "all"),
    "hf-1": ("ci", "1", "all"),
    "hf-2": ("ci", "1", "all"),
    "hf-3": ("ci", "1", "all"),
    "hula": ("reduced", "1", "all"),
    "incast": ("ci", "1", "all"),
    "leaf-spine": ("reduced", "1", "all"),
    "letflow-asymmetry": ("ci", "1", "claimed"),
    "letflow-transports": ("ci", "1", "claimed"),
    "letflow-weights": ("ci", "1", "claimed"),
    "lf-10": ("ci", "1", "all"),
    "lf-12": ("ci", "1", "all"),
    "lf-14": ("ci", "1", "all"),
    "lf-16": ("ci", "1", "all"),
    "lf-17": ("ci", "1", "all"),
    "lf-18": ("ci", "1", "all"),
    "lf-21": ("ci", "1", "all"),
    "lf-5": ("ci", "1", "all"),
    "lf-7": ("ci", "1", "all"),
    "local-routing": ("ci", "1", "all"),
    "mp-rdma": ("reduced", "1", "all"),
    "order": ("ci", "1", "all"),
    "pfc-unit": ("ci", "1", "all"),
    "plb-e1": ("reduced", "1", "claimed"),
    "plb-m1": ("ci", "1", "all"),
    "plb-m2": ("ci", "1", "all"),
    "plb-m3": ("ci", "1", "all"),
    "plb-m4": ("ci", "1", "all"),
    "regime-asym": ("reduced", "301-310", "claimed"),
    "regime-m1": ("reduced", "301-303", "claimed"),
    "regime-mix100": ("reduced", "301-303", "claimed"),
    "regime-mixu": ("reduced", "301-310", "claimed"),
    "regime-s1": ("reduced", "301-303", "claimed"),
    "regime-slow": ("reduced", "301-310", "claimed"),
    "regime-web": ("reduced", "301-310", "claimed"),
    "reps": ("reduced", "1", "all"),
    "rlb-f7": ("ci", "1-2", "claimed"),
    "rlb-m1": ("ci", "1", "all"),
    "rlb-m2": ("reduced", "1", "claimed"),
    "rlb-m3": ("ci", "1", "claimed"),
    "rlb-s1": ("ci", "1-3", "all"),
    "rlb-s2": ("reduced", "1", "claimed"),
    "rlb-s3": ("reduced", "1", "claimed"),
    "rlb-s4": ("reduced", "1", "claimed"),
    "rlb-s5": ("ci", "1-2", "claimed"),
    "rlb-s6": ("ci", "1-2", "claimed"),
    "rlb-s7": ("reduced", "1", "claimed"),
    "rlb-s8": ("ci", "1", "claimed"),
    "rlb-t1": ("ci", "1", "claimed"),
    "rlb-t2": ("ci", "1", "claimed"),
    "rlb-timeline": ("reduced", "1", "all"),
    "schemes-incast": ("reduced", "1-3", "all"),
    "schemes-permutation": ("reduced", "1", "all"),
    "schemes-slow": ("reduced", "1", "all"),
    "schemes-web": ("reduced", "1-3", "all"),
}


def parse_arguments():
    parser = argparse.ArgumentParser(
        prog="scripts/results",
        description="Runs experiments in virtual time, keeps in docs/results what tables and claims need of their results, and "
        "writes docs/results.md and docs/schemes.md. A finished run is not run again. Programs are those of preset release, or "
        "of $EDDY_BIN.")
    parser.add_argument("experiments", nargs="*", metavar="ID", help="only these (default: all of the table in scripts/lib/results.py)")
    parser.add_argument("--size", choices=("ci", "reduced", "full"), help="of all of them, with all variants")
    parser.add_argument("--seeds", metavar="LIST", help="of all of them, such as 1-5")
    parser.add_argument("--jobs", type=int, default=os.cpu_count(), metavar="N", help="runs at a time (default: processors)")
    parser.add_argument("--out", type=Path, default=ROOT / "results", metavar="DIR", help="of whole results (default: results)")
    parser.add_argument("--document", action="store_true", help="run nothing: only write the documents")
    arguments = parser.parse_args()
    for name in arguments.experiments:
        if name not in ROWS and not (ROOT / "config" / "experiments" / f"{name}.yaml").is_file():
            parser.error(f"there is no experiment {name}; eddylab list has them")
    if arguments.jobs < 1:
        parser.error("--jobs: at least 1")
    return arguments


def claimed_variants(text):
    """The variants that the claims of an experiment's file name, each once."""
    names = []
    for claim in re.findall(r'(?m)^  - "(.*)"$', text.partition("\nexpect:")[2]):
        if re.search(r" of \[[^\]]*\](: | against \[)", claim):
            names += [name for name in re.findall(r"\[([^\]]*)\]", claim) if name not in names]
    return names


def words_of(name, arguments):
    size, seeds, which = ROWS.get(name, ("reduced", "1", "all"))
    words = ["--size", arguments.size or size, "--seed", arguments.seeds or seeds, "--jobs", str(arguments.jobs)]
    if which == "claimed" and not arguments.size:
        file = ROOT / "config" / "experiments" / f"{name}.yaml"
        for variant in claimed_variants(file.read_text(encoding="utf-8")):
            words += ["--variant", variant]
    return arguments.size or size, words


def run(eddylab, name, arguments):
    """Runs it and keeps what came out; False: it failed."""
    size, words = words_of(name, arguments)
    done = subprocess.run([eddylab, "run", name, "--out", arguments.out, *words], cwd=ROOT, check=False)
    if done.returncode == INTERRUPTED:
        raise KeyboardInterrupt
    if done.returncode:
        return False
    kept = subprocess.run([eddylab, "claims", arguments.out / name / size, "--keep", KEPT, "--json"], cwd=ROOT,
                          stdout=subprocess.DEVNULL, check=False)
    return kept.returncode == 0


def with_claims(text, claims):
    """The text with the part between the marks replaced."""
    before, begin, rest = text.partition(BEGIN)
    _, end, after = rest.partition(END)
    if not begin or not end:
        raise Trouble(f"{RESULTS} has no '{BEGIN}' with an '{END}' after it")
    return f"{before}{BEGIN}\n{claims}{END}{after}"


def write_documents(eddylab):
    done = subprocess.run([eddylab, "claims", KEPT, "--unseen"], cwd=ROOT, capture_output=True, text=True, check=False)
    if done.returncode:
        raise Trouble(done.stderr.strip())
    RESULTS.write_text(with_claims(RESULTS.read_text(encoding="utf-8"), done.stdout), encoding="utf-8")
    SCHEMES.write_text(scheme_document(ROOT), encoding="utf-8")
    for file in (RESULTS, SCHEMES):
        print(file.relative_to(ROOT))


def main():
    arguments = parse_arguments()
    eddylab = programs(["eddylab"]) / "eddylab"
    failed = []
    if not arguments.document:
        failed = [name for name in arguments.experiments or ROWS if not run(eddylab, name, arguments)]
    write_documents(eddylab)
    if failed:
        raise Trouble(f"failed: {', '.join(failed)}")


if __name__ == "__main__":
    try:
        main()
    except Trouble as trouble:
        print(f"scripts/results: {trouble}", file=sys.stderr)
        sys.exit(1)
    except KeyboardInterrupt:
        sys.exit(INTERRUPTED)
