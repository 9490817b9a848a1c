"""What scripts/demo says: the live table, the summary, and whether all went as it should."""

from . import display, watch


MAX_LINES = 6  # of a list in the summary


class Report:
    """Collects results and prints them. failures() are what a reader must know, one line each."""

    def __init__(self, screen, plan):
        self._screen = screen
        self._plan = plan
        self._pings = []
        self._flows = []
        self._rows = []
        self._drops = {}

    def pings(self, results):
        self._pings = results

    def flows(self, results):
        self._flows = results

    def totals(self, first, last):
        self._rows = watch.port_rows(first, last)
        self._drops = watch.drops_by_reason(first, last)

    def live(self, second, seconds, running, last, now):
        """The lines of one second."""
        rows = watch.port_rows(last, now)
        forwarded = sum(r.rate("tx_packets") for r in rows)
        head = (f"{second:3d} s of {seconds}  {self._plan.scheme}  {display.number(forwarded)} packets/s  "
                f"flows: {' '.join(running) or 'ended'}")
        lines = ["", self._screen.paint(head, "bold"), *display.port_table(self._screen, rows)]
        lines += [" " + display.split_line(leaf, watch.split(rows, leaf)) for leaf in self._leaves()]
        lines.append(" drops: " + display.drops_line(watch.drops_by_reason(last, now), 88))
        return lines

    def summary(self, story):
        """Prints the summary with what the story says of itself; returns the failures."""
        say = self._screen.say
        say("", self._screen.paint("Summary", "bold"))
        say(*(self._ping_lines() if self._pings else ()), *(self._flow_lines() if self._flows else ()),
            *self._switch_lines())
        failures = story.verdict(self._screen) + self.failures()
        if failures:
            say(*(self._screen.paint("FAILED", "red", "bold") + f": {line}" for line in failures))
        else:
            say(self._screen.paint("OK", "green", "bold") + f": {story.good}")
        return failures

    def failures(self):
        lines = [f"ping {p.source} to {p.target}: {p.received} of {p.sent} answered"
                 for p in self._pings if not p.ok]
        lines += [flow.trouble for flow in self._flows if not flow.ok]
        for leaf in self._leaves():
            lines += [f"{leaf} sent nothing to {port}" for port, octets in
                      watch.split(self._rows, leaf) if not octets]
        lost = sum(r.counts["lossless_dropped_packets"] for r in self._rows)
        if lost:
            lines.append(f"{lost} packets of a lossless class were lost on fabric ports")
        return lines

    def _leaves(self):
        return [f"leaf{n}" for n in range(1, self._plan.leaves + 1)]

    def _ping_lines(self):
        good = [p for p in self._pings if p.ok]
        line = f"  ping    {len(good)} of {len(self._pings)} pairs answered (IPv4 and IPv6)"
        if good:
            mean = sum(p.average_ms for p in good) / len(good)
            worst = max(p.maximum_ms for p in good)
            line += f"; mean {mean:.2f} ms, worst {worst:.2f} ms"
        return [line]

    def _flow_lines(self):
        rows = []
        for result in self._flows:
            flow = result.flow
            lost = 100 * result.lost_packets / max(1, result.sent_packets)
            rows.append((f"{flow.streams} {'UDP' if flow.udp else 'TCP'}",
                         f"{flow.source.name} to {flow.target.name}", f"IPv{flow.version}",
                         "lossless" if flow.dscp else "best effort",
                         display.bit_rate(result.bit_rate),
                         f"{lost:.1f} % lost" if flow.udp else
                         f"{display.number(result.retransmits)} resent",
                         "" if flow.udp else f"{result.rtt_ms:.1f} ms"))
        heads = ("flows", "hosts", "IP", "class", "received", "lost or resent", "mean RTT")
        return [" " + line for line in display.table(heads, rows, left=4)]

    def _switch_lines(self):
        lines = []
        for leaf in self._leaves():
            lines.append("  split   " + display.split_line(leaf, watch.split(self._rows, leaf)))
        total = {c: sum(r.counts[c] for r in self._rows) for c in watch.COUNTERS}
        lines.append(f"  PFC     {total['pfc_tx_xoff']} pauses sent, {total['pfc_rx_xoff']} received")
        senders = [(r.counts["pfc_tx_xoff"], f"{r.switch} to {r.port}") for r in self._rows
                   if r.counts["pfc_tx_xoff"]]
        for count, link in sorted(senders, reverse=True)[:MAX_LINES]:
            lines.append(f"          {count:6d} from {link}")
        lines.append(f"  ECN     {total['ecn_marked_packets']} packets marked")
        if not self._drops:
            return lines + ["  drops   none"]
        hosts = {(r.switch, r.port) for r in self._rows if r.role == "host"}
        at_edge = sum(n for (switch, port, _), n in self._drops.items() if (switch, port) in hosts)
        lines.append(f"  drops   {sum(self._drops.values())} packets, {at_edge} of them on host ports, "
                     "where PFC does not reach")
        ranked = sorted(self._drops.items(), key=lambda d: (-d[1], d[0]))
        for (switch, port, reason), packets in ranked[:MAX_LINES]:
            lines.append(f"          {packets:6d} at {switch} {port}: {reason}")
        return lines
