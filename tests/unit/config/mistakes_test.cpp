// One file per kind of mistake, and what is said about it, to the letter.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "config/load.h"
#include "config/validate.h"

namespace eddy::config {
namespace {

struct Mistake {
  const char* name;
  std::string text;
  std::vector<std::string> problems;
};

void PrintTo(const Mistake& mistake, std::ostream* out) {
  *out << mistake.name;
}

class Mistakes : public testing::TestWithParam<Mistake> {};

TEST_P(Mistakes, AreReportedWithTheirPlace) {
  const auto loaded = load_text("f.yaml", GetParam().text);
  ASSERT_FALSE(loaded.ok()) << GetParam().text;
  EXPECT_EQ(loaded.problems(), GetParam().problems) << GetParam().text;
}

std::string name_of(const testing::TestParamInfo<Mistake>& info) {
  return info.param.name;
}

// clang-format off
const Mistake kInOneKey[] = {
    {"SparePortsBelowNone",
     "switch: {spare_ports: -1}\nports: {p0: {device: d0}}\n",
     {"f.yaml:1:23: switch.spare_ports: '-1' is out of range, valid is 0 to 255"}},
    {"MoreSparePortsThanDpdkHas",
     "switch: {spare_ports: 32}\nports: {p0: {device: d0}}\n",
     {"f.yaml:1:23: switch.spare_ports: 32 ports to come beside 1, at most 32 together (DPDK's build limit); valid is 0 to 31"}},
    {"SparePortsInWords",
     "switch: {spare_ports: two}\nports: {p0: {device: d0}}\n",
     {"f.yaml:1:23: switch.spare_ports: 'two' is not a whole number, valid is 0 to 255"}},
    {"NotYaml",
     "ports: {p0: [}\n",
     {"f.yaml:1:14: not YAML: illegal flow end"}},
    {"Tab",
     "switch:\n"
     "\tname: x\n",
     {"f.yaml:2:6: not YAML: illegal map value"}},
    {"SwitchNameOfAPath",
     "switch: {name: ../x}\n"
     "ports: {p0: {device: d0}}\n",
     {"f.yaml:1:16: switch.name: '../x' is not valid, write up to 32 letters, digits, '_' and '-', no '-' first"}},
    {"SwitchNameOfAnOption",
     "switch: {name: -x}\n"
     "ports: {p0: {device: d0}}\n",
     {"f.yaml:1:16: switch.name: '-x' is not valid, write up to 32 letters, digits, '_' and '-', no '-' first"}},
    {"DeviceOfTwoLines",
     "ports: {p0: {device: \"net_null0\\nEAL: all is well\"}}\n",
     {"f.yaml:1:22: ports.p0.device: 'net_null0\nEAL: all is well' is not valid, write a text of one line"}},
    {"ControlCharacterByItsEscape",
     "ports: {p0: {device: \"net_null0\\e[2J\"}}\n",
     {"f.yaml:1:22: ports.p0.device: 'net_null0\x1b[2J' has a control character"}},
    {"DuplicateKey",
     "switch:\n"
     "  id: 1\n"
     "  id: 2\n"
     "ports: {p0: {device: d0}}\n",
     {"f.yaml:3:3: duplicate key \"id\", it already stands in line 2"}},
    {"DuplicatePort",
     "ports:\n"
     "  p0: {device: a}\n"
     "  p0: {device: b}\n",
     {"f.yaml:3:3: duplicate key \"p0\", it already stands in line 2"}},
    {"Alias",
     "switch: &s {id: 1}\n"
     "control: *s\n"
     "ports: {p0: {device: d0}}\n",
     {"f.yaml:1:9: an anchor (&) is not allowed, write the value out where it is needed",
      "f.yaml:2:10: an alias (*) is not allowed, write the value out"}},
    {"UndefinedAlias",
     "control: *s\n"
     "ports: {p0: {device: d0}}\n",
     {"f.yaml:1:10: not YAML: the referenced anchor is not defined"}},
    {"Tag",
     "switch: {name: !!str x}\n"
     "ports: {p0: {device: d0}}\n",
     {"f.yaml:1:16: the tag \"tag:yaml.org,2002:str\" is not allowed, leave it out"}},
    {"TwoDocuments",
     "ports: {p0: {device: d0}}\n"
     "---\n"
     "ports: {p0: {device: d0}}\n",
     {"f.yaml:3:1: a second document, a configuration is one"}},
    {"SecondDocumentTooDeep",
     "ports: {p0: {device: d0}}\n"
     "---\n"
     "a: " + std::string(33, '[') + std::string(33, ']') + "\n",
     {"f.yaml:3:1: a second document, a configuration is one"}},
    {"ComplexKey",
     "? [a, b]\n"
     ": 1\n"
     "ports: {p0: {device: d0}}\n",
     {"f.yaml:1:3: a key must be one word, such as \"name\""}},
    {"NotUtf8",
     "switch: {name: \377}\n",
     {"f.yaml:1:16: octet 0xff is not UTF-8, save the file as UTF-8"}},
    {"ControlCharacter",
     "switch: {name: \001}\n",
     {"f.yaml:1:16: control character 0x01, remove it"}},
    {"RootIsList",
     "- a\n"
     "- b\n",
     {"f.yaml:1:1: this is a list, write the keys of the file"}},
    {"Empty",
     "",
     {"f.yaml:1:1: no ports, a switch has at least one under 'ports'"}},
    {"UnknownKey",
     "switch: {wokers: 2}\n"
     "ports: {p0: {device: d0}}\n",
     {"f.yaml:1:10: unknown key 'wokers', did you mean 'workers'?"}},
    {"UnknownKeyWithoutNeighbour",
     "control: {xyzzy: 2}\n"
     "ports: {p0: {device: d0}}\n",
     {"f.yaml:1:11: unknown key 'xyzzy', valid are socket, icmp_rate, neighbor_age, neighbor_quota, "
      "neighbor_queue, neighbor_rate, lldp_rate, local_rate and lldp"}},
    {"UnknownTopKey",
     "port:\n"
     "  p0: {}\n"
     "ports: {p0: {device: d0}}\n",
     {"f.yaml:1:1: unknown key 'port', did you mean 'ports'?"}},
    {"SectionIsWord",
     "switch: leaf1\n"
     "ports: {p0: {device: d0}}\n",
     {"f.yaml:1:9: switch: this is one word, write the keys of switch"}},
    {"SectionIsList",
     "switch: [leaf1]\n"
     "ports: {p0: {device: d0}}\n",
     {"f.yaml:1:9: switch: this is a list, write the keys of switch"}},
    {"WordIsMap",
     "switch: {name: {a: b}}\n"
     "ports: {p0: {device: d0}}\n",
     {"f.yaml:1:16: switch.name: this is a map of keys, write up to 32 letters, digits, '_' and '-', no '-' first"}},
    {"NoValue",
     "switch:\n"
     "  id:\n"
     "ports: {p0: {device: d0}}\n",
     {"f.yaml:2:3: switch.id: no value, write a whole number 0 to 65534"}},
    {"ListIsWord",
     "routes: x\n"
     "ports: {p0: {device: d0}}\n",
     {"f.yaml:1:9: routes: this is one word, write a list, each the keys of routes"}},
    {"NotANumber",
     "switch: {id: one}\n"
     "ports: {p0: {device: d0}}\n",
     {"f.yaml:1:14: switch.id: 'one' is not a whole number, valid is 0 to 65534"}},
    {"NumberOutOfRange",
     "switch: {workers: 17}\n"
     "ports: {p0: {device: d0}}\n",
     {"f.yaml:1:19: switch.workers: '17' is out of range, valid is 1 to 16"}},
    {"NumberTooLarge",
     "switch: {id: 99999999999999999999}\n"
     "ports: {p0: {device: d0}}\n",
     {"f.yaml:1:14: switch.id: '99999999999999999999' is too large, valid is 0 to 65534"}},
    {"NotABoolean",
     "control: {lldp: on}\n"
     "ports: {p0: {device: d0}}\n",
     {"f.yaml:1:17: control.lldp: 'on' is neither true nor false"}},
    {"UnknownChoice",
     "switch: {idle: adaptve}\n"
     "ports: {p0: {device: d0}}\n",
     {"f.yaml:1:16: switch.idle: 'adaptve' is unknown, did you mean 'adaptive'?"}},
    {"UnknownChoiceWithoutNeighbour",
     "switch: {idle: sometimes}\n"
     "ports: {p0: {device: d0}}\n",
     {"f.yaml:1:16: switch.idle: 'sometimes' is unknown, valid are busy and adaptive"}},
    {"RateWithoutUnit",
     "ports: {p0: {device: d0, speed: 100}}\n",
     {"f.yaml:1:33: ports.p0.speed: '100' has no unit: a rate is a number with one of bps kbps Mbps Gbps Tbps, such as 100Gbps"}},
    {"RateUnknownUnit",
     "ports: {p0: {device: d0, speed: 100Gb}}\n",
     {"f.yaml:1:33: ports.p0.speed: '100Gb' has an unknown unit: a rate is a number with one of bps kbps Mbps Gbps Tbps, such as 100Gbps"}},
    {"RateOutOfRange",
     "ports: {p0: {device: d0, speed: 2Tbps}}\n",
     {"f.yaml:1:33: ports.p0.speed: '2Tbps' is out of range, valid is 1Mbps to 1600Gbps"}},
    {"DurationWithoutUnit",
     "switch: {poll_gap: 50}\n"
     "ports: {p0: {device: d0}}\n",
     {"f.yaml:1:20: switch.poll_gap: '50' has no unit: a duration is a number with one of ps ns us ms s min h, such as 50us"}},
    {"DurationOutOfRange",
     "switch: {poll_gap: 2s}\n"
     "ports: {p0: {device: d0}}\n",
     {"f.yaml:1:20: switch.poll_gap: '2s' is out of range, valid is 1us to 1s or auto"}},
    {"SizeWithoutUnit",
     "buffer: {size: 1048576}\n"
     "ports: {p0: {device: d0}}\n",
     {"f.yaml:1:16: buffer.size: '1048576' has no unit: a size is a number with one of B kB KiB MB MiB GB GiB, such as 64KiB"}},
    {"SizeOutOfRange",
     "buffer: {size: 1KiB}\n"
     "ports: {p0: {device: d0}}\n",
     {"f.yaml:1:16: buffer.size: '1KiB' is out of range, valid is 64KiB to 4GiB"}},
    {"DecimalOutOfRange",
     "wred: {default: {pmax: 1.5}}\n"
     "ports: {p0: {device: d0}}\n",
     {"f.yaml:1:24: wred.default.pmax: '1.5' is out of range, valid is 0 to 1"}},
    {"GuardAgeThatSlotsCannotTell",
     "rlb: {guard: {age: 141s}}\n"
     "ports: {p0: {device: d0}}\n",
     {"f.yaml:1:20: rlb.guard.age: '141s' is out of range, valid is 1us to 140s"}},
    {"AlphaTooSmall",
     "dre: {alpha: 0.0001}\n"
     "ports: {p0: {device: d0}}\n",
     {"f.yaml:1:14: dre.alpha: 0.0001 is out of range, valid is 0.001 to 1"}},
    {"NotADecimal",
     "wred: {default: {pmax: half}}\n"
     "ports: {p0: {device: d0}}\n",
     {"f.yaml:1:24: wred.default.pmax: 'half' is not a decimal number such as 0.2, valid is 0 to 1"}},
    {"BadMac",
     "switch: {mac: 02:ed:00}\n"
     "ports: {p0: {device: d0}}\n",
     {"f.yaml:1:15: switch.mac: '02:ed:00' is not a MAC address (02:00:00:00:00:01)"}},
    {"MulticastMac",
     "switch: {mac: 01:80:c2:00:00:01}\n"
     "ports: {p0: {device: d0}}\n",
     {"f.yaml:1:15: switch.mac: '01:80:c2:00:00:01' is not the address of one station, it must be unicast and not zero"}},
    {"BadPrefix",
     "ports: {p0: {device: d0, addresses: [10.0.0.300/24]}}\n",
     {"f.yaml:1:38: ports.p0.addresses.0: '10.0.0.300/24' is not an IP prefix (10.1.0.0/24, fd00::/64)"}},
    {"BadAddress",
     "neighbors: [{address: ten, mac: 02:00:00:00:00:01, port: p0}]\n"
     "ports: {p0: {device: d0}}\n",
     {"f.yaml:1:23: neighbors.0.address: 'ten' is not an IP address (10.1.0.1, fd00::1)"}},
    {"BadPathId",
     "leaves: {2: [{port: p0, path_id: 7}]}\n"
     "ports: {p0: {device: d0, role: fabric}}\n",
     {"f.yaml:1:34: leaves.2.0.path_id: '7' is not first and second choice (3/1; 3/255 = hop by hop) or auto"}},
    {"PathIdWithMoreBehindIt",
     "leaves: {2: [{port: p0, path_id: 3/1x}]}\n"
     "ports: {p0: {device: d0, role: fabric}}\n",
     {"f.yaml:1:34: leaves.2.0.path_id: '3/1x' is not first and second choice (3/1; 3/255 = hop by hop) or auto"}},
    {"BadPortName",
     "ports: {\"p 0\": {device: d0}}\n",
     {"f.yaml:1:9: 'p 0' is not valid, write up to 32 letters, digits, '_', '/' and '-'"}},
    {"ReservedName",
     "ports: {none: {device: d0}}\n",
     {"f.yaml:1:9: 'none' cannot be a name, it is a word of its own"}},
    {"BadGroupNumber",
     "ports: {p0: {device: d0, pgs: {8: lossy}}}\n",
     {"f.yaml:1:32: '8' is not a number of this map, valid is 0 to 7"}},
    {"NumberNotCanonical",
     "ports: {p0: {device: d0, pgs: {03: lossy}}}\n",
     {"f.yaml:1:32: '03' is not a number of this map, valid is 0 to 7"}},
    {"MissingKey",
     "neighbors: [{address: 10.0.0.1, port: p0}]\n"
     "ports: {p0: {device: d0}}\n",
     {"f.yaml:1:13: neighbors.0.mac: auto asks from an address of port p0, and none has 10.0.0.1 in its "
      "subnet"}},
    {"EmptyText",
     "switch: {name: \"\"}\n"
     "ports: {p0: {device: d0}}\n",
     {"f.yaml:1:16: switch.name: '' has 0 characters, valid is 1 to 32"}},
    {"KeyOfOtherMode",
     "buffer: {profiles: {lossless: {mode: dynamic, xoff: 64KiB}}}\n"
     "ports: {p0: {device: d0}}\n",
     {"f.yaml:1:47: buffer.profiles.lossless: the key 'xoff' has no effect here, it goes with mode: static"}},
    {"KeyOfLossless",
     "buffer: {profiles: {lossy: {headroom: 64KiB}}}\n"
     "ports: {p0: {device: d0}}\n",
     {"f.yaml:1:29: buffer.profiles.lossy: the key 'headroom' has no effect here, it goes with lossless: true"}},
    {"RelativeSocket",
     "control: {socket: eddy.sock}\n"
     "ports: {p0: {device: d0}}\n",
     {"f.yaml:1:19: control.socket: 'eddy.sock' is not valid, write a path that starts with /"}},
    {"PrometheusEverywhere",
     "telemetry: {prometheus: 9477}\n"
     "ports: {p0: {device: d0}}\n",
     {"f.yaml:1:25: telemetry.prometheus: '9477' is not valid, write an address and a port, such as 127.0.0.1:9477 or "
      "[::1]:9477"}},
    {"PrometheusForOtherMachines",
     "telemetry: {prometheus: 0.0.0.0:9477}\n"
     "ports: {p0: {device: d0}}\n",
     {"f.yaml:1:25: telemetry.prometheus: other machines can reach 0.0.0.0; valid is loopback (127.0.0.0/8, ::1), or "
      "telemetry.remote: true beside it"}},
    {"PrometheusNoPort",
     "telemetry: {prometheus: '[::1]:70000'}\n"
     "ports: {p0: {device: d0}}\n",
     {"f.yaml:1:25: telemetry.prometheus: port 70000, valid is 1 to 65535"}},
    {"PrometheusNoAddress",
     "telemetry: {prometheus: '127.0.0.300:1'}\n"
     "ports: {p0: {device: d0}}\n",
     {"f.yaml:1:25: telemetry.prometheus: '127.0.0.300' is no address, valid is 127.0.0.1:9477"}},
};
// clang-format on

INSTANTIATE_TEST_SUITE_P(InOneKey, Mistakes, testing::ValuesIn(kInOneKey), name_of);

// clang-format off
const Mistake kAcrossKeys[] = {
    {"NoPorts",
     "switch: {name: x}\n",
     {"f.yaml:1:1: no ports, a switch has at least one under 'ports'"}},
    {"NoDevice",
     "ports: {p0: {role: host}}\n",
     {"f.yaml:1:9: ports.p0: no device, give the key 'device', such as net_af_packet0,iface=eth1 or 0000:03:00.0"}},
    {"DeviceTwice",
     "ports:\n"
     "  p0: {device: \"net_tap0,iface=a\"}\n"
     "  p1: {device: \"net_tap0,iface=b\"}\n",
     {"f.yaml:3:16: ports.p1.device: device 'net_tap0' already belongs to port 'p0', each port needs its own"}},
    {"NoSuchWorker",
     "ports: {p0: {device: d0, worker: 1}}\n",
     {"f.yaml:1:34: ports.p0.worker: there is no worker 1, valid is 0 to 0 (switch.workers is 1)"}},
    {"DilatedTooSlow",
     "switch: {time_dilation: 1000}\n"
     "ports: {p0: {device: d0, speed: 100Mbps}}\n",
     {"f.yaml:2:33: ports.p0.speed: 100Mbps divided by time_dilation 1000 is below 1Mbps"}},
    {"DilatedQueueTooSlow",
     "switch: {time_dilation: 10}\n"
     "ports: {p0: {device: d0, queues: {1: {max_rate: 9Mbps}}}}\n",
     {"f.yaml:2:49: ports.p0.queues.1.max_rate: 9Mbps divided by time_dilation 10 is below 1Mbps"}},
    {"ShaperAboveSpeed",
     "ports: {p0: {device: d0, shaper: 2Gbps}}\n",
     {"f.yaml:1:34: ports.p0.shaper: 2Gbps is above the port's speed 1Gbps"}},
    {"ATaggingModeWithoutAVlan",
     "ports: {p0: {device: d0, tagging_mode: untagged}}\n",
     {"f.yaml:1:40: ports.p0.tagging_mode: untagged is a way to be in a VLAN, and the port has none: "
      "set vlan, or leave tagging_mode out"}},
    {"AVlanThatIsReserved",
     "ports: {p0: {device: d0, vlan: 4095}}\n",
     {"f.yaml:1:32: ports.p0.vlan: '4095' is out of range, valid is 1 to 4094 or none"}},
    {"BudgetAboveWindow",
     "ports: {p0: {device: d0, pfc: {pause_budget: 200ms}}}\n",
     {"f.yaml:1:46: ports.p0.pfc.pause_budget: 200ms is more than budget_window 100ms"}},
    {"WatchdogPollsAfterTheRestoration",
     "ports: {p0: {device: d0, watchdog: {poll_interval: 150ms, restoration_time: 100ms}}}\n",
     {"f.yaml:1:52: ports.p0.watchdog.poll_interval: 150ms is more than restoration_time 100ms"}},
    {"WatchdogPollTooLong",
     "ports: {p0: {device: d0, watchdog: {poll_interval: 300ms, restoration_time: 1s}}}\n",
     {"f.yaml:1:52: ports.p0.watchdog.poll_interval: 300ms is more than detection_time 200ms"}},
    {"UnknownProfile",
     "ports: {p0: {device: d0, pgs: {3: losless}}}\n",
     {"f.yaml:1:32: ports.p0.pgs.3: unknown buffer profile 'losless', did you mean 'lossless'?"}},
    {"UnknownWred",
     "ports: {p0: {device: d0, queues: {3: {wred: early}}}}\n",
     {"f.yaml:1:45: ports.p0.queues.3.wred: unknown WRED profile 'early', valid is default"}},
    {"QueueRateAboveSpeed",
     "ports: {p0: {device: d0, queues: {3: {max_rate: 2Gbps}}}}\n",
     {"f.yaml:1:49: ports.p0.queues.3.max_rate: 2Gbps is above the port's speed 1Gbps"}},
    {"SubnetsOverlap",
     "ports:\n"
     "  p0: {device: d0, addresses: [10.0.0.1/16]}\n"
     "  p1: {device: d1, addresses: [10.0.1.1/24]}\n",
     {"f.yaml:3:32: ports.p1.addresses.0: 10.0.1.1/24 overlaps 10.0.0.1/16 of port 'p0'"}},
    {"AddressTwice",
     "ports:\n"
     "  p0: {device: d0, addresses: [10.0.0.1/16, 10.0.0.1/24]}\n",
     {"f.yaml:2:45: ports.p0.addresses.1: 10.0.0.1/24 overlaps 10.0.0.1/16 of port 'p0'"}},
    {"ReservedAboveXoff",
     "buffer: {profiles: {lossless: {reserved: 512KiB}}}\n"
     "ports: {p0: {device: d0}}\n",
     {"f.yaml:1:42: buffer.profiles.lossless.reserved: 512KiB is more than xoff 256KiB"}},
    {"XonOffsetNotBelowXoff",
     "buffer: {profiles: {lossless: {xon_offset: 256KiB}}}\n"
     "ports: {p0: {device: d0}}\n",
     {"f.yaml:1:44: buffer.profiles.lossless.xon_offset: 256KiB is not below xoff 256KiB, the pause would never end"}},
    {"WredOrder",
     "wred: {default: {kmin: 1MiB}}\n"
     "ports: {p0: {device: d0}}\n",
     {"f.yaml:1:24: wred.default.kmin: 1MiB is above kmax 625KiB"}},
    {"OwnLeaf",
     "switch: {leaf: 1}\n"
     "leaves: {1: [p0]}\n"
     "ports: {p0: {device: d0, role: fabric}}\n",
     {"f.yaml:2:10: leaves.1: this is the switch's own leaf id, list the other leaves only"}},
    {"LeafWithoutPaths",
     "leaves: {2: []}\n"
     "ports: {p0: {device: d0}}\n",
     {"f.yaml:1:10: leaves.2: no paths, list the ports that lead to it"}},
    {"UnknownPortInPath",
     "leaves: {2: [spin1]}\n"
     "ports: {spine1: {device: d0, role: fabric}}\n",
     {"f.yaml:1:14: leaves.2.0.port: unknown port 'spin1', did you mean 'spine1'?"}},
    {"PathOverHostPort",
     "leaves: {2: [p0]}\n"
     "ports: {p0: {device: d0}}\n",
     {"f.yaml:1:14: leaves.2.0.port: port 'p0' is a host port, a path needs one with role: fabric"}},
    {"PathTwice",
     "leaves: {2: [p0, p0]}\n"
     "ports: {p0: {device: d0, role: fabric}}\n",
     {"f.yaml:1:18: leaves.2.1.port: port 'p0' is listed twice; for two paths over one port give each its path_id"}},
    {"RouteWithHostBits",
     "routes: [{prefix: 10.0.0.1/24, port: p0}]\n"
     "ports: {p0: {device: d0}}\n",
     {"f.yaml:1:19: routes.0.prefix: 10.0.0.1/24 has bits set behind its length, write 10.0.0.0/24"}},
    {"RouteTwice",
     "routes:\n"
     "  - {prefix: 10.0.0.0/24, port: p0}\n"
     "  - {prefix: 10.0.0.0/24, port: p0}\n"
     "ports: {p0: {device: d0}}\n",
     {"f.yaml:3:14: routes.1.prefix: 10.0.0.0/24 has a route already"}},
    {"RouteWithBoth",
     "routes: [{prefix: 10.0.0.0/24, port: p0, leaf: 2}]\n"
     "ports: {p0: {device: d0}}\n",
     {"f.yaml:1:10: routes.0: both leaf and port, give exactly one of leaf and port"}},
    {"RouteWithNeither",
     "routes: [{prefix: 10.0.0.0/24}]\n"
     "ports: {p0: {device: d0}}\n",
     {"f.yaml:1:10: routes.0: neither leaf nor port, give exactly one of leaf and port"}},
    {"RouteToUnknownLeaf",
     "routes: [{prefix: 10.0.0.0/24, leaf: 3}]\n"
     "ports: {p0: {device: d0}}\n",
     {"f.yaml:1:38: routes.0.leaf: no paths to leaf 3, add it under 'leaves'"}},
    {"RouteToUnknownPort",
     "routes: [{prefix: 10.0.0.0/24, port: p1}]\n"
     "ports: {p0: {device: d0}}\n",
     {"f.yaml:1:38: routes.0.port: unknown port 'p1', did you mean 'p0'?"}},
    {"NeighborOnUnknownPort",
     "neighbors: [{address: 10.0.0.1, mac: 02:00:00:00:00:01, port: eth9}]\n"
     "ports: {p0: {device: d0}}\n",
     {"f.yaml:1:63: neighbors.0.port: unknown port 'eth9', valid is p0"}},
    {"NeighborTwice",
     "neighbors:\n"
     "  - {address: 10.0.0.1, mac: 02:00:00:00:00:01, port: p0}\n"
     "  - {address: 10.0.0.1, mac: 02:00:00:00:00:02, port: p0}\n"
     "ports: {p0: {device: d0}}\n",
     {"f.yaml:3:15: neighbors.1.address: 10.0.0.1 stands twice"}},
    {"UnknownScheme",
     "load_balancer: {scheme: ecpm}\n"
     "ports: {p0: {device: d0}}\n",
     {"f.yaml:1:25: load_balancer.scheme: 'ecpm' is unknown, did you mean 'ecmp'?"}},
    {"TwoSwappedPairs",
     "load_balancer: {scheme: cepm}\n"
     "ports: {p0: {device: d0}}\n",
     {"f.yaml:1:25: load_balancer.scheme: 'cepm' is unknown, did you mean 'ecmp'?"}},
    {"UnknownParameter",
     "load_balancer: {scheme: ecmp, bucket: 64}\n"
     "ports: {p0: {device: d0}}\n",
     {"f.yaml:1:39: load_balancer: 'bucket' is no parameter of ecmp, did you mean 'buckets'?"}},
    {"ParameterOutOfRange",
     "load_balancer: {scheme: ecmp, buckets: 1}\n"
     "ports: {p0: {device: d0}}\n",
     {"f.yaml:1:40: load_balancer.buckets: '1' is out of range; valid: 64 to 4096"}},
    {"PfcEnable",
     "ports: {p0: {device: d0, pfc: {enable: \"3,9\"}}}\n",
     {"f.yaml:1:40: ports.p0.pfc.enable: '3,9' is not valid, write priorities such as \"3,4\", or none"}},
    {"AllAtOnce",
     "swich: {}\n"
     "ports:\n"
     "  p0: {device: d0, speed: 1}\n"
     "  p1: {device: d0, mtu: 1}\n"
     "routes: [{prefix: x, port: p7}]\n",
     {"f.yaml:1:1: unknown key 'swich', did you mean 'switch'?",
      "f.yaml:3:27: ports.p0.speed: '1' has no unit: a rate is a number with one of bps kbps Mbps Gbps Tbps, such as 100Gbps",
      "f.yaml:4:16: ports.p1.device: device 'd0' already belongs to port 'p0', each port needs its own",
      "f.yaml:4:25: ports.p1.mtu: '1' is out of range, valid is 576 to 9216",
      "f.yaml:5:19: routes.0.prefix: 'x' is not an IP prefix (10.1.0.0/24, fd00::/64)",
      "f.yaml:5:28: routes.0.port: unknown port 'p7', did you mean 'p0'?"}},
    {"ParameterIsMap",
     "load_balancer: {scheme: ecmp, buckets: {a: 1}}\n"
     "ports: {p0: {device: d0}}\n",
     {"f.yaml:1:40: load_balancer.buckets: this is a map of keys, write a text"}},
};
// clang-format on

INSTANTIATE_TEST_SUITE_P(AcrossKeys, Mistakes, testing::ValuesIn(kAcrossKeys), name_of);

std::string repeated(const std::string& text, size_t times) {
  std::string all;
  for (size_t i = 0; i < times; ++i) all += text;
  return all;
}

std::vector<std::string> problems_of(const std::string& text, Purpose purpose = Purpose::daemon) {
  const auto loaded = load_text("f.yaml", text, purpose);
  return loaded.ok() ? std::vector<std::string>{} : loaded.problems();
}

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::StartsWith;

TEST(Shim, IsFreeInVirtualTimeAlone) {
  const std::string text = "path_service: {shim: free}\nports: {p0: {device: d0}}\n";
  EXPECT_THAT(problems_of(text, Purpose::object), IsEmpty());
  EXPECT_THAT(problems_of(text),
              ElementsAre("f.yaml:1:22: path_service.shim: free is for virtual time (eddylab run), "
                          "on a real line a shim's 32 octets cost what they cost; write auto, off, "
                          "sampled or every"));
}

TEST(Shim, IsOnEveryPacketWhereASchemeNumbersThem) {
  const auto problems = [](const std::string& use) {
    return problems_of("path_service: {shim: " + use +
                       "}\nload_balancer: {scheme: flowcut}\nports: {p0: {device: d0}}\n");
  };
  EXPECT_THAT(problems("auto"), IsEmpty());
  EXPECT_THAT(problems("every"), IsEmpty());
  for (const char* use : {"off", "sampled"})
    EXPECT_THAT(problems(use),
                ElementsAre("f.yaml:1:22: path_service.shim: flowcut numbers packets in shims, so "
                            "each has one; write auto, free or every"));
}

TEST(LoadBalancer, ControlIsAKeyOfNoScheme) {
  const std::string ports = "\nports: {p0: {device: d0}}\n";
  EXPECT_THAT(problems_of("load_balancer: {scheme: drill, d: 3, control: scheme}" + ports),
              IsEmpty());
  EXPECT_THAT(problems_of("load_balancer: {control: drill}" + ports),
              ElementsAre(StartsWith("f.yaml:1:26: load_balancer.control: ")));
}

TEST(Limits, DepthIs32) {
  EXPECT_THAT(problems_of("x: " + repeated("[", 31) + repeated("]", 31)),
              ElementsAre(StartsWith("f.yaml:1:1: unknown key 'x'")));
  EXPECT_THAT(problems_of("x: " + repeated("[", 32) + repeated("]", 32)),
              ElementsAre("f.yaml:1:35: nested too deep, at most 32 levels"));
  EXPECT_THAT(problems_of(repeated("[", 1'000)),
              ElementsAre(HasSubstr("nested too deep, at most 32 levels")));
}

// The last octet shows whether the text was looked at.
TEST(Limits, AFileHasAtMostAMebibyte) {
  EXPECT_THAT(problems_of(std::string(kMaxFileBytes - 1, ' ') + "\xff"),
              ElementsAre(HasSubstr("is not UTF-8")));
  EXPECT_THAT(problems_of(std::string(kMaxFileBytes, ' ') + "\xff"),
              ElementsAre("f.yaml:1:1: the file has 1048577 octets, at most 1048576 are read"));
}

TEST(Limits, ADaemonHas32PortsAnObject256) {
  const auto findings = [](size_t ports, Purpose purpose) {
    SwitchConfig config = default_switch("s");
    for (size_t i = 0; i < ports; ++i) {
      const std::string number = std::to_string(i);
      config.ports.push_back(default_port("p" + number));
      config.ports.back().device = "d" + number;
    }
    std::vector<std::string> texts;
    for (const Finding& finding : validate(config, purpose).problems) texts.push_back(finding.text);
    return texts;
  };
  EXPECT_THAT(findings(32, Purpose::daemon), IsEmpty());
  EXPECT_THAT(findings(33, Purpose::daemon),
              ElementsAre("33 ports, at most 32 (DPDK's build limit)"));
  EXPECT_THAT(findings(256, Purpose::object), IsEmpty());
  EXPECT_THAT(findings(257, Purpose::object), ElementsAre("257 ports, at most 256"));
}

TEST(Validate, FindsWhatNoFileCanSay) {
  SwitchConfig config = default_switch("s");
  config.ports = {default_port("p0"), default_port("p0")};
  config.ports[0].role = PortRole::fabric;
  config.leaves = {{LeafId(2), {{.port = "p0"}}}, {LeafId(2), {{.port = "p0"}}}};
  std::vector<std::string> texts;
  for (const Finding& finding : validate(config, Purpose::object).problems)
    texts.push_back(finding.text);
  EXPECT_THAT(texts, ElementsAre("the port 'p0' stands twice", "leaves.2: this leaf stands twice"));
}

TEST(Limits, AnObjectNeedsNoDevice) {
  EXPECT_THAT(problems_of("ports: {p0: {}}", Purpose::object), IsEmpty());
  EXPECT_THAT(problems_of("ports: {p0: {}}"), ElementsAre(HasSubstr("no device")));
}

TEST(Limits, APathSetHas64Paths) {
  const auto paths = [](int count) {
    std::string text = "ports: {p0: {device: d0, role: fabric}}\nleaves:\n  2:\n";
    for (int i = 0; i < count; ++i)
      text += "    - {port: p0, path_id: " + std::to_string(i) + "/0}\n";
    return text;
  };
  EXPECT_THAT(problems_of(paths(64)), IsEmpty());
  EXPECT_THAT(problems_of(paths(65)), ElementsAre("f.yaml:3:3: leaves.2: 65 paths, at most 64"));
}

TEST(Limits, NotMoreThan100ProblemsArePrinted) {
  std::string text;
  for (int i = 0; i < 150; ++i) text += "k" + std::to_string(i) + ": 1\n";
  const auto problems = problems_of(text);
  ASSERT_EQ(problems.size(), 101u);
  EXPECT_EQ(problems.back(), "f.yaml: 50 more problems");
}

TEST(Limits, EveryCutOfUtf8IsRefused) {
  for (const char* bad : {"\xc0\x80", "\xe0\x80\x80", "\xed\xa0\x80", "\xf0\x80\x80\x80",
                          "\xf4\x90\x80\x80", "\xe2\x82", "\x80", "\xff\xfe"})
    EXPECT_THAT(problems_of(std::string("# ") + bad), ElementsAre(HasSubstr("is not UTF-8")))
        << bad;
  EXPECT_THAT(problems_of("# \xe2\x82\xac \xf0\x9f\x98\x80\nports: {p0: {device: d0}}"), IsEmpty());
}

TEST(Buffer, ALosslessConfigurationMustFit) {
  EXPECT_THAT(
      problems_of("buffer: {size: 512KiB}\n"
                  "ports: {p0: {device: d0, pgs: {3: lossless}}}\n"),
      ElementsAre(AllOf(StartsWith("f.yaml:1:16: buffer: 1 lossless PGs need 655360 octets"),
                        HasSubstr("would fit: buffer.size 640KiB"))));
  EXPECT_THAT(problems_of("buffer: {size: 640KiB}\n"
                          "ports: {p0: {device: d0, pgs: {3: lossless}}}\n"),
              IsEmpty());
}

TEST(Buffer, AnOvercommittedOneIsAWarning) {
  const auto loaded = load_text("f.yaml",
                                "buffer: {size: 512KiB, overcommit: true}\n"
                                "ports: {p0: {device: d0, pgs: {3: lossless}}}\n");
  ASSERT_TRUE(loaded.ok()) << loaded.problems()[0];
  EXPECT_THAT(loaded.value().warnings,
              testing::Contains(
                  StartsWith("f.yaml:1:36: warning: buffer: 1 lossless PGs need 655360 octets")));
}

TEST(Buffer, ADynamicThresholdMustLeaveRoom) {
  EXPECT_THAT(problems_of("buffer:\n"
                          "  size: 512KiB\n"
                          "  profiles: {lossless: {mode: dynamic, dynamic_th: -8}}\n"
                          "ports: {p0: {device: d0, pgs: {3: lossless}}}\n"),
              ElementsAre(StartsWith("f.yaml:2:9: port p0 PG 3: ")));
}

std::vector<std::string> warnings_of(const std::string& text) {
  const auto loaded = load_text("f.yaml", text);
  return loaded.ok() ? loaded.value().warnings : loaded.problems();
}

TEST(Buffer, WarnsWhenLossyGroupsAreLeftNothing) {
  const std::string port = "ports: {p0: {device: d0, pgs: {3: lossless}}}\n";
  EXPECT_THAT(warnings_of("buffer: {size: 640KiB}\n" + port),
              ElementsAre(HasSubstr("0B are left for lossy ones, less than a packet a port")));
  EXPECT_THAT(warnings_of("buffer: {size: 642KiB}\n" + port), IsEmpty());
}

TEST(Warnings, NameWhatWillNotWork) {
  EXPECT_THAT(
      warnings_of("ports: {p0: {device: d0, pgs: {3: lossless}, pfc: {tx: false}}}"),
      ElementsAre(
          "f.yaml:1:32: warning: ports.p0.pgs.3: lossless, but pfc.tx is false: nobody is paused, "
          "packets are lost when the headroom is full"));
  EXPECT_THAT(
      warnings_of("ports: {p0: {device: d0, pgs: {3: lossless}, pfc: {enable: \"0,4\"}}}"),
      ElementsAre(StartsWith(
          "f.yaml:1:32: warning: ports.p0.pgs.3: lossless, but pfc.enable does not name its "
          "priority 3")));
  EXPECT_THAT(warnings_of("ports: {p0: {device: d0, pgs: {3: lossless}, pfc: {enable: \"0,3\"}}}"),
              IsEmpty());
  EXPECT_THAT(
      warnings_of("ports: {p0: {device: d0, pgs: {5: lossless}}}"),
      ElementsAre(
          "f.yaml:1:32: warning: ports.p0.pgs.5: lossless, but no traffic class is mapped to "
          "it (tc_to_pg)"));
  EXPECT_THAT(
      warnings_of("buffer: {profiles: {lossless: {headroom: 10KiB}}}\n"
                  "ports: {p0: {device: d0, pgs: {3: lossless}}}"),
      ElementsAre(
          "f.yaml:2:32: warning: ports.p0.pgs.3: profile lossless has headroom 10KiB, packets "
          "may be lost; 384KiB would do (auto)"));
  EXPECT_THAT(warnings_of("ports: {p0: {device: d0, pgs: {3: lossless}}}"), IsEmpty());
}

TEST(Files, ThatCannotBeReadAreNamed) {
  const auto missing = load_file("/nonexistent/leaf.yaml");
  ASSERT_FALSE(missing.ok());
  EXPECT_EQ(missing.problems().front(),
            "/nonexistent/leaf.yaml: cannot be opened, name a readable file");
  const auto directory = load_file("/");
  ASSERT_FALSE(directory.ok());
  EXPECT_EQ(directory.problems().front(), "/: this is a directory, name a file");
}

}  // namespace
}  // namespace eddy::config
