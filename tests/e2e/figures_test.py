"""Figures for papers, as eddylab report writes them: what matplotlib and pgfplots draw has the numbers of the CSV, no letter in a
PDF is smaller than asked for, and what cannot be done is said before anything is written.

Binaries are taken from $EDDY_BIN, which ctest sets. Needs matplotlib, pdflatex with pgfplots, poppler's tools; no root.
"""

import csv
import importlib.util
import math
import os
import re
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

os.environ["MPLBACKEND"] = "Agg"
sys.dont_write_bytecode = True
ROOT = Path(__file__).resolve().parents[2]
EDDYLAB = (Path(os.environ.get("EDDY_BIN", ROOT / "build" / "dev" / "bin")) / "eddylab").resolve()
PATIENCE = 120  # seconds, on a machine that is busy
EXPERIMENT = """
id: loads
title: Loads
topology: {kind: leaf_spine, leaves: 2, spines: 2, hosts_per_leaf: 2, host_delay: 1us, fabric_delay: 1us}
buffer: {size: 9MiB}
traffic:
  - {type: poisson, name: web, cdf: web_search, truncate: 300kB, load: 0.3}
run: {seeds: [1, 2], warmup: 0us, duration: 1ms, drain: 20ms}
matrix:
  load_balancer.scheme: [ecmp, drill]
  traffic.0.load: [0.3, 0.5, 0.7]
expect:
  - "fct_p99_us of [scheme=drill load=0.3] against [scheme=ecmp load=0.3]: -10 %"
"""
HOSTILE = "a_b & 50% #1 $x$ {y} \\z ~^ <&> \"q\", 'r'"
LEGENDS = ("--legend", "scheme=drill:" + HOSTILE, "--legend", "scheme=ecmp:_ECMP: (old)")
INCAST = """
id: warned
title: Warned
topology: {kind: leaf_spine, leaves: 2, spines: 2, hosts_per_leaf: 4, host_delay: 1us, fabric_delay: 1us}
buffer: {size: 9MiB, profiles: {lossless: {xoff: 60kB}}}
host: {congestion_control: none, window: false}
load_balancer: {scheme: letflow}
rlb: default
traffic:
  - {type: incast, size: 2MB, degree: 4, sources: [leaf1], destinations: [leaf2]}
run: {seeds: [1], warmup: 0us, duration: 1ms, drain: 20ms}
"""
DOCUMENT = r"""\documentclass{article}
\usepackage{pgfplots}
\pgfplotsset{compat=1.16}
\usepackage[paperwidth=10in,paperheight=7in,margin=0.2in]{geometry}
\pagestyle{empty}
\newwrite\drawn
\immediate\openout\drawn=drawn.txt
\pgfplotsset{every axis/.append style={filter point/.append code={%
  \immediate\write\drawn{\pgfkeysvalueof{/data point/x},\pgfkeysvalueof{/data point/y}}}}}
\begin{document}
\newcommand\eddyfigures{FOLDER}
INPUTS
\end{document}
"""


def eddylab(*words, code=0):
    done = subprocess.run([EDDYLAB, *map(str, words)], capture_output=True, text=True, timeout=PATIENCE, check=False)
    if done.returncode != code:
        raise AssertionError(f"{words}: exit code {done.returncode}\n{done.stdout}\n{done.stderr}")
    return done


def points_of(file):
    """x, y, low, high of each point, by series."""
    found = {}
    with open(file, encoding="utf-8") as text:
        for row in csv.DictReader(line for line in text if not line.startswith("#")):
            found.setdefault(int(row["series"]), []).append(tuple(float(row[key]) for key in ("x", "y", "low", "high")))
    return found


def words_of(pdf):
    """Each word of a PDF with its box in points: left, top, right, bottom."""
    text = subprocess.run(["pdftotext", "-bbox-layout", pdf, "-"], capture_output=True, text=True, check=True).stdout
    box = re.compile(r'<word xMin="([\d.-]+)" yMin="([\d.-]+)" xMax="([\d.-]+)" yMax="([\d.-]+)">(.*?)</word>')
    return [(word[5], tuple(map(float, word.groups()[:4]))) for word in box.finditer(text)]


def sizes_of(pdf):
    """The sizes of all letters of a PDF, in points: those of its fonts, times the scale in which they are drawn."""
    xml = subprocess.run(["pdftohtml", "-xml", "-stdout", "-i", "-zoom", "3", pdf], capture_output=True, text=True, check=True).stdout
    return {int(size) / 3 for size in re.findall(r'<fontspec id="\d+" size="(\d+)"', xml)}


def page_of(pdf):
    info = subprocess.run(["pdfinfo", pdf], capture_output=True, text=True, check=True).stdout
    return tuple(map(float, re.search(r"Page size:\s+([\d.]+) x ([\d.]+) pts", info).groups()))


def load(program):
    spec = importlib.util.spec_from_file_location(re.sub(r"\W", "_", program.stem), program)
    made = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(made)
    return made


class Base(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        folder = tempfile.TemporaryDirectory(prefix="eddy-figures-")
        cls.addClassCleanup(folder.cleanup)
        cls.folder = Path(folder.name)
        file = cls.folder / "loads.yaml"
        file.write_text(EXPERIMENT)
        eddylab("run", file, "--out", cls.folder, "--quiet", "--variant", "scheme=ecmp load=0.3", "--seed", "1",
                "--timeline", "leaf1:spine1:leaf2")
        eddylab("run", file, "--out", cls.folder, "--quiet", "--jobs", "2")
        cls.result = cls.folder / "loads" / "full"
        file = cls.folder / "warned.yaml"
        file.write_text(INCAST)
        eddylab("run", file, "--out", cls.folder, "--quiet", "--timeline", "leaf1:spine1:leaf2")

    def report(self, name, *words, code=0):
        """Writes figures into a folder of this name; returns it and what was said."""
        to = self.folder / name
        said = eddylab("report", self.result, "--out", self.folder / f"{name}.html", "--figures", to, *words, code=code)
        return to, said.stderr

    def assert_apart(self, pdf, pages):
        """No word lies on another: a title not on the legend."""
        for page in range(1, pages + 1):
            one = pdf.with_name("page.pdf")
            subprocess.run(["pdfseparate", "-f", str(page), "-l", str(page), pdf, one], check=True)
            words = [word for word in words_of(one) if word[0].isascii() and len(word[0]) > 2]  # numbers of moments stand close by design
            for i, (text, (left, top, right, bottom)) in enumerate(words):
                for other, box in words[i + 1:]:
                    across, down = min(right, box[2]) - max(left, box[0]), min(bottom, box[3]) - max(top, box[1])
                    self.assertFalse(across > 0.5 and down > 3, (page, text, other))


class Drawn(Base):
    """What the sources draw."""

    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        cls.to = cls.folder / "column"
        eddylab("report", cls.result, "--out", cls.folder / "column.html", "--figures", cls.to, "--template", "acm", *LEGENDS)
        warned = cls.folder / "warned-figures"
        eddylab("report", cls.folder / "warned" / "full", "--out", cls.folder / "warned.html", "--figures", warned, "--template", "acm")
        cls.timeline = next(file for file in warned.glob("timeline*.csv") if (warned / (file.stem + "_messages.csv")).exists())
        for file in warned.glob("*_messages.*"):
            file.rename(cls.to / ("messages" + file.suffix))
        for name in ("messages.tex", "messages.py"):
            text = (cls.to / name).read_text()
            (cls.to / name).write_text(text.replace(cls.timeline.stem + "_messages.csv", "messages.csv"))

    def figures(self):
        return sorted(file.with_suffix("") for file in self.to.glob("*.py"))

    def test_every_chart_has_all_five_files(self):
        self.assertGreater(len(self.figures()), 12)
        for figure in self.figures():
            for ending in (".svg", ".pdf", ".csv", ".tex"):
                self.assertTrue(figure.with_name(figure.name + ending).exists(), figure.name + ending)

    def test_matplotlib_draws_the_numbers_of_the_csv(self):
        import matplotlib.pyplot as plt
        for figure in self.figures():
            program = figure.with_name(figure.name + ".py")
            with self.subTest(figure=figure.name):
                module = load(program)
                axes = module.figure().axes[0]
                expected = points_of(figure.with_name(figure.name + ".csv"))
                self.assertGreater(sum(map(len, expected.values())), 0)
                for number, points in expected.items():
                    self.assertEqual(self.drawn(axes, number, module.ROWS), [point[:2] for point in points])
                    self.assertEqual(self.intervals(axes, number, module.ROWS),
                                     [(x, low, high) for x, _, low, high in points] if any(p[2] < p[3] for p in points) else [])
                plt.close("all")

    @staticmethod
    def drawn(axes, number, rows):
        gid = f"series {number}"
        for made in axes.collections:
            if made.get_gid() == gid and hasattr(made, "U"):  # arrows
                return [(y + v, round(x + u / 2, 9)) for x, y, u, v in zip(made.X, made.Y, made.U, made.V)]
            if made.get_gid() == gid:  # spans
                return [(y, round((x1 + x2) / 2, 9)) for (x1, y), (x2, _) in made.get_segments()]
        bars = [(round(bar.get_y() + bar.get_height() / 2), bar.get_width()) for bar in axes.patches if bar.get_gid() == gid]
        lines = [(y, x) if rows else (x, y) for line in axes.lines if line.get_gid() == gid for x, y in line.get_xydata().tolist()]
        return bars + lines

    @staticmethod
    def intervals(axes, number, rows):
        found = []
        for lines in axes.collections:
            if lines.get_gid() == f"series {number}" and hasattr(lines, "U"):
                found += [(y + v, x, x + u) for x, y, u, v in zip(lines.X, lines.Y, lines.U, lines.V)]
            elif lines.get_gid() == f"series {number}":
                found += [(y, x1, x2) for (x1, y), (x2, _) in lines.get_segments()]
            if lines.get_gid() == f"series {number} intervals":
                for (x1, y1), (x2, y2) in lines.get_segments():
                    found.append((y1, x1, x2) if rows else (x1, y1, y2))
        return [(x, round(low, 9), round(high, 9)) for x, low, high in found]

    def test_matplotlib_shows_names_as_they_are(self):
        module = load(self.to / "fct_mean_us_by_load.py")
        legend = module.figure().axes[0].get_legend()
        shown = [text.get_text().replace("\\$", "$") for text in legend.get_texts()]
        self.assertEqual(shown, [HOSTILE, " _ECMP: (old)"])

    def test_a_distribution_is_steps(self):
        axes = load(self.to / "fct_cdf.py").figure().axes[0]
        self.assertEqual({line.get_drawstyle() for line in axes.lines}, {"steps-post"})
        self.assertEqual(axes.get_ylim(), (0, 1))

    def test_axes_begin_where_their_quantities_do(self):
        for figure in ("fct_mean_us_by_load", "fct_p99_us_by_load"):
            axes = load(self.to / f"{figure}.py").figure().axes[0]
            self.assertEqual(axes.get_ylim()[0], 0)
            highest = max(point[3] for points in points_of(self.to / f"{figure}.csv").values() for point in points)
            self.assertGreaterEqual(axes.get_ylim()[1], highest)
            self.assertGreater(axes.get_xlim()[0], 0.2)

    def test_as_programs_they_write_pdfs_of_the_same_size(self):
        done = subprocess.run([sys.executable, self.to / "fct_p99.py"], capture_output=True, text=True, check=True, timeout=PATIENCE)
        made = self.to / "fct_p99-matplotlib.pdf"
        self.assertEqual(done.stdout.strip(), str(made))
        for ours, theirs in zip(page_of(self.to / "fct_p99.pdf"), page_of(made)):
            self.assertAlmostEqual(ours, theirs, delta=0.1)

    def test_pgfplots_draws_the_numbers_of_the_csv(self):
        """One document of all figures; pgfplots writes down each point that passes its filters, as the axes have it."""
        inputs = "\n".join(f"\\immediate\\write\\drawn{{figure}}\\input{{{figure.with_name(figure.name + '.tex')}}}\\clearpage"
                           for figure in self.figures())
        file = self.folder / "paper.tex"
        file.write_text(DOCUMENT.replace("FOLDER", str(self.to)).replace("INPUTS", inputs))
        done = subprocess.run(["pdflatex", "-interaction=nonstopmode", "-halt-on-error", file.name], cwd=self.folder, text=True,
                              errors="replace", capture_output=True, timeout=PATIENCE, check=False)
        self.assertEqual(done.returncode, 0, done.stdout[-3000:])
        self.assertNotIn("pgfplots Warning", done.stdout)
        pages = re.search(r"Output written on paper.pdf \((\d+) pages", done.stdout)
        self.assertEqual(int(pages[1]), len(self.figures()))
        parts = (self.folder / "drawn.txt").read_text().split("figure\n")[1:]
        for figure, part in zip(self.figures(), parts, strict=True):
            with self.subTest(figure=figure.name):
                self.assert_drawn(figure, [tuple(map(float, line.split(","))) for line in part.splitlines() if "inf" not in line])

    def assert_drawn(self, figure, drawn):
        """Points of pgfplots, which has five digits and logarithms on logarithmic axes, are those of the CSV."""
        module = load(figure.with_name(figure.name + ".py"))
        points = [(number, point) for number, of in sorted(points_of(figure.with_name(figure.name + ".csv")).items()) for point in of]
        expected = [(high, x) if module.SERIES[number]["kind"] == "arrows" else (y, x) if module.ROWS else (x, y)
                    for number, (x, y, _, high) in points]
        self.assertEqual(len(drawn), len(expected))
        scales = [module.AXES[which][2] for which in ("x", "y")]
        for got, wanted in zip(drawn, expected):
            for one, other, scale in zip(got, wanted, scales):
                if scale == "log":
                    self.assertAlmostEqual(one, math.log10(other), delta=2e-4)
                else:
                    self.assertAlmostEqual(one, other, delta=2e-4 * max(1, abs(other)))

    def test_arrows_are_those_of_the_timelines_picture(self):
        """Heads of the same messages, at the same places of the axis of time."""
        points = points_of(self.to / "messages.csv")
        names = dict(re.findall(r"# series (\d+): (.*)", (self.to / "messages.csv").read_text()))
        self.assertEqual(re.findall(r"# row \d+: (.*)", (self.to / "messages.csv").read_text()), ["leaf2", "spine1", "leaf1"])
        self.assertEqual(set(names.values()), {"path warned", "paused", "warning", "PFC: stop", "clear, PFC: go on"})
        for file, colours in ((self.timeline.with_suffix(".svg"), {"warning": "#0072b2", "PFC: stop": "#d40000", "clear, PFC: go on": "#999999"}),
                              (self.to / "messages.svg", {"warning": "#0072b2", "PFC: stop": "#d55e00", "clear, PFC: go on": "#000000"})):
            heads = re.findall(r'<path d="M([\d.]+),([\d.]+) l[-\d.]+,[-\d.]+ l[\d.]+,0 z" fill="(#\w+)"/>', file.read_text())
            drawn, wanted = [], []
            for number, name in names.items():
                if name not in colours:
                    continue
                of_name = points[int(number)]
                mine = [(float(x), float(y)) for x, y, colour in heads if colour == colours[name]]
                self.assertEqual(len(mine), len(of_name), (file, name))
                drawn += sorted(mine, key=lambda place: (place[1], place[0]))
                wanted += sorted(((high, row) for row, _, _, high in of_name), key=lambda place: (place[1], place[0]))
            self.assertGreater(len(wanted), 5)
            for axis in (0, 1):  # place = begin + scale * value
                values, places = [each[axis] for each in wanted], [each[axis] for each in drawn]
                low, high = values.index(min(values)), values.index(max(values))
                scale = (places[high] - places[low]) / (values[high] - values[low])
                for value, place in zip(values, places):
                    self.assertAlmostEqual(place, places[low] + scale * (value - values[low]), delta=0.03)

    def test_pgfplots_reads_the_csv_of_each_series(self):
        for figure in self.figures():
            source = figure.with_name(figure.name + ".tex").read_text()
            plots = re.findall(r"\{\\thisrow\{series\}\}\{(\d+):(\d+)\}\]\s+table\[.*?\] \{\\eddyfigures/(.*?)\};", source)
            self.assertEqual({(int(a), int(b), file) for a, b, file in plots},
                             {(number, number, figure.name + ".csv") for number in points_of(figure.with_name(figure.name + ".csv"))})


class Letters(Base):
    """The PDFs."""

    def test_a_column_has_letters_of_7_points_at_least(self):
        for template, width in (("acm", 3.33), ("ieee", 3.5), (None, 3.33)):
            words = ("--template", template) if template else ("--width", "3.33in")
            to, _ = self.report(f"letters-{template}", *words)
            found = sorted(to.glob("*.pdf"))
            self.assertGreater(len(found), 12)
            for pdf in found:
                with self.subTest(pdf=pdf.name, template=template):
                    self.assertAlmostEqual(page_of(pdf)[0], width * 72, delta=0.05)
                    self.assertGreaterEqual(min(sizes_of(pdf)), 7)
                    self.assertTrue(words_of(pdf))

    def test_what_is_asked_for_is_what_is_measured(self):
        to, _ = self.report("sizes", "--width", "84mm", "--text-size", "10pt", "--no-title", "--font", "DejaVu Serif")
        for pdf in to.glob("fct_*.pdf"):
            self.assertEqual(sizes_of(pdf), {10})
            fonts = subprocess.run(["pdffonts", pdf], capture_output=True, text=True, check=True).stdout
            self.assertIn("DejaVuSerif", fonts.replace("-", ""))
            self.assertTrue(all(line.split()[-5] == "yes" for line in fonts.splitlines()[2:]), fonts)  # embedded
            self.assertAlmostEqual(page_of(pdf)[0], 84 / 25.4 * 72, delta=0.05)

    def test_no_word_lies_on_another_or_beyond_the_page(self):
        to, _ = self.report("words", "--template", "acm", "--title")
        for pdf in to.glob("*.pdf"):
            if "timeline" in pdf.name:
                continue  # numbers of moments stand close by design; its layout is a test of its own
            width, height = page_of(pdf)
            words = words_of(pdf)
            for i, (text, (left, top, right, bottom)) in enumerate(words):
                self.assertTrue(left >= -0.5 and right <= width + 0.5 and top >= -1 and bottom <= height + 1, (pdf.name, text))
                for other, box in words[i + 1:]:
                    across = min(right, box[2]) - max(left, box[0])
                    down = min(bottom, box[3]) - max(top, box[1])
                    self.assertFalse(across > 0.5 and down > 3, (pdf.name, text, other))
        file = self.folder / "titled.tex"
        sources = sorted(source for source in to.glob("*.tex") if "timeline" not in source.name and " " not in source.name)
        file.write_text(DOCUMENT.replace("FOLDER", str(to)).replace("INPUTS", "".join(f"\\input{{{source}}}\\clearpage\n" for source in sources)))
        done = subprocess.run(["pdflatex", "-interaction=nonstopmode", "-halt-on-error", file.name], cwd=self.folder, text=True,
                              errors="replace", capture_output=True, timeout=PATIENCE, check=False)
        self.assertEqual(done.returncode, 0, done.stdout[-3000:])
        self.assert_apart(file.with_suffix(".pdf"), pages=len(sources))


class Chosen(Base):
    def test_variants_are_chosen_and_called(self):
        to, _ = self.report("chosen", "--no-title", "--variant", "scheme=drill load=0.5", "--variant", "load=0.3",
                            "--legend", "scheme=drill:DRILL")
        names = re.findall(r"# series \d+: (.*)", (to / "fct_cdf.csv").read_text())
        self.assertEqual(names, ["DRILL load=0.3", "DRILL load=0.5", "scheme=ecmp load=0.3"])
        rows = re.findall(r"# row \d+: (.*)", (to / "fct_p99.csv").read_text())
        self.assertEqual(rows, names)
        self.assertIn("[DRILL load=0.3]", (to / "claims.csv").read_text())
        self.assertNotIn("Flow completion", re.sub("<title>.*?</title>", "", (to / "fct_cdf.svg").read_text()))
        self.assertIn("--variant 'scheme=drill load=0.5'", (self.folder / "chosen.html").read_text())

    def test_the_same_command_makes_the_same_files(self):
        first, _ = self.report("twice", "--template", "ieee")
        files = {file.name: file.read_bytes() for file in first.iterdir()}
        again, _ = self.report("twice", "--template", "ieee")
        self.assertEqual({file.name: file.read_bytes() for file in again.iterdir()}, files)


class Refused(Base):
    """One clear line, and nothing is written."""

    def refused(self, says, *words, code=2):
        page, to = self.folder / "never.html", self.folder / "never"
        said = eddylab("report", self.result, "--out", page, "--figures", to, *words, code=code).stderr
        self.assertIn(says, said)
        self.assertEqual(len([line for line in said.splitlines() if line.startswith(("eddylab: ", "--"))]), 1, said)
        self.assertFalse(page.exists() or to.exists())

    def test_what_cannot_be(self):
        self.refused('--variant: "shceme=drill": no factor "shceme"; there are: scheme, load', "--variant", "shceme=drill")
        self.refused("scheme is one of: drill, ecmp", "--variant", "scheme=hula")
        self.refused("no name in it", "--legend", "scheme=drill")
        self.refused('no factor "x"', "--legend", "x=y:Z")
        self.refused("a control character", "--legend", "scheme=drill:a\nb")
        self.refused('--width: "3.33" is no length', "--width", "3.33")
        self.refused("--width: 1in is out of range", "--width", "1in")
        self.refused("--text-size", "--text-size", "8")
        self.refused("--template: nature not in {acm,ieee}", "--template", "nature")
        self.refused("is no name of a font", "--font", 'x" onload="alert(1)')

    def test_a_folder_that_cannot_be_written(self):
        (self.folder / "file").write_text("")
        for to in (self.folder / "file" / "figures", Path("/proc/figures")):
            page = self.folder / "never.html"
            said = eddylab("report", self.result, "--out", page, "--figures", to, code=1).stderr
            self.assertIn("cannot be written", said)
            self.assertFalse(page.exists())

    def test_options_of_figures_need_figures(self):
        for words in (("--width", "3in"), ("--no-title",), ("--variant", "scheme=drill"), ("--template", "acm")):
            said = eddylab("report", self.result, "--out", self.folder / "never.html", *words, code=2).stderr
            self.assertIn("--figures", said)

    def test_without_rsvg_convert_all_but_the_pdfs_is_written(self):
        to = self.folder / "no-pdf"
        done = subprocess.run([EDDYLAB, "report", self.result, "--out", self.folder / "no-pdf.html", "--figures", to],
                              capture_output=True, text=True, timeout=PATIENCE, check=False, env={"PATH": "/nowhere"})
        self.assertEqual(done.returncode, 1)
        self.assertEqual(done.stderr.count("librsvg2-bin"), 1)
        self.assertEqual(list(to.glob("*.pdf")), [])
        self.assertGreater(len(list(to.glob("*.svg"))), 12)
        self.assertEqual(len(list(to.glob("*.tex"))), len(list(to.glob("*.py"))))


if __name__ == "__main__":
    unittest.main(verbosity=2)
