"""What docs/monitoring holds is so: rules load and fire, and every metric that is named exists."""

import json
import os
import re
import subprocess
import unittest
from pathlib import Path

ROOT = Path(__file__).resolve().parents[3]
FOLDER = ROOT / "docs" / "monitoring"
METRIC = re.compile(r"\beddy_[a-z0-9_]+")


def promtool(*words):
    return subprocess.run(["promtool", *words], cwd=FOLDER, capture_output=True, text=True, check=False)


def known_metrics():
    """Names of counters from eddyctl, of all others from the code that makes them."""
    said = subprocess.run([Path(os.environ["EDDY_BIN"]) / "eddyctl", "counters"], capture_output=True, text=True,
                          check=True).stdout
    counters = re.findall(r"^  ([a-z0-9_]+) ", said, re.M)
    names = {f"eddy_{re.sub('_ps$', '_seconds', re.sub('_total$', '', name))}_total" for name in counters}
    source = (ROOT / "switch" / "control" / "report" / "metrics.cpp").read_text()
    return names | set(re.findall(r'"(eddy_[a-z0-9_]+)"', source))


class Monitoring(unittest.TestCase):
    def test_rules_and_the_configuration_are_valid(self):
        for words in (("check", "rules", "eddy-rules.yml"), ("check", "config", "prometheus.yml"),
                      ("test", "rules", "eddy-rules-test.yml")):
            done = promtool(*words)
            self.assertEqual(done.returncode, 0, done.stdout + done.stderr)

    def test_every_alert_is_tested_both_ways(self):
        alerts = re.findall(r"- alert: (\w+)", (FOLDER / "eddy-rules.yml").read_text())
        tests = (FOLDER / "eddy-rules-test.yml").read_text()
        for alert in alerts:
            self.assertRegex(tests, rf"alertname: {alert}, exp_alerts: \[\]")
            self.assertRegex(tests, rf"alertname: {alert}\n\s+exp_alerts:( &\w+)?\n")

    def test_metrics_that_are_named_exist(self):
        known = known_metrics()
        for name in ("eddy-rules.yml", "eddy-dashboard.json", "eddy-rules-test.yml"):
            found = set(METRIC.findall((FOLDER / name).read_text()))
            self.assertGreater(len(found), 5)
            self.assertEqual(found - known, set(), name)
        page = set(re.findall(r"`(eddy_[a-z0-9_]+)[`{]", (FOLDER / "README.md").read_text()))
        self.assertEqual(page - known, set())

    def test_the_dashboard_has_panels_that_do_not_overlap(self):
        panels = json.loads((FOLDER / "eddy-dashboard.json").read_text())["panels"]
        self.assertEqual(len({panel["id"] for panel in panels}), len(panels))
        cells = [(x, y) for place in (panel["gridPos"] for panel in panels)
                 for x in range(place["x"], place["x"] + place["w"]) for y in range(place["y"], place["y"] + place["h"])]
        self.assertEqual(len(set(cells)), len(cells))
        self.assertLess(max(x for x, _ in cells), 24)


if __name__ == "__main__":
    unittest.main()
