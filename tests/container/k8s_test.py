"""The demo's fabric as Kubernetes' Pods, run by `podman play kube`."""

import json
import tempfile
import unittest
from pathlib import Path

import yaml

from support import STORE, NoEngine, build_images, find_engine, main, shared, wait_for
from fabrics import export
from lib import images


class Played(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        try:
            cls.podman = find_engine("podman", own=STORE, private=True)
        except NoEngine as why:
            raise unittest.SkipTest(f"SKIPPED: {why}") from None
        cls.addClassCleanup(cls.podman.close)
        build_images(shared.engine)
        images.copy_images(shared.engine, cls.podman, ("eddy:0.2.0", "eddy-host:0.2.0"))
        place = tempfile.TemporaryDirectory()
        cls.addClassCleanup(place.cleanup)
        cls.file = export(Path(place.name) / "demo", "demo", "--size", "ci", "--to", "k8s") / "demo.k8s.yaml"

    def left(self):
        return [self.podman.call(*words).stdout.split() for words in (
            ("pod", "ps", "--quiet"), ("ps", "--all", "--quiet"), ("volume", "ls", "--quiet"))]

    def take_down(self):
        self.podman.call("play", "kube", "--down", self.file, check=False)
        self.podman.call("volume", "rm", "--all", "--force", check=False)

    def test_the_fabric_runs(self):
        before = self.left()
        self.addCleanup(self.take_down)
        self.podman.call("play", "kube", "--network", "none", self.file)
        for short in ("leaf1", "spine2"):
            wait_for(lambda s=short: self.podman.exec(f"demo-{s}-eddyd", "eddyctl", "healthy",
                                                      check=False).returncode == 0, 30, f"{short} is healthy", 0.2)
        inspected = self.podman.inspect("demo-leaf1-eddyd")
        self.assertEqual(inspected["EffectiveCaps"] or [], [])
        self.assertEqual(inspected["Config"]["User"], "6480:6480")
        self.assertTrue(inspected["HostConfig"]["ReadonlyRootfs"])
        status = self.podman.wait("demo-hosts-eddyhost", 60)
        said = self.podman.logs("demo-hosts-eddyhost")
        self.assertEqual(status, 0, said)
        rows = json.loads(self.podman.exec("demo-leaf1-eddyd", "eddyctl", "--json", "show", "pgs").stdout)["rows"]
        self.assertEqual(sum(row["lossless_dropped_packets"] for row in rows), 0)
        self.take_down()
        self.assertEqual(self.left(), before)

    def test_every_document_is_one_that_kubernetes_knows(self):
        documents = list(yaml.safe_load_all(self.file.read_text(encoding="utf-8")))
        kinds = [document["kind"] for document in documents]
        self.assertEqual(sorted(set(kinds)), ["ConfigMap", "PersistentVolumeClaim", "Pod"])
        names = {(d["kind"], d["metadata"]["name"]) for d in documents}
        self.assertEqual(len(names), len(documents))
        for pod in (document for document in documents if document["kind"] == "Pod"):
            for volume in pod["spec"]["volumes"]:
                if "configMap" in volume:
                    self.assertIn(("ConfigMap", volume["configMap"]["name"]), names)
                if "persistentVolumeClaim" in volume:
                    self.assertIn(("PersistentVolumeClaim", volume["persistentVolumeClaim"]["claimName"]), names)


if __name__ == "__main__":
    main()
