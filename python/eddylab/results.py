"""What a sweep of eddylab has left in a folder. docs/lab.md describes the files and every key."""

import json
import os
import sqlite3
import stat
import urllib.request
from contextlib import closing
from pathlib import Path

from eddylab.tables import table, table_of_records

SCHEMA_VERSION = 1
MOST_JSON_BYTES = 256 << 20
TABLES = ("flows", "hosts", "links", "samples")
_FLOWS = ("SELECT flows.*, source.name AS source_name, destination.name AS destination_name FROM flows"
          " LEFT JOIN hosts AS source ON source.id = flows.source"
          " LEFT JOIN hosts AS destination ON destination.id = flows.destination")


class ResultsError(Exception):
    """A folder or file that is not what it should be: one line that names it."""


def load(place):
    """The results in a folder that has a result.json, or of that file itself."""
    path = Path(place)
    if path.is_dir():
        path = path / "result.json"
    return Results(path, _read_json(path))


def _read_json(path):
    try:
        about = os.stat(path)
        if not stat.S_ISREG(about.st_mode):
            raise ResultsError(f"{path} is not a regular file")
        if about.st_size > MOST_JSON_BYTES:
            raise ResultsError(f"{path} has more than {MOST_JSON_BYTES >> 20} MiB")
        value = json.loads(path.read_text(encoding="utf-8"))
    except OSError as error:
        raise ResultsError(f"{path}: {error.strerror}") from None
    except (ValueError, RecursionError) as error:
        raise ResultsError(f"{path} is no JSON: {error}") from None
    if not isinstance(value, dict) or not isinstance(value.get("runs"), list):
        raise ResultsError(f"{path} has no list of runs: it is not a result of eddylab")
    if value.get("schema_version") != SCHEMA_VERSION:
        raise ResultsError(f"{path} has schema_version {value.get('schema_version')!r}; {SCHEMA_VERSION} is known")
    if not all(isinstance(run, dict) and "variant" in run and "seed" in run for run in value["runs"]):
        raise ResultsError(f"{path} has a run without variant or seed")
    return value


def axes(variant):
    """The axes of a variant's name: 'scheme=drill rlb=off' -> {'scheme': 'drill', 'rlb': 'off'}."""
    return dict(word.split("=", 1) for word in variant.split() if "=" in word)


_KEPT = frozenset("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789=.,+-")
_LONGEST = 100  # octets of a variant's name in its folder's


def folder_of(variant):
    """The folder of a variant, as eddylab names it: words joined by '_', and a hash behind it (FNV-1a) where that does
    not say all."""
    octets = variant.encode()
    if not octets:
        return "only"
    name = "".join(c if c in _KEPT else "_" for c in octets[:_LONGEST].decode("latin-1"))
    whole = all(c in _KEPT or c == " " for c in octets[:_LONGEST].decode("latin-1"))
    if whole and len(octets) <= _LONGEST and octets[:1] != b"." and octets != b"only":
        return name
    digest = 0xcbf29ce484222325
    for octet in octets:
        digest = (digest ^ octet) * 0x100000001b3 & (1 << 64) - 1
    return f"{'_' + name[1:] if name[0] == '.' else name}-{digest:016x}"


class Results:
    """Runs of one experiment and size. Nothing is read before it is asked for, but for result.json."""

    def __init__(self, path, value):
        self.path = path  # of result.json
        self.value = value  # all of it, as it is
        self.experiment = value.get("experiment")
        self.size = value.get("size")
        self.commit = value.get("commit")
        self.units = value.get("units", {})  # by key of a run, of those that have one

    def __repr__(self):
        return f"<{self.experiment} {self.size}: {len(self.value['runs'])} runs of {len(self.variants)} variants>"

    @property
    def variants(self):
        """Their names, in the order of the experiment's matrix."""
        return list(dict.fromkeys(run["variant"] for run in self.value["runs"]))

    def runs(self):
        """A row a run: its axes as 'axis.NAME', its numbers and texts by their keys, counters as 'counters.NAME'.
        Lists (bins, tenants, histograms) have tables of their own or are in `value`."""
        return table_of_records([_flat(run) for run in self.value["runs"]])

    def tenants(self):
        """A row a run and traffic item."""
        return self._lists("tenants")

    def bins(self):
        """A row a run and bin of flow sizes."""
        return self._lists("bins")

    def _lists(self, key):
        rows = [{"variant": run["variant"], "seed": run["seed"], **_flat(item, with_axes=False)}
                for run in self.value["runs"] for item in run.get(key) or []]
        return table_of_records(rows)

    def flows(self, variant=None, seed=None, measured=None):
        """A row a flow, of all runs or of those of a variant and seed; measured: only those that are, or are not.
        Times are in ns, sizes in octets; source_name and destination_name are the hosts'."""
        where = "" if measured is None else f" WHERE flows.measured = {int(bool(measured))}"
        return self._tables(_FLOWS + where, variant, seed)

    def samples(self, variant=None, seed=None):
        """A row a run and instant: the longest queue, the fullest buffer, how many queues may not send."""
        return self._tables("SELECT * FROM samples", variant, seed)

    def links(self, variant=None, seed=None):
        """A row a run and end of a link between switches."""
        return self._tables("SELECT * FROM links", variant, seed)

    def flows_file(self, variant, seed):
        """The database of a run."""
        name = folder_of(variant)
        return self.path.parent / name / f"seed{seed}" / "flows.sqlite"

    def _tables(self, query, variant, seed):
        asked = [(run["variant"], run["seed"]) for run in self.value["runs"]
                 if variant in (None, run["variant"]) and seed in (None, run["seed"])]
        if not asked:
            named = [f"{what} {value!r}" for what, value in (("variant", variant), ("seed", seed)) if value is not None]
            raise ResultsError(f"{self.path} has no run of {' and '.join(named) or 'any variant'}; variants: "
                               + ", ".join(repr(name) for name in self.variants))
        columns, rows = [], []
        for name, number in asked:
            found, more = _query(self.flows_file(name, number), query)
            if columns and found != columns:
                raise ResultsError(f"{self.flows_file(name, number)} has other columns than the runs before it")
            columns = found
            rows += [(name, number, *row) for row in more]
        return table(["variant", "seed", *columns], rows)


def _flat(run, prefix="", with_axes=True):
    flat = {}
    for key, value in run.items():
        if isinstance(value, dict):
            flat.update(_flat(value, f"{prefix}{key}.", with_axes=False))
        elif not isinstance(value, list):
            flat[prefix + key] = value
        if with_axes and key == "variant":
            flat.update({f"axis.{name}": word for name, word in axes(value).items()})
    return flat


def _query(path, query):
    """Reads a database as data: not to be written, no views, no triggers."""
    if not path.is_file():
        raise ResultsError(f"{path} is missing: its run has not ended, or its folder was not copied")
    try:
        with closing(sqlite3.connect(f"file:{urllib.request.pathname2url(str(path))}?mode=ro&immutable=1", uri=True)) as data:
            data.execute("PRAGMA trusted_schema = OFF")
            kinds = dict(data.execute("SELECT name, type FROM sqlite_master"))
            if any(kinds.get(name) != "table" for name in TABLES) or "view" in kinds.values():
                raise ResultsError(f"{path} does not have the tables {', '.join(TABLES)}")
            cursor = data.execute(query)
            return [column[0] for column in cursor.description], cursor.fetchall()
    except sqlite3.Error as error:
        raise ResultsError(f"{path}: {error}") from None
