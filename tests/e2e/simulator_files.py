"""Writes what other simulators are given, in their own formats: HPCC's and ConWeave's config.txt, topology and flow files."""

import random

TOPOLOGY_NOTES = """
First line: total node #, switch node #, link #
Second line: switch node IDs...
src0 dst0 rate delay error_rate
...
"""
FLOW_NOTES = """
First line: # of flows
src0 dst0 3 dst_port0 size0 start_time0

Please order the flows in ascending start_time!
"""


def leaf_spine(leaves=2, spines=2, hosts=4, rate="100Gbps", up="100Gbps", delay="1000ns", error="0.000000", homes=1, notes=True):
    """Hosts first, then leaves, then spines; with two homes a host has a link to each of a pair of leaves."""
    count = leaves * hosts // homes
    switches = range(count, count + leaves + spines)
    links = [f"{host} {count + host * homes // hosts // homes * homes + home} {rate} {delay} {error}"
             for host in range(count) for home in range(homes)]
    links += [f"{count + leaf} {count + leaves + spine} {up} {delay} {error}" for leaf in range(leaves) for spine in range(spines)]
    head = f"{count + leaves + spines} {leaves + spines} {len(links)}\n{' '.join(map(str, switches))}\n"
    return head + "\n".join(links) + "\n" + (TOPOLOGY_NOTES if notes else "")


def fat_tree(k=4, over=1, rate="100Gbps", up="100Gbps", delay="1000ns"):
    half = k // 2
    edges, aggregations, cores = k * half, k * half, half * half
    hosts = edges * half * over
    switches = range(hosts, hosts + edges + aggregations + cores)
    links = [f"{host} {hosts + host // (half * over)} {rate} {delay} 0" for host in range(hosts)]
    for edge in range(edges):
        links += [f"{hosts + edge} {hosts + edges + edge // half * half + i} {up} {delay} 0" for i in range(half)]
    for aggregation in range(aggregations):
        links += [f"{hosts + edges + aggregation} {hosts + edges + aggregations + aggregation % half * half + i} {up} {delay} 0"
                  for i in range(half)]
    return f"{len(switches) + hosts} {len(switches)} {len(links)}\n{' '.join(map(str, switches))}\n" + "\n".join(links) + "\n"


def flows(hosts, count=40, dialect="hpcc", seed=1, gap=5e-6, notes=True):
    chance = random.Random(seed)
    lines = []
    for i in range(count):
        source = chance.randrange(hosts)
        destination = (source + 1 + chance.randrange(hosts - 1)) % hosts
        port = "100 " if dialect == "hpcc" else ""
        lines.append(f"{source} {destination} 3 {port}{chance.choice([1, 1000, 20000, 300000])} {2 + i * gap:.9f}")
    return f"{count} \n" + "\n".join(lines) + "\n" + (FLOW_NOTES if notes else "")


def hpcc_config(**other):
    """The keys of HPCC's scripts, each on its line; another value for some, None leaves one out."""
    keys = {
        "ENABLE_QCN": 1, "USE_DYNAMIC_PFC_THRESHOLD": 1, "PACKET_PAYLOAD_SIZE": 1000, "TOPOLOGY_FILE": "mix/topology.txt",
        "FLOW_FILE": "mix/flow.txt", "TRACE_FILE": "mix/trace.txt", "TRACE_OUTPUT_FILE": "mix/mix.tr",
        "FCT_OUTPUT_FILE": "mix/fct.txt", "PFC_OUTPUT_FILE": "mix/pfc.txt", "SIMULATOR_STOP_TIME": "4.00", "CC_MODE": 1,
        "ALPHA_RESUME_INTERVAL": 1, "RATE_DECREASE_INTERVAL": 4, "CLAMP_TARGET_RATE": 0, "RP_TIMER": "300 ",
        "EWMA_GAIN": "0.00390625", "FAST_RECOVERY_TIMES": 1, "RATE_AI": "20Mb/s", "RATE_HAI": "200Mb/s", "MIN_RATE": "1000Mb/s",
        "DCTCP_RATE_AI": "1000Mb/s", "ERROR_RATE_PER_LINK": "0.0000", "L2_CHUNK_SIZE": 4000, "L2_ACK_INTERVAL": 1,
        "L2_BACK_TO_ZERO": 0, "HAS_WIN": 0, "GLOBAL_T": 1, "VAR_WIN": 0, "FAST_REACT": 0, "U_TARGET": "0.95", "MI_THRESH": 0,
        "INT_MULTI": 1, "MULTI_RATE": 0, "SAMPLE_FEEDBACK": 0, "PINT_LOG_BASE": "1.01", "PINT_PROB": "1.0", "RATE_BOUND": 1,
        "ACK_HIGH_PRIO": 1, "LINK_DOWN": "0 0 0", "ENABLE_TRACE": 1,
        "KMAX_MAP": "2 100000000000 1600 400000000000 6400", "KMIN_MAP": "2 100000000000 400 400000000000 1600",
        "PMAX_MAP": "2 100000000000 0.20 400000000000 0.20", "BUFFER_SIZE": 32, "QLEN_MON_FILE": "mix/qlen.txt",
        "QLEN_MON_START": 2000000000, "QLEN_MON_END": 3000000000}
    return config(keys | other)


def conweave_config(topology, flow_file, **other):
    """The keys of ConWeave's scripts, whose rates are decimal numbers and whose maps have rates that no link has."""
    run = "mix/output/7/7"
    keys = {
        "TOPOLOGY_FILE": f"config/{topology}.txt", "FLOW_FILE": f"config/{flow_file}.txt", "FLOW_INPUT_FILE": f"{run}_in.txt",
        "CNP_OUTPUT_FILE": f"{run}_out_cnp.txt", "FCT_OUTPUT_FILE": f"{run}_out_fct.txt", "PFC_OUTPUT_FILE": f"{run}_out_pfc.txt",
        "QLEN_MON_FILE": f"{run}_out_qlen.txt", "VOQ_MON_FILE": f"{run}_out_voq.txt",
        "VOQ_MON_DETAIL_FILE": f"{run}_out_voq_per_dst.txt", "UPLINK_MON_FILE": f"{run}_out_uplink.txt",
        "CONN_MON_FILE": f"{run}_out_conn.txt", "EST_ERROR_MON_FILE": f"{run}_out_est_error.txt", "QLEN_MON_START": "2.0",
        "QLEN_MON_END": "2.1", "SW_MONITORING_INTERVAL": 10000, "FLOWGEN_START_TIME": "2.0", "FLOWGEN_STOP_TIME": "2.1",
        "BUFFER_SIZE": 9, "CC_MODE": 1, "LB_MODE": 0, "ENABLE_PFC": 1, "ENABLE_IRN": 0, "CONWEAVE_TX_EXPIRY_TIME": 300,
        "CONWEAVE_REPLY_TIMEOUT_EXTRA": 4, "CONWEAVE_PATH_PAUSE_TIME": 16, "CONWEAVE_EXTRA_VOQ_FLUSH_TIME": 16,
        "CONWEAVE_DEFAULT_VOQ_WAITING_TIME": 200, "ALPHA_RESUME_INTERVAL": 1, "RATE_DECREASE_INTERVAL": 4, "CLAMP_TARGET_RATE": 0,
        "RP_TIMER": "300 ", "FAST_RECOVERY_TIMES": 1, "EWMA_GAIN": "0.00390625", "RATE_AI": "40.0Mb/s", "RATE_HAI": "100.0Mb/s",
        "MIN_RATE": "100Mb/s", "DCTCP_RATE_AI": "1000Mb/s", "ERROR_RATE_PER_LINK": "0.0000", "L2_CHUNK_SIZE": 4000,
        "L2_ACK_INTERVAL": 1, "L2_BACK_TO_ZERO": 0, "RATE_BOUND": 1, "HAS_WIN": 0, "VAR_WIN": 0, "FAST_REACT": 0, "MI_THRESH": 0,
        "INT_MULTI": 1, "GLOBAL_T": 1, "U_TARGET": "0.95", "MULTI_RATE": 0, "SAMPLE_FEEDBACK": 0, "ENABLE_QCN": 1,
        "USE_DYNAMIC_PFC_THRESHOLD": 1, "PACKET_PAYLOAD_SIZE": 1000, "LINK_DOWN": "0 0 0",
        "KMAX_MAP": "3 20000000000 400 100000000000 400 250000000000 400",
        "KMIN_MAP": "3 20000000000 100 100000000000 100 250000000000 100",
        "PMAX_MAP": "3 20000000000 0 100000000000 0.20 250000000000 0.20", "LOAD": 50, "RANDOM_SEED": 1}
    return config(keys | other)


def config(keys):
    return "".join(f"{key} {value}\n\n" if i % 7 == 6 else f"{key} {value}\n"
                   for i, (key, value) in enumerate((key, value) for key, value in keys.items() if value is not None))


def htsim_topology(tiers=2, hosts=32, pod=32, down=8, up=2, bundle=1, latency=1000, switch_latency=0):
    """In the form of htsim's own files."""
    lower, upper = pod // down, up // bundle
    lines = [f"Nodes {hosts}", f"Tiers {tiers}", f"Podsize {pod}", "", "Tier 0", "Downlink_speed_Gbps 100", f"Radix_Down {down}",
             f"Radix_Up {up}", f"Downlink_Latency_ns {latency}", f"Switch_Latency_ns {switch_latency}", "", "Tier 1",
             "Downlink_speed_Gbps 100", f"Radix_Down {lower * bundle}", f"Downlink_Latency_ns {latency}", f"Bundle {bundle}"]
    if tiers == 3:
        lines += [f"Radix_Up {upper}", "", "Tier 2", "Downlink_speed_Gbps 100", f"Radix_Down {hosts // pod}",
                  f"Downlink_Latency_ns {latency}"]
    return "# made by a test\n" + "\n".join(lines) + "\n"


def htsim_permutation(hosts, size=100000, spread=500000, seed=1):
    """As htsim's generator writes one."""
    to = list(range(hosts))
    random.Random(seed).shuffle(to)
    flows = [(a, b if a != b else (b + 1) % hosts) for a, b in enumerate(to)]
    return f"Nodes {hosts}\nConnections {len(flows)}\n" + "".join(
        f"{a}->{b} id {i + 1} start {i * spread} size {size}\n" for i, (a, b) in enumerate(flows))
