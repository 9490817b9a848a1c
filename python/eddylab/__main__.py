"""eddylab export-results DIR [--to DIR] [--format csv|parquet]: the tables of a sweep as files.

Writes runs, tenants, bins, flows, samples and links, each as one file. Parquet needs pandas and pyarrow.
`python3 -m eddylab export` is the same.
"""

import argparse
import csv
import os
import signal
import sys
from pathlib import Path

from eddylab import ResultsError, load, tables

TABLES = ("runs", "tenants", "bins", "flows", "samples", "links")
SAYS = "eddylab: export-results: "


def write_csv(path, table):
    if tables.pandas is not None:
        table.to_csv(path, index=False)
        return
    with open(path, "w", encoding="utf-8", newline="") as file:
        writer = csv.DictWriter(file, list(table[0]) if table else [], lineterminator="\n")
        writer.writeheader()
        writer.writerows(table)


def write_parquet(path, table):
    table.to_parquet(path, index=False)


def why_no_parquet():
    """None if it can be written."""
    try:
        import pandas  # noqa: F401
        import pyarrow  # noqa: F401
    except ImportError as error:
        return f"Parquet needs pandas and pyarrow, and {error.name} is not installed; --format csv needs neither"
    return None


def one_line(error):
    if isinstance(error, OSError) and error.strerror:
        return f"{error.filename or 'standard output'}: {error.strerror}"
    return " ".join(str(error).split())


def export(place, to, form):
    results = load(place)
    to.mkdir(parents=True, exist_ok=True)
    for name in TABLES:
        table = getattr(results, name)()
        path = to / f"{name}.{form}"
        (write_csv if form == "csv" else write_parquet)(path, table)
        print(f"{path}: {len(table)} rows", flush=True)


def main():
    signal.signal(signal.SIGINT, signal.SIG_DFL)
    if sys.stdout is not None:
        sys.stdout.reconfigure(errors="backslashreplace")
    parser = argparse.ArgumentParser(prog="python3 -m eddylab", description=__doc__.split("\n", maxsplit=1)[0])
    commands = parser.add_subparsers(dest="command", required=True)
    one = commands.add_parser("export-results", aliases=["export"], help="write the tables of a sweep as files")
    one.add_argument("results", type=Path, help="a folder with a result.json, such as results/leaf-spine/ci")
    one.add_argument("--to", type=Path, default=Path("."), help="the folder to write to; default: this one")
    one.add_argument("--format", choices=("csv", "parquet"), default="csv")
    arguments = parser.parse_args()
    reason = why_no_parquet() if arguments.format == "parquet" else None
    if reason:
        sys.exit(SAYS + reason)
    try:
        export(arguments.results, arguments.to, arguments.format)
    except (ResultsError, OSError, ValueError, TypeError) as error:  # the last two: pyarrow's
        if sys.stdout is not None:  # what it could not take is not tried again at the end
            os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        sys.exit(SAYS + one_line(error))


if __name__ == "__main__":
    main()
