"""python3 -m eddylab export DIR [--to DIR] [--format csv|parquet]: the tables of a sweep as files.

Writes runs, tenants, bins, flows, samples and links, each as one file. Parquet needs pandas and pyarrow.
"""

import argparse
import csv
import sys
from pathlib import Path

from eddylab import ResultsError, load, tables

TABLES = ("runs", "tenants", "bins", "flows", "samples", "links")


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


def export(place, to, form):
    results = load(place)
    to.mkdir(parents=True, exist_ok=True)
    for name in TABLES:
        table = getattr(results, name)()
        path = to / f"{name}.{form}"
        (write_csv if form == "csv" else write_parquet)(path, table)
        print(f"{path}: {len(table)} rows")


def main():
    parser = argparse.ArgumentParser(prog="python3 -m eddylab", description=__doc__.split("\n", maxsplit=1)[0])
    commands = parser.add_subparsers(dest="command", required=True)
    one = commands.add_parser("export", help="write the tables of a sweep as files")
    one.add_argument("results", type=Path, help="a folder with a result.json, such as results/leaf-spine/ci")
    one.add_argument("--to", type=Path, default=Path("."), help="the folder to write to; default: this one")
    one.add_argument("--format", choices=("csv", "parquet"), default="csv")
    arguments = parser.parse_args()
    reason = why_no_parquet() if arguments.format == "parquet" else None
    if reason:
        sys.exit(f"eddylab export: {reason}")
    try:
        export(arguments.results, arguments.to, arguments.format)
    except (ResultsError, OSError) as error:
        sys.exit(f"eddylab export: {error}")


if __name__ == "__main__":
    main()
