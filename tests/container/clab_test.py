"""The demo's fabric as a file for containerlab: its keys, and that it runs when it is deployed as containerlab does."""

import tempfile
import unittest
from pathlib import Path

import yaml

import clab
from support import main, shared
from fabrics import Fabric, export


class Deployed(unittest.TestCase):
    def setUp(self):
        place = tempfile.TemporaryDirectory()
        self.addCleanup(place.cleanup)
        self.folder = Path(place.name) / "lab"

    def deploy(self, *words):
        export(self.folder, "demo", "--to", "clab", *words)
        lab = clab.Lab(shared.engine, self.folder / "demo.clab.yml")
        self.addCleanup(lab.destroy)
        lab.deploy()
        return lab

    def test_linux_hosts_reach_each_other(self):
        lab = self.deploy("--hosts", "linux")
        fabric = Fabric(shared.engine, "clab-demo-")
        fabric.wait_until_up()
        self.assertEqual(fabric.pings(2), {})
        fabric.enter()
        self.addCleanup(fabric.leave)
        results, rows = fabric.run_traffic()
        self.assertEqual([result.trouble for result in results if not result.ok], [])
        self.assertEqual(sum(r.counts["lossless_dropped_packets"] for r in rows if r.role == "fabric"), 0)
        self.assertEqual(len(lab.links), 4)

    def test_eddyhost_runs_the_experiment(self):
        lab = self.deploy("--size", "ci")
        status = shared.engine.wait(lab.container("hosts"), 60)
        self.assertEqual(status, 0, shared.engine.logs(lab.container("hosts")))
        self.assertTrue((self.folder / "run" / "results" / "demo" / "ci" / "result.json").exists())


class Checked(unittest.TestCase):
    """The deployer refuses what containerlab's schema does."""

    def test_mistakes_are_found(self):
        good = {"name": "x", "topology": {"nodes": {"a": {"kind": "linux", "image": "i"},
                                                    "b": {"kind": "linux", "image": "i"}},
                                          "links": [{"endpoints": ["a:eth1", "b:eth1"]}]}}
        self.assertEqual(clab.check(good), [])
        for path, value in ((("mgmt",), {}), (("topology", "nodes", "a", "privileged"), False),
                            (("topology", "nodes", "a", "binds"), []), (("topology", "nodes", "a", "kind"), "bridge"),
                            (("topology", "nodes", "a", "cmd"), ["x"]), (("topology", "links"), []),
                            (("topology", "links"), [{"endpoints": ["a:eth1", "c:eth1"]}]),
                            (("topology", "links"), [{"endpoints": ["a:eth1"]}])):
            bad = yaml.safe_load(yaml.safe_dump(good))
            inner = bad
            for key in path[:-1]:
                inner = inner[key]
            inner[path[-1]] = value
            self.assertNotEqual(clab.check(bad), [], path)


if __name__ == "__main__":
    main()
