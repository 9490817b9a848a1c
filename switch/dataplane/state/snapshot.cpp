#include "switch/dataplane/state/snapshot.h"

#include <algorithm>

#include "lb/agents/idle_prober.h"
#include "lb/agents/load_reports.h"
#include "lb/registry.h"
#include "lb/rlb/order_guard.h"
#include "switch/dataplane/state/plain_frame.h"

namespace eddy {
namespace {

using config::SwitchConfig;

constexpr size_t kOwnPcp = 7;  // of frames of our own: never paused

std::optional<PortId> find_port(const SwitchConfig& config, const std::string& name) {
  for (size_t i = 0; i < config.ports.size(); ++i)
    if (config.ports[i].name == name) return PortId(i);
  return std::nullopt;
}

ClassOf class_of(const config::QosMaps& maps, TrafficClass tc) {
  return {tc, maps.tc_to_pg[tc.index()], maps.tc_to_queue[tc.index()]};
}

// Queues that lossless PGs feed, on whatever port: packets are classified where they arrive.
uint8_t lossless_queues(const pfc::BufferPlan& plan) {
  uint8_t queues = 0;
  for (const pfc::PortBufferPlan& port : plan.ports)
    queues = static_cast<uint8_t>(queues | port.lossless_queues);
  return queues;
}

using Reserves = std::array<Bytes, kPriorities>;

// By queue: the largest reserve of the groups that feed it, on any port. So no packet within its
// group's reserve is refused by a queue that holds nothing else.
Reserves reserves_of_feeders(const SwitchConfig& config) {
  Reserves reserves{};
  for (const config::PortConfig& port : config.ports)
    for (size_t tc = 0; tc < kPriorities && !port.absent(); ++tc) {
      const std::string& profile = port.pg_profiles[port.maps.tc_to_pg[tc].index()];
      Bytes& reserve = reserves[port.maps.tc_to_queue[tc].index()];
      reserve = std::max(reserve, config.buffer.profiles.at(profile).reserved);
    }
  return reserves;
}

// 802.1Q's tag control information of what leaves a port, 0 for no tag.
uint16_t tag_of(const config::PortConfig& port, size_t pcp) {
  if (!port.vlan || port.tagging_mode == config::TaggingMode::untagged) return 0;
  return static_cast<uint16_t>(pcp << 13 | static_cast<unsigned>(*port.vlan));
}

// The priority whose pause stops the queue, so that the peer puts its frames where that pauses.
size_t pcp_of(const config::QosMaps& maps, size_t queue) {
  const auto priority = std::ranges::find(maps.pfc_to_queue, QueueId(queue));
  return priority == maps.pfc_to_queue.end()
             ? queue
             : static_cast<size_t>(priority - maps.pfc_to_queue.begin());
}

QueueSettings queue_settings(const SwitchConfig& config, const config::QueueConfig& from,
                             bool lossless, Bytes reserve_of_feeders) {
  QueueSettings settings;
  settings.lossless = lossless;
  settings.lossy_limit = pfc::PowerOfTwo(from.dynamic_th);
  settings.reserved = from.reserved.value_or(reserve_of_feeders).count();
  if (from.wred) {
    const config::WredProfile& profile = config.buffer.wred.at(*from.wred);
    const bool late = profile.mark == config::WredMark::dequeue;
    settings.ecn = profile.ecn && !late;
    settings.ecn_late = profile.ecn && late;
    settings.wred = pfc::WredCurve::of(profile);
  }
  return settings;
}

// One that a shim cannot name is none.
Channels channels_of(const config::QosMaps& maps, TrafficClass tc) {
  Channels channels;
  const std::vector<TrafficClass> classes = maps.channels_of(tc);
  channels.count = static_cast<uint8_t>(std::min(classes.size(), kMostChannels));
  for (size_t i = 0; i < channels.count; ++i) {
    channels.classes[i] = class_of(maps, classes[i]);
    channels.classes[i].traffic_class = tc;
  }
  return channels;
}

// Between switches isolated packets are gated; to hosts everything leaves by the normal queue. A
// fabric port is crowded by both queues together; that it is not is mostly seen by the normal one.
void isolate(const IsolationPlan& plan, const config::PortConfig& port, PortClasses& classes) {
  if (!plan.known || port.absent()) return;
  if (port.role == config::PortRole::fabric) {
    QueueSettings& gated = classes.queues[plan.classes.isolated.queue.index()];
    gated.gated = true;
    gated.attended = -1;
    if (!plan.finds_long_flows()) return;
    classes.crowded = plan.crowded_of(port);
    classes.long_flow = plan.long_flow_of(port);
    classes.queues[plan.classes.normal.queue.index()].attended = classes.crowded / 2;
  } else if (plan.enabled) {
    classes.queues[plan.classes.normal.queue.index()].attended = plan.threshold_of(port);
  }
}

PortClasses port_classes(const SwitchConfig& config, size_t index, const pfc::BufferPlan& buffer,
                         const Reserves& reserves) {
  const config::PortConfig& port = config.ports[index];
  const uint8_t lossless = lossless_queues(buffer);
  PortClasses classes;
  classes.pgs = buffer.ports[index].pgs;
  for (size_t i = 0; i < classes.by_dscp.size(); ++i)
    classes.by_dscp[i] = class_of(port.maps, port.maps.dscp_to_tc[i]);
  for (size_t tos = 0; tos < classes.by_tos.size(); ++tos)
    classes.by_tos[tos] = {.flags = static_cast<uint16_t>(
                               kPacketIp | detail::ecn_flags(static_cast<uint8_t>(tos & 3))),
                           .class_of = classes.by_dscp[tos >> 2]};
  for (size_t i = 0; i < kPriorities; ++i) {
    classes.by_pcp[i] = class_of(port.maps, port.maps.pcp_to_tc[i]);
    classes.pg_to_pfc[i] = port.maps.pg_to_pfc[i];
    classes.channels[i] = channels_of(port.maps, TrafficClass(i));
    classes.has_channels |= classes.channels[i].count > 1;
    classes.queues[i] =
        queue_settings(config, port.queues[i], (lossless >> i & 1) != 0, reserves[i]);
    classes.queues[i].tag = tag_of(port, pcp_of(port.maps, i));
  }
  return classes;
}

const PortClasses* shared(Snapshot& snapshot, const PortClasses& classes) {
  for (const auto& known : snapshot.classes)
    if (*known == classes) return known.get();
  return snapshot.classes.emplace_back(std::make_unique<PortClasses>(classes)).get();
}

PortSettings port_settings(const SwitchConfig& config, size_t index, const PortClasses* classes,
                           uint8_t lossless_pgs) {
  const config::PortConfig& port = config.ports[index];
  PortSettings settings;
  settings.classes = classes;
  settings.max_l3_len = static_cast<uint32_t>(port.mtu);
  settings.mac = port_mac(config, index);
  settings.head = head_to(settings.mac);
  settings.role = port.role;
  settings.admin_up = port.admin_up;
  settings.owner = ShardId(static_cast<size_t>(port.worker));
  settings.pcp_trusted = port.maps.trust_pcp;
  settings.vlan = static_cast<uint16_t>(port.vlan.value_or(0));
  settings.tag = tag_of(port, kOwnPcp);
  settings.takes_untagged = port.admin_up && settings.tag == 0;
  settings.lossless_pgs = lossless_pgs;
  settings.reach = port.reach;
  return settings;
}

// Lossless groups that pause their senders.
uint8_t pausing_pgs(const config::PortConfig& port, uint8_t lossless_pgs) {
  unsigned pausing = 0;
  for (size_t pg = 0; pg < kPriorities; ++pg)
    if ((port.pfc.priorities(kAllPriorities) >> port.maps.pg_to_pfc[pg].index() & 1) != 0)
      pausing |= lossless_pgs & 1u << pg;
  return static_cast<uint8_t>(pausing);
}

PortPlans port_plans(const SwitchConfig& config, size_t index, const pfc::PortBufferPlan& buffer) {
  const config::PortConfig& port = config.ports[index];
  return {.line = LineRate(port.shaper.bps() > 0 ? std::min(port.shaper, port.speed) : port.speed),
          .line_overhead = port.line_overhead,
          .peer_mac = port.peer_mac,
          .lldp = config.control.lldp,
          .scheduler = pfc::SchedulerPlan::of(port),
          .pause_tx = pfc::PauseTxPlan::of(port),
          .pause_rx = pfc::PauseRxPlan::of(port, buffer.lossless_priorities),
          .watchdog = pfc::WatchdogPlan::of(port, buffer.lossless_queues),
          .predictor =
              pfc::PredictorPlan::of(config.rlb, port, pausing_pgs(port, buffer.lossless_pgs))};
}

void add_ports(Snapshot& snapshot, const pfc::BufferPlan& buffer) {
  const SwitchConfig& config = snapshot.config;
  const Reserves reserves = reserves_of_feeders(config);
  snapshot.ports.reserve(config.ports.size());
  snapshot.plans.reserve(config.ports.size());
  for (size_t i = 0; i < config.ports.size(); ++i) {
    PortClasses own = port_classes(config, i, buffer, reserves);
    isolate(snapshot.isolation, config.ports[i], own);
    const PortClasses* classes = shared(snapshot, own);
    snapshot.ports.push_back(port_settings(config, i, classes, buffer.ports[i].lossless_pgs));
    snapshot.plans.push_back(port_plans(config, i, buffer.ports[i]));
    snapshot.has_channels |= classes->has_channels;
  }
}

std::vector<OwnAddress> addresses_of(const SwitchConfig& config) {
  std::vector<OwnAddress> own;
  for (size_t i = 0; i < config.ports.size(); ++i)
    for (const IpPrefix& address : config.ports[i].addresses) own.push_back({address, PortId(i)});
  for (const IpAddress& address : config.loopbacks)
    own.push_back({{address, static_cast<uint8_t>(address.is_v4() ? 32 : 128)}, PortId::none()});
  return own;
}

std::vector<ConfiguredNeighbor> configured_neighbors(const SwitchConfig& config) {
  std::vector<ConfiguredNeighbor> neighbors;
  for (const config::NeighborConfig& neighbor : config.neighbors)
    neighbors.push_back({neighbor.address, neighbor.mac, *find_port(config, neighbor.port)});
  return neighbors;
}

// What this switch's own configuration says: gateway addresses, their subnets, and the routes.
std::vector<Route> routes_of(const SwitchConfig& config, std::span<const OwnAddress> own) {
  std::vector<Route> routes;
  for (const OwnAddress& address : own) {
    const IpAddress& ip = address.prefix.address;
    const auto host_length = static_cast<uint8_t>(ip.is_v4() ? 32 : 128);
    if (address.prefix.length != host_length)
      routes.push_back({address.prefix.network(), {config.leaf, address.port, false}});
    routes.push_back({{ip, host_length}, {config.leaf, address.port, true}});
  }
  for (const config::RouteConfig& route : config.routes) {
    RouteTarget target{config.leaf, PortId::none(), false};
    if (route.leaf) target.leaf = *route.leaf;
    if (route.port) target.port = *find_port(config, *route.port);
    routes.push_back({route.prefix, target});
  }
  return routes;
}

std::vector<lb::PathSet> path_sets_of(const SwitchConfig& config) {
  std::vector<lb::PathSet> sets;
  sets.reserve(config.leaves.size());
  for (const config::LeafConfig& leaf : config.leaves) {
    lb::PathSet set;
    set.leaf = leaf.id;
    for (const config::PathConfig& path : leaf.paths) {
      const PathId by_position(static_cast<size_t>(set.count) << 8 | 0xff);
      set.members[set.count++] = {*find_port(config, path.port), path.path_id.value_or(by_position),
                                  static_cast<uint16_t>(path.weight),
                                  static_cast<uint8_t>(path.hops), path.detour};
    }
    sets.push_back(set);
  }
  return sets;
}

NextHop next_hop_of(const RouteTarget& target, const Snapshot& snapshot) {
  if (target == RouteTarget{}) return {};
  if (target.leaf == snapshot.leaf) {
    if (target.local) return {.kind = NextHop::Kind::local, .port = target.port};
    if (!target.port.is_none()) return {.kind = NextHop::Kind::port, .port = target.port};
    return {};
  }
  const LeafId by = target.via.is_none() ? target.leaf : target.via;
  for (size_t i = 0; i < snapshot.path_sets.size(); ++i)
    if (snapshot.path_sets[i].leaf == by)
      return {
          .set = static_cast<uint16_t>(i), .kind = NextHop::Kind::path_set, .port = PortId::none()};
  return {};
}

bool same_members(const lb::PathSet& a, const lb::PathSet& b) {
  for (size_t i = 0; i < a.count; ++i) {
    const lb::PathMember& x = a.members[i];
    const lb::PathMember& y = b.members[i];
    if (x.port != y.port || x.path != y.path || x.weight != y.weight || x.hops != y.hops ||
        x.detour != y.detour)
      return false;
  }
  return true;
}

bool same_sets(const std::vector<lb::PathSet>& a, const std::vector<lb::PathSet>& b) {
  return std::equal(a.begin(), a.end(), b.begin(), b.end(),
                    [](const lb::PathSet& x, const lb::PathSet& y) {
                      return x.leaf == y.leaf && x.count == y.count && same_members(x, y);
                    });
}

lb::PortLine line_of(const config::BufferConfig& buffer, const config::PortConfig& port) {
  lb::PortLine line{port.shaper.bps() > 0 ? std::min(port.shaper, port.speed) : port.speed, {}};
  for (const config::QueueConfig& queue : port.queues) {
    const config::WredProfile* profile = queue.wred ? &buffer.wred.at(*queue.wred) : nullptr;
    if (profile == nullptr || !profile->ecn) continue;
    if (line.marking.count() == 0 || profile->kmin < line.marking) line.marking = profile->kmin;
  }
  return line;
}

std::vector<lb::PortLine> lines_of(const SwitchConfig& config) {
  std::vector<lb::PortLine> lines;
  for (const config::PortConfig& port : config.ports) lines.push_back(line_of(config.buffer, port));
  return lines;
}

// Of ports that paths go by: a selector reckons with no others.
bool same_lines(const SwitchConfig& a, const SwitchConfig& b) {
  const auto same = [&](const config::PortConfig& x, const config::PortConfig& y) {
    return x.role == y.role &&
           (x.role == config::PortRole::host || line_of(a.buffer, x) == line_of(b.buffer, y));
  };
  return std::equal(a.ports.begin(), a.ports.end(), b.ports.begin(), b.ports.end(), same);
}

bool can_lend(const Snapshot* previous, const Snapshot& now) {
  if (previous == nullptr) return false;
  return previous->config.load_balancer == now.config.load_balancer &&
         previous->config.seed == now.config.seed &&
         previous->config.rlb.decides_like(now.config.rlb) &&
         previous->config.dre == now.config.dre && same_lines(previous->config, now.config) &&
         same_sets(previous->path_sets, now.path_sets);
}

lb::WarningTablePlan warning_plan(const Snapshot& now) {
  uint8_t queues = 0;
  for (const auto& classes : now.classes)
    for (size_t queue = 0; queue < kPriorities; ++queue)
      if (classes->queues[queue].lossless) queues = static_cast<uint8_t>(queues | 1u << queue);
  return {.queues = queues,
          .pauses_apart = now.config.rlb.warning.beside_pause,
          .culprits = now.config.rlb.culprits};
}

// A table is as good for new path sets as for old ones only while they are the same.
std::shared_ptr<lb::WarningTable> warnings_of(const Snapshot& now, size_t shard,
                                              const Snapshot* previous) {
  if (!now.config.rlb.enabled()) return nullptr;
  const lb::WarningTablePlan plan = warning_plan(now);
  if (previous != nullptr && previous->schemes[shard].warnings != nullptr &&
      previous->schemes[shard].warnings->plan() == plan &&
      same_sets(previous->path_sets, now.path_sets))
    return previous->schemes[shard].warnings;
  return std::make_shared<lb::WarningTable>(now.path_sets, now.config.ports.size(), plan);
}

bool chooses_paths(const Snapshot& now) {
  return std::ranges::any_of(now.path_sets, [](const lb::PathSet& set) { return set.count > 1; });
}

// What is known of flows outlives the scheme as long as the path sets are the same, and a guard
// looks at it before or after. Without any, another scheme begins anew.
std::shared_ptr<lb::FlowSlots> slots_before(const Snapshot& now, size_t shard,
                                            const Snapshot* previous) {
  if (previous == nullptr || !same_sets(previous->path_sets, now.path_sets)) return nullptr;
  const bool guarded = lb::OrderGuard::guards_slots(previous->config.rlb) ||
                       lb::OrderGuard::guards_slots(now.config.rlb);
  return guarded ? previous->schemes[shard].slots : nullptr;
}

// Where flows are: the scheme's own slots, or those that the order guard needs, two for each flow,
// so that few share one. It goes on with those that there were, whoever wrote them.
std::shared_ptr<lb::FlowSlots> slots_of(const Snapshot& now, size_t shard, const Snapshot* previous,
                                        lb::Selector& selector) {
  const config::RlbConfig& rlb = now.config.rlb;
  std::shared_ptr<lb::FlowSlots> own = selector.flow_slots();
  if (!lb::OrderGuard::guards_slots(rlb) || !chooses_paths(now)) return own;
  std::shared_ptr<lb::FlowSlots> before = slots_before(now, shard, previous);
  if (before != nullptr && (before == own || previous->config.rlb.guard.flows == rlb.guard.flows)) {
    if (!lb::OrderGuard::guards_slots(previous->config.rlb)) before->doubt();
    return before;
  }
  if (own != nullptr) return own;
  return std::make_shared<lb::FlowSlots>(static_cast<size_t>(2 * rlb.guard.flows));
}

// The same of flows that are told apart one by one.
std::shared_ptr<lb::FlowPaths> flows_of(const Snapshot& now, size_t shard, const Snapshot* previous,
                                        FaultProbe sites) {
  const config::RlbConfig& rlb = now.config.rlb;
  if (!rlb.enabled() || !chooses_paths(now) || lb::OrderGuard::guards_slots(rlb)) return nullptr;
  if (previous != nullptr && previous->schemes[shard].flows != nullptr &&
      previous->config.rlb.guard.flows == rlb.guard.flows &&
      same_sets(previous->path_sets, now.path_sets))
    return previous->schemes[shard].flows;
  return std::make_shared<lb::FlowPaths>(static_cast<size_t>(rlb.guard.flows), sites);
}

// Where each set leads: what its id says, or the routes that go by it.
std::vector<LeafId> leaves_behind(const Snapshot& snapshot) {
  std::vector<LeafId> leaves;
  for (const lb::PathSet& set : snapshot.path_sets) leaves.push_back(set.leaf);
  for (size_t i = 0; i < snapshot.routes->target_count(); ++i) {
    const RouteTarget& target = snapshot.routes->target(static_cast<uint16_t>(i));
    if (target.via.is_none()) continue;
    const auto set = std::ranges::find(snapshot.path_sets, target.via, &lb::PathSet::leaf);
    if (set != snapshot.path_sets.end())
      leaves[static_cast<size_t>(set - snapshot.path_sets.begin())] = target.leaf;
  }
  return leaves;
}

// Paths go by fabric ports: what others can carry is no part of it.
bool measures_like(const Snapshot& previous, const Snapshot& now) {
  PathPlan plan = now.path_plan;
  for (size_t i = 0; i < plan.capacities.size(); ++i) {
    const auto leads_to_hosts = [i](const Snapshot& snapshot) {
      return snapshot.config.ports[i].role == config::PortRole::host;
    };
    if (leads_to_hosts(previous) && leads_to_hosts(now))
      plan.capacities[i] = previous.path_plan.capacities[i];
  }
  return previous.path_plan == plan;
}

bool same_measurement(const Snapshot* previous, const Snapshot& now) {
  return previous != nullptr && previous->paths != nullptr &&
         same_sets(previous->path_sets, now.path_sets) && measures_like(*previous, now);
}

// Shims that only say which channel a packet is in measure nothing.
bool measures_paths(const Snapshot& snapshot) {
  const SwitchConfig& config = snapshot.config;
  const config::ShimUse use = config.path_service.shim;
  const bool asked = use == config::ShimUse::sampled || use == config::ShimUse::every;
  return snapshot.path_plan.need != lb::ShimNeed::none &&
         (asked || lb::shim_need(config.load_balancer, config.rlb.enabled()) != lb::ShimNeed::none);
}

void plan_paths(Snapshot& snapshot, size_t shards, const Snapshot* previous) {
  const std::vector<LeafId> leaves = leaves_behind(snapshot);
  snapshot.path_plan = PathPlan::of(snapshot.config, snapshot.path_sets, leaves, shards);
  for (const lb::PortLine& line : lines_of(snapshot.config))
    snapshot.path_plan.capacities.push_back(snapshot.dre.capacity(line.rate));
  if (!measures_paths(snapshot)) return;
  if (same_measurement(previous, snapshot))
    snapshot.paths = previous->paths;
  else
    snapshot.paths = std::make_shared<lb::PathTable>(snapshot.path_sets,
                                                     snapshot.path_plan.table_parameters(), leaves);
}

// What has been heard of others' paths and waits to be echoed.
std::shared_ptr<PathEchoes> echoes_of(const Snapshot& now, size_t shard, const Snapshot* previous) {
  if (now.paths == nullptr) return nullptr;
  if (same_measurement(previous, now)) return previous->schemes[shard].echoes;
  return std::make_shared<PathEchoes>(now.path_sets);
}

// Whatever the scheme is: who probes idle paths, and who tells of loads where the configuration
// asks for shims and the scheme has no reports of its own. They know of paths as long as what is
// measured of them.
std::vector<std::shared_ptr<lb::PathAgent>> agents_of(const Snapshot& now, size_t shard,
                                                      const lb::PathAgent* of_scheme,
                                                      const Snapshot* previous) {
  if (now.paths == nullptr) return {};
  const bool reports = of_scheme != nullptr && (of_scheme->speech().fields & lb::kFieldReport) != 0;
  const bool needs_reporter = now.path_plan.tells_loads && !reports;
  const bool needs_prober = now.path_plan.probes_idle;
  const size_t count = (needs_prober ? 1 : 0) + (needs_reporter ? 1 : 0);
  if (same_measurement(previous, now) && previous->schemes[shard].agents.size() == count)
    return previous->schemes[shard].agents;
  const PathPlan& plan = now.path_plan;
  std::vector<std::shared_ptr<lb::PathAgent>> agents;
  if (needs_prober)
    agents.push_back(
        std::make_shared<lb::IdleProber>(lb::IdleProber::Plan{.sets = now.path_sets.size(),
                                                              .first = now.leaf.index(),
                                                              .round = plan.look_round(),
                                                              .probes = plan.probe > Duration{},
                                                              .rest = plan.rest}));
  if (needs_reporter) agents.push_back(std::make_shared<lb::LoadReporter>(now.path_sets));
  return agents;
}

// As long as an agent asks, flows need not be learned anew.
std::shared_ptr<ReplyFlows> reply_flows_of(size_t shard, const lb::PathAgent* agent,
                                           const Snapshot* previous) {
  if (agent == nullptr || !agent->speech().replies) return nullptr;
  if (previous != nullptr && previous->schemes[shard].reply_flows != nullptr)
    return previous->schemes[shard].reply_flows;
  return std::make_shared<ReplyFlows>();
}

// What is held against paths lasts as long as what is measured of them.
std::shared_ptr<PathJudges> judges_of(const Snapshot& now, size_t shard, const Snapshot* previous) {
  if (now.paths == nullptr || now.path_plan.detector.mode != config::DetectorMode::guarded)
    return nullptr;
  if (same_measurement(previous, now)) return previous->schemes[shard].judges;
  return std::make_shared<PathJudges>(now.path_sets);
}

// Whatever else changes: a flow does not begin anew.
std::shared_ptr<lb::FlowOrders> orders_of(const Snapshot& now, size_t shard,
                                          const Snapshot* previous, FaultProbe sites) {
  const config::ResequenceConfig& wanted = now.config.resequence;
  const bool has_hosts = std::ranges::any_of(now.config.ports, [](const config::PortConfig& port) {
    return !port.absent() && port.role == config::PortRole::host;
  });
  if (!wanted.enabled || !has_hosts) return nullptr;
  if (previous != nullptr && previous->schemes[shard].resequencer != nullptr &&
      previous->config.resequence.places() == wanted.places())
    return previous->schemes[shard].resequencer->flows();
  return std::make_shared<lb::FlowOrders>(static_cast<size_t>(wanted.places()), sites);
}

std::shared_ptr<lb::Resequencer> resequencer_of(const Snapshot& now, size_t shard,
                                                const Snapshot* previous, FaultProbe sites) {
  const std::shared_ptr<lb::FlowOrders> orders = orders_of(now, shard, previous, sites);
  if (orders == nullptr) return nullptr;
  if (previous != nullptr) {
    const auto& before = previous->schemes[shard].resequencer;
    if (before != nullptr && before->plan() == now.resequence && before->flows() == orders)
      return before;
  }
  return std::make_shared<lb::Resequencer>(now.resequence, orders);
}

// Those that are known stay known, or what is on its way to them is overtaken.
std::shared_ptr<IsolatedHosts> isolated_of(const Snapshot& now, size_t shard,
                                           const Snapshot* previous) {
  if (!now.isolation.known) return nullptr;
  if (previous != nullptr && previous->schemes[shard].isolated != nullptr)
    return previous->schemes[shard].isolated;
  return std::make_shared<IsolatedHosts>(static_cast<size_t>(now.config.isolation.hosts));
}

// The resequencer is the last: what another stage lets go may be ahead of its flow.
StageChain stages_at(lb::StagePlace place, const ShardScheme& scheme, const SwitchOptions& options,
                     size_t shard) {
  StageChain chain;
  size_t count = 0;
  const auto add = [&](std::shared_ptr<lb::FlowStage> stage) {
    if (stage != nullptr) chain[count++] = std::move(stage);
  };
  if (options.stage) add(options.stage(place, ShardId(shard)));
  if (lb::FlowStage* own = scheme.selector->stage(place); own != nullptr)
    add({scheme.selector, own});
  if (place == lb::StagePlace::to_hosts) add(scheme.resequencer);
  return chain;
}

Problems make_schemes(Snapshot& snapshot, const SwitchOptions& options, const Snapshot* previous) {
  const SwitchConfig& config = snapshot.config;
  const std::vector<lb::PortLine> lines = lines_of(config);
  const lb::SchemeInfo* const info = lb::scheme_of(config.load_balancer);
  snapshot.blind_to_queues = info != nullptr && info->blind_to_queues;
  for (size_t i = 0; i < options.shards; ++i) {
    ShardScheme scheme;
    scheme.live = std::make_unique<std::vector<lb::MemberMask>>(snapshot.path_sets.size());
    if (can_lend(previous, snapshot)) {
      scheme.selector = previous->schemes[i].selector;
    } else {
      const lb::SelectorInit init{snapshot.path_sets,
                                  config.seed,
                                  config.id,
                                  ShardId(i),
                                  config.load_balancer.parameters,
                                  config.rlb.enabled() ? &config.rlb : nullptr,
                                  lines,
                                  snapshot.dre,
                                  config.load_balancer.control == config::ControlBy::scheme,
                                  slots_before(snapshot, i, previous)};
      auto made = lb::make_selector(config.load_balancer, init);
      if (!made) return made.problems();
      scheme.selector = std::move(*made);
    }
    scheme.warnings = warnings_of(snapshot, i, previous);
    scheme.slots = slots_of(snapshot, i, previous, *scheme.selector);
    scheme.flows = flows_of(snapshot, i, previous, options.sites);
    scheme.echoes = echoes_of(snapshot, i, previous);
    const lb::PathAgent* speaker = scheme.selector->agent();
    scheme.agents = agents_of(snapshot, i, speaker, previous);
    scheme.reply_flows = reply_flows_of(i, speaker, previous);
    scheme.judges = judges_of(snapshot, i, previous);
    scheme.isolated = isolated_of(snapshot, i, previous);
    if (scheme.isolated != nullptr)
      scheme.speaking = std::make_unique<std::vector<uint8_t>>(snapshot.path_sets.size());
    scheme.resequencer = resequencer_of(snapshot, i, previous, options.sites);
    for (const auto place : {lb::StagePlace::from_hosts, lb::StagePlace::to_hosts})
      scheme.stages[static_cast<size_t>(place)] = stages_at(place, scheme, options, i);
    snapshot.schemes.push_back(std::move(scheme));
  }
  return {};
}

// Whoever has kept anything of a place forgets it when another port has it.
void note_changes_of_ports(Snapshot& snapshot, const Snapshot* previous) {
  for (size_t i = 0; i < snapshot.plans.size(); ++i) {
    const bool was_there = previous != nullptr && i < previous->plans.size();
    const bool stays = was_there && previous->config.ports[i].name == snapshot.config.ports[i].name;
    const uint64_t now = previous != nullptr ? previous->generation + 1 : 1;
    snapshot.plans[i].since = stays ? previous->plans[i].since : now;
  }
}

// What was begun is kept up to the end of the process.
Problems plan_isolation(Snapshot& snapshot, const Snapshot* previous) {
  const SwitchConfig& config = snapshot.config;
  IsolationPlan& plan = snapshot.isolation;
  const bool begun = previous != nullptr && previous->isolation.known;
  if (!config.isolation.enabled && !begun) return {};
  auto classes = pfc::class_pair_of(config);
  if (!classes) return config.isolation.enabled ? classes.problems() : Problems{};
  plan.known = true;
  plan.enabled = config.isolation.enabled;
  plan.classes = *classes;
  plan.config = &config.isolation;
  for (const config::PortConfig& port : config.ports)
    plan.host_ports += !port.absent() && port.role == config::PortRole::host ? 1 : 0;
  return {};
}

// Lanes between shards, RLB's loop and stages at the ports of hosts may hold packets for a while,
// and a patient guard before that for as long as it has patience.
void settle_isolation(Snapshot& snapshot) {
  const SwitchConfig& config = snapshot.config;
  const auto from_hosts = static_cast<size_t>(lb::StagePlace::from_hosts);
  const bool waits = (config.rlb.enabled() && config.rlb.recirculation.enabled) ||
                     snapshot.schemes.size() > 1 ||
                     snapshot.schemes[0].stages[from_hosts][0] != nullptr;
  Duration held = std::max(config.isolation.stay, config.effective_poll_gap() * 4);
  if (config.rlb.enabled() && config.rlb.guard.is_patient()) held += config.rlb.guard.patience;
  snapshot.isolation.settles = waits ? held : Duration::picoseconds(1);
}

}  // namespace

MacAddress port_mac(const SwitchConfig& config, size_t port) {
  if (config.ports[port].mac) return *config.ports[port].mac;
  MacAddress mac = config.mac;
  mac.octets[4] = static_cast<uint8_t>(mac.octets[4] ^ ((port + 1) >> 8));
  mac.octets[5] = static_cast<uint8_t>(mac.octets[5] ^ (port + 1));
  return mac;
}

const OwnAddress* Snapshot::own_address_on(PortId port, bool v4) const {
  const OwnAddress* fallback = nullptr;
  for (const OwnAddress& own : own_addresses) {
    if (own.prefix.address.is_v4() != v4) continue;
    if (own.port == port) return &own;
    if (fallback == nullptr || own.port.is_none()) fallback = &own;
  }
  return fallback;
}

bool Snapshot::owns(const IpAddress& address) const {
  return std::any_of(own_addresses.begin(), own_addresses.end(),
                     [&](const OwnAddress& own) { return own.prefix.address == address; });
}

Result<std::unique_ptr<Snapshot>> Snapshot::build(const SwitchConfig& config,
                                                  const SwitchOptions& options,
                                                  const Snapshot* previous) {
  if (config.neighbors.size() > kMaxConfiguredNeighbors)
    return Problems{"neighbors: " + std::to_string(config.neighbors.size()) + " are more than " +
                    std::to_string(kMaxConfiguredNeighbors)};
  auto plan = pfc::plan_buffer(config);
  if (!plan) return plan.problems();
  auto snapshot = std::make_unique<Snapshot>();
  snapshot->config = config;
  snapshot->config.rlb.guard.sorted = config.resequence.enabled;
  snapshot->cell = pfc::CellSize(config.buffer.cell_bytes);
  snapshot->shared_size = plan->shared;
  snapshot->stages_size = plan->stages;
  snapshot->set_aside = plan->reserved;
  snapshot->headroom_pool = plan->headroom_pool;
  snapshot->leaf = config.leaf;
  snapshot->dre = lb::Dre(lb::Dre::of(config.dre));
  Problems problems = plan_isolation(*snapshot, previous);
  if (!problems.empty()) return problems;
  add_ports(*snapshot, *plan);
  note_changes_of_ports(*snapshot, previous);
  snapshot->own_addresses = addresses_of(config);
  snapshot->neighbors = configured_neighbors(config);
  snapshot->routes = options.shared_routes;
  if (!snapshot->routes) {
    auto table = RouteTable::build(routes_of(config, snapshot->own_addresses), options.routes);
    if (!table) return table.problems();
    snapshot->routes = *table;
  }
  snapshot->path_sets = path_sets_of(config);
  snapshot->next_hops.reserve(snapshot->routes->target_count());
  for (size_t i = 0; i < snapshot->routes->target_count(); ++i)
    snapshot->next_hops.push_back(
        next_hop_of(snapshot->routes->target(static_cast<uint16_t>(i)), *snapshot));
  plan_paths(*snapshot, options.shards, previous);
  snapshot->resequence = lb::ResequencePlan::of(config.resequence, snapshot->path_plan.base_rtt,
                                                snapshot->shared_size + snapshot->stages_size);
  for (size_t i = 0; i < snapshot->ports.size(); ++i)
    snapshot->resequence.fabric.set(i, snapshot->ports[i].role == config::PortRole::fabric);
  problems = make_schemes(*snapshot, options, previous);
  if (!problems.empty()) return problems;
  settle_isolation(*snapshot);
  return Result<std::unique_ptr<Snapshot>>(std::move(snapshot));
}

}  // namespace eddy
