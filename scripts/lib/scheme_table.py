"""docs/schemes.md: all schemes side by side, from kept results, counted instructions and what sheets say of state."""

import json
import re

from .schemes import host_laws, scheme_names

# Workload: its experiment, what its variants' names have behind that of the scheme, whose flows count (a traffic item; none:
# all), and what is said of it.
WORKLOADS = (
    ("Web search at 60 %, marking of the RLB paper", "schemes-web", " paper", None,
     "A leaf-spine at 40 Gb/s, 2:1, of 288 hosts in full size and 32 in reduced; marks from 5 kB on, so that DCQCN acts long before PFC."),
    ("Web search at 60 %, deep marking", "schemes-web", " deep", None,
     "The same with marks from 400 kB on, above PFC's threshold of 256 KiB, so that PFC acts first."),
    ("Victims of incasts", "schemes-incast", "", "victims",
     "Web search at 40 % beside two hosts that 16 senders answer every millisecond; only flows to other hosts count, but pauses are "
     "everyone's. The same leaf-spine, deep marking."),
    ("One link in a hundred is slow", "schemes-slow", "", None,
     "A fat tree of k = 8 at 200 Gb/s, 128 hosts, every host sends 8 MiB and receives 8 MiB; links drawn by a seed have a tenth of "
     "their rate. Reduced is as large as full."),
    ("Permutation", "schemes-permutation", "", None, "The same with all links whole."),
)
TABLE_ROW = re.compile(r"(?m)^\| `(?:entries|flows)` \|.*?(?:of|remembered,) (\d+) octets")
SHEET_STATE = (re.compile(r"of each flow(?:let)?\b[^.;:]*?(\d+) octets"), re.compile(r"of each flow (\d+) octets"),
               re.compile(r"(\d+) octets a flow"))
INTRODUCTION = """<!-- Made by scripts/results -->
# Schemes side by side

Every path selection scheme on four workloads, with laws of hosts and RLB beside them: what they keep, what a packet costs, and how flows fare. The
numbers are means over the seeds of the runs that each table names, from [results](results); `scripts/results` makes them and this page again,
`--size full` as the experiments stand. Schemes have the defaults of their kind, plb its order guard; hosts have go-back-N, so that packets out of order cost
much, but for `reps`, `mp_rdma` and "to nics that reorder", whose NICs keep what comes early. flowbender, reps and mp_rdma are over ecmp, hf2t is over letflow. Claims of order and loss on these
runs are in [results.md](results.md); what each scheme is for, when it helps and when not, in the [sheets](schemes/README.md).

Read with care: few seeds at reduced size show which schemes are far apart, and no more. Small flows are those below one bandwidth-delay
product.

"""


def kept(root, experiment):
    file = root / "docs" / "results" / f"{experiment}.json"
    return json.loads(file.read_text(encoding="utf-8")) if file.is_file() else None


def state_of(root, name):
    """Octets a flow: as the sheet says, or the help of the parameter that bounds its table."""
    sheet = root / "docs" / "schemes" / f"{name}.md"
    if sheet.is_file():
        text = sheet.read_text(encoding="utf-8").partition("## What it keeps and reads")[2].partition("\n## ")[0]
        found = sorted({(match.start(1), match[1]) for pattern in SHEET_STATE for match in pattern.finditer(text)})
        return " + ".join(octets for _, octets in found) or "0"
    table = (root / "docs" / "configuration.md").read_text(encoding="utf-8").partition(f"\n### {name}\n")[2].partition("\n##")[0]
    return " + ".join(TABLE_ROW.findall(table)) or "0"


def instructions_of(root, name):
    rows = json.loads((root / "bench" / "instructions.json").read_text(encoding="utf-8"))["rows"]
    row = rows.get(f"pipeline.{name}.10k")
    return "-" if row is None else f"{row['total']:.0f}"


def number(value):
    if value is None:
        return "-"
    if value >= 100 or value == round(value):
        return f"{value:.0f}"
    return f"{value:.1f}" if value >= 10 else f"{value:.3g}"


def mean(runs, value):
    found = [each for each in (value(run) for run in runs) if each is not None]
    return sum(found) / len(found) if found else None


def part(run, key, name):
    """A traffic item or a bin of sizes of a run, {} if it has none of that name."""
    return next((each for each in run.get(key, ()) if each["name"] == name), {})


def cells_of(runs, item):
    of = (lambda run: part(run, "tenants", item)) if item else (lambda run: run)
    order = mean(runs, lambda run: of(run).get("ooo_ratio"))
    return [number(mean(runs, lambda run: of(run).get("slowdown_mean"))),
            number(mean(runs, lambda run: of(run).get("slowdown_p99"))),
            number(mean(runs, lambda run: part(run, "bins", "< 1 BDP").get("slowdown_p99"))),
            number(None if order is None else 100 * order),
            number(mean(runs, lambda run: run.get("pfc_events"))),
            number(mean(runs, lambda run: run.get("unfinished")))]


def variants_of(result, suffix):
    """The runs by what is before the suffix."""
    found = {}
    for run in result["runs"]:
        if run["variant"].endswith(suffix):
            found.setdefault(run["variant"][:len(run["variant"]) - len(suffix)], []).append(run)
    return found


def ordered(names, schemes):
    """The registry's, then all others by name."""
    return [*schemes, *sorted(set(names) - set(schemes))]


def table(head, rows):
    yield f"| {' | '.join(head)} |"
    yield "|---|" + "---:|" * (len(head) - 1)
    for row in rows:
        yield f"| {' | '.join(row)} |"


def costs(root, schemes):
    rows = [[name, "switches", state_of(root, name), instructions_of(root, name)] for name in schemes]
    rows += [[name, "hosts", state_of(root, name), "-"] for name in host_laws()]
    yield "## What they keep and cost"
    yield ""
    yield ("State is octets a flow, at the sender's leaf and, behind a plus, elsewhere, as the sheet says or the parameter that bounds the table. "
           "Instructions are those of a packet through the whole switch with 10,000 flows, from `bench/instructions.json` (row `pipeline.NAME.10k`; "
           "[performance.md](performance.md)), in place of cycles, which depend on the machine; a dash: not counted there.")
    yield ""
    yield from table(["scheme", "where", "state, octets a flow", "instructions a packet"], rows)
    yield ""


def seeds_text(result):
    seeds = sorted({run["seed"] for run in result["runs"]})
    return f"seed {seeds[0]}" if len(seeds) == 1 else f"seeds {', '.join(map(str, seeds))}"


def workload(root, schemes, row):
    title, experiment, suffix, item, said = row
    result = kept(root, experiment)
    yield f"## {title}"
    yield ""
    if result is None:
        yield f"{said} `{experiment}` has not been run."
        yield ""
        return
    found = variants_of(result, suffix)
    yield (f"{said} `{experiment}`, size {result['size']}, {seeds_text(result)}: [numbers](results/{experiment}.json), "
           f"[experiment](../config/experiments/{experiment}.yaml).")
    yield ""
    yield from table(["scheme", "mean slowdown", "p99", "small flows p99", "out of order %", "pauses", "unfinished"],
                     [[name, *cells_of(found.get(name, []), item)] for name in ordered(found, schemes)])
    missing = [name for name in schemes if name not in found]
    if missing:
        yield ""
        yield f"Not in these runs: {', '.join(missing)}."
    yield ""


def scheme_document(root):
    schemes = scheme_names()
    lines = list(costs(root, schemes))
    for row in WORKLOADS:
        lines += workload(root, schemes, row)
    return INTRODUCTION + "\n".join(lines).rstrip("\n") + "\n"
