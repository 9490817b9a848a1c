"""The results of a run of scripts/mutate: lines of JSON, and the table that is made of them.

The first line says how they were drawn. Each further line is a mutant; of several lines about one the last
counts. A line is written when its mutant is done, so a run that ends early can be gone on with. A run that is
through ends with a line that names its mutants: those of an older tree stand in the file, too, and no longer count.
"""

import json
from collections import Counter

from .netns import Trouble

NO_MUTANT = ("did not compile", "not linked")


class Ledger:
    """What was drawn (`settings`), and how each mutant ended."""

    def __init__(self, path, settings, entries):
        self.path, self.settings, self.entries = path, settings, entries

    @classmethod
    def anew(cls, path, settings):
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(json.dumps({"draw": settings}) + "\n", encoding="utf-8")
        return cls(path, settings, {})

    @classmethod
    def of_file(cls, path):
        try:
            first, *rest = map(json.loads, path.read_text(encoding="utf-8").splitlines())
            ledger = cls(path, first["draw"], {entry["id"]: entry for entry in rest if "id" in entry})
            if rest and "drawn" in rest[-1]:
                ledger.keep(rest[-1]["drawn"])
            return ledger
        except (ValueError, KeyError, TypeError) as wrong:
            raise Trouble(f"{path} is no ledger of scripts/mutate: {wrong}") from None

    def add(self, entry):
        self.entries[entry["id"]] = entry
        with self.path.open("a", encoding="utf-8") as file:
            file.write(json.dumps(entry) + "\n")

    def keep(self, names):
        self.entries = {name: self.entries[name] for name in names if name in self.entries}

    def close(self, names):
        """The run is through: these were drawn."""
        self.keep(names)
        with self.path.open("a", encoding="utf-8") as file:
            file.write(json.dumps({"drawn": list(self.entries)}) + "\n")

    def wants(self, name, commit, own_only):
        """Whether a mutant is to be run: it never was, or it survived the tests of another commit, or fewer."""
        entry = self.entries.get(name)
        if entry is None or entry["verdict"] != "survived":
            return entry is None
        return entry["commit"] != commit or entry["own"] > own_only

    def compiled(self, names):
        """How many of these were run against tests."""
        return sum(1 for name in names if name in self.entries and self.entries[name]["verdict"] not in NO_MUTANT)

    def survivors(self):
        return [entry for entry in self.entries.values() if entry["verdict"] == "survived"]


def line_of(entry, number):
    by = f" by {entry['check']} {entry['test']}" if entry["check"] else ""
    return (f"{number:>4}  {entry['id']}  {entry['verdict']}{by}  {entry['path']}:{entry['line']}  {entry['kind']}: "
            f"{entry['before']}  ->  {entry['after']}")


def table(ledger, reasons, every=False):
    """Lines: each mutant if asked for; what survived, with the reasons that are written down; counts by folder
    and kind."""
    run = [entry for entry in ledger.entries.values() if entry["verdict"] not in NO_MUTANT]
    lines = [line_of(entry, number) for number, entry in enumerate(ledger.entries.values(), 1)] if every else []
    for title, wanted in (("survived", False), ("survived, explained", True)):
        chosen = [entry for entry in run if entry["verdict"] == "survived" and (entry["id"] in reasons) == wanted]
        if chosen:
            lines += ["", f"{title}:"]
        for entry in sorted(chosen, key=lambda each: (each["path"], each["line"])):
            lines += [f"  {entry['id']}  {entry['path']}:{entry['line']}  {entry['kind']}",
                      f"      {entry['before']}", f"   -> {entry['after']}"]
            lines += [f"      {reasons[entry['id']]}"] if wanted else []
    lines += ["", *_counts(run, reasons)]
    dead = [entry for entry in run if entry["verdict"] != "survived"]
    alike = sum(1 for entry in run if entry["verdict"] == "survived" and entry["id"] in reasons)
    share = 100 * len(dead) / len(run) if run else 0
    missing = sum(1 for entry in ledger.entries.values() if entry["verdict"] in NO_MUTANT)
    lines += ["", f"{len(run)} mutants: {len(dead)} killed ({share:.1f} %), {alike} survive and are explained, "
                  f"{len(run) - len(dead) - alike} survive; {missing} more did not compile"]
    return lines


def _counts(run, reasons):
    columns = ("killed", "timed out", "survived", "explained")
    rows = Counter()
    for entry in run:
        verdict = entry["verdict"]
        if verdict == "survived" and entry["id"] in reasons:
            verdict = "explained"
        parts = entry["path"].split("/")
        folder = "/".join(parts[:2]) if parts[0] == "switch" else parts[0]
        for name in (folder, entry["kind"]):
            rows[name, verdict] += 1
    names = sorted({name for name, _ in rows}, key=lambda name: ("_" in name or name == "comparison" or name == "constant", name))
    yield " " * 20 + "".join(f"{column:>11}" for column in columns)
    for name in names:
        yield f"{name:<20}" + "".join(f"{rows[name, column]:>11}" for column in columns)
