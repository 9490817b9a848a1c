"""Results of benchmarks: medians with their spread, a table, and bench.json.

A value is the median of interleaved rounds, its spread the interquartile range over that median.
"""

import json
import statistics


def result(name, samples, unit):
    middle = statistics.median(samples)
    spread = 0.0
    if len(samples) > 1 and middle:
        low, _, high = statistics.quantiles(samples, n=4, method="inclusive")
        spread = abs((high - low) / middle)
    return {"name": name, "value": middle, "unit": unit, "spread": spread}


def read(path):
    if not path.is_file():
        return []
    return json.loads(path.read_text(encoding="utf-8"))["results"]


def update(path, fresh):
    """Puts `fresh` into the file: rows of the same name are replaced where they are."""
    new = {row["name"]: row for row in fresh}
    rows = [new.pop(row["name"], row) for row in read(path)] + list(new.values())
    lines = ",\n  ".join(json.dumps(_rounded(row)) for row in rows)
    path.write_text('{"results": [\n  ' + lines + "\n]}\n", encoding="utf-8")


def table(rows):
    width = max([len(row["name"]) for row in rows], default=0)
    for row in rows:
        yield (f"{row['name']:{width}}  {row['value']:10.4g} {row['unit']:14}"
               f" spread {100 * row['spread']:3.0f} %")


def _rounded(row):
    return row | {"value": float(f"{row['value']:.5g}"), "spread": float(f"{row['spread']:.2g}")}
