"""What RLB did in a running fabric, from the switches' own events and counters, and whether it held."""

from .display import number, table

MESSAGES = (("pfc_predicted", "pauses foreseen"), ("cnm_tx_packets", "CNMs sent"),
            ("cnm_relayed_packets", "passed on"), ("cnm_rx_packets", "received"))
WARNINGS = (("path_warnings_begun", "path warnings begun"), ("path_warnings_cleared", "cleared"),
            ("path_warnings_expired", "expired"))
PACKETS = (("rlb_rerouted_packets", "rerouted"), ("rlb_waiting_packets", "recirculated"),
           ("rlb_all_warned_packets", "all warned"),
           ("rlb_suspended_packets", "left: last hop"))
PFC_SENT = 63  # severity of a warning that comes with the pause itself


class RlbWatch:
    """Keeps, by switch and port, when it warned and when it first sent PFC, and what was counted in
    each act of the story."""

    def __init__(self, preset):
        self._preset = preset
        self._warned = {}  # (switch, port) -> set of ns of the switch's own clock
        self._paused = {}  # (switch, port) -> ns, the first time
        self._ports = {}  # (switch, port) -> its row, as last seen
        self._acts = []  # (name, sums of the counters when it began)

    def look(self, switches):
        """To be called often enough that the switches still have what happened since the last time."""
        for switch in switches:
            for row in switch.show("ports")["rows"]:
                self._ports[switch.short, row["port"]] = row
            for event in switch.show("events")["rows"]:
                self._note(switch.short, event)

    def act(self, name):
        self._acts.append((name, self._sums()))

    def _note(self, switch, event):
        key = switch, event.get("port")
        if self._ports.get(key, {}).get("role") != "fabric":
            return
        if event["event"] == "pfc_sent" and event["value"]:
            self._paused[key] = min(event["at_ns"], self._paused.get(key, event["at_ns"]))
        elif event["event"] == "pfc_predicted" and event["value"] < PFC_SENT:
            self._warned.setdefault(key, set()).add(event["at_ns"])

    def sum(self, counter, switch=""):
        """Over the ports of the switches whose names begin so; None if there is no such counter."""
        rows = [row for (name, _), row in self._ports.items() if name.startswith(switch)]
        return sum(row[counter] for row in rows) if rows and counter in rows[0] else None

    def _sums(self):
        names = [name for name, _ in (*MESSAGES, *WARNINGS, *PACKETS)] + ["pfc_tx_xoff"]
        return {name: self.sum(name) for name in names}

    def lines(self):
        lines = [f"  RLB     {self._preset}"]
        for name, grown in self.acts():
            lines.append(f"   {name}: {grown['pfc_tx_xoff']} pauses sent")
            if self._preset != "off":
                lines += [f"          {_list(grown, MESSAGES)}", f"          {_list(grown, WARNINGS)}",
                          f"          packets: {_list(grown, PACKETS)}"]
        return lines + [f"   {line}" for line in self._first_times()]

    def _first_times(self):
        """A line for each fabric port that warned or paused."""
        return [f"{switch} to {port}: {self._order((switch, port))}"
                for switch, port in sorted(self._warned.keys() | self._paused.keys())]

    def _last_warning(self, key):
        """The last that began before the port's first pause."""
        return max((at for at in self._warned.get(key, ()) if at < self._paused[key]), default=None)

    def _order(self, key):
        if key not in self._paused:
            return "warned and never sent PFC"
        warned = self._last_warning(key)
        if warned is None:
            return "sent PFC without having warned"
        return f"warned {(self._paused[key] - warned) / 1e6:.1f} ms before its first PFC"

    def acts(self):
        """(name, {counter: count}) of each act; what this fabric does not count is absent."""
        ends = [begin for _, begin in self._acts[1:]] + [self._sums()]
        return [(name, {counter: end[counter] - begin[counter] for counter in end
                        if end[counter] is not None})
                for (name, begin), end in zip(self._acts, ends)]

    def failures(self):
        """What RLB should have done and has not; nothing is asked of a fabric without it."""
        if self._preset == "off":
            return []
        lines = [f"{switch} to {port}: {self._order((switch, port))}"
                 for switch, port in sorted(self._paused) if self._last_warning((switch, port)) is None]
        for counter, switch, what in (
                ("cnm_tx_packets", "", "no CNM was sent"),
                ("cnm_relayed_packets", "spine", "no spine passed a warning on"),
                ("path_warnings_begun", "leaf1", "no warning reached leaf1, whose hosts send"),
                ("rlb_rerouted_packets", "leaf1", "leaf1 rerouted no packet"),
                ("rlb_waiting_packets", "leaf1", "leaf1 recirculated no packet")):
            if not self.sum(counter, switch):
                lines.append(what)
        return lines


def _list(counts, words):
    return ", ".join(f"{number(counts[counter])} {word}" for counter, word in words if counter in counts)


COMPARED = (("pfc_tx_xoff", "pauses sent between switches"), ("cnm_tx_packets", "CNMs sent"),
            ("cnm_relayed_packets", "CNMs passed on"), ("path_warnings_begun", "path warnings begun"),
            ("rlb_rerouted_packets", "packets rerouted"), ("rlb_waiting_packets", "packets recirculated"))


def side_by_side(told):
    """Lines that compare runs: [(name, story)], the stories with watch() and delivered()."""
    acts = [story.watch().acts() for _, story in told]
    rows = []
    for number_of_act, (act, _) in enumerate(acts[0]):
        rows.append((act, *("" for _ in told)))
        for counter, what in COMPARED:
            rows.append((f"  {what}", *(number(each[number_of_act][1].get(counter, 0)) for each in acts)))
    rows.append(("of all UDP packets delivered", *(f"{100 * story.delivered():.1f} %" for _, story in told)))
    return table(("", *(name for name, _ in told)), rows, left=1)
