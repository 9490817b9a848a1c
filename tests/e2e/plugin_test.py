"""Plugins in real switches: adopted by a reload, refused, and failing while packets flow."""

import ctypes
import os
import pwd
import shutil
import subprocess
from pathlib import Path

from plugin_support import OTHER_ABI, put, trusted_folder
from support import OnFabric, main


PR_SET_NO_NEW_PRIVS, PR_SET_MDWE = 38, 65  # of prctl(2)


def harden():
    """As eddyd@.service has it: no new rights, and no memory becomes code (where the kernel knows that)."""
    libc = ctypes.CDLL(None)
    libc.prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0)
    libc.prctl(PR_SET_MDWE, 1, 0, 0, 0)


class Plugins(OnFabric):
    plan = {"scheme": "ecmp"}

    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        cls.folder = trusted_folder(cls)

    def setUp(self):
        self.leaf = self.fabric.switch("leaf1")

    def reload(self, **balancer):
        self.leaf.config["load_balancer"] = balancer
        self.leaf.write()
        return self.leaf.eddyctl("reload")

    def adopt(self, **balancer):
        done = self.reload(**balancer)
        self.assertEqual(done.returncode, 0, done.stdout + done.stderr)

    def fallback(self):
        return sum(row["selector_fallback_packets"] for row in self.leaf.show("ports", "--all")["rows"])

    def healthy(self):
        return self.leaf.eddyctl("healthy")

    def test_one_carries_traffic_and_says_what_it_is(self):
        path = put("trouble", self.folder)
        self.adopt(plugin=path, scheme="calm")
        report = self.leaf.show("schemes")
        self.assertEqual((report["plugin"], report["plugin_version"]), (str(path), "0.2.0"))
        self.assertEqual({row["scheme"] for row in report["rows"]}, {"calm"})
        self.assertIn(f"of plugin {path}, built for Eddy 0.2.0, sha256 ", self.leaf.eddyctl("show", "schemes").stdout)
        self.assert_mesh(self.fabric.hosts, versions=(4,))
        self.assertEqual(self.healthy().returncode, 0)

    def test_what_is_refused_leaves_what_runs(self):
        self.adopt(scheme="letflow")
        for name, said in (("other_abi", OTHER_ABI), ("throws_exception", "not before breakfast"),
                           ("crashes", "loading it ends the process"), ("no_symbol", "eddy_plugin")):
            with self.subTest(name=name):
                path = put(name, self.folder)
                done = self.reload(plugin=path)
                self.assertEqual(done.returncode, 1)
                self.assertRegex(done.stderr, rf"^eddyctl: {self.leaf.path}:\d+:\d+: load_balancer.plugin: {path}: .*{said}.*\n$")
        path = put("trouble", self.folder)
        path.chmod(0o777)
        self.assertIn("can be written to by everybody", self.reload(plugin=path, scheme="calm").stderr)
        self.assertEqual({row["scheme"] for row in self.leaf.show("schemes")["rows"]}, {"letflow"})
        self.assert_mesh(self.fabric.hosts, versions=(4,))

    def test_a_user_without_rights_loads_what_is_roots_or_his_own(self):
        folder = trusted_folder(self, bases=(Path("/var/lib"),))
        eddyd = shutil.copy(Path(os.environ["EDDY_BIN"]) / "eddyd", folder)
        path = put("trouble", folder)
        file = folder / "switch.yaml"
        file.write_text("load_balancer: {plugin: trouble.so, scheme: calm}\nports: {a: {device: net_null0}}\n")
        file.chmod(0o644)
        nobody = pwd.getpwnam("nobody")

        def check(user):
            return subprocess.run([eddyd, "--config", file, "--check"], capture_output=True, text=True, timeout=60, check=False,
                                  user=user, group=nobody.pw_gid, extra_groups=[], preexec_fn=harden)
        for owner, user, good in ((0, nobody.pw_uid, True), (nobody.pw_uid, nobody.pw_uid, True), (nobody.pw_uid, 0, False)):
            with self.subTest(owner=owner, user=user):
                os.chown(path, owner, -1)
                done = check(user)
                self.assertEqual(done.returncode, 0 if good else 2, done.stderr)
                self.assertIn("of plugin" if good else f"it belongs to user {owner}", done.stdout + done.stderr)

    def test_one_that_throws_leaves_its_packets_to_ecmp(self):
        path = put("trouble", self.folder)
        before = self.fallback()
        self.adopt(plugin=path, scheme="trouble", when="select_throws", after=20)
        self.assertEqual(self.healthy().returncode, 0)
        for _ in range(4):
            self.assert_mesh(self.fabric.hosts, versions=(4,))
        self.assertGreater(self.fallback(), before)
        self.assertEqual(self.leaf.show("schemes")["failed"], "out of ideas")
        events = [row["event"] for row in self.leaf.show("events")["rows"]]
        self.assertIn(events.count("scheme_failed"), range(1, self.fabric.plan.workers + 1))
        done = self.healthy()
        self.assertEqual(done.returncode, 1)
        self.assertIn(f"the scheme of plugin {path} has failed, its packets go by ecmp: out of ideas\n", done.stderr)
        self.adopt(plugin=path, scheme="calm")
        self.assertEqual((self.healthy().returncode, self.leaf.show("schemes").get("failed")), (0, None))
        self.assert_mesh(self.fabric.hosts, versions=(4,))

    def test_one_whose_stage_throws_loses_no_packet(self):
        path = put("trouble", self.folder).rename(self.folder / "stage.so")  # a file's first failure is what is told
        self.adopt(plugin=path, scheme="trouble", when="stage_throws", after=5)
        for _ in range(3):
            self.assert_mesh(self.fabric.hosts, versions=(4,))
        rows = self.leaf.show("ports", "--all")["rows"]
        self.assertGreaterEqual(sum(row["stage_held_packets"] for row in rows), 6)
        self.assertGreaterEqual(sum(row["stage_forced_flows"] for row in rows), 1)
        self.assertEqual(self.leaf.show("schemes")["failed"], "out of places")
        self.assertIn("scheme_failed", [row["event"] for row in self.leaf.show("events")["rows"]])
        self.assertIn("out of places", self.healthy().stderr)
        self.adopt(plugin=path, scheme="calm")
        self.assert_mesh(self.fabric.hosts, versions=(4,))


if __name__ == "__main__":
    main()
