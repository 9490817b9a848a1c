"""The live page of a fabric of real switches, with an incast that makes them pause each other."""

from support import Flow, OnFabric, Traffic, main
from web_test import READY, Browser, Web, keep_picture

FLOOD = {"udp": True, "rate": 20_000_000, "dscp": 3}
SECONDS = 6


class LiveFabric(OnFabric):
    plan = {"scheme": "spray", "host_speed": "10Mbps", "detection_time": "5s"}

    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        sockets = cls.world.directory / "sockets"  # of these switches alone
        sockets.mkdir()
        for switch in cls.fabric.switches:
            (sockets / f"{switch.short}.sock").symlink_to(f"/run/eddy/{switch.name}.sock")
        cls.web = Web(sockets, "--all")
        cls.addClassCleanup(cls.web.close)
        cls.browser = Browser()
        cls.addClassCleanup(cls.browser.close)

    def setUp(self):
        self.browser.screen(1300, 1100)
        self.browser.visit(self.web.url)
        self.browser.wait(READY, "the first picture")
        self.see = self.browser.evaluate

    def lane(self, title):
        return f"""[...document.querySelectorAll('.lanes > span')].find(each => each.textContent === '{title}')
          .nextSibling.querySelector('path').getAttribute('d')"""

    def test_an_incast_is_seen_as_it_happens(self):
        self.assertEqual(self.see("[...document.querySelectorAll('.node .name')].map(each => each.textContent).sort().join()"),
                         "leaf1,leaf2,spine1,spine2")
        self.assertEqual(self.see("document.querySelectorAll('.end').length"), 2 * (4 + 4), "each link is one")
        self.assertFalse(self.see("document.querySelector('.seen .line.down').getAttribute('d')"))
        h1, h2, h3, _ = self.fabric.hosts
        traffic = Traffic(self.world, [Flow("a", h1, h3, **FLOOD), Flow("b", h2, h3, **FLOOD)])
        traffic.start()
        traffic.tick(0, SECONDS)
        self.browser.wait("document.querySelector('.seen .queue').getAttribute('d')", "queues grow")
        self.browser.wait(self.lane("Pauses sent"), "pauses in the timeline")
        self.browser.wait(self.lane("Queued"), "what waits in the timeline")
        self.see("""[...document.querySelectorAll('.end')].find(each => each.getAttribute('aria-label') === 'Port leaf2 h3, to its host')
          .dispatchEvent(new MouseEvent('click', {bubbles: true}))""")
        self.browser.wait("['ports', 'queues', 'pgs', 'pfc', 'drops', 'rlb'].join() === "
                          "[...document.querySelectorAll('#panel h3')].map(each => each.textContent).join()", "its tables")
        self.browser.wait("/ [KM]iB/.test(document.getElementById('panel').textContent)", "what waits there")
        keep_picture(self.browser, "fabric")
        self.assert_flows(traffic.finish(patience=SECONDS + 8))
        self.assertEqual(self.browser.complaints(), [])

    def test_a_switch_that_is_killed_comes_back(self):
        spine = self.fabric.switch("spine2")
        spine.process.kill()
        self.browser.wait("document.getElementById('trouble').textContent.includes('spine2 is ')", "it does not answer")
        self.browser.wait("document.querySelector('.seen .line.mute').getAttribute('d')", "nobody says")
        spine.start()
        self.browser.wait("document.getElementById('trouble').textContent === ''", "it answers again")
        self.browser.wait("!document.querySelector('.seen .line.mute').getAttribute('d') && "
                          "!document.querySelector('.seen .line.down').getAttribute('d')", "its links are up")
        self.assertEqual(self.see("document.querySelectorAll('.end').length"), 2 * (4 + 4), "and the same")
        self.assertEqual(self.browser.complaints(), [])


if __name__ == "__main__":
    main()
