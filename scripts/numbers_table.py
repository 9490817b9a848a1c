#!/usr/bin/python3
"""Writes the numbers of bench.json, which scripts/bench makes, into the table of docs/performance.md.

  scripts/numbers_table.py            from bench.json
  scripts/numbers_table.py FILE       from another file
"""

import json
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
BEGIN, END = "<!-- numbers: scripts/numbers_table.py -->", "<!-- end of numbers -->"


def rows_of(results):
    yield "| what | value | unit | spread |"
    yield "|---|---:|---|---:|"
    for row in results:
        yield f"| `{row['name']}` | {row['value']:.4g} | {row['unit']} | {row.get('spread', 0):.2g} |"


def with_table(text, results):
    """The text with the part between the marks replaced."""
    before, _, rest = text.partition(BEGIN)
    _, mark, after = rest.partition(END)
    if not mark:
        raise SystemExit(f"the page has no '{BEGIN}' with an '{END}' after it")
    return before + "\n".join([BEGIN, *rows_of(results), END]) + after


def main():
    source = Path(sys.argv[1]) if len(sys.argv) > 1 else ROOT / "bench.json"
    if not source.is_file():
        raise SystemExit(f"{source} is not there; scripts/bench writes it")
    page = ROOT / "docs" / "performance.md"
    results = json.loads(source.read_text(encoding="utf-8"))["results"]
    page.write_text(with_table(page.read_text(encoding="utf-8"), results), encoding="utf-8")


if __name__ == "__main__":
    main()
