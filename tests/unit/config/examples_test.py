"""The checked-in schema accepts every example, and refuses what the loader refuses."""

import copy
import json
import unittest
from pathlib import Path

import jsonschema
import yaml

CONFIG = Path(__file__).resolve().parents[3] / "config"


def as_json(value):
    """YAML's numbers as keys are JSON's strings."""
    if isinstance(value, dict):
        return {str(key): as_json(item) for key, item in value.items()}
    if isinstance(value, list):
        return [as_json(item) for item in value]
    return value


class Examples(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        schema = json.loads((CONFIG / "eddyd.schema.json").read_text(encoding="utf-8"))
        jsonschema.Draft202012Validator.check_schema(schema)
        cls.validator = jsonschema.Draft202012Validator(schema)
        cls.examples = sorted((CONFIG / "examples").glob("*.yaml"))

    def load(self, name):
        return as_json(yaml.safe_load((CONFIG / "examples" / name).read_text(encoding="utf-8")))

    def test_every_example_is_accepted(self):
        self.assertGreaterEqual(len(self.examples), 6)
        for example in self.examples:
            with self.subTest(example.name):
                errors = [e.message for e in self.validator.iter_errors(self.load(example.name))]
                self.assertEqual(errors, [])

    def test_wrong_files_are_refused(self):
        good = self.load("leaf.yaml")
        changes = {
            "unknown key": lambda c: c["ports"]["host1"].update(spede="1Gbps"),
            "rate without unit": lambda c: c["ports"]["host1"].update(speed="100"),
            "number for a rate": lambda c: c["ports"]["host1"].update(speed=100),
            "out of range": lambda c: c["ports"]["host1"].update(mtu=100),
            "unknown choice": lambda c: c["ports"]["host1"].update(role="server"),
            "unknown scheme": lambda c: c["load_balancer"].update(scheme="best"),
            "group 8": lambda c: c["ports"]["spine1"]["pgs"].update({"8": "lossless"}),
            "route without prefix": lambda c: c["routes"].append({"leaf": 2}),
        }
        self.assertTrue(self.validator.is_valid(good))
        for what, change in changes.items():
            with self.subTest(what):
                bad = copy.deepcopy(good)
                change(bad)
                self.assertFalse(self.validator.is_valid(bad))


class Experiments(unittest.TestCase):
    """The same of experiment.schema.json. Sizes and variants are not looked into: their keys may have dots."""

    @classmethod
    def setUpClass(cls):
        schema = json.loads((CONFIG / "experiment.schema.json").read_text(encoding="utf-8"))
        jsonschema.Draft202012Validator.check_schema(schema)
        cls.validator = jsonschema.Draft202012Validator(schema)

    def load(self, name):
        return as_json(yaml.safe_load((CONFIG / "experiments" / name).read_text(encoding="utf-8")))

    def test_every_experiment_is_accepted(self):
        files = sorted((CONFIG / "experiments").glob("*.yaml"))
        self.assertGreaterEqual(len(files), 3)
        for path in files:
            with self.subTest(path.name):
                errors = [e.message for e in self.validator.iter_errors(self.load(path.name))]
                self.assertEqual(errors, [])

    def test_wrong_experiments_are_refused(self):
        good = self.load("leaf-spine.yaml")
        changes = {
            "unknown key": lambda c: c["topology"].update(leavs=4),
            "rate without unit": lambda c: c["topology"].update(host_rate=40),
            "unknown traffic": lambda c: c["traffic"][0].update(type="poison"),
            "load of two": lambda c: c["traffic"][0].update(load=2),
            "unknown size": lambda c: c["sizes"].update(tiny={}),
            "unknown preset": lambda c: c["host"].update(dcqcn={"preset": "best"}),
        }
        self.assertTrue(self.validator.is_valid(good))
        for what, change in changes.items():
            with self.subTest(what):
                bad = copy.deepcopy(good)
                change(bad)
                self.assertFalse(self.validator.is_valid(bad))


if __name__ == "__main__":
    unittest.main()
