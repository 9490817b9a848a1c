"""Resident memory of the demo's switches, packet pool included, after traffic has used all of it."""

from .bench_results import result
from .fabric import Fabric, Plan
from .netns import World
from .traffic import Flow, Traffic, ping_mesh

SECONDS = 4  # at 80 Mb/s and 1,200 octets: twice as many packets as a pool holds
MEBIBYTE = 1 << 20


def measure(binaries, say):
    """A leaf of the demo has 4 ports; the largest switch of the fabric counts."""
    world = World("bench-memory")
    try:
        fabric = Fabric(world, Plan(names="bench-", scheme="letflow"), binaries)
        fabric.start()
        ping_mesh(world, fabric.hosts, count=1)
        send(world, fabric.hosts)
        sizes = [resident(switch.process.pid) / MEBIBYTE for switch in fabric.switches]
        for switch, size in zip(fabric.switches, sizes):
            say(f"{switch.name}: {size:.1f} MiB")
        leaves = [size for switch, size in zip(fabric.switches, sizes)
                  if len(switch.config["ports"]) == 4]
        return [result("rss.demo_switch", [max(leaves)], "MiB")]
    finally:
        world.close()


def send(world, hosts):
    h1, h2, h3, h4 = hosts
    flows = [Flow(f"{a.name}-{b.name}", a, b, udp=True, rate=80_000_000)
             for a, b in ((h1, h3), (h2, h4), (h3, h1), (h4, h2))]
    traffic = Traffic(world, flows)
    traffic.start()
    traffic.tick(0, SECONDS)
    traffic.finish(patience=SECONDS + 10)



def resident(pid):
    """Octets: ordinary pages and hugepages."""
    total = 0
    with open(f"/proc/{pid}/smaps_rollup", encoding="ascii") as lines:
        for line in lines:
            if line.startswith(("Rss:", "Shared_Hugetlb:", "Private_Hugetlb:")):
                total += int(line.split()[1]) << 10
    return total
