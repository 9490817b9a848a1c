"""Text for people: tables, bars and colours, at most 100 columns wide, plain when not on a terminal."""

import sys

WIDTH = 100
_CODES = {"bold": "1", "dim": "2", "red": "31", "green": "32", "yellow": "33", "cyan": "36"}


class Screen:
    """Prints blocks; on a terminal a block shown by refresh() takes the place of the last one."""

    def __init__(self, out=None):
        self._out = out or sys.stdout
        self.terminal = self._out.isatty()
        self._height = 0

    def paint(self, text, *styles):
        if not self.terminal or not text:
            return text
        return f"\033[{';'.join(_CODES[s] for s in styles)}m{text}\033[0m"

    def say(self, *lines):
        """Prints lines that stay."""
        self._height = 0
        print("\n".join(lines), file=self._out, flush=True)

    def refresh(self, lines):
        if self.terminal and self._height:
            self._out.write(f"\033[{self._height}F\033[J")
        print("\n".join(lines), file=self._out, flush=True)
        self._height = len(lines)


def number(value):
    """A count in at most 5 characters: 0, 999, 12.3k, 4.56M."""
    for limit, divisor, suffix in ((1e3, 1, ""), (1e6, 1e3, "k"), (1e9, 1e6, "M"), (1e99, 1e9, "G")):
        if value < limit:
            scaled = value / divisor
            digits = 0 if not suffix or scaled >= 100 else 1
            return f"{scaled:.{digits}f}{suffix}"
    return str(value)


def bit_rate(bps):
    for divisor, unit in ((1e9, "Gb/s"), (1e6, "Mb/s"), (1e3, "kb/s")):
        if bps >= divisor:
            return f"{bps / divisor:.4g} {unit}"
    return f"{bps:.0f} b/s"


def table(heads, rows, left=2):
    """Lines of a table; the first `left` columns are aligned left, the others right."""
    columns = list(zip(heads, *rows))
    widths = [max(len(cell) for cell in column) for column in columns]
    lines = []
    for row in (heads, *rows):
        cells = [cell.ljust(w) if i < left else cell.rjust(w)
                 for i, (cell, w) in enumerate(zip(row, widths))]
        lines.append(" " + "  ".join(cells).rstrip())
    return lines


def bar(parts, width=24):
    """How parts share a whole, as one bar of '#', '=', '-' in turn."""
    total = sum(parts)
    if not total:
        return "." * width
    text, end, seen = "", 0, 0
    for part, mark in zip(parts, "#=-+" * len(parts)):
        seen += part
        next_end = round(width * seen / total)
        text += mark * (next_end - end)
        end = next_end
    return text


def percentages(parts):
    total = sum(parts)
    return [100 * part / total if total else 0.0 for part in parts]


PORT_HEADS = ("switch", "port", "speed", "rx Mb/s", "tx Mb/s", "queue KiB", "PFC sent", "PFC recv",
              "ECN marks", "drops")


def port_table(screen, rows):
    """The table of ports over one interval; PFC, ECN and drops are counts in the interval."""
    cells, last = [], None
    for row in rows:
        cells.append((row.switch if row.switch != last else "",
                      row.port if row.up else f"{row.port} DOWN",
                      bit_rate(row.speed_bps).replace(" ", ""),
                      f"{row.rx_bps() / 1e6:.1f}", f"{row.tx_bps() / 1e6:.1f}",
                      f"{row.queued_bytes / 1024:.1f}",
                      number(row.counts["pfc_tx_xoff"]), number(row.counts["pfc_rx_xoff"]),
                      number(row.counts["ecn_marked_packets"]),
                      number(row.counts["dropped_packets"])))
        last = row.switch
    lines = table(PORT_HEADS, cells)
    return [screen.paint(lines[0], "bold")] + [_highlight(screen, line, row)
                                               for line, row in zip(lines[1:], rows)]


def _highlight(screen, line, row):
    if not row.up:
        return screen.paint(line, "red")
    if row.counts["pfc_tx_xoff"] or row.counts["pfc_rx_xoff"]:
        return screen.paint(line, "yellow")
    return line


def split_line(name, parts):
    """"leaf1 to spine1 51 % [####====] 49 % spine2" for [(port, octets)]."""
    shares = percentages([octets for _, octets in parts])
    words = [f"{port} {share:.1f} %" for (port, _), share in zip(parts, shares)]
    return f"{name} sent over: {', '.join(words)}  [{bar([octets for _, octets in parts])}]"


def drops_line(drops, width=WIDTH):
    """The drops of an interval on one line, most first."""
    if not drops:
        return "none"
    words = [f"{switch} {port} {reason} {number(packets)}"
             for (switch, port, reason), packets in sorted(drops.items(), key=lambda d: (-d[1], d[0]))]
    text = ", ".join(words)
    while len(text) > width and len(words) > 1:
        words.pop()
        text = ", ".join(words) + f", and {len(drops) - len(words)} more"
    return text
