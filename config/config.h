// The configuration of one switch as plain values: what a YAML file says after defaults are filled
// in.
//
// Units are in the types; nothing here is scaled yet (time_dilation is applied once, by scaled()).
// Owner: whoever loaded it; immutable once handed to a Switch. Read by everyone; written by the
// YAML loader and tests. Names are SONiC's and SAI's. Sources of defaults: reference, sections C
// and H; architecture, section 11.
#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "config/isolation.h"
#include "config/loaded_scheme.h"
#include "config/path_service.h"
#include "config/resequence.h"
#include "config/rlb.h"
#include "config/shared_list.h"
#include "net/addresses.h"
#include "net/ids.h"
#include "net/units.h"

namespace eddy::config {

using namespace eddy::literals;

enum class PortRole : uint8_t { host, fabric };
enum class IdlePolicy : uint8_t { busy, adaptive };
enum class TaggingMode : uint8_t { tagged, untagged };
// Of a link between switches: inside a group of them, or from one group to another.
enum class LinkReach : uint8_t { local, global };
// Whether a packet that came by a link and goes on by the other has to rise to its next channel, so
// that no circle of links waits for itself on one: (channel, reach) grows along any way.
constexpr bool rises(LinkReach from, LinkReach to) {
  return to <= from;
}
enum class PfcRx : uint8_t { honour, clamp, ignore };
enum class WatchdogDetect : uint8_t { stalled, paused };
enum class WatchdogAction : uint8_t { drop, forward, alert };
enum class BufferMode : uint8_t { fixed, dynamic };  // YAML: static, dynamic
enum class SchedulerType : uint8_t { strict, dwrr };
// Of drivers of ports. `other`: one that the table of capabilities does not know.
enum class PortKind : uint8_t {
  af_packet,
  af_xdp,
  memif,
  null,
  pcap,
  pci,
  ring,
  tap,
  vhost,
  virtio,
  other
};
enum class ControlBy : uint8_t { ecmp, scheme };

// How much of the shared buffer a priority group may use, and when it pauses its sender.
struct BufferProfile {
  bool lossless = false;
  BufferMode mode = BufferMode::dynamic;
  Bytes reserved{0};         // guaranteed to the PG
  Bytes xoff = 256_KiB;      // static: pause above this many bytes of the PG (reserved included)
  int dynamic_th = -3;       // dynamic: threshold = 2^dynamic_th * (free shared pool)
  Bytes xon_offset = 4_KiB;  // resume at xoff - xon_offset; 0 = the RLB paper's literal rule
  std::optional<Bytes>
      headroom;  // lossless only; nullopt = auto, by the formula of reference C.4 plus poll_gap
  bool operator==(const BufferProfile&) const = default;
};

// When a queue decides on a mark: enqueue, on what the packet finds; dequeue, on what it leaves.
enum class WredMark : uint8_t { enqueue, dequeue };

struct WredProfile {  // ECN marking (reference C.7)
  bool ecn = true;
  Bytes kmin{160'000};
  Bytes kmax{640'000};
  double pmax = 0.2;  // probability at kmax-; 1 from kmax on
  WredMark mark = WredMark::enqueue;
  bool operator==(const WredProfile&) const = default;
};

struct QueueConfig {
  SchedulerType scheduler = SchedulerType::dwrr;
  int weight = 14;                  // DWRR; quantum = weight * 1,024 octets
  std::optional<std::string> wred;  // name of a WRED profile
  std::optional<BitRate> max_rate;  // shaping of the queue; nullopt = none
  int dynamic_th = 0;               // lossy queues: limit = 2^dynamic_th * (free shared pool)
  std::optional<Bytes> reserved;    // lossy queues: never refused below this; nullopt = auto
  bool operator==(const QueueConfig&) const = default;
};

struct QosMaps {  // reference C.8, SONiC's defaults
  std::array<TrafficClass, 64> dscp_to_tc;
  std::array<TrafficClass, 8> pcp_to_tc;
  std::array<PriorityGroupId, 8> tc_to_pg;
  std::array<QueueId, 8> tc_to_queue;
  std::array<QueueId, 8> pfc_to_queue;  // which queue a received pause of a priority stops
  std::array<Priority, 8> pg_to_pfc;    // which priority a full PG pauses
  // Which class a packet of a class has to rise to; the same: it never has to. So 3 > 4 > 5 are
  // three virtual channels of class 3 (reference A.16).
  std::array<TrafficClass, 8> tc_to_next;
  bool trust_pcp = true;  // tagged frames classify by PCP, others by DSCP
  static QosMaps sonic_defaults();
  // The classes of a class's channels, itself first; it alone: it has no channels. At most 8.
  std::vector<TrafficClass> channels_of(TrafficClass tc) const;
  bool operator==(const QosMaps&) const = default;
};

struct WatchdogConfig {
  bool enabled = true;
  Duration detection_time = 200_ms;
  Duration restoration_time = 200_ms;
  Duration poll_interval = 200_ms;
  WatchdogDetect detect = WatchdogDetect::stalled;
  WatchdogAction action = WatchdogAction::drop;
  bool operator==(const WatchdogConfig&) const = default;
};

struct PfcPortConfig {
  bool tx = true;                     // send PFC for this port's lossless PGs
  std::optional<std::string> enable;  // priorities, "3,4" or "none"; nullopt = the lossless ones
  PfcRx rx = PfcRx::honour;
  bool asymmetric = false;  // honour pauses of all priorities, send for lossless ones only
  uint16_t quanta = 65'535;
  Duration refresh_limit = 100_us;  // refresh XOFF every min(this, half the pause time)
  Duration pause_budget = 10_ms;    // rx clamp: paused at most this long in each budget_window
  Duration budget_window = 100_ms;
  // Priorities whose PFC is sent and honoured, as a mask: `lossless` unless `enable` names others.
  uint8_t priorities(uint8_t lossless) const;
  bool operator==(const PfcPortConfig&) const = default;
};

struct PortConfig {
  std::string name;
  std::string device;  // EAL devargs: "net_memif0,role=client,..." or a PCI address
  PortRole role = PortRole::host;
  LinkReach reach = LinkReach::local;  // fabric ports
  bool admin_up = true;
  BitRate speed = 1_Gbps;
  int mtu = 1'500;          // layer-3 octets
  std::optional<int> vlan;  // that it serves, 1 to 4,094; nullopt = untagged frames only
  TaggingMode tagging_mode = TaggingMode::tagged;  // of what it serves `vlan` with
  std::optional<MacAddress> mac;                   // nullopt = derived from the switch's
  std::optional<MacAddress> peer_mac;              // fabric ports; nullopt = learned by LLDP
  std::vector<IpPrefix> addresses;                 // gateway addresses answered on this port
  int worker = 0;
  Duration cable_delay = 2_us;  // one way; for headroom
  BitRate shaper{};             // egress shaping below speed; 0 = speed
  int line_overhead = 24;  // octets a frame costs on the line beyond wire_len: FCS, preamble, gap
  PfcPortConfig pfc;
  WatchdogConfig watchdog;
  SharedList<std::array<std::string, 8>> pg_profiles;  // name of a buffer profile, by PG
  SharedList<std::array<QueueConfig, 8>> queues;
  QosMaps maps;
  // A place without a port, in a switch that runs (config/places.h); no file has one.
  bool absent() const { return name.empty(); }
  bool operator==(const PortConfig&) const = default;
};

struct PathConfig {
  std::string port;
  int weight = 1;
  std::optional<PathId> path_id;  // nullopt = (position, 0xFF)
  int hops = 0;                   // links to the leaf; 0 = not said
  bool detour = false;            // longer than routing asks for: only for schemes that take them
  bool operator==(const PathConfig&) const = default;
};

struct LeafConfig {  // how to reach another leaf: a path set
  LeafId id;
  SharedList<std::vector<PathConfig>> paths;
  bool operator==(const LeafConfig&) const = default;
};

struct RouteConfig {
  IpPrefix prefix;
  std::optional<LeafId> leaf;  // exactly one of leaf, port
  std::optional<std::string> port;
  bool operator==(const RouteConfig&) const = default;
};

struct NeighborConfig {
  IpAddress address;
  MacAddress mac;  // zero: asked for by ARP or ND when the port comes up, and kept
  std::string port;
  bool operator==(const NeighborConfig&) const = default;
};

struct LoadBalancerConfig {
  std::string plugin;                   // the file that has the scheme; empty: the program has it
  std::string scheme = "ecmp";          // with a plugin that has but one it may be left out
  ControlBy control = ControlBy::ecmp;  // how RoCE ACKs, NAKs and CNPs go
  std::map<std::string, std::string>
      parameters;                        // declared and checked by the scheme's registry entry
  const LoadedScheme* loaded = nullptr;  // of the plugin
  bool operator==(const LoadBalancerConfig&) const = default;
};

struct BufferConfig {
  Bytes size = 12_MiB;
  int cell_bytes = 256;
  bool overcommit = false;  // run what does not fit: headroom becomes one pool that may run out
  // Set aside for what flow stages hold; nullopt: none without `resequence`, else what
  // pfc::plan_buffer finds that groups can spare.
  std::optional<Bytes> stages;
  std::map<std::string, BufferProfile> profiles;  // "lossless" and "lossy" exist by default
  std::map<std::string, WredProfile> wred;
  bool operator==(const BufferConfig&) const = default;
};

// The discounting rate estimator of every port (reference A.7).
struct DreConfig {
  Duration period = 20_us;
  double alpha = 0.125;  // share of the register that a period takes away
  int q = 3;             // bits of a level
  bool operator==(const DreConfig&) const = default;
};

struct ControlConfig {
  std::string socket;  // nullopt-like empty = /run/eddy/<name>.sock
  int icmp_errors_per_second = 100;
  // What a port may ask of the slow side; the burst is a second's worth.
  int neighbor_messages_per_second = 600;  // ARP and ND; and new neighbors of the port
  int lldp_frames_per_second = 100;
  int local_packets_per_second = 6'000;  // to addresses of the switch
  Duration neighbor_age = 300'000_ms;
  int neighbors_per_port = 256;    // learned and asked for; configured ones are not counted
  Bytes neighbor_queue = 256_KiB;  // of a worker; what waits for neighbors that have yet to answer
  bool lldp = true;
  bool operator==(const ControlConfig&) const = default;
};

struct TelemetryConfig {
  std::string prometheus;  // address:port that answers /metrics; empty = none
  bool remote = false;     // it may be another than loopback
  bool operator==(const TelemetryConfig&) const = default;
};

// What eddyd keeps of what it was started with; the table is in config/capabilities.h.
struct PrivilegesConfig {
  std::vector<PortKind> ports;  // for ports to come by a reload, beside those that there are
  std::string user;             // to run as; empty = auto
  bool operator==(const PrivilegesConfig&) const = default;
};

struct SwitchConfig {
  std::string name = "switch";
  SwitchId id{1};
  LeafId leaf = LeafId::none();  // this switch's own leaf id; none = transit only
  uint64_t seed = 1;
  MacAddress mac{{0x02, 0xed, 0, 0, 0, 1}};
  std::vector<IpAddress> loopbacks;  // addresses of the switch itself, on no port
  int64_t time_dilation = 1;
  int workers = 1;
  int spare_ports = 0;  // places for ports to come by a reload
  IdlePolicy idle = IdlePolicy::adaptive;
  Duration poll_gap{};   // 0 = by idle policy: busy 10 us, adaptive 1 ms
  Duration lookahead{};  // by which devices of slow ports are given frames before they may start
  BufferConfig buffer;
  std::vector<PortConfig> ports;  // PortId = position
  std::vector<LeafConfig> leaves;
  std::vector<RouteConfig> routes;
  std::vector<NeighborConfig> neighbors;
  LoadBalancerConfig load_balancer;
  DreConfig dre;
  RlbConfig rlb;
  PathServiceConfig path_service;
  ResequenceConfig resequence;
  IsolationConfig isolation;
  ControlConfig control;
  TelemetryConfig telemetry;
  PrivilegesConfig privileges;

  Duration effective_poll_gap() const {
    if (poll_gap > Duration{}) return poll_gap;
    return idle == IdlePolicy::busy ? 10_us : 1_ms;
  }
  // Of a port: faster ones have bursts enough.
  Duration lookahead_of(const PortConfig& port) const {
    return port.speed <= BitRate::gbps(10) ? lookahead : Duration{};
  }
  // What a software peer sends on before it obeys: until its next poll, then what its device has
  // been given, and before it hears of the pause what ours has been.
  Duration pause_gap(const PortConfig& port) const {
    return effective_poll_gap() + lookahead_of(port) * 2;
  }
  bool operator==(const SwitchConfig&) const = default;
};

// SONiC's: 6 and 7 strict, the others by turns; 3 and 4 marked by WRED profile "default".
SharedList<std::array<QueueConfig, 8>> default_queues();
// A port with SONiC's default queues, maps and profiles ("lossless" on PGs 3 and 4, "lossy"
// elsewhere).
PortConfig default_port(std::string name);
// An empty switch with the default "lossless" and "lossy" profiles and the "default" WRED profile.
SwitchConfig default_switch(std::string name);
// The configuration with every rate divided and every time multiplied by time_dilation, which
// becomes 1.
SwitchConfig scaled(const SwitchConfig& config);

}  // namespace eddy::config
