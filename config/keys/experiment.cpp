// The keys of an experiment: the fabric, its switches, the run, and the shape of the file.
#include "config/keys/experiment.h"

#include "config/keys/makers.h"
#include "config/keys/units.h"

namespace eddy::config {
namespace {

constexpr int64_t kLongestRun = 1'000 * kSecond;
constexpr int64_t kMostSwitches = 4'096;
constexpr int64_t kMostHosts = 255;  // a switch
constexpr int64_t kMostWeight = 64;  // as a path's in a switch's own configuration

constexpr std::array<std::string_view, 5> kTopologies = {"leaf_spine", "fat_tree", "dragonfly",
                                                         "file", "hpcc"};
constexpr std::array<std::string_view, 2> kPollModels = {"exact", "busy_poll"};
constexpr std::array<std::string_view, 3> kFlowQueues = {"off", "marked_by_port", "marked_by_flow"};

template <TopologyKind... Kinds>
bool is_kind(const void* topology) {
  const TopologyKind kind = static_cast<const TopologyConfig*>(topology)->kind;
  return ((kind == Kinds) || ...);
}
constexpr auto kLeafSpine = is_kind<TopologyKind::leaf_spine>;
constexpr auto kFatTree = is_kind<TopologyKind::fat_tree>;
constexpr auto kDragonfly = is_kind<TopologyKind::dragonfly>;
constexpr auto kFromFile = is_kind<TopologyKind::file, TopologyKind::hpcc>;

// A whole number that only one kind of topology has.
Key count_key(int TopologyConfig::*member, std::string_view name, std::string_view help,
              int64_t max, std::string_view kind) {
  const auto applies = kind == "kind: leaf_spine" ? kLeafSpine
                       : kind == "kind: fat_tree" ? kFatTree
                                                  : kDragonfly;
  return key<TopologyConfig>(
      member,
      {.name = name, .min = 1, .max = max, .help = help, .applies = applies, .applies_says = kind});
}

std::vector<Key> topology_keys() {
  using S = TopologyConfig;
  constexpr std::string_view kOfLeafSpine = "kind: leaf_spine";
  constexpr std::string_view kOfFatTree = "kind: fat_tree";
  constexpr std::string_view kOfDragonfly = "kind: dragonfly";
  const auto rate = [](std::string_view name, std::string_view help) {
    return KeyInfo{.name = name, .min = kSlowestLine, .max = kFastestLine, .help = help};
  };
  const auto delay = [](std::string_view name, std::string_view help) {
    return KeyInfo{.name = name, .max = kSecond, .help = help};
  };
  return {
      key<S>(&S::kind, {.name = "kind", .help = "hpcc: a topology file of HPCC's simulator"}),
      count_key(&S::leaves, "leaves", "switches with hosts", kMostSwitches, kOfLeafSpine),
      count_key(&S::spines, "spines", "every leaf has a link to each", kMostSwitches, kOfLeafSpine),
      count_key(&S::hosts_per_leaf, "hosts_per_leaf", "hosts a leaf", kMostHosts, kOfLeafSpine),
      count_key(&S::parallel_links, "parallel_links", "between a leaf and a spine", kMaxPorts,
                kOfLeafSpine),
      count_key(&S::k, "k", "ports a switch, even", kMaxPorts, kOfFatTree),
      count_key(&S::oversubscription, "oversubscription",
                "hosts an edge switch: so many times k / 2", 64, kOfFatTree),
      count_key(&S::groups, "groups", "each linked to each", kMostSwitches, kOfDragonfly),
      count_key(&S::routers, "routers", "switches a group", kMostSwitches, kOfDragonfly),
      count_key(&S::hosts_per_router, "hosts_per_router", "hosts a switch", kMostHosts,
                kOfDragonfly),
      count_key(&S::global_links, "global_links", "between each pair of groups", kMaxPorts,
                kOfDragonfly),
      key<S>(&S::file, {.name = "file",
                        .max = 512,
                        .default_says = "required with kind: file or hpcc",
                        .help = "from the experiment's folder",
                        .applies = kFromFile,
                        .applies_says = "kind: file or hpcc"}),
      key<S>(&S::host_rate, rate("host_rate", "of hosts and their links")),
      key<S>(&S::fabric_rate, rate("fabric_rate", "of links between switches")),
      key<S>(&S::host_delay, delay("host_delay", "one way, of a host's link")),
      key<S>(&S::fabric_delay, delay("fabric_delay", "one way, of a link between switches")),
      key<S>(&S::line_overhead,
             {.name = "line_overhead",
              .max = 64,
              .help = "of every link: octets of line time a frame takes besides its own; 24 are "
                      "FCS, preamble and gap, simulators have 0",
              .source = "802.3; HPCC's simulator"}),
      list<S>(&S::degraded, {.name = "degraded", .help = "links that are slower"},
              type_of<LinkChoice>({})),
      key<S>(&S::pinned,
             {.name = "pinned",
              .help = "leaves choose for the second switch, too: a path for each of its links, and "
                      "a shim on every packet between leaves",
              .source = "reference 1.4"}),
      list<S>(&S::failed, {.name = "failed", .help = "links that are down"},
              type_of<LinkChoice>({})),
      list<S>(&S::weighted,
              {.name = "weighted", .help = "links that are chosen more often; the others weigh 1"},
              type_of<LinkChoice>({})),
      key<S>(&S::seed, {.name = "seed", .help = "of links chosen by fraction"}),
  };
}

// What the loader takes out of the tree before this table is used.
Key outer_key(std::string_view name, const Type& type, std::string_view help) {
  return {{.name = name, .help = help},
          type,
          [](Reader&, const Node&, void*) {},
          [](const void*) { return Value{.kind = Value::Kind::map}; },
          [](void*, int64_t) {}};
}

Key sizes_key() {
  const Type overlay{.shape = Type::Shape::open, .text_says = "keys to change"};
  Type type{.shape = Type::Shape::mapping, .element = std::make_shared<const Type>(overlay)};
  type.key_says = "ci, reduced, full";
  type.key_pattern = "^(ci|reduced|full)$";
  return outer_key("sizes", type,
                   "what a size changes: keys as in the file, or with dots (topology.leaves: 4); "
                   "full is the file as it stands, unless it is here too");
}

}  // namespace

template <>
std::span<const std::string_view> choices_of<TopologyKind>() {
  return kTopologies;
}
template <>
std::span<const std::string_view> choices_of<PollModel>() {
  return kPollModels;
}
template <>
std::span<const std::string_view> choices_of<FlowQueues>() {
  return kFlowQueues;
}

template <>
const Section& section_of<LinkChoice>() {
  using S = LinkChoice;
  static const Section section = make_section(
      "links", "Links of the fabric, by name or as a seeded fraction.",
      {
          list<S>(&S::links,
                  {.name = "links",
                   .help = "such as leaf1-spine2; of parallel links the second is leaf1-spine2.2"},
                  {.shape = Type::Shape::text, .max = 128}),
          key<S>(&S::fraction, {.name = "fraction", .max = 1, .help = "of the fabric's links"}),
          key<S>(&S::rate, {.name = "rate",
                            .min = kSlowestLine,
                            .max = kFastestLine,
                            .absent = "none",
                            .help = "degraded: what they have instead"}),
          key<S>(&S::weight,
                 {.name = "weight",
                  .min = 1,
                  .max = kMostWeight,
                  .help = "weighted: of the paths that begin with them, for schemes that weigh"}),
      },
      LinkChoice{});
  return section;
}

template <>
const Section& section_of<TopologyConfig>() {
  static const Section section =
      make_section("topology", "The fabric.", topology_keys(), TopologyConfig{});
  return section;
}

template <>
const Section& section_of<PortsOfRate>() {
  using S = PortsOfRate;
  const auto profile = [](std::string_view name, std::string_view help) {
    return KeyInfo{.name = name,
                   .max = 32,
                   .absent = "none",
                   .pattern = kNamePattern,
                   .pattern_says = kNameSays,
                   .help = help};
  };
  static const Section section = make_section(
      "by_rate", "Ports of one rate, hosts' and those between switches.",
      {
          key<S>(&S::rate, {.name = "rate",
                            .min = kSlowestLine,
                            .max = kFastestLine,
                            .required = true,
                            .help = "that of the port, degraded or not"}),
          key<S>(&S::wred, profile("wred", "the WRED profile that they have instead of default")),
          key<S>(&S::lossless,
                 profile("lossless", "the buffer profile that they have instead of lossless")),
      },
      S{});
  return section;
}

template <>
const Section& section_of<FabricSwitchConfig>() {
  using S = FabricSwitchConfig;
  static const Section section = make_section(
      "switches", "Every switch of the fabric.",
      {
          key<S>(&S::pfc, {.name = "pfc", .help = "false: no pause is sent or obeyed"}),
          key<S>(&S::allow_overcommit,
                 {.name = "allow_overcommit",
                  .help = "run although the lossless groups do not fit the buffer"}),
          key<S>(&S::poll_gap, {.name = "poll_gap",
                                .min = 1,
                                .max = kSecond,
                                .machine_time = true,
                                .help = "the poll loop's share of the headroom"}),
          list<S>(&S::lossless,
                  {.name = "lossless",
                   .max = 7,
                   .help = "priorities that pause their senders; the others may drop"},
                  {.shape = Type::Shape::integer, .max = 7}),
          indexed<S>(&S::queues, {.name = "queues", .help = "egress queues of every port"}),
          list<S>(&S::by_rate,
                  {.name = "by_rate", .help = "profiles that ports of a rate have of their own"},
                  type_of<PortsOfRate>({})),
          key<S>(&S::mtu, {.name = "mtu",
                           .min = 576,
                           .max = 9'216,
                           .absent = "auto",
                           .help = "largest layer-3 packet, in octets; auto: what the hosts send, "
                                   "with headers that switches add"}),
      },
      FabricSwitchConfig{});
  return section;
}

template <>
const Section& section_of<RunConfig>() {
  using S = RunConfig;
  constexpr int64_t kMostFlows = int64_t{1} << 24;
  constexpr int64_t kMostPackets = int64_t{1} << 27;
  static const Section section = make_section(
      "run", "How long, and how often.",
      {
          list<S>(&S::seeds, {.name = "seeds", .help = "one run each"},
                  {.shape = Type::Shape::integer}),
          key<S>(&S::warmup, {.name = "warmup",
                              .max = kLongestRun,
                              .help = "flows that start before are not measured"}),
          key<S>(&S::duration, {.name = "duration",
                                .min = 1,
                                .max = kLongestRun,
                                .help = "flows start within warmup + duration"}),
          key<S>(&S::drain, {.name = "drain",
                             .max = kLongestRun,
                             .help = "then so long at most, until all have finished"}),
          key<S>(&S::max_flows, {.name = "max_flows",
                                 .max = kMostFlows,
                                 .absent = "none",
                                 .help = "only so many, the first"}),
          key<S>(&S::poll_model,
                 {.name = "poll_model",
                  .help = "exact: a switch sees a packet at once; busy_poll: at its next poll"}),
          key<S>(&S::poll_period, {.name = "poll_period",
                                   .min = 1,
                                   .max = kSecond,
                                   .machine_time = true,
                                   .help = "busy_poll"}),
          key<S>(
              &S::poll_jitter,
              {.name = "poll_jitter", .max = kSecond, .machine_time = true, .help = "busy_poll"}),
          key<S>(&S::poll_burst, {.name = "poll_burst",
                                  .min = 1,
                                  .max = kBurst,
                                  .help = "busy_poll: packets a port and poll"}),
          key<S>(&S::packets, {.name = "packets",
                               .max = kMostPackets,
                               .absent = "auto",
                               .help = "of the pool; auto: from buffers and links"}),
          key<S>(&S::sample_period, {.name = "sample_period",
                                     .max = kLongestRun,
                                     .absent = "none",
                                     .help = "between samples of the queues"}),
          key<S>(&S::time_dilation, {.name = "time_dilation",
                                     .min = 1,
                                     .max = 10'000,
                                     .help = "divides every rate and multiplies every time"}),
          key<S>(&S::flow_queues,
                 {.name = "flow_queues",
                  .help = "instead of switches a reference with a queue and a pause for each "
                          "flow; ECN by what waits at the port, or of the flow"}),
      },
      RunConfig{});
  return section;
}

Experiment default_experiment() {
  Experiment experiment;
  experiment.switches.buffer = default_switch("switch").buffer;
  return experiment;
}

ExperimentDocument experiment_document(const Experiment& experiment) {
  return {experiment, {experiment.host, {experiment.dcqcn, experiment.host.dcqcn}}};
}

Experiment experiment_of(const ExperimentDocument& document) {
  Experiment experiment = document.experiment;
  experiment.host = document.host.config;
  experiment.host.dcqcn = document.host.dcqcn.config;
  experiment.dcqcn = document.host.dcqcn.preset;
  return experiment;
}

const Section& experiment_section() {
  using S = ExperimentDocument;
  const auto text = [](std::string_view name, std::string_view help) {
    return KeyInfo{.name = name, .absent = "none", .help = help};
  };
  const Type note{.shape = Type::Shape::text, .max = kLongestText};
  static const Section section = make_section(
      "the file", "One experiment.",
      {
          key<S>([](auto& d) -> auto& { return d.experiment.id; },
                 {.name = "id",
                  .max = 64,
                  .absent = "auto",
                  .pattern = "^[A-Za-z0-9_][A-Za-z0-9_.-]{0,63}$",
                  .pattern_says =
                      "up to 64 letters, digits, '_', '-' and '.', neither '.' nor '-' first",
                  .help = "names its results; auto: the file's name"}),
          key<S>(
              [](auto& d) -> auto& { return d.experiment.title; }, text("title", "for headings")),
          key<S>(
              [](auto& d) -> auto& { return d.experiment.source; },
              text("source", "paper and figure")),
          key<S>([](auto& d) -> auto& { return d.experiment.topology; },
                 {.name = "topology", .help = "the fabric"}),
          key<S>([](auto& d) -> auto& { return d.experiment.switches; },
                 {.name = "switches", .help = "every switch"}),
          key<S>([](auto& d) -> auto& { return d.experiment.switches.buffer; },
                 {.name = "buffer", .help = "the packet buffer of every switch"}),
          named<S>(
              [](auto& d) -> auto& { return d.experiment.switches.buffer.wred; },
              {.name = "wred",
               .help = "WRED profiles, by name; ports use default, or what switches.by_rate says"}),
          key<S>([](auto& d) -> auto& { return d.experiment.switches.pfc_port; },
                 {.name = "pfc", .help = "priority-based flow control of every port"}),
          key<S>([](auto& d) -> auto& { return d.experiment.switches.watchdog; },
                 {.name = "watchdog", .help = "the PFC watchdog of every port"}),
          key<S>(&S::host, {.name = "host", .help = "every host"}),
          load_balancer_key([](void* d) -> LoadBalancerConfig& {
            return static_cast<S*>(d)->experiment.load_balancer;
          }),
          key<S>([](auto& d) -> auto& { return d.experiment.switches.dre; },
                 {.name = "dre", .help = "how every switch estimates the load of its ports"}),
          short_key<S>([](auto& d) -> auto& { return d.experiment.switches.rlb; },
                       {.name = "rlb", .help = "keep packets off paths that PFC will stop"}),
          key<S>([](auto& d) -> auto& { return d.experiment.switches.path_service; },
                 {.name = "path_service", .help = "what is measured of paths"}),
          key<S>([](auto& d) -> auto& { return d.experiment.switches.resequence; },
                 {.name = "resequence", .help = "flows are put back in order before their host"}),
          key<S>([](auto& d) -> auto& { return d.experiment.switches.isolation; },
                 {.name = "isolation", .help = "packets to congested hosts in a class apart"}),
          list<S>(
              [](auto& d) -> auto& { return d.experiment.traffic; },
              {.name = "traffic", .help = "the flows"}, type_of<TrafficConfig>({})),
          list<S>(
              [](auto& d) -> auto& { return d.experiment.faults; },
              {.name = "faults", .help = "what goes wrong"}, type_of<FaultConfig>({})),
          key<S>([](auto& d) -> auto& { return d.experiment.run; },
                 {.name = "run", .help = "how long, and how often"}),
          sizes_key(),
          outer_key("matrix",
                    {.shape = Type::Shape::open,
                     .text_says = "axes and their values, or a list of variants"},
                    "one experiment for every combination; see above"),
          outer_key("expect",
                    {.shape = Type::Shape::list, .element = std::make_shared<const Type>(note)},
                    "what is claimed or expected, shown beside the results"),
      },
      experiment_document(default_experiment()));
  return section;
}

}  // namespace eddy::config
