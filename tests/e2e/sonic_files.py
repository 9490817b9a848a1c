"""Writes config_db.json files after public platforms: their values of buffers, maps and profiles, in the forms of several releases."""

import json

DSCP = {str(d): {3: "3", 4: "4", 5: "2", 8: "0", 46: "5", 48: "6"}.get(d, "1") for d in range(64)}
SAME = {str(i): str(i) for i in range(8)}


class Platform:
    """`refs`: the release writes references as [TABLE|NAME]; `joined`: and keys of many ports as one."""

    def __init__(self, hwsku, ports, speed, buffers, cable, refs=False, joined=False, dynamic=False):
        self.ports = ports
        self.refs = refs
        self.joined = joined
        self.db = {
            "DEVICE_METADATA": {"localhost": {"hostname": "str-" + hwsku.lower(), "hwsku": hwsku, "mac": "00:01:02:03:04:05",
                                              "type": "ToRRouter", "platform": "x86_64", "bgp_asn": "65100"}},
            "PORT": {p: {"alias": f"etp{i}", "lanes": "1,2,3,4", "speed": speed, "mtu": "9100", "admin_status": "up", "index": str(i),
                         "pfc_asym": "off"} for i, p in enumerate(ports)},
            "INTERFACE": {ports[0]: {}, f"{ports[0]}|10.0.0.0/31": {}, f"{ports[0]}|fc00::1/126": {}},
            "LOOPBACK_INTERFACE": {"Loopback0": {}, "Loopback0|10.1.0.32/32": {}, "Loopback0|FC00:1::32/128": {}},
            "CABLE_LENGTH": {"AZURE": {p: cable for p in ports}},
            "BGP_NEIGHBOR": {"10.0.0.1": {"asn": "64600", "name": "ARISTA01T1"}},
            "FEATURE": {"swss": {"state": "enabled"}},
            "VERSIONS": {"DATABASE": {"VERSION": "version_2_0_0"}},
        } | buffers
        self.qos(dynamic)

    def ref(self, table, name):
        return f"[{table}|{name}]" if self.refs else name

    def keys(self, numbers):
        if self.joined:
            return [f"{','.join(self.ports)}|{numbers}"]
        return [f"{p}|{numbers}" for p in self.ports]

    def qos(self, dynamic):
        ref = self.ref
        self.db |= {
            "DSCP_TO_TC_MAP": {"AZURE": DSCP}, "TC_TO_QUEUE_MAP": {"AZURE": SAME}, "MAP_PFC_PRIORITY_TO_QUEUE": {"AZURE": SAME},
            "TC_TO_PRIORITY_GROUP_MAP": {"AZURE": SAME | {"1": "0", "2": "0", "5": "0", "6": "0"}},
            "PORT_QOS_MAP": {"global": {"dscp_to_tc_map": ref("DSCP_TO_TC_MAP", "AZURE")}} | {
                ",".join(self.ports) if self.joined else p: {
                    "dscp_to_tc_map": ref("DSCP_TO_TC_MAP", "AZURE"), "tc_to_queue_map": ref("TC_TO_QUEUE_MAP", "AZURE"),
                    "tc_to_pg_map": ref("TC_TO_PRIORITY_GROUP_MAP", "AZURE"), "pfc_enable": "3,4", "pfcwd_sw_enable": "3,4",
                    "pfc_to_queue_map": ref("MAP_PFC_PRIORITY_TO_QUEUE", "AZURE")} for p in self.ports},
            "SCHEDULER": {"scheduler.0": {"type": "DWRR", "weight": "14"}, "scheduler.1": {"type": "DWRR", "weight": "15"}},
            "WRED_PROFILE": {"AZURE_LOSSLESS": {
                "wred_green_enable": "true", "wred_yellow_enable": "true", "wred_red_enable": "true", "ecn": "ecn_all",
                "green_max_threshold": "2097152", "green_min_threshold": "1048576", "green_drop_probability": "5",
                "yellow_max_threshold": "2097152", "yellow_min_threshold": "1048576", "yellow_drop_probability": "5",
                "red_max_threshold": "2097152", "red_min_threshold": "1048576", "red_drop_probability": "5"}},
            "QUEUE": {key: {"scheduler": ref("SCHEDULER", f"scheduler.{int(q in (3, 4))}")} | (
                {"wred_profile": ref("WRED_PROFILE", "AZURE_LOSSLESS")} if q in (3, 4) else {})
                for q in range(7) for key in self.keys(str(q))},
            "PFC_WD": {"GLOBAL": {"POLL_INTERVAL": "200"}} | {
                p: {"action": "drop", "detection_time": "200", "restoration_time": "200"} for p in self.ports},
        }
        if dynamic:
            self.db |= {"DEFAULT_LOSSLESS_BUFFER_PARAMETER": {"AZURE": {"default_dynamic_th": "0"}},
                        "LOSSLESS_TRAFFIC_PATTERN": {"AZURE": {"mtu": "1024", "small_packet_percentage": "50"}}}

    def groups(self, lossless):
        profile = "NULL" if lossless is None else self.ref("BUFFER_PROFILE", lossless)
        self.db["BUFFER_PG"] = {k: {"profile": profile} for k in self.keys("3-4")} | {
            k: {"profile": self.ref("BUFFER_PROFILE", "ingress_lossy_profile")} for k in self.keys("0")}
        self.db["BUFFER_QUEUE"] = {k: {"profile": self.ref("BUFFER_PROFILE", "egress_lossless_profile")} for k in self.keys("3-4")} | {
            k: {"profile": self.ref("BUFFER_PROFILE", "egress_lossy_profile")} for n in ("0-2", "5-6") for k in self.keys(n)}
        return self

    def text(self):
        return json.dumps(self.db, indent=4) + "\n"


def pool(size, kind, mode="dynamic", **more):
    return {"size": str(size), "type": kind, "mode": mode} | more


def arista_7050cx3():
    """Broadcom Trident 3, a static limit of lossy traffic, plain references."""
    buffers = {
        "BUFFER_POOL": {"ingress_lossless_pool": pool(32689152, "ingress", xoff="2058240"),
                        "egress_lossy_pool": pool(24192256, "egress"), "egress_lossless_pool": pool(32340992, "egress", "static")},
        "BUFFER_PROFILE": {
            "ingress_lossy_profile": {"pool": "ingress_lossless_pool", "size": "0", "static_th": "32689152"},
            "egress_lossless_profile": {"pool": "egress_lossless_pool", "size": "0", "static_th": "32340992"},
            "egress_lossy_profile": {"pool": "egress_lossy_pool", "size": "1792", "dynamic_th": "3"},
            "pg_lossless_100000_300m_profile": {"pool": "ingress_lossless_pool", "xon": "4608", "xon_offset": "4608", "xoff": "160000",
                                                "size": "4608", "dynamic_th": "0"}}}
    platform = Platform("Arista-7050CX3-32S-C32", [f"Ethernet{4 * i}" for i in range(32)], "100000", buffers, "300m")
    # As a leaf has them: an aggregate of two ports, one of one port, a VLAN of servers; and queues of multicast.
    a, b, c, d, e = platform.ports[1:6]
    platform.db |= {
        "PORTCHANNEL": {"PortChannel101": {"admin_status": "up", "min_links": "1", "mtu": "9100"}, "PortChannel102": {"admin_status": "up"}},
        "PORTCHANNEL_MEMBER": {f"PortChannel101|{a}": {}, f"PortChannel101|{b}": {}, f"PortChannel102|{c}": {}},
        "PORTCHANNEL_INTERFACE": {"PortChannel101": {}, "PortChannel102": {}, "PortChannel101|10.0.0.56/31": {}, "PortChannel102|10.0.0.58/31": {},
                                  "PortChannel102|FC00::71/126": {}},
        "VLAN": {"Vlan1000": {"vlanid": "1000"}}, "VLAN_INTERFACE": {"Vlan1000": {}, "Vlan1000|192.168.0.1/21": {}},
        "VLAN_MEMBER": {f"Vlan1000|{p}": {"tagging_mode": "untagged"} for p in (d, e)}}
    platform.db["QUEUE"] |= {f"{a}|7-9": {"scheduler": "scheduler.0"}}
    return platform.groups("pg_lossless_100000_300m_profile")


def mellanox_sn2700():
    """Spectrum in the dynamic model: groups without a profile, pools of lossless and of lossy traffic, references in brackets."""
    ref = "[BUFFER_POOL|{}]".format
    buffers = {
        "BUFFER_POOL": {"ingress_lossless_pool": pool(4194304, "ingress"), "ingress_lossy_pool": pool(7340032, "ingress"),
                        "egress_lossless_pool": pool(16777152, "egress"), "egress_lossy_pool": pool(7340032, "egress")},
        "BUFFER_PROFILE": {
            "ingress_lossless_profile": {"pool": ref("ingress_lossless_pool"), "size": "0", "dynamic_th": "0"},
            "ingress_lossy_profile": {"pool": ref("ingress_lossy_pool"), "size": "0", "dynamic_th": "3"},
            "egress_lossless_profile": {"pool": ref("egress_lossless_pool"), "size": "0", "dynamic_th": "7"},
            "egress_lossy_profile": {"pool": ref("egress_lossy_pool"), "size": "4096", "dynamic_th": "3"}}}
    ports = [f"Ethernet{4 * i}" for i in range(32)]
    platform = Platform("ACS-MSN2700", ports, "100000", buffers, "5m", refs=True, joined=True, dynamic=True)
    lists = {",".join(ports): {"profile_list": "[BUFFER_PROFILE|ingress_lossless_profile],[BUFFER_PROFILE|ingress_lossy_profile]"}}
    platform.db |= {"BUFFER_PORT_INGRESS_PROFILE_LIST": lists,
                    "PFC_PRIORITY_TO_PRIORITY_GROUP_MAP": {"AZURE": {"3": "3", "4": "4"}}}
    return platform.groups(None)


def dell_s6100():
    """Broadcom Tomahawk with 64 ports, a threshold of 1/8, references in brackets."""
    ref = "[BUFFER_POOL|{}]".format
    buffers = {
        "BUFFER_POOL": {"ingress_lossless_pool": pool(11213696, "ingress", xoff="3855488"),
                        "egress_lossy_pool": pool(9532224, "egress"), "egress_lossless_pool": pool(15982720, "egress", "static")},
        "BUFFER_PROFILE": {
            "ingress_lossy_profile": {"pool": ref("ingress_lossless_pool"), "size": "0", "dynamic_th": "3"},
            "egress_lossless_profile": {"pool": ref("egress_lossless_pool"), "size": "1518", "static_th": "15982720"},
            "egress_lossy_profile": {"pool": ref("egress_lossy_pool"), "size": "1518", "dynamic_th": "3"},
            "pg_lossless_40000_40m_profile": {"pool": ref("ingress_lossless_pool"), "xon": "2288", "xon_offset": "2288",
                                              "xoff": "71552", "size": "1248", "dynamic_th": "-3"}}}
    platform = Platform("Force10-S6100", [f"Ethernet{i}" for i in range(64)], "40000", buffers, "40m", refs=True)
    platform.db["PFC_WD_TABLE"] = platform.db.pop("PFC_WD")  # its name then
    return platform.groups("pg_lossless_40000_40m_profile")
