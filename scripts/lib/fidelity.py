#!/usr/bin/python3
"""scripts/fidelity: the same experiments in virtual time and as processes, side by side."""

import argparse
import json
import math
import sqlite3
import subprocess
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))
from lib.netns import Trouble  # noqa: E402
from lib.release import build_release  # noqa: E402

ROOT = Path(__file__).resolve().parents[2]
EXPERIMENTS = ("fidelity-incast", "fidelity-permutation", "fidelity-web", "fidelity-resequence")
POLL_GAP_NS = 20_000_000  # switches.poll_gap of the experiments
ATTEMPTS = 8  # a machine that is too busy for a run may have time later; finished runs stay
MEDIAN_WITHIN, P99_WITHIN = 0.10, 0.25
RLB_COUNTERS = {"pfc_tx_xoff": "XOFF", "cnm_tx_packets": "CNMs sent", "cnm_rx_packets": "heard",
                "cnm_relayed_packets": "relayed", "rlb_rerouted_packets": "packets rerouted",
                "rlb_waiting_packets": "recirculated"}


def parse_arguments():
    parser = argparse.ArgumentParser(
        prog="scripts/fidelity",
        description="Runs the fidelity experiments in virtual time and with eddyd and eddyhost processes "
        "(root), and compares flow completion times, PFC, CNPs and CNMs. About 3 minutes a seed.")
    parser.add_argument("--seeds", default="1,2,3", metavar="LIST", help="of each (default: 1,2,3)")
    parser.add_argument("--jitter", default="4ms", metavar="TIME",
                        help="a second run in virtual time, whose switches are polled up to so much later "
                        "at random (default: 4ms)")
    parser.add_argument("--out", type=Path, default=ROOT / "results" / "fidelity", metavar="DIR",
                        help="results; runs that are there are not run again")
    parser.add_argument("--write", action="store_true",
                        help="put the table into docs/fidelity.md and the figure into docs/figures")
    return parser.parse_args()


def run_all(eddylab, arguments):
    worlds = {"virtual": (), "jitter": ("--set", f"run.poll_jitter={arguments.jitter}"), "real": ("--real",)}
    for experiment in EXPERIMENTS:
        for world, words in worlds.items():
            print(f"{experiment}, {world}", file=sys.stderr, flush=True)
            # Ahead of whatever else the machine does: a switch that waits for its turn is a slow switch.
            first = ("nice", "-n", "-15") if world == "real" else ()
            command = [*first, eddylab, "run", experiment, "--seed", arguments.seeds, "--out",
                       arguments.out / world, *words]
            for attempt in range(ATTEMPTS):
                done = subprocess.run([str(w) for w in command], cwd=ROOT, capture_output=True, text=True,
                                      check=False)
                if not done.returncode and not (world == "real" and forget_stalled(arguments.out / world / experiment)):
                    break
                if attempt == ATTEMPTS - 1 and not done.returncode:
                    raise Trouble(f"{experiment}: stalled in each of {ATTEMPTS} attempts; the machine is too busy")
                if attempt == ATTEMPTS - 1:
                    raise Trouble(f"{' '.join(map(str, command))}:\n{done.stderr}")


def forget_stalled(folder):
    """Removes runs in which the hosts were once off their core for longer than the poll gap that was
    promised: the machine was busy with something else. Whether there were any."""
    stalled = False
    for path in sorted(folder.glob("full/*/seed*/run.json")):
        run = json.loads(path.read_text(encoding="utf-8"))["run"]
        if run["counters"]["host_poll_gap_max_ns"] > POLL_GAP_NS:
            path.unlink()
            stalled = True
    return stalled


def read(folder):
    """{variant: numbers} of one experiment in one world, all seeds together."""
    found = {}
    for path in sorted(folder.glob("*/seed*/run.json")):
        run = json.loads(path.read_text(encoding="utf-8"))["run"]
        row = found.setdefault(run["variant"], {"fct": [], "pfc": 0, "cnp": 0, "drops": 0, "ooo": [], "traces": [],
                                                "rlb": dict.fromkeys(RLB_COUNTERS, 0)})
        with sqlite3.connect(path.parent / "flows.sqlite") as flows:
            row["fct"] += [ns / 1000 for (ns,) in flows.execute("SELECT fct_ns FROM flows WHERE measured AND finished")]
        row["pfc"] += run["pfc_events"]
        row["cnp"] += run["counters"]["nic_rx_cnp_packets"]
        row["drops"] += run["lossless_drops"]
        for key in RLB_COUNTERS:
            row["rlb"][key] += run["counters"].get(key, 0)
        row["ooo"].append(run["ooo_ratio"])
        row["traces"].append((run["seed"], run["trace_digest"], run["flows"] - run["unfinished"]))
    return found


def rank(values, share):
    ordered = sorted(values)
    return ordered[min(len(ordered), max(1, math.ceil(share * len(ordered)))) - 1]


def compare(out):
    """[(experiment, variant, {world: numbers})]; Trouble when the flows are not the same."""
    rows = []
    for experiment in EXPERIMENTS:
        worlds = {world: read(out / world / experiment / "full") for world in ("virtual", "jitter", "real")}
        for variant in worlds["virtual"]:
            each = {world: worlds[world][variant] for world in worlds}
            if each["virtual"]["traces"] != each["real"]["traces"]:
                raise Trouble(f"{experiment}, {variant}: not the same flows: {each['virtual']['traces']}, "
                              f"{each['real']['traces']}")
            rows.append((experiment, variant, each))
    return rows


def table(rows):
    lines = ["| experiment | variant | flows | median FCT us: virtual | real | | p99 us: virtual | real | | "
             "PFC events: virtual | real | CNPs: virtual | real | out of order: virtual | real |",
             "|---|---|---:|---:|---:|---:|---:|---:|---:|---:|---:|---:|---:|---:|---:|"]
    for experiment, variant, each in rows:
        virtual, real = each["virtual"], each["real"]
        cells = [experiment.removeprefix("fidelity-"), variant, str(len(real["fct"]))]
        for share in (0.5, 0.99):
            a, b = rank(virtual["fct"], share), rank(real["fct"], share)
            cells += [f"{a:.0f}", f"{b:.0f}", f"{100 * (b / a - 1):+.0f} %"]
        for key in ("pfc", "cnp"):
            cells += [str(virtual[key]), str(real[key])]
        cells += [f"{100 * sum(w['ooo']) / len(w['ooo']):.0f} %" for w in (virtual, real)]
        lines.append("| " + " | ".join(cells) + " |")
    return lines


def rlb_table(rows):
    """What RLB did, of the variants in which it did anything."""
    lines = ["| experiment | variant | | " + " | ".join(RLB_COUNTERS.values()) + " |",
             "|---|---|---|" + "---:|" * len(RLB_COUNTERS)]
    for experiment, variant, each in rows:
        if not each["virtual"]["rlb"]["cnm_tx_packets"]:
            continue
        for world, name in (("virtual", "virtual"), ("jitter", "polled late"), ("real", "real")):
            counts = " | ".join(str(each[world]["rlb"][key]) for key in RLB_COUNTERS)
            lines.append(f"| {experiment.removeprefix('fidelity-')} | {variant} | {name} | {counts} |")
    return lines


def jitter_table(rows, jitter):
    lines = [f"| experiment | variant | median FCT us: virtual | polled up to {jitter} late | real | out of order: "
             "virtual | late | real |", "|---|---|---:|---:|---:|---:|---:|---:|"]
    for experiment, variant, each in rows:
        worlds = [each[world] for world in ("virtual", "jitter", "real")]
        if not any(sum(w["ooo"]) for w in worlds):
            continue
        cells = [experiment.removeprefix("fidelity-"), variant]
        cells += [f"{rank(w['fct'], 0.5):.0f}" for w in worlds]
        cells += [f"{100 * sum(w['ooo']) / len(w['ooo']):.0f} %" for w in worlds]
        lines.append("| " + " | ".join(cells) + " |")
    return lines


def verdicts(rows):
    """Lines that say what holds."""
    lines = []
    for experiment in EXPERIMENTS:
        mine = [(variant, each) for name, variant, each in rows if name == experiment]
        order = {world: sorted(mine, key=lambda row, w=world: rank(row[1][w]["fct"], 0.5))
                 for world in ("virtual", "real")}
        names = {world: [variant for variant, _ in order[world]] for world in order}
        same = names["virtual"] == names["real"] or all(
            close(mine, a, b) for a, b in zip(names["virtual"], names["real"]) if a != b)
        lines.append(f"* {experiment.removeprefix('fidelity-')}: order by median FCT {', '.join(names['real'])}"
                     f"{'' if names['virtual'] == names['real'] else ', in virtual time ' + ', '.join(names['virtual'])}"
                     f": {'the same' if same else 'NOT the same'}")
        for variant, each in mine:
            for share, within, what in ((0.5, MEDIAN_WITHIN, "median"), (0.99, P99_WITHIN, "p99")):
                ratio = rank(each["real"]["fct"], share) / rank(each["virtual"]["fct"], share) - 1
                if abs(ratio) > within:
                    lines.append(f"  * {variant}: {what} {100 * ratio:+.0f} %, beyond {100 * within:.0f} %")
    return lines


def close(mine, a, b):
    """Two variants that are within 2 % of each other in virtual time have no order to keep."""
    values = {variant: rank(each["virtual"]["fct"], 0.5) for variant, each in mine}
    return abs(values[a] / values[b] - 1) < 0.02


def figure(rows):
    """SVG: real over virtual FCT, logarithmic, with the bands that were asked for."""
    width, height, left, bottom = 720, 460, 70, 50
    values = [rank(each[w]["fct"], s) for _, _, each in rows for w in ("virtual", "real") for s in (0.5, 0.99)]
    low, high = math.log10(min(values) * 0.7), math.log10(max(values) * 1.4)
    side = height - bottom - 20

    def x(us):
        return left + (math.log10(us) - low) / (high - low) * side

    def y(us):
        return height - bottom - (math.log10(us) - low) / (high - low) * side

    out = [f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {height}" font-family="sans-serif" '
           f'font-size="12"><rect width="{width}" height="{height}" fill="#fff"/>']
    a, b = 10 ** low, 10 ** high
    for within, shade in ((P99_WITHIN, "#f0f0f0"), (MEDIAN_WITHIN, "#dcdcdc")):
        points = [(a, a * (1 - within)), (b, b * (1 - within)), (b, b * (1 + within)), (a, a * (1 + within))]
        path = " ".join(f"{x(u):.1f},{min(max(y(v), 20), height - bottom):.1f}" for u, v in points)
        out.append(f'<polygon points="{path}" fill="{shade}"/>')
    out.append(f'<line x1="{x(a)}" y1="{y(a)}" x2="{x(b)}" y2="{y(b)}" stroke="#888"/>')
    tick = 10 ** math.ceil(low)
    ticks = [t for t in (tick / 5, tick / 2, tick, 2 * tick, 5 * tick, 10 * tick, 20 * tick, 50 * tick, 100 * tick)
             if low <= math.log10(t) <= high]
    for t in ticks:
        out.append(f'<text x="{x(t):.1f}" y="{height - bottom + 16}" text-anchor="middle">{t:g}</text>'
                   f'<text x="{left - 6}" y="{y(t) + 4:.1f}" text-anchor="end">{t:g}</text>')
    out.append(f'<rect x="{left}" y="20" width="{side}" height="{side}" fill="none" stroke="#444"/>'
               f'<text x="{left + side / 2}" y="{height - 12}" text-anchor="middle">FCT in virtual time, us</text>'
               f'<text transform="translate(20,{20 + side / 2}) rotate(-90)" text-anchor="middle">FCT of real '
               'processes, us</text>')
    colours = ("#0072b2", "#d55e00", "#009e73", "#cc79a7", "#e69f00", "#56b4e9", "#000000", "#7f7f00", "#882255",
               "#999999")
    for number, (experiment, variant, each) in enumerate(rows):
        colour = colours[number % len(colours)]
        label = f"{experiment.removeprefix('fidelity-')}, {variant.split('=')[-1]}"
        at = 30 + 22 * number
        out.append(f'<circle cx="{left + side + 24}" cy="{at}" r="5" fill="{colour}"/>'
                   f'<text x="{left + side + 36}" y="{at + 4}">{label}</text>')
        for share, filled in ((0.5, colour), (0.99, "none")):
            u, v = rank(each["virtual"]["fct"], share), rank(each["real"]["fct"], share)
            out.append(f'<circle cx="{x(u):.1f}" cy="{y(v):.1f}" r="5" fill="{filled}" stroke="{colour}" '
                       'stroke-width="2"/>')
    at = 40 + 22 * len(rows)
    out.append(f'<text x="{left + side + 18}" y="{at}">filled: median</text>'
               f'<text x="{left + side + 18}" y="{at + 18}">hollow: p99</text>'
               f'<text x="{left + side + 18}" y="{at + 36}">bands: 10 % and 25 %</text></svg>')
    return "\n".join(out) + "\n"


def write(lines):
    path = ROOT / "docs" / "fidelity.md"
    text = path.read_text(encoding="utf-8")
    begin, end = "<!-- comparison: scripts/fidelity -->", "<!-- end of comparison -->"
    before, rest = text.split(begin)
    path.write_text(before + begin + "\n" + "\n".join(lines) + "\n" + end + rest.split(end)[1], encoding="utf-8")


def main():
    arguments = parse_arguments()
    try:
        binaries = build_release(("eddylab", "eddyd", "eddyctl", "eddyhost"))
        run_all(binaries / "eddylab", arguments)
        rows = compare(arguments.out)
    except Trouble as trouble:
        print(f"scripts/fidelity: {trouble}", file=sys.stderr)
        return 1
    lost = sum(each["real"]["drops"] for _, _, each in rows)
    lines = [*table(rows), "", *rlb_table(rows), "", *jitter_table(rows, arguments.jitter), "", *verdicts(rows),
             f"* packets of the lossless class lost in real runs: {lost}"]
    print("\n".join(lines))
    if arguments.write:
        (ROOT / "docs" / "figures" / "fidelity.svg").write_text(figure(rows), encoding="utf-8")
        write(lines)
    return 0


if __name__ == "__main__":
    sys.exit(main())
