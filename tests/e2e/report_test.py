"""eddylab report and eddylab compare: the page as a browser shows it, the figures, and what is refused.

Binaries are taken from $EDDY_BIN, which ctest sets. Needs chromium, and no root.
"""

import json
import os
import re
import shutil
import subprocess
import sys
import tempfile
import unittest
import xml.etree.ElementTree as xml
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "scripts"))
from lib.browser import Browser  # noqa: E402

EDDYLAB = Path(os.environ.get("EDDY_BIN", ROOT / "build" / "dev" / "bin")) / "eddylab"
PATIENCE = 120  # seconds, on a machine that is busy
HOSTILE = "</script><img src=x onerror=\"window.hacked=1\">{{data}}<!--"
EXPERIMENT = """
id: tiny
title: %s
topology: {kind: leaf_spine, leaves: 2, spines: 2, hosts_per_leaf: 2, host_delay: 1us, fabric_delay: 1us}
buffer: {size: 9MiB}
traffic:
  - {type: permutation, name: web, size: 100kB, start: 100us}
run: {seeds: [1, 2], warmup: 0us, duration: 1ms, drain: 20ms}
matrix:
  load_balancer.scheme: [ecmp, letflow, drill]
expect:
  - "Nothing is lost."
  - "fct_p99_us of [scheme=drill] against [scheme=ecmp]: -10 %%"
""" % json.dumps(HOSTILE)
# Counts what is drawn: the curves of each figure by its file's name.
CURVES = """Object.fromEntries([...document.querySelectorAll("figure")].map(figure =>
  [figure.id.replace(/-\\d+$/, ""), figure.querySelectorAll(".legend li").length]))"""
TAB, ENTER, SPACE, RIGHT = ("Tab", "", 9), ("Enter", "\r", 13), (" ", " ", 32), ("ArrowRight", "", 39)


def eddylab(*words, code=0, folder=None):
    done = subprocess.run([EDDYLAB.resolve(), *map(str, words)], capture_output=True, text=True, timeout=PATIENCE,
                          check=False, cwd=folder)
    if done.returncode != code:
        raise AssertionError(f"{words}: exit code {done.returncode}\n{done.stdout}\n{done.stderr}")
    return done


def sweep(folder, *words, experiment=EXPERIMENT):
    """A result of three schemes and all seeds; the first run has a timeline."""
    folder.mkdir(exist_ok=True)
    file = folder / "tiny.yaml"
    file.write_text(experiment)
    where = ("--out", folder, "--quiet", *words)
    eddylab("run", file, "--variant", "scheme=ecmp", "--seed", 1, "--timeline", "leaf1:spine1:leaf2", *where)
    eddylab("run", file, *where)
    return folder / "tiny" / "full"


def rename_variant(result, name):
    """Gives a run's variant another name, as whoever writes such a file could."""
    file = result / "scheme=drill" / "seed1" / "run.json"
    run = json.loads(file.read_text())
    run["run"]["variant"] = name
    file.write_text(json.dumps(run))


class Base(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        folder = tempfile.TemporaryDirectory(prefix="eddy-report-")
        cls.addClassCleanup(folder.cleanup)
        cls.folder = Path(folder.name)
        cls.result = sweep(cls.folder)


class Claims(unittest.TestCase):
    def test_of_a_direction_alone_have_no_figure(self):
        with tempfile.TemporaryDirectory(prefix="eddy-report-") as name, Browser() as browser:
            folder = Path(name)
            result = sweep(folder, experiment=EXPERIMENT.replace("-10 %", "more"))
            eddylab("report", result, "--out", folder / "report.html")
            browser.screen(1200, 900)
            browser.open(folder / "report.html")
            self.assertIn("Claimed and found", browser.evaluate("document.body.innerText"))
            self.assertEqual(browser.evaluate("document.querySelectorAll('[id^=claims] svg').length"), 0)
            self.assertNotIn("Nothing to show", browser.evaluate("document.body.innerText"))


class Pages(Base):
    """One page, opened anew for each test."""

    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        cls.page = cls.folder / "report.html"
        rename_variant(cls.result, HOSTILE)
        eddylab("report", cls.result, "--out", cls.page)
        cls.browser = Browser()
        cls.addClassCleanup(cls.browser.close)

    def setUp(self):
        self.browser.screen(1200, 900)
        self.browser.open(self.page)
        self.see = self.browser.evaluate

    def tearDown(self):
        self.assertEqual(self.browser.complaints(), [])
        self.assertEqual(self.browser.requests(), [self.page.as_uri()])

    def press(self, *keys):
        for key in keys:
            self.browser.press(*key)

    def rows(self, label):
        """The cells of a table, by its region's name."""
        return self.see(f"""[...document.querySelectorAll('[aria-label="{label}"] tbody tr')].map(row =>
          [...row.cells].map(cell => cell.textContent))""")

    def test_it_is_drawn(self):
        self.assertEqual(self.see("document.documentElement.dataset.ready"), "yes")
        curves = self.see(CURVES)
        self.assertEqual(curves["fct_cdf"], 4)
        for figure in ("fct_cdf", "queues", "link_load"):
            self.assertGreater(self.see(f"document.querySelectorAll('[id^={figure}] svg path').length"), 3)
        self.assertIn("Timeline: leaf1 to spine1 to leaf2", self.see("document.body.innerText"))
        self.assertIn("-10", self.rows("Claimed and found")[0][3])
        self.assertEqual(self.see("document.querySelectorAll('[id^=claims] svg path').length"), 5, "a row, and the legend")
        self.assertEqual(self.see("document.querySelectorAll('figure pre').length"), len(curves))
        self.assertIn(f"eddylab report {self.result} --figures",
                      self.see("document.querySelector('[id^=fct_cdf] pre').textContent"))

    def test_hostile_text_stays_text(self):
        self.assertIn(HOSTILE, self.see("document.body.innerText"))
        self.assertEqual(self.see("document.querySelectorAll('img, iframe, object').length"), 0)
        self.assertEqual(self.see("document.scripts.length"), 2)
        self.assertEqual(self.see("typeof window.hacked"), "undefined")
        self.assertIn(HOSTILE, [row[0] for row in self.rows("Summary")])
        self.assertIn(HOSTILE, self.see("document.querySelector('[id^=fct_cdf] .legend').textContent"))

    def test_no_script_but_its_own_would_run(self):
        self.see("""document.body.insertAdjacentHTML('beforeend', '<img src="data:," onerror="window.hacked=1">')""")
        self.see("""(() => { const made = document.createElement('script'); made.textContent = 'window.hacked = 2';
          document.body.append(made); })()""")
        self.browser.frames()
        self.assertEqual(self.see("typeof window.hacked"), "undefined")
        self.assertTrue(any("Content Security Policy" in text for text in self.browser.complaints()))
        self.browser.events.clear()
        self.browser.open(self.page)

    def test_schemes_are_filtered(self):
        before = len(self.rows("Slowdown by flow size"))
        self.see("[...document.querySelectorAll('button')].find(b => b.textContent === 'ecmp').click()")
        self.assertEqual(self.see(CURVES)["fct_cdf"], 3)
        self.assertLess(len(self.rows("Slowdown by flow size")), before)
        self.assertEqual(self.see("document.querySelector('button[aria-pressed=false]').textContent"), "ecmp")
        self.assertIn("3 of 4 variants", self.see("document.getElementById('status').textContent"))
        self.see("[...document.querySelectorAll('button')].find(b => b.textContent === 'None').click()")
        self.assertIn("Nothing to show", self.see("document.querySelector('[id^=fct_cdf]').innerText"))
        self.see("[...document.querySelectorAll('button')].find(b => b.textContent === 'All').click()")
        self.assertEqual(self.see(CURVES)["fct_cdf"], 4)

    def test_a_seed_has_its_own_numbers(self):
        result = json.loads((self.result / "result.json").read_text())
        run = next(run for run in result["runs"] if (run["variant"], run["seed"]) == ("scheme=ecmp", 2))
        self.see("document.getElementById('seed-1').click()")
        rows = {row[0]: row for row in self.rows("Summary")}
        self.assertNotIn(HOSTILE, rows, "it has no seed 2")
        self.assertAlmostEqual(float(rows["scheme=ecmp"][5]), run["fct_p99_us"], delta=0.6)
        largest = self.see("""(() => { const data = JSON.parse(document.getElementById('data').textContent);
          const figure = data.results[0].figures.find(figure => figure.id === 'fct_cdf');
          const ecmp = data.results[0].variants.findIndex(variant => variant.name === 'scheme=ecmp');
          return Math.max(...figure.curves.find(curve => curve.s === '2' && curve.v === ecmp).x); })()""")
        self.assertAlmostEqual(largest, run["fct_max_us"], delta=0.01)
        self.assertIn("(here: seed 2)", self.see("document.querySelector('[id^=fct_cdf] figcaption').textContent"))
        self.see("document.querySelector('[aria-label=\"No seed\"]').click()")
        self.assertEqual(self.rows("Summary"), [])
        self.assertEqual(self.see("document.getElementById('status').textContent"), "4 of 4 variants, no seed")
        self.see("document.querySelector('[aria-label=\"All seeds\"]').click()")
        self.assertEqual(len(self.rows("Summary")), 4)

    def test_variants_are_found_by_name(self):
        self.see("document.getElementById('find').focus()")
        self.press(*[(letter, letter, 0) for letter in "LETF"])
        self.assertEqual(self.see(CURVES)["fct_cdf"], 1)

    def test_the_data_of_a_figure_are_in_a_table(self):
        self.see("document.querySelector('[id^=fct_cdf] details').open = true")
        self.browser.frames()
        rows = self.rows("Data of Flow completion time")
        drawn = self.see("""JSON.parse(document.getElementById('data').textContent).results[0].figures
          .find(figure => figure.id === 'fct_cdf').curves.filter(curve => curve.s === 'all')
          .flatMap(curve => curve.x.map((x, i) => [String(x), String(curve.y[i])]))""")
        self.assertEqual([row[1:] for row in rows], drawn)

    def test_tables_are_sorted_by_their_heads(self):
        click = """[...document.querySelectorAll('[aria-label="Summary"] th button')]
          .find(b => b.textContent === 'FCT p99 us').click()"""
        self.see(click)
        self.see(click)
        values = [float(re.match(r"[\d.]+", row[5])[0]) for row in self.rows("Summary")]
        self.assertEqual(values, sorted(values, reverse=True))
        self.assertEqual(self.see("document.querySelector('th[aria-sort=descending]').textContent"), "FCT p99 us")

    def test_all_works_by_keyboard(self):
        self.press(TAB)
        self.assertEqual(self.see("document.activeElement.className"), "skip")
        reached = []
        for _ in range(200):
            self.press(TAB)
            focus = self.see("""(() => { const at = document.activeElement; const style = getComputedStyle(at);
              return {what: at.id || at.textContent.slice(0, 20) || at.className, tag: at.tagName, role: at.getAttribute('role'),
                      seen: style.outlineStyle !== 'none' && parseFloat(style.outlineWidth) >= 2}; })()""")
            if focus["tag"] == "BODY":
                break
            self.assertTrue(focus["seen"], f"no focus to be seen on {focus}")
            reached.append(focus)
        self.assertTrue({"BUTTON", "INPUT", "SELECT", "SUMMARY", "DIV", "A"} <= {each["tag"] for each in reached})
        drawings = self.see("document.querySelectorAll('figure .tools').length + document.querySelectorAll('.panel').length")
        self.assertEqual(sum(each["role"] == "img" for each in reached), drawings)

    def test_a_box_is_ticked_and_keeps_the_focus(self):
        self.see("document.querySelector('td input').focus()")
        self.press(SPACE)
        self.assertEqual(self.see(CURVES)["fct_cdf"], 3)
        self.press(SPACE)
        self.assertEqual(self.see(CURVES)["fct_cdf"], 4)

    def test_a_figure_is_read_and_zoomed_by_keys(self):
        chart = "document.querySelector('[id^=fct_cdf] .chart')"
        axis = f"[...{chart}.querySelectorAll('text')].map(text => text.textContent).join()"
        whole = self.see(axis)
        self.see(f"{chart}.focus()")
        self.press(RIGHT)
        self.assertRegex(self.see("document.querySelector('[id^=fct_cdf] [aria-live]').textContent"), r"scheme=ecmp [\d.]+: [\d.]+")
        self.press(("+", "+", 0))
        self.assertNotEqual(self.see(axis), whole)
        self.press(("0", "0", 0))
        self.assertEqual(self.see(axis), whole)

    def test_the_panels_of_a_timeline_zoom_together(self):
        axes = """[...document.querySelectorAll('.panel .chart')].map(chart =>
          [...chart.querySelectorAll('text')].map(text => text.textContent).join())"""
        whole = self.see(axes)
        self.see("document.querySelector('[aria-label=\"Zoom in: timeline\"]').click()")
        self.assertTrue(all(a != b for a, b in zip(self.see(axes), whole)))
        self.see("document.querySelector('[aria-label=\"Show all: timeline\"]').click()")
        self.assertEqual(self.see(axes), whole)

    def test_everything_that_can_be_used_has_a_name(self):
        nodes = self.browser.accessible()
        useful = [node for node in nodes if node["role"] in
                  ("button", "checkbox", "combobox", "searchbox", "link", "region", "image", "DisclosureTriangle")]
        self.assertGreater(len(useful), 30)
        self.assertEqual([node for node in useful if not node["name"].strip()], [])

    def test_contrast_is_enough_in_light_and_dark(self):
        for dark in (False, True):
            self.browser.screen(1200, 900, dark=dark)
            for pairs, least in ((["--text", "--faint", "--link", "--warn"], 4.5), ([f"--c{i}" for i in range(8)], 3)):
                for name in pairs:
                    self.assertGreaterEqual(contrast(*self.colours(name, "--ground")), least, f"{name}, dark: {dark}")
        grounds = {self.colours("--ground", "--text")[0]}
        self.browser.screen(1200, 900)
        self.assertNotIn(self.colours("--ground", "--text")[0], grounds)

    def colours(self, *names):
        return [self.see(f"getComputedStyle(document.documentElement).getPropertyValue('{name}').trim()") for name in names]

    def test_a_phone_need_not_scroll_sideways(self):
        self.browser.screen(360, 740, mobile=True)
        self.assertLessEqual(self.see("document.documentElement.scrollWidth"), 360)
        self.assertLessEqual(self.see("document.querySelector('[id^=fct_cdf] svg').getBoundingClientRect().right"), 360)

    def test_paper_has_no_buttons(self):
        pdf = self.browser.pdf()
        self.assertTrue(pdf.startswith(b"%PDF"))
        self.browser.print_media()
        self.assertEqual(self.see("getComputedStyle(document.getElementById('toolbar')).display"), "none")
        self.assertEqual(self.see("getComputedStyle(document.body).backgroundColor"), "rgb(255, 255, 255)")


class SomeSeeds(Base):
    """The numbers of two seeds of three are those of a result that has these two alone."""

    TABLES = ("Summary", "Slowdown by flow size", "Data of 99th percentile of the flow completion time")

    def test_means_are_over_the_chosen_seeds(self):
        experiment = re.sub(r"- \{type: permutation.*\}", "- {type: poisson, name: web, cdf: web_search, load: 0.6}",
                            EXPERIMENT).replace("seeds: [1, 2]", "seeds: [1, 2, 3]")
        three = sweep(self.folder / "three", experiment=experiment)
        two = self.folder / "two"
        shutil.copytree(three, two, ignore=shutil.ignore_patterns("seed2", "result.json"))
        with Browser() as browser:
            expected = self.tables(browser, two, "")
            found = self.tables(browser, three, "document.getElementById('seed-2').click()")
            self.assertEqual(browser.evaluate(CURVES)["fct_cdf"], 3, "one entry a variant, of two curves")
        self.assertGreater(len(expected), 30)
        self.assertEqual(len(found), len(expected))
        for ours, theirs in zip(found, expected):
            self.assert_alike(ours, theirs)

    def tables(self, browser, result, choose):
        page = self.folder / "seeds.html"
        eddylab("report", result, "--out", page)
        browser.screen(1200, 900)
        browser.open(page)
        browser.evaluate(choose)
        browser.evaluate("for (const each of document.querySelectorAll('[id^=fct_p99] details')) each.open = true")
        browser.frames()
        self.assertEqual(browser.complaints(), [])
        return [cell for label in self.TABLES for cell in browser.evaluate(
            f"[...document.querySelectorAll('[aria-label=\"{label}\"] tbody td')].map(cell => cell.textContent)")]

    def assert_alike(self, ours, theirs):
        """Halves may be rounded the other way."""
        number = r"\d+\.?\d*(?:e[+-]?\d+)?"
        self.assertEqual(re.sub(number, "#", ours), re.sub(number, "#", theirs))
        for one, other in zip(re.findall(number, ours), re.findall(number, theirs)):
            self.assertAlmostEqual(float(one), float(other), delta=0.011 * max(1, float(other)) if float(other) < 100 else 1)


class ManyVariants(Base):
    """More than a figure can tell apart, with an axis of numbers."""

    def test_figures_begin_with_a_few(self):
        many = self.folder / "many"
        for scheme in ("ecmp", "letflow"):
            for load in range(1, 8):
                to = many / f"{scheme}-{load}" / "seed1"
                shutil.copytree(self.result / f"scheme={scheme}" / "seed1", to)
                run = json.loads((to / "run.json").read_text())
                run["run"]["variant"] = f"scheme={scheme} load=0.{load}"
                (to / "run.json").write_text(json.dumps(run))
        page = self.folder / "many.html"
        eddylab("report", many, "--out", page)
        with Browser() as browser:
            browser.open(page)
            curves = browser.evaluate(CURVES)
            self.assertEqual((curves["fct_cdf"], curves["fct_mean_us_by_load"]), (8, 2))
            self.assertIn("first 8 of 14 variants", browser.evaluate("document.body.innerText"))
            self.assertEqual(browser.evaluate("document.querySelector('[aria-pressed=mixed]').textContent"), "letflow")
            browser.evaluate("[...document.querySelectorAll('button')].find(b => b.textContent === 'ecmp').click()")
            curves = browser.evaluate(CURVES)
            self.assertEqual((curves["fct_cdf"], curves["fct_mean_us_by_load"]), (1, 1))
            browser.evaluate("[...document.querySelectorAll('button')].find(b => b.textContent === 'All').click()")
            self.assertEqual(browser.evaluate(CURVES)["fct_cdf"], 14)
            self.assertEqual(browser.complaints(), [])


class Unfinished(Base):
    """Flows without an end are seen at any width: no mean holds them."""

    def test_they_stand_where_no_table_hides_them(self):
        some = self.folder / "some"
        shutil.copytree(self.result, some)
        file = some / "scheme=drill" / "seed1" / "run.json"
        run = json.loads(file.read_text())
        run["run"]["unfinished"] = 8
        file.write_text(json.dumps(run))
        page = self.folder / "some.html"
        eddylab("report", some, "--out", page)
        with Browser() as browser:
            for width in (1200, 800):
                browser.screen(width, 900)
                browser.open(page)
                right = browser.evaluate("""[...document.querySelectorAll('[aria-label="Summary"] th')]
                  .find(th => th.textContent === 'unfinished').getBoundingClientRect().right""")
                self.assertLess(right, width)
            browser.screen(360, 740, mobile=True)
            browser.open(page)
            said = browser.evaluate("""[...document.querySelectorAll('.left-over')].map(span =>
              [span.textContent, span.closest('tr').cells[0].textContent, span.getBoundingClientRect().right])""")
            self.assertEqual(len(said), 1, "of the one variant that has some")
            self.assertRegex(said[0][0], r"^4 ±[\d.]+ unfinished$")
            self.assertIn("scheme=drill", said[0][1])
            self.assertLess(said[0][2], 360)
            browser.evaluate("document.querySelector('[aria-label=\"Summary\"]').scrollLeft = 500")
            browser.frames()
            self.assertGreaterEqual(browser.evaluate("document.querySelector('.left-over').getBoundingClientRect().left"), 0)


def contrast(one, other):
    """The ratio of WCAG 2."""
    def luminance(colour):
        parts = [int(colour[i:i + 2], 16) / 255 for i in (1, 3, 5)]
        linear = [part / 12.92 if part <= 0.04045 else ((part + 0.055) / 1.055) ** 2.4 for part in parts]
        return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]
    light, dark = sorted((luminance(one), luminance(other)), reverse=True)
    return (light + 0.05) / (dark + 0.05)


class Files(Base):
    def test_figures_are_svg_and_pdf(self):
        to = self.folder / "figures"
        eddylab("report", self.result, "--out", self.folder / "f.html", "--figures", to)
        names = sorted(file.stem for file in to.glob("*.svg"))
        self.assertTrue({"fct_cdf", "fct_p99", "link_load", "claims", "timeline_scheme=ecmp__seed_1"} <= set(names), names)
        for ending in ("pdf", "csv"):
            self.assertEqual(names, sorted(file.stem for file in to.glob(f"*.{ending}")))
        for file in to.glob("*.svg"):
            xml.fromstring(file.read_text())
            self.assertTrue(file.with_suffix(".pdf").read_bytes().startswith(b"%PDF"))
        first = {file.name: file.read_bytes() for file in to.iterdir()}
        eddylab("report", self.result, "--out", self.folder / "f.html", "--figures", to)
        self.assertEqual({file.name: file.read_bytes() for file in to.iterdir()}, first)

    def test_another_schema_version_is_refused(self):
        other = self.folder / "other"
        shutil.copytree(self.result, other)
        file = other / "scheme=ecmp" / "seed1" / "run.json"
        file.write_text(file.read_text().replace('"schema_version": 1', '"schema_version": 9'))
        page = self.folder / "never.html"
        said = eddylab("report", other, "--out", page, code=1).stderr
        self.assertIn("schema version 1, but of 9", said)
        self.assertFalse(page.exists())

    def test_a_broken_run_is_said_and_the_rest_is_there(self):
        broken = self.folder / "broken"
        shutil.copytree(self.result, broken)
        (broken / "scheme=ecmp" / "seed1" / "run.json").write_text("{")
        (broken / "scheme=ecmp" / "seed2" / "flows.sqlite").write_bytes(b"no database at all" * 100)
        page = self.folder / "broken.html"
        said = eddylab("report", broken, "--out", page, code=1).stderr
        self.assertIn("seed1/run.json: this is no JSON", said)
        self.assertIn("seed2/flows.sqlite: file is not a database", said)
        self.assertIn("scheme=letflow", page.read_text())

    def test_a_result_is_named_from_where_it_lies(self):
        page = self.folder / "here.html"
        eddylab("report", "result.json", "--out", page, folder=self.result)
        self.assertIn("scheme=letflow", page.read_text())

    def test_what_is_not_there_is_said(self):
        self.assertIn("no such file", eddylab("report", self.folder / "none", code=1).stderr)
        self.assertIn("there are some in", eddylab("report", self.folder, code=1).stderr)
        eddylab("report", code=2)

    def test_a_result_compared_with_itself_and_with_another(self):
        said = eddylab("compare", self.result, self.result).stdout
        self.assertIn("6 of 6 pairs are the same run", said)
        self.assertNotIn(" *\n", said)
        slow = sweep(self.folder / "slow", "--set", "topology.fabric_rate=2Gbps")
        rows = json.loads(eddylab("compare", self.result, slow, "--json").stdout)
        mean = next(row for row in rows["table"]["rows"] if row["t"][:2] == ["scheme=ecmp", "FCT mean us"])
        self.assertGreater(float(mean["t"][5].split()[0]), 0)
        self.assertIn("no such file", eddylab("compare", self.result, "none", code=1).stderr)


if __name__ == "__main__":
    unittest.main(verbosity=2)
