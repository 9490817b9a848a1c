"""Plugins in eddylab and in eddyd's checks: results that name them, what is refused, and a scheme that throws. No root."""

import hashlib
import json
import os
import subprocess
import unittest
from pathlib import Path

import jsonschema
from plugin_support import OTHER_ABI, put, trusted_folder

BIN = Path(os.environ["EDDY_BIN"])
EXPERIMENT = """
id: tiny
title: A tiny fabric with a plugin
topology: {kind: leaf_spine, leaves: 2, spines: 2, hosts_per_leaf: 2, host_delay: 1us, fabric_delay: 1us}
buffer: {size: 9MiB}
load_balancer: BALANCER
traffic:
  - {type: poisson, name: web, cdf: web_search, truncate: 50kB, load: 0.4, reference: core}
run: {seeds: [1], warmup: 50us, duration: 300us, drain: 20ms}
"""


class LabPlugin(unittest.TestCase):
    def setUp(self):
        self.folder = trusted_folder(self)
        self.plugin = put("trouble", self.folder)

    def call(self, program, *words, code=0, **environment):
        done = subprocess.run([BIN / program, *map(str, words)], cwd=self.folder, capture_output=True, text=True, timeout=120,
                              check=False, env=os.environ | environment)
        self.assertEqual(done.returncode, code, f"{words}\n{done.stdout}\n{done.stderr}")
        return done

    def experiment(self, balancer):
        path = self.folder / "tiny.yaml"
        path.write_text(EXPERIMENT.replace("BALANCER", balancer))
        return path

    def run_of(self, balancer, *words):
        self.call("eddylab", "run", self.experiment(balancer), "--out", "out", "--fresh", "--quiet", *words)
        return json.loads((self.folder / "out/tiny/full/result.json").read_text())["runs"][0]

    def test_a_result_says_what_made_it(self):
        run = self.run_of("{plugin: trouble.so, scheme: trouble, after: 3}", "--check")
        self.assertEqual((run["scheme"], run["plugin"], run["plugin_version"]), ("trouble", str(self.plugin), "0.2.0"))
        self.assertEqual(run["plugin_sha256"], hashlib.sha256(self.plugin.read_bytes()).hexdigest())
        self.assertEqual(run["counters"]["selector_fallback_packets"], 0)
        again = self.run_of("{plugin: ./trouble.so, scheme: trouble, after: 3}")
        self.assertEqual((again["digest"], again["config_hash"]), (run["digest"], run["config_hash"]))
        with self.plugin.open("ab") as stream:
            stream.write(b"a trailer that the loader ignores")
        other = self.run_of("{plugin: trouble.so, scheme: trouble, after: 3}")
        self.assertEqual(other["digest"], run["digest"])
        self.assertNotEqual(other["config_hash"], run["config_hash"])
        own = self.run_of("{scheme: ecmp}")
        self.assertEqual((own["plugin"], own["plugin_version"], own["plugin_sha256"]), (None, None, None))

    def test_rlb_stands_around_it(self):
        run = self.run_of("{plugin: trouble.so, scheme: calm}\nrlb: paper", "--check")
        self.assertEqual((run["scheme"], run["rlb"], run["unfinished"]), ("calm", "paper", 0))

    def test_variants_have_plugins_and_others_have_none(self):
        path = self.experiment("{plugin: trouble.so, scheme: trouble, after: 7}\nmatrix: {load_balancer.scheme: [ecmp, letflow]}")
        text = self.call("eddylab", "config", path).stdout
        self.assertEqual((text.count("scheme: ecmp"), text.count("scheme: letflow"), text.count("trouble")), (1, 1, 0))
        path = self.experiment("{scheme: letflow, gap: 40us}")
        text = self.call("eddylab", "config", path, "--set", f"load_balancer.plugin={self.plugin}",
                         "--set", "load_balancer.scheme=trouble").stdout
        self.assertIn(f'plugin: "{self.plugin}"', text)
        self.assertNotIn("gap: 40us", text)

    def test_one_that_throws_is_counted_and_warned_of(self):
        run = self.run_of("{plugin: trouble.so, scheme: trouble, when: select_throws, after: 100}")
        self.assertGreater(run["counters"]["selector_fallback_packets"], 0)
        self.assertEqual(run["unfinished"], 0)
        said = self.call("eddylab", "show", self.folder / "out/tiny/full").stdout
        self.assertIn("because the scheme of a plugin failed", said)

    def test_paths_of_the_command_line_are_those_of_the_shell(self):
        (self.folder / "elsewhere").mkdir()
        path = self.experiment("{}").rename(self.folder / "elsewhere/tiny.yaml")
        text = self.call("eddylab", "config", path, "--set", "load_balancer={plugin: ./trouble.so, scheme: calm}").stdout
        self.assertIn(f'plugin: "{self.plugin}"', text)
        path.write_text(EXPERIMENT.replace("BALANCER", "{plugin: ./trouble.so, scheme: calm}"))
        self.assertIn("elsewhere/trouble.so: there is no such file",
                      self.call("eddylab", "config", path, code=2).stderr.replace(f"{self.folder}/", ""))

    def test_the_environments_folder_is_first(self):
        (self.folder / "data/schemes").mkdir(parents=True)
        mine = put("trouble", self.folder / "data/schemes")
        path = self.experiment("{plugin: trouble.so, scheme: calm}")
        self.assertIn(str(mine), self.call("eddylab", "config", path, EDDY_DATA=str(self.folder / "data")).stdout)

    def test_what_is_wrong_is_one_line_at_its_place(self):
        for balancer, said in (("{plugin: other_abi.so}", OTHER_ABI),
                               ("{plugin: leaves.so}", "exit code 3"),
                               ("{plugin: trouble.so, scheme: trouble, when: make_throws}", "no luck today"),
                               ("{plugin: trouble.so, scheme: trouble, when: now}", "load_balancer.when")):
            with self.subTest(balancer=balancer):
                put("other_abi", self.folder)
                put("leaves", self.folder)
                path = self.experiment(balancer)
                for words in (("validate", path), ("run", path), ("config", path)):
                    error = self.call("eddylab", *words, code=2).stderr
                    self.assertRegex(error, rf"^(eddylab: )?{path}:6:\d+: .*{said}.*\n$")

    def test_the_conformance_suite_runs_on_it(self):
        done = json.loads(self.call("eddylab", "conformance", "./trouble.so", "--json", code=1).stdout)
        self.assertEqual([(each["scheme"], each["holds"]) for each in done["schemes"]], [("trouble", False), ("calm", True)])
        calm = {each["check"]: each["verdict"] for each in done["schemes"][1]["checks"]}
        self.assertEqual(set(calm.values()), {"holds"}, calm)
        problems = "\n".join(line for each in done["schemes"][0]["checks"] for line in each["problems"])
        for said in ("when make_throws: throws: no luck today", "when make_throws_number: throws something that is no std::exception",
                     "when make_nothing: it makes nothing", "when make_refuses: there are too few paths",
                     "when select_throws: throws: out of ideas"):
            self.assertIn(said, problems)
        self.assertIn("there is no such file", self.call("eddylab", "conformance", "./none.so", code=2).stderr)

    def test_containers_are_not_given_a_file_of_this_machine(self):
        path = self.experiment("{plugin: trouble.so, scheme: calm}")
        for words in (("export", path, "--to", "compose", "--out", "exported"), ("up", path, "--containers")):
            self.assertIn("containers have what is in their image", self.call("eddylab", *words, code=2).stderr)
        self.assertFalse((self.folder / "exported").exists())

    def test_schemas_know_its_parameters(self):
        good = {"load_balancer": {"plugin": "./trouble.so", "scheme": "trouble", "after": 3}}
        bad = {"load_balancer": {"plugin": "./trouble.so", "scheme": "trouble", "afer": 3}}
        for program, words in (("eddyd", ("--schema",)), ("eddylab", ("schema", "experiment"))):
            any_plugin = json.loads(self.call(program, *words).stdout)["properties"]["load_balancer"]
            mine = json.loads(self.call(program, *words, "--plugin", "trouble.so").stdout)["properties"]["load_balancer"]
            for schema, document, valid in ((any_plugin, good, True), (any_plugin, bad, True), (mine, good, True), (mine, bad, False)):
                errors = list(jsonschema.Draft202012Validator(schema).iter_errors(document["load_balancer"]))
                self.assertEqual(not errors, valid, (program, document))
        path = self.folder / "switch.yaml"
        path.write_text("load_balancer: {plugin: trouble.so, scheme: trouble}\nports: {a: {device: net_null0}}\n")
        self.assertIn('"after"', self.call("eddyd", "--schema", "--config", path).stdout)
        self.assertIn("no such file", self.call("eddyd", "--schema", "--plugin", "none.so", code=2).stderr)

    def test_eddyd_checks_it(self):
        path = self.folder / "switch.yaml"
        path.write_text("load_balancer: {plugin: trouble.so, scheme: trouble, after: 3}\nports: {a: {device: net_null0}}\n")
        said = self.call("eddyd", "--config", path, "--check").stdout
        self.assertIn("load balancer: trouble, after 3, when never\n", said)
        self.assertIn(f"of plugin {self.plugin}, built for Eddy 0.2.0, sha256 ", said)
        self.plugin.chmod(0o775)
        self.assertIn("can be written to by its group", self.call("eddyd", "--config", path, "--check", code=2).stderr)


if __name__ == "__main__":
    unittest.main()
