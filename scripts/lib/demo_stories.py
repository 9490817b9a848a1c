"""What happens in a demo: the fabric's plan, its traffic, what is done to it while that runs, and the verdict.

A story has `traffic` (lines that say what runs), `good` (what is said when all went well), plan(), pings(), start(),
tick() once a second, running(), finish(), notes() and verdict().
"""

from .fabric import Plan
from .rlb_report import RlbWatch
from .traffic import Flow, Traffic, ping_mesh

LOSSLESS_DSCP = 3  # SONiC's maps: DSCP 3 -> traffic class 3 -> lossless priority group 3


class KernelHosts:
    """What stories share whose hosts are Linux's."""

    good = "every host reached every other, every flow ran, nothing lossless was lost."

    def pings(self, world, hosts):
        return ping_mesh(world, hosts)

    def start(self, fabric, seconds):
        self._flows = Traffic(fabric.world, self.flows(fabric, seconds))
        self._flows.start()

    def drive(self, elapsed, seconds):
        self._flows.tick(elapsed, seconds)

    def notes(self):
        """What hosts say of the run: these say nothing."""
        return []

    def running(self):
        return self._flows.running()

    def finish(self, _fabric):
        return self._flows.finish()


class Everyday(KernelHosts):
    """Background TCP and UDP both ways all the time; an incast in the lossless class in the middle."""

    shortest = 4  # seconds
    traffic = (
        "Traffic: TCP h1 to h4 and h4 to h1 and UDP h3 to h2, best effort; TCP h2 to h3, lossless class.",
        "In the middle: an incast, h1 and h2 both send UDP of the lossless class to h3.",
        "PFC, ECN marks and drops are counts of the last second.")

    def __init__(self, arguments):
        self._arguments = arguments

    def plan(self, names):
        return Plan(host_ports=self._arguments.hosts, scheme=self._arguments.scheme, names=names)

    def flows(self, fabric, seconds):
        h1, h2, h3, h4 = fabric.hosts
        incast = {"udp": True, "rate": 70_000_000, "dscp": LOSSLESS_DSCP, "start": 0.4 * seconds,
                  "length": 0.4 * seconds}
        return [
            Flow("tcp-v4", h1, h4, streams=16),
            Flow("tcp-v6", h4, h1, streams=8, version=6),
            Flow("tcp-lossless", h2, h3, streams=8, dscp=LOSSLESS_DSCP),
            Flow("udp", h3, h2, udp=True, rate=20_000_000),
            Flow("incast-1", h1, h3, **incast),
            Flow("incast-2", h2, h3, **incast),
        ]

    def tick(self, _fabric, elapsed, seconds):
        """Nothing is done to the fabric."""
        self.drive(elapsed, seconds)
        return []

    def verdict(self, _screen):
        return []


class Throttled(KernelHosts):
    """Steady UDP of the lossless class; one spine's way to a leaf is slowed down and mended again, and
    the way around it has little to spare meanwhile: when PFC nears there, too, packets wait a round. Then
    an incast that only the receiver's own leaf can foresee. With RLB on every switch, or without.

    Hosts are paced: the fabric can always carry what they send, and what the incast brings too much
    fits into leaf 1, whose host ports are lossy because a kernel host does not obey PFC.
    """

    shortest = 10  # seconds
    SLOW = "10Mbps"
    TIGHT = "52Mbps"  # the other spine's way: both together carry the background, just so
    BACKGROUND = 15_000_000  # bit/s a flow, of four
    BURST = 40_000_000  # bit/s of each of two hosts, for a second
    SLOW_FROM, SLOW_TO, BURST_AT = 0.2, 0.6, 0.75  # of the whole time
    # What four processes on few cores can keep up with: they poll at times only every few ms.
    RLB = {
        "predictor": {"interval": "200us", "horizon": "20ms", "reaction": "1ms", "floor": "16KiB"},
        "warning": {"refresh": "10ms", "life": "50ms", "contribution": "100ms"},
        # The receivers of this UDP do not mind order, but what waits in the loop stays in order.
        "guard": {"mode": "follow"},
        "all_warned": "wait_once",
        "recirculation": {"latency": "1ms"},
    }
    traffic = (
        "Traffic: four UDP flows of 15 Mb/s, h1 to h3 and h2 to h4, lossless class.",
        f"From a fifth of the time on to three fifths, spine1 sends to leaf2 at {SLOW} only,",
        f"spine2 at {TIGHT}.",
        "After three quarters: an incast of a second, h1 and h2 send 40 Mb/s more each to h3.",
        "PFC, ECN marks and drops are counts of the last second.")

    def __init__(self, arguments):
        self._arguments = arguments
        self._watch = RlbWatch(arguments.rlb)
        self._slow = False
        self._results = []

    def plan(self, names):
        preset = self._arguments.rlb
        rlb = {} if preset == "off" else {"preset": preset} | self._settings(preset)
        return Plan(host_ports=self._arguments.hosts, scheme=self._arguments.scheme, names=names,
                    rlb=rlb, host_pg="hosts", buffer="6MiB", xoff="128KiB")

    def _settings(self, preset):
        """The presets of the paper warn above a fixed threshold."""
        predictor = self.RLB["predictor"] if preset == "default" else {
            "interval": "200us", "threshold": "48KiB"}
        return self.RLB | {"predictor": predictor}

    def flows(self, fabric, seconds):
        h1, h2, h3, h4 = fabric.hosts
        steady = {"udp": True, "rate": self.BACKGROUND, "dscp": LOSSLESS_DSCP}
        burst = {"udp": True, "rate": self.BURST, "dscp": LOSSLESS_DSCP,
                 "start": self.BURST_AT * seconds, "length": 1}
        return [Flow("steady-1", h1, h3, **steady), Flow("steady-2", h1, h3, **steady),
                Flow("steady-3", h2, h4, **steady), Flow("steady-4", h2, h4, **steady),
                Flow("incast-1", h1, h3, **burst), Flow("incast-2", h2, h3, **burst)]

    def tick(self, fabric, elapsed, seconds):
        """Slows spine1 down and mends it when the time has come; returns the lines that say so."""
        self.drive(elapsed, seconds)
        self._watch.look(fabric.switches)
        slow = self.SLOW_FROM * seconds <= elapsed < self.SLOW_TO * seconds
        if slow == self._slow:
            return []
        self._slow = slow
        self._watch.act("while spine1 was slow" if slow else "afterwards, with the incast")
        for name, rate in (("spine1", self.SLOW), ("spine2", self.TIGHT)):
            spine = fabric.switch(name)
            spine.config["ports"]["leaf2"]["shaper"] = rate if slow else "none"
            spine.reload()
        return [f"spine1 to leaf2: {f'throttled to {self.SLOW}' if slow else 'full speed again'}"]

    def finish(self, fabric):
        self._results = super().finish(fabric)
        return self._results

    def watch(self):
        return self._watch

    def delivered(self):
        """Of the packets that the flows sent, those that arrived: 0 to 1."""
        sent = sum(each.sent_packets for each in self._results)
        return 1 - sum(each.lost_packets for each in self._results) / max(1, sent)

    def verdict(self, screen):
        screen.say(*self._watch.lines())
        return self._watch.failures()
