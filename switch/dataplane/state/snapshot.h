// Snapshot: a configuration compiled for the data plane. Immutable, but for the per-shard scheme
// state it carries.
//
// Control builds one (it may allocate), publishes it, and frees it when every shard has moved on. A
// shard loads the pointer once a poll. Indices: ports by PortId, targets by Packet::next_hop.
// Source: architecture, section 6.
#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "config/config.h"
#include "lb/agent.h"
#include "lb/dre.h"
#include "lb/flow_stage.h"
#include "lb/path_set.h"
#include "lb/path_table.h"
#include "lb/selector.h"
#include "lb/stages/flow_orders.h"
#include "lb/stages/resequence_plan.h"
#include "lb/stages/resequencer.h"
#include "lb/warning_table.h"
#include "net/addresses.h"
#include "net/ids.h"
#include "net/protocols.h"
#include "net/result.h"
#include "net/units.h"
#include "pfc/buffer_plan.h"
#include "pfc/buffer_pool.h"
#include "pfc/pause_receiver.h"
#include "pfc/pause_sender.h"
#include "pfc/predictor.h"
#include "pfc/scheduler.h"
#include "pfc/watchdog.h"
#include "pfc/wred.h"
#include "switch/dataplane/state/isolated_hosts.h"
#include "switch/dataplane/state/isolation_plan.h"
#include "switch/dataplane/state/octets32.h"
#include "switch/dataplane/state/options.h"
#include "switch/dataplane/state/path_echoes.h"
#include "switch/dataplane/state/path_judges.h"
#include "switch/dataplane/state/path_plan.h"
#include "switch/dataplane/state/reply_flows.h"
#include "switch/dataplane/state/routes.h"

namespace eddy {

struct ClassOf {  // what classification yields
  TrafficClass traffic_class;
  PriorityGroupId pg;
  QueueId queue;
  bool operator==(const ClassOf&) const = default;
};

// What a type of service says of an untagged packet without options, as the word that a Packet has
// from its flags to its queue.
struct ClassOfTos {
  uint16_t flags = 0;  // PacketFlag: that it is IP, and what the ECN bits set
  uint8_t member = 0;
  uint8_t l2_len = kEthernetHeader;
  uint8_t l3_len = kIpv4Header;
  ClassOf class_of;
  bool operator==(const ClassOfTos&) const = default;
};
static_assert(sizeof(ClassOfTos) == sizeof(uint64_t));

// The virtual channels of a traffic class: the same class, told apart by what pauses it. Which
// channel a packet is in says its shim, and the shim of a packet that has none would say 0.
inline constexpr size_t kMostChannels = 4;
struct Channels {
  uint8_t count = 1;  // 1: the class has none
  std::array<ClassOf, kMostChannels> classes{};
  bool operator==(const Channels&) const = default;
};

struct QueueSettings {
  pfc::WredCurve wred;
  bool ecn = false;              // marks at enqueue
  bool ecn_late = false;         // marks at dequeue
  bool lossless = false;         // fed by a lossless PG of any port: never dropped here
  bool gated = false;            // what came behind packets of the normal class leaves behind them
  uint16_t tag = 0;              // TCI of the tag that its frames leave with; 0: none
  pfc::PowerOfTwo lossy_limit;   // of the free shared pool
  int64_t reserved = 0;          // lossy: octets that it takes however full that is
  int64_t attended = INT64_MAX;  // octets above which isolation looks at who fills it; -1: at all
  bool operator==(const QueueSettings&) const = default;
};

// How a port treats each class of traffic. Ports that are alike share one, and its cache lines.
struct PortClasses {
  std::array<pfc::PgLimits, kPriorities> pgs{};
  std::array<QueueSettings, kPriorities> queues{};
  std::array<ClassOf, 64> by_dscp{};
  std::array<ClassOf, 8> by_pcp{};
  std::array<ClassOfTos, 256> by_tos{};  // as by_dscp; traffic class, for IPv6
  std::array<Priority, kPriorities> pg_to_pfc{};
  bool has_channels = false;    // some class does
  int64_t crowded = INT64_MAX;  // octets for isolation above which the port's long flows are found
  int64_t long_flow = INT64_MAX;
  std::array<Channels, kPriorities> channels{};  // by traffic class
  // Null: the class has channels, and not this one.
  const ClassOf* in_channel(TrafficClass tc, size_t channel) const {
    const Channels& own = channels[tc.index()];
    if (own.count == 1) return own.classes.data();
    return channel < own.count ? &own.classes[channel] : nullptr;
  }
  bool operator==(const PortClasses&) const = default;
};

// What every packet of a port asks for: one line.
struct alignas(64) PortSettings {
  Octets32 head;  // of plain frames to it
  const PortClasses* classes = nullptr;
  uint32_t max_l3_len = 0;  // MTU
  MacAddress mac;
  config::PortRole role{};
  bool admin_up = true;
  ShardId owner;
  bool pcp_trusted = true;
  uint8_t lossless_pgs = 0;    // bit = PG
  bool takes_untagged = true;  // it is up, and no VLAN wants a tag
  uint16_t vlan = 0;           // whose tag it takes; 0: none
  uint16_t tag = 0;            // TCI of the tag that our own frames leave with; 0: none
  config::LinkReach reach{};
};
static_assert(sizeof(PortSettings) == 64);

// What only its timers, PFC, LLDP and those who reckon with its line ask for.
struct PortPlans {
  uint64_t since = 0;         // generation of the first snapshot in which this port has the place
  LineRate line;              // shaper, or speed
  int32_t line_overhead = 0;  // octets a frame costs on the line beyond wire_len
  std::optional<MacAddress> peer_mac;
  bool lldp = true;
  pfc::SchedulerPlan scheduler;
  pfc::PauseTxPlan pause_tx;
  pfc::PauseRxPlan pause_rx;
  pfc::WatchdogPlan watchdog;
  pfc::PredictorPlan predictor;
};

// Where a packet goes on this switch: a route's target, resolved.
struct alignas(8) NextHop {
  enum class Kind : uint8_t { none, local, port, path_set };
  uint16_t set = 0;  // index into path_sets
  Kind kind = Kind::none;
  PortId port;
};

struct OwnAddress {
  IpPrefix prefix;  // the address with its subnet's length
  PortId port;      // none: the switch's own (loopback)
};

inline constexpr size_t kMaxConfiguredNeighbors = 512;  // half of what a shard's table holds

struct ConfiguredNeighbor {
  IpAddress address;
  MacAddress mac;  // zero: it is to be asked for
  PortId port;
};

// The flow stages of a place, in order; null from the first that is not there on.
using StageChain = std::array<std::shared_ptr<lb::FlowStage>, kMostStages>;

// What a shard changes while it runs; made by control, then the shard's alone. The selector is
// handed on to the next snapshot when scheme and path sets stay the same.
struct ShardScheme {
  std::shared_ptr<lb::Selector> selector;
  std::shared_ptr<lb::WarningTable> warnings;    // null: RLB is off
  std::shared_ptr<lb::FlowSlots> slots;          // null: nobody asks where flows are
  std::shared_ptr<lb::FlowPaths> flows;          // null: RLB is off, or guards slots
  std::shared_ptr<PathEchoes> echoes;            // null: no path is measured
  std::shared_ptr<PathJudges> judges;            // null: no path is judged
  std::shared_ptr<lb::Resequencer> resequencer;  // null: nothing is put in order
  std::array<StageChain, lb::kStagePlaces> stages;
  std::shared_ptr<ReplyFlows> reply_flows;  // null: no agent hears replies
  std::shared_ptr<IsolatedHosts> isolated;  // null: nobody has been isolated since the start
  // That stand by themselves, beside the selector's own.
  std::vector<std::shared_ptr<lb::PathAgent>> agents;
  // By path set: whether all its ports lead to switches that isolate; null as above.
  std::unique_ptr<std::vector<uint8_t>> speaking;
  // By path set: members whose port is up, without failed ones where there are others.
  std::unique_ptr<std::vector<lb::MemberMask>> live;
};

struct Snapshot {
  uint64_t generation = 0;
  config::SwitchConfig config;
  pfc::CellSize cell;
  Bytes shared_size;
  Bytes stages_size;    // set aside for what flow stages hold
  Bytes set_aside;      // reserved octets and headroom of all PGs
  Bytes headroom_pool;  // what the headroom of all PGs may take together
  LeafId leaf;
  lb::Dre dre{lb::Dre::Parameters{}};
  std::vector<PortSettings> ports;
  std::vector<PortPlans> plans;                       // by port
  std::vector<std::unique_ptr<PortClasses>> classes;  // all different
  bool has_channels = false;                          // some of them do
  std::shared_ptr<const RouteTable> routes;
  std::vector<NextHop> next_hops;  // by route target
  std::vector<lb::PathSet> path_sets;
  PathPlan path_plan;
  lb::ResequencePlan resequence;
  IsolationPlan isolation;
  std::shared_ptr<lb::PathTable> paths;  // of all shards; null: no path is measured
  std::vector<OwnAddress> own_addresses;
  std::vector<ConfiguredNeighbor> neighbors;
  std::vector<ShardScheme> schemes;  // by shard
  bool blind_to_queues = false;      // as lb::SchemeInfo has it of the scheme

  const OwnAddress* own_address_on(PortId port, bool v4) const;
  bool owns(const IpAddress& address) const;

  // `previous` lends the scheme state where nothing that it depends on has changed.
  static Result<std::unique_ptr<Snapshot>> build(const config::SwitchConfig& config,
                                                 const SwitchOptions& options,
                                                 const Snapshot* previous);
};

// The MAC of a port: configured, or the switch's with the port's number in its last two octets.
MacAddress port_mac(const config::SwitchConfig& config, size_t port);

}  // namespace eddy
