"""eddyctl web: the live page as a browser shows it, beside sockets that answer as the switches of a fabric do.

Binaries are taken from $EDDY_BIN, which ctest sets. Needs chromium, and no root. With EDDY_PICTURES=FOLDER the pages are kept as
pictures there, for a look.
"""

import contextlib
import os
import re
import signal
import socket
import subprocess
import sys
import tempfile
import time
import unittest
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "scripts"))
from lib.browser import Browser  # noqa: E402
from lib.fake_switches import SPEED, FakeSwitches  # noqa: E402
from report_test import contrast  # noqa: E402

EDDYCTL = Path(os.environ.get("EDDY_BIN", ROOT / "build" / "dev" / "bin")) / "eddyctl"
PATIENCE = 60  # seconds, on a machine that is busy
HOSTILE = "</script><img src=x onerror=\"window.hacked=1\"><!--"
TAB, ENTER, ESCAPE = ("Tab", "", 9), ("Enter", "\r", 13), ("Escape", "", 27)
RIGHT, LEFT, DOWN, HOME = ("ArrowRight", "", 39), ("ArrowLeft", "", 37), ("ArrowDown", "", 40), ("Home", "", 36)
READY = "document.documentElement.dataset.ready === 'yes'"


class Web:
    """An `eddyctl web` and its URL."""

    def __init__(self, folder, *words, listen="127.0.0.1:0"):
        self.process = subprocess.Popen([EDDYCTL, "--dir", folder, *words, "web", "--listen", listen], stdout=subprocess.PIPE,
                                        stderr=subprocess.PIPE, text=True)
        line = self.process.stdout.readline()
        if not line:
            raise AssertionError(f"eddyctl web did not start: {self.process.stderr.read()}")
        self.url = line.split()[0]
        self.address = re.fullmatch(r"http://(.*)/", self.url)[1]

    def close(self):
        """Its exit code."""
        self.process.send_signal(signal.SIGTERM)
        code = self.process.wait(PATIENCE)
        self.said = self.process.stderr.read()
        self.process.stdout.close()
        self.process.stderr.close()
        return code


def keep_picture(browser, name):
    if os.environ.get("EDDY_PICTURES"):
        browser.frames()
        browser.picture(Path(os.environ["EDDY_PICTURES"]) / f"{name}.png")


class Pages(unittest.TestCase):
    """Two spines, two leaves; the first host of a leaf has a name that is HTML."""

    @classmethod
    def setUpClass(cls):
        cls.browser = Browser()
        cls.addClassCleanup(cls.browser.close)

    def setUp(self):
        folder = tempfile.TemporaryDirectory(prefix="eddy-web-")
        self.addCleanup(folder.cleanup)
        self.folder = Path(folder.name)
        self.switches = FakeSwitches(self.folder, host_names=(HOSTILE,))
        self.addCleanup(self.switches.close)
        self.web = Web(self.folder, "--all")
        self.addCleanup(self.end)
        self.see = self.browser.evaluate
        self.browser.screen(1300, 1000)
        self.visit()

    def end(self):
        if self.web:
            self.assertEqual(self.web.close(), 0)

    def visit(self):
        self.browser.visit(self.web.url)
        self.browser.wait(READY, "the first picture")

    def tearDown(self):
        self.browser.screen(1300, 1000)
        self.assertEqual(self.browser.complaints(), [])
        self.assertLessEqual({re.sub(r"\?.*", "", url) for url in self.browser.requests()},
                             {self.web.url + path for path in ("", "page.css", "page.js", "live", "port")} if self.web else set())
        self.browser.visit("about:blank")  # nobody watches any more

    def press(self, *keys):
        for key in keys:
            self.browser.press(*key)

    def text(self, name):
        return self.see(f"document.getElementById('{name}').textContent")

    def until(self, name, text):
        self.browser.wait(f"document.getElementById('{name}').textContent.includes({text!r})", f"{text!r} in {name}")

    def drawn(self, look):
        """How many halves have a look."""
        return self.see(f"(document.querySelector('.seen .{look}').getAttribute('d') || '').split('M').length - 1")

    def box(self, name):
        return f"[...document.querySelectorAll('.node')].find(each => each.getAttribute('aria-label') === 'Switch {name}')"

    def port(self, name):
        return f"[...document.querySelectorAll('.end')].find(each => (each.getAttribute('aria-label') || '').startsWith('Port {name},'))"

    def test_switches_and_links_are_drawn(self):
        self.assertEqual(self.see("[...document.querySelectorAll('.node .name')].map(each => each.textContent).sort().join()"),
                         "leaf1,leaf2,spine1,spine2")
        self.assertEqual(self.see("document.querySelectorAll('.end').length"), 2 * (4 + 4))
        heights = self.see("""Object.fromEntries([...document.querySelectorAll('.node')].map(each =>
          [each.textContent.slice(0, 5), each.getBoundingClientRect().top]))""")
        self.assertLess(heights["spine"], heights["leaf1"])
        self.assertIn("4 switches", self.text("status"))
        self.assertEqual(self.see("document.title"), f"Eddy: {self.folder}")
        keep_picture(self.browser, "idle")

    def test_rate_queue_pause_and_warning_are_seen(self):
        self.assertEqual([self.drawn(look) for look in ("line.u0", "line.u5", "queue", "pause", "warning")], [16, 0, 0, 0, 0])
        self.switches.change("leaf1", "spine1", tx_bps=SPEED, queued_bytes=300_000)
        self.switches.change("leaf2", "spine2", tx_bps=SPEED // 2)
        self.browser.wait("document.querySelector('.seen .line.u5').getAttribute('d')", "a busy line")
        self.assertEqual([self.drawn(look) for look in ("line.u0", "line.u5", "queue", "pause", "warning")], [14, 1, 1, 0, 0])
        self.browser.wait(f"{self.box('leaf1')}.textContent.includes('293.0 KiB')", "what waits")
        self.see(f"{self.port('leaf1 spine1')}.focus()")
        said = "leaf1 spine1 to spine1 leaf1: sends 10.0 Gb/s of 10.0 Gb/s, 293.0 KiB wait; in the last second paused 7 times, warned 3 times."
        for pauses in range(7, 7 * PATIENCE, 7):  # each is seen for a second
            self.switches.change("spine1", "leaf1", pfc_tx_xoff=pauses, cnm_tx_packets=pauses * 3 // 7)
            if self.see(f"""new Promise(done => {{ let left = 150; const look = () => {{
                  const drawn = [...document.querySelectorAll('.seen .line.paused, .seen .pause, .seen .warning')].every(each => each.getAttribute('d'));
                  if (drawn && document.getElementById('said').textContent === {said!r}) done(true);
                  else if (left-- === 0) done(false); else setTimeout(look, 10); }}; look(); }})"""):
                break
        else:
            self.fail(f"never said: {said}; it says {self.text('said')}")
        keep_picture(self.browser, "paused")
        self.browser.wait("!document.querySelector('.seen .pause').getAttribute('d')", "the pause is over")
        self.browser.wait("[...document.querySelectorAll('.lane.c1 path')].some(each => each.getAttribute('d'))", "the timeline has it")

    def test_hostile_names_stay_text(self):
        self.see(f"""{self.box("leaf1")}.dispatchEvent(new MouseEvent("click", {{bubbles: true}}))""")
        self.assertIn(HOSTILE, self.text("panel"))
        self.see("[...document.querySelectorAll('#panel td button')].find(each => each.textContent.includes('img')).click()")
        self.until("panel", "Queued")
        self.assertIn(HOSTILE, self.text("panel"))
        self.see("document.getElementById('links').open = true")
        self.until("links", HOSTILE)
        self.assertEqual(self.see("document.querySelectorAll('img, iframe, object').length"), 0)
        self.assertEqual(self.see("document.scripts.length"), 1)
        self.assertEqual(self.see("typeof window.hacked"), "undefined")
        keep_picture(self.browser, "hostile")

    def test_no_script_but_its_own_would_run(self):
        said = self.see("""(() => { try { document.body.insertAdjacentHTML('beforeend', '<img src="data:," onerror="window.hacked=1">'); }
          catch (error) { return error.name; } return 'nothing'; })()""")
        self.assertEqual(said, "TypeError", "no text becomes elements")
        self.see("""(() => { const made = document.createElement('script'); try { made.src = 'data:text/javascript,window.hacked=1'; }
          catch (error) { } document.body.append(made); })()""")
        self.browser.frames()
        self.assertEqual(self.see("typeof window.hacked"), "undefined")
        self.assertTrue(self.browser.complaints())
        self.visit()

    def test_a_port_has_its_tables(self):
        self.switches.change("leaf1", "spine2", tx_bps=2_500_000_000)
        self.see(f"""{self.port("leaf1 spine2")}.dispatchEvent(new MouseEvent("click", {{bubbles: true}}))""")
        self.until("panel", "2.5 Gb/s")
        self.assertEqual(self.text("panel-title"), "leaf1 spine2")
        self.assertEqual(self.see("[...document.querySelectorAll('#panel h3')].map(each => each.textContent).join()"),
                         "ports,queues,pgs,pfc,drops,rlb")
        self.switches.change("leaf1", "spine2", tx_bps=7_500_000_000)
        self.until("panel", "7.5 Gb/s")
        self.assertNotIn("spine1", self.text("panel"))
        keep_picture(self.browser, "port")

    def test_all_works_by_keyboard(self):
        self.see("document.activeElement.blur()")
        self.press(TAB)
        self.assertEqual(self.see("document.activeElement.className"), "skip")
        reached = []
        for _ in range(40):
            self.press(TAB)
            focus = self.see("""(() => { const at = document.activeElement; const style = getComputedStyle(at);
              const rect = at.querySelector('rect');
              return {tag: at.tagName, id: at.id, name: at.getAttribute('aria-label') || '',
                      seen: (style.outlineStyle !== 'none' && parseFloat(style.outlineWidth) >= 2) ||
                            (rect !== null && parseFloat(getComputedStyle(rect).strokeWidth) >= 3)}; })()""")
            if focus["tag"] == "BODY":
                break
            self.assertTrue(focus["seen"], f"no focus to be seen on {focus}")
            reached.append(focus)
        self.assertEqual([each["id"] or each["name"].split(".")[0] or each["tag"] for each in reached],
                         ["pause", "theme", "Switch leaf1", "scope", "Timeline", "SUMMARY"])
        self.see(f"{self.box('leaf1')}.focus()")
        self.press(RIGHT)
        self.assertTrue(self.see("document.activeElement.getAttribute('aria-label')").startswith("Port leaf1 "))
        self.press(DOWN)
        self.assertEqual(self.see("document.activeElement.getAttribute('aria-label')"), "Switch leaf2")
        self.press(HOME, LEFT)
        self.assertEqual(self.see("document.activeElement.getAttribute('aria-label')"), "Port spine2 leaf2, to leaf2 spine2")
        self.assertEqual(self.see("getComputedStyle(document.activeElement).strokeOpacity"), "0.55", "the focus is seen")
        self.press(ENTER)
        self.assertEqual((self.text("panel-title"), self.see("document.activeElement.id")), ("spine2 leaf2", "close"))
        self.press(ESCAPE)
        self.assertTrue(self.see("document.getElementById('panel').hidden"))
        self.assertEqual(self.see("document.activeElement.getAttribute('aria-label')"), "Port spine2 leaf2, to leaf2 spine2")

    def test_a_switch_opens_its_ports_and_those_their_tables(self):
        self.see(f"{self.box('spine1')}.focus()")
        self.press(ENTER)
        self.assertEqual(self.see("[...document.querySelectorAll('#panel tbody tr')].map(row => row.cells[0].textContent).join()"), "leaf1,leaf2")
        self.assertTrue(self.see("document.querySelector('.aside .line.u0').getAttribute('d').length > 0"), "links of others stand back")
        keep_picture(self.browser, "switch")
        self.see("document.querySelector('#panel td button').focus()")
        self.press(ENTER)
        self.assertEqual(self.text("panel-title"), "spine1 leaf1")
        self.press(ESCAPE)
        self.assertEqual(self.see("document.activeElement.getAttribute('aria-label')"), "Switch spine1")

    def test_the_timeline_is_read_by_keys_and_is_of_one_switch(self):
        self.switches.change("leaf1", "spine1", dropped_packets=5)
        self.switches.change("leaf2", "spine1", dropped_packets=70)
        drops = "[...document.querySelectorAll('.lanes > span')].find(each => each.textContent === 'Drops').nextSibling.nextSibling.textContent"
        self.browser.wait(f"{drops} === '75'", "drops of all")
        self.browser.wait(f"{drops} === '0'", "a second later")
        self.see("document.querySelector('.lanes').focus()")
        self.press(LEFT, LEFT)
        self.browser.wait(f"{drops} === '75'", "drops a second before")
        self.assertRegex(self.see("document.querySelector('#timeline [aria-live]').textContent"), r"^\d.*: Queued .*Drops 75$")
        self.see("""(() => { const select = document.getElementById('scope'); select.value = '0'; select.dispatchEvent(new Event('change')); })()""")
        self.assertEqual(self.see("document.getElementById('scope').selectedOptions[0].textContent"), "leaf1")
        self.assertEqual(self.see(drops), "5")
        self.press(ESCAPE)

    def test_a_switch_goes_and_comes_back(self):
        self.switches.go("spine2")
        self.until("trouble", "spine2 is gone")
        self.assertIn("1 does not answer", self.text("status"))
        self.browser.wait(f"{self.box('spine2')}.classList.contains('gone')", "its box says so")
        self.assertEqual(self.drawn("line.mute"), 4, "its links are still there")
        keep_picture(self.browser, "gone")
        self.switches.come("spine2")
        self.browser.wait("document.getElementById('trouble').textContent === ''", "all is well again")
        self.assertEqual(self.drawn("line.mute"), 0)

    def test_eddyctl_ends_and_comes_back(self):
        address = self.web.address
        self.assertEqual(self.web.close(), 0)
        self.until("trouble", "eddyctl web does not answer; what is shown is of")
        self.web = Web(self.folder, "--all", listen=address)
        self.browser.wait("document.getElementById('trouble').textContent === ''", "it is read again")
        self.browser.events[:] = [event for event in self.browser.events if event["method"] != "Log.entryAdded"]

    def test_pause_keeps_the_picture_and_asks_nobody(self):
        self.press(("p", "p", 80))
        self.assertEqual(self.text("pause"), "Resume")
        self.switches.change("leaf1", "spine1", tx_bps=SPEED)
        asked = -1
        deadline = time.monotonic() + PATIENCE
        while asked != self.switches.asked:  # that nobody watches is known two pictures later
            self.assertLess(time.monotonic(), deadline, "it asks nobody any more")
            asked = self.switches.asked
            self.browser.pass_time(1.5)
        self.assertEqual(self.drawn("line.u5"), 0)
        self.press(("p", "p", 80))
        self.browser.wait("document.querySelector('.seen .line.u5').getAttribute('d')", "what is now")

    def test_a_pause_is_a_gap_in_the_timeline(self):
        """What was seen before it stays, and nothing is said of what came to pass meanwhile."""
        drops = "[...document.querySelectorAll('.lane.c6 path')][0].getAttribute('d')"
        bars = f"({drops}.split('M').length - 1)"
        ready = "document.getElementById('status').textContent"
        self.switches.change("leaf1", "spine1", dropped_packets=5)
        self.browser.wait(f"{bars} === 1", "drops in the timeline")
        before = self.see(f"parseFloat({drops}.slice(1))")
        self.press(("p", "p", 80))
        self.switches.change("leaf1", "spine1", dropped_packets=900)
        self.browser.pass_time(3)
        said = self.see(ready)
        self.press(("p", "p", 80))
        self.browser.wait(f"!{ready}.includes('paused') && {ready} !== {said.replace(', paused', '')!r}", "the next picture")
        self.browser.frames()
        self.assertEqual(self.see(bars), 1, "those of before, not those of the pause")
        self.assertLessEqual(self.see(f"parseFloat({drops}.slice(1))"), before - 3, "it has moved on by the pause")

    def test_a_phone_need_not_scroll_sideways(self):
        self.browser.screen(360, 740, mobile=True)
        self.assertLessEqual(self.see("document.documentElement.scrollWidth"), 360)
        keep_picture(self.browser, "phone")
        self.see(f"""{self.port("leaf1 spine2")}.dispatchEvent(new MouseEvent("click", {{bubbles: true}}))""")
        self.until("panel", "queues")
        box = self.see("(() => { const box = document.getElementById('panel').getBoundingClientRect(); return [box.left, box.right, box.bottom, box.top]; })()")
        self.assertEqual(box[:3], [0, 360, 740])
        self.assertGreater(box[3], 200, "the picture is still seen above")
        self.assertLessEqual(self.see("document.documentElement.scrollWidth"), 360)
        keep_picture(self.browser, "phone_port")

    def test_contrast_is_enough_in_light_and_dark(self):
        grounds = set()
        for dark in (False, True):
            self.browser.screen(1300, 1000, dark=dark)
            ground, panel = self.colours("--ground", "--panel")
            grounds.add(ground)
            for name, least in (("--text", 4.5), ("--faint", 4.5), ("--link", 4.5), ("--warn", 4.5), ("--c0", 3), ("--c1", 3), ("--c3", 3), ("--c5", 3)):
                for behind in (ground, panel):
                    self.assertGreaterEqual(contrast(*self.colours(name), behind), least, f"{name}, dark: {dark}")
            keep_picture(self.browser, "dark" if dark else "light")
        self.assertEqual(len(grounds), 2)
        self.see("(() => { const select = document.getElementById('theme'); select.value = 'light'; select.dispatchEvent(new Event('change')); })()")
        self.assertEqual(self.colours("--ground"), ["#ffffff"], "the choice goes before the system's")

    def colours(self, *names):
        return [self.see(f"getComputedStyle(document.documentElement).getPropertyValue('{name}').trim()") for name in names]

    def test_everything_that_can_be_used_has_a_name(self):
        self.see(f"""{self.box("leaf1")}.dispatchEvent(new MouseEvent("click", {{bubbles: true}}))""")
        useful = [node for node in self.browser.accessible() if node["role"] in
                  ("button", "combobox", "link", "region", "group", "DisclosureTriangle", "complementary")]
        self.assertGreater(len(useful), 20)
        self.assertEqual([node for node in useful if not node["name"].strip()], [])


class OneSwitch(unittest.TestCase):
    def test_it_is_shown_with_its_links(self):
        with tempfile.TemporaryDirectory(prefix="eddy-web-") as folder, contextlib.closing(FakeSwitches(Path(folder))) as switches:
            web = Web(folder, "--name", "leaf1")
            with Browser() as browser:
                browser.visit(web.url)
                browser.wait(READY, "the first picture")
                self.assertEqual(browser.evaluate("document.querySelectorAll('.node').length"), 1)
                self.assertEqual(browser.evaluate("document.querySelectorAll('.end').length"), 8)
                self.assertEqual(browser.evaluate("document.title"), "Eddy: switch leaf1")
                keep_picture(browser, "one")
                self.assertEqual(browser.complaints(), [])
            asked = switches.asked
            self.assertGreater(asked, 0)
            self.assertEqual(web.close(), 0)


class Lines(unittest.TestCase):
    """What is refused and what is said on the command line."""

    def setUp(self):
        folder = tempfile.TemporaryDirectory(prefix="eddy-web-")
        self.addCleanup(folder.cleanup)
        self.folder = Path(folder.name)

    def eddyctl(self, *words):
        return subprocess.run([EDDYCTL, *map(str, words)], capture_output=True, text=True, timeout=PATIENCE, check=False,
                              stdin=subprocess.DEVNULL)

    def refused(self, code, said, *words):
        done = self.eddyctl("--dir", self.folder, *words)
        self.assertEqual((done.returncode, done.stdout), (code, ""), done.stderr)
        self.assertIn(said, done.stderr)
        self.assertEqual(done.stderr.count("\n"), 1)

    def test_nobody_is_there(self):
        self.refused(1, "no switch runs here", "--all", "web")
        self.refused(1, "no switch \"x\" runs here", "--name", "x", "web")

    def test_addresses_that_are_none(self):
        for text in ("x", "127.0.0.1", "127.0.0.1:", "127.0.0.1:70000", "127.0.0.1:80x", "localhost:80", ":80", "[::1:80"):
            self.refused(2, f"--listen {text}: valid is an address and a port", "--all", "web", "--listen", text)

    def test_options_of_others(self):
        self.refused(2, "--listen does not concern top; it is for web", "--all", "top", "--listen", "127.0.0.1:80")
        self.refused(2, "--json does not concern web", "--all", "--json", "web")

    def test_a_port_that_is_taken(self):
        with contextlib.closing(FakeSwitches(self.folder)), socket.socket() as taken:
            taken.bind(("127.0.0.1", 0))
            taken.listen()
            address = f"127.0.0.1:{taken.getsockname()[1]}"
            self.refused(1, f"cannot listen on {address}: Address already in use", "--all", "web", "--listen", address)

    def test_leaving_loopback_is_said(self):
        with contextlib.closing(FakeSwitches(self.folder)):
            for listen, said in (("0.0.0.0:0", "sees this page, without a password"), ("127.0.0.1:0", ""), ("[::1]:0", "")):
                web = Web(self.folder, "--all", listen=listen)
                self.assertEqual(web.close(), 0)
                self.assertIn(said, web.said)
                self.assertEqual(web.said.count("\n"), 1 if said else 0, web.said)

    def test_nobody_is_asked_while_nobody_watches(self):
        with contextlib.closing(FakeSwitches(self.folder)) as switches:
            web = Web(self.folder, "--all")
            asked = switches.asked
            for _ in range(3):
                with socket.create_connection(web.address.rsplit(":", 1)) as client:
                    client.sendall(b"GET / HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n")
                    while client.recv(1 << 16):
                        pass
            self.assertEqual(switches.asked, asked)
            self.assertEqual(web.close(), 0)


if __name__ == "__main__":
    unittest.main(verbosity=2)
