// The keys of an experiment's traffic and faults.
#include <iterator>

#include "config/keys/experiment.h"
#include "config/keys/makers.h"
#include "config/keys/units.h"

namespace eddy::config {
namespace {

constexpr int64_t kLatest = 1'000 * kSecond;
constexpr int64_t kTerabyte = int64_t{1} << 40;
constexpr int64_t kFastestTraffic = 1'000'000'000'000'000;
constexpr int64_t kMillion = 1'000'000;

constexpr std::array<std::string_view, 4> kCollectiveOps = {"all_reduce_ring", "all_reduce_tree",
                                                            "all_to_all", "all_gather"};
constexpr std::array<std::string_view, 2> kLoadReferences = {"core", "host"};

// Whether the object is of one of the types.
template <class S, auto... Types>
bool is(const void* object) {
  const auto type = static_cast<const S*>(object)->type;
  return ((type == Types) || ...);
}
using enum TrafficType;
constexpr auto kPoisson = is<TrafficConfig, poisson>;
constexpr auto kTrace = is<TrafficConfig, trace>;
constexpr auto kIncast = is<TrafficConfig, incast>;
constexpr auto kByRate = is<TrafficConfig, poisson, incast>;
constexpr auto kRandomPairs = is<TrafficConfig, poisson, incast, permutation>;
constexpr auto kGenerated =
    is<TrafficConfig, poisson, burst, incast, permutation, all_to_all, long_flow>;
constexpr auto kWithDestinations = is<TrafficConfig, poisson, burst, incast, all_to_all, long_flow>;
constexpr auto kSized =
    is<TrafficConfig, burst, incast, permutation, all_to_all, long_flow, collective>;
constexpr auto kPairs = is<TrafficConfig, burst, permutation, all_to_all, long_flow>;
constexpr auto kPeriodic = is<TrafficConfig, burst, incast>;
constexpr auto kRepeated = is<TrafficConfig, burst, incast, collective>;
constexpr auto kStopped =
    is<TrafficConfig, poisson, burst, incast, permutation, all_to_all, long_flow, trace>;
constexpr auto kCollective = is<TrafficConfig, TrafficType::collective>;

}  // namespace

template <>
std::span<const std::string_view> choices_of<TrafficType>() {
  return kTrafficTypeNames;
}
template <>
std::span<const std::string_view> choices_of<CollectiveOp>() {
  return kCollectiveOps;
}
template <>
std::span<const std::string_view> choices_of<LoadReference>() {
  return kLoadReferences;
}
template <>
std::span<const std::string_view> choices_of<FaultType>() {
  return kFaultTypeNames;
}

namespace {

// What is offered.
std::vector<Key> load_keys() {
  using S = TrafficConfig;
  return {
      key<S>(&S::type, {.name = "type", .help = "by which rule flows are made"}),
      key<S>(&S::name, {.name = "name",
                        .max = 64,
                        .absent = "auto",
                        .help = "label in results; auto: the type"}),
      key<S>(&S::cdf, {.name = "cdf",
                       .max = 512,
                       .default_says = "required with type: poisson",
                       .help = "flow sizes: a workload, such as web_search, or "
                               "a path (with a '.' or '/') from the experiment's folder",
                       .applies = kPoisson,
                       .applies_says = "type: poisson"}),
      key<S>(&S::truncate, {.name = "truncate",
                            .min = 1,
                            .max = kTerabyte,
                            .absent = "none",
                            .help = "what would be a longer flow is so long",
                            .applies = kPoisson,
                            .applies_says = "type: poisson"}),
      key<S>(&S::load, {.name = "load",
                        .max = 1,
                        .help = "of the reference: octets on the line, of data only",
                        .applies = kPoisson,
                        .applies_says = "type: poisson"}),
      key<S>(&S::reference,
             {.name = "reference",
              .help = "core: the uplinks of the sources' leaves, all healthy; host: their NICs",
              .applies = kPoisson,
              .applies_says = "type: poisson"}),
      key<S>(&S::rate, {.name = "rate",
                        .min = kSlowestLine,
                        .max = kFastestTraffic,
                        .absent = "none",
                        .help = "poisson: offered by all sources, instead of load; incast: by "
                                "requests at random times",
                        .applies = kByRate,
                        .applies_says = "type: poisson or incast"}),
      key<S>(&S::paired, {.name = "paired",
                          .help = "the i-th source sends to the i-th destination alone; the "
                                  "destinations repeat",
                          .applies = kPoisson,
                          .applies_says = "type: poisson"}),
  };
}

// Between whom, and how many.
std::vector<Key> flow_keys() {
  using S = TrafficConfig;
  return {
      key<S>(&S::remote_only, {.name = "remote_only",
                               .help = "source and destination have different leaves",
                               .applies = kRandomPairs,
                               .applies_says = "type: poisson, incast or permutation"}),
      list<S>(&S::sources,
              {.name = "sources",
               .help = "hosts: all, leaf2, leaf1.host3, host12, leaf1.host1-8; empty: all",
               .applies = kGenerated,
               .applies_says = "every type but trace and collective"},
              {.shape = Type::Shape::text, .max = 64}),
      list<S>(&S::destinations,
              {.name = "destinations",
               .help = "the same; incast: who asks",
               .applies = kWithDestinations,
               .applies_says = "every type but permutation, trace and collective"},
              {.shape = Type::Shape::text, .max = 64}),
      key<S>(&S::size, {.name = "size",
                        .max = kTerabyte,
                        .default_says = "required, but with poisson and trace",
                        .help = "of a flow; incast: of all answers to a request; collective: of "
                                "a rank's data, of all_gather the gathered",
                        .applies = kSized,
                        .applies_says = "every type but poisson and trace"}),
      key<S>(&S::count, {.name = "count",
                         .min = 1,
                         .max = kMillion,
                         .help = "flows a pair",
                         .applies = kPairs,
                         .applies_says = "type: burst, permutation, all_to_all or long_flow"}),
      key<S>(&S::degree, {.name = "degree",
                          .max = 65'535,
                          .default_says = "required with type: incast",
                          .help = "senders a request",
                          .applies = kIncast,
                          .applies_says = "type: incast"}),
  };
}

// What hosts do together.
std::vector<Key> collective_keys() {
  using S = TrafficConfig;
  return {
      key<S>(&S::op, {.name = "op",
                      .help = "all_reduce_ring: 2 (N - 1) steps with 1/N of the data each; "
                              "all_reduce_tree: up a binary tree and down; all_to_all: 1/N to each "
                              "other rank; all_gather: the ring's second half",
                      .applies = kCollective,
                      .applies_says = "type: collective"}),
      list<S>(&S::ranks,
              {.name = "ranks",
               .help = "hosts, as in sources, in the order of the ring or tree; empty: all",
               .applies = kCollective,
               .applies_says = "type: collective"},
              {.shape = Type::Shape::text, .max = 64}),
      key<S>(&S::chunks, {.name = "chunks",
                          .min = 1,
                          .max = 65'535,
                          .help = "that each part is sent in; one goes on when it has arrived",
                          .applies = kCollective,
                          .applies_says = "type: collective"}),
      key<S>(&S::after, {.name = "after",
                         .max = 64,
                         .absent = "none",
                         .help = "the item of the traffic that has to end first, by its name; a "
                                 "time is the key start",
                         .applies = kCollective,
                         .applies_says = "type: collective"}),
  };
}

// When, and what else flows have.
std::vector<Key> time_keys() {
  using S = TrafficConfig;
  return {
      key<S>(&S::start, {.name = "start",
                         .max = kLatest,
                         .absent = "first",
                         .help = "from the run's beginning, or from the end of the item that after "
                                 "names; first: at once. trace: the time in its "
                                 "file that is the run's beginning, 0s: its times stay; first: "
                                 "when its first flow starts"}),
      key<S>(&S::stop, {.name = "stop",
                        .max = kLatest,
                        .absent = "end",
                        .help = "no flow starts from here on; end: run.warmup + run.duration",
                        .applies = kStopped,
                        .applies_says = "every type but collective"}),
      key<S>(&S::period, {.name = "period",
                          .max = kLatest,
                          .absent = "none",
                          .help = "between consecutive ones; none: there is one",
                          .applies = kPeriodic,
                          .applies_says = "type: burst or incast"}),
      key<S>(&S::repeat,
             {.name = "repeat",
              .max = kMillion,
              .absent = "all",
              .help = "at most so many; all: until stop. collective: so many, in each of "
                      "which a rank begins when it has what it gets in the one before; "
                      "all: once",
              .applies = kRepeated,
              .applies_says = "type: burst, incast or collective"}),
      list<S>(&S::paths, {.name = "paths", .help = "spines that these flows may use; empty: all"},
              {.shape = Type::Shape::text, .max = 64}),
      key<S>(&S::file, {.name = "file",
                        .max = 512,
                        .default_says = "required with type: trace",
                        .help = "CSV of start,source,destination,size or a flow file of HPCC's or "
                                "ConWeave's simulator, from the experiment's folder",
                        .applies = kTrace,
                        .applies_says = "type: trace"}),
      key<S>(&S::measured,
             {.name = "measured", .help = "false: its flows are load, and in no statistic"}),
  };
}

std::vector<Key> traffic_keys() {
  std::vector<Key> keys = load_keys();
  std::ranges::move(flow_keys(), std::back_inserter(keys));
  std::ranges::move(collective_keys(), std::back_inserter(keys));
  std::ranges::move(time_keys(), std::back_inserter(keys));
  return keys;
}

// Keys of a switch and their new values, as written.
Key changes_key() {
  using S = FaultConfig;
  const Type word{.shape = Type::Shape::text, .max = kLongestText};
  Type type{.shape = Type::Shape::mapping, .element = std::make_shared<const Type>(word)};
  type.key_says = "keys of a switch";
  type.key_pattern = "^[A-Za-z0-9_.]{1,64}$";
  const auto read = [=](Reader& reader, const Node& node, void* object) {
    if (!expect_kind(reader, node, Node::Kind::map, type)) return;
    for (const Node::Member& entry : node.members) {
      Reader::Scope scope(reader, entry.key, entry.key_at);
      read_value(reader, entry.value, word, static_cast<S*>(object)->set[entry.key]);
    }
  };
  const auto print = [](const void* object) {
    Value value{.kind = Value::Kind::map};
    for (const auto& [name, text] : static_cast<const S*>(object)->set)
      value.members.push_back({name, {.text = true, .word = text}});
    return value;
  };
  const auto dilate = [](void* object, int64_t factor) {
    dilate_words(static_cast<S*>(object)->set, factor);
  };
  return {{.name = "set",
           .help = "keys and their new values",
           .applies = is<S, FaultType::reconfigure>,
           .applies_says = "type: reconfigure"},
          type,
          read,
          print,
          dilate};
}

}  // namespace

template <>
const Section& section_of<TrafficConfig>() {
  static const Section section =
      make_section("traffic",
                   "Flows by one rule; a list. The same seed gives the same flows, whatever the "
                   "scheme; an item never changes what another draws.",
                   traffic_keys(), TrafficConfig{});
  return section;
}

template <>
const Section& section_of<FaultConfig>() {
  using S = FaultConfig;
  using enum FaultType;
  const Type name{.shape = Type::Shape::text, .max = 64};
  static const Section section = make_section(
      "faults", "What goes wrong, and when; a list.",
      {
          key<S>(&S::type, {.name = "type", .help = "what goes wrong"}),
          list<S>(&S::links, {.name = "links", .help = "links by name, such as leaf1-spine2"},
                  name),
          list<S>(&S::switches, {.name = "switches", .help = "switches by name"}, name),
          list<S>(&S::hosts, {.name = "hosts", .help = "hosts, as in traffic"}, name),
          list<S>(&S::pairs,
                  {.name = "pairs",
                   .help = "source>destination, such as leaf1.host2>leaf3.host1",
                   .applies = is<S, black_hole>,
                   .applies_says = "type: black_hole"},
                  {.shape = Type::Shape::text, .max = 128}),
          key<S>(&S::fraction,
                 {.name = "fraction", .max = 1, .help = "a seeded choice instead of names"}),
          key<S>(&S::probability,
                 {.name = "probability",
                  .max = 1,
                  .help = "of each packet",
                  .applies = is<S, black_hole, random_drop, corruption, pfc_loss, pfc_duplicate,
                                pfc_delay, cnm_loss, cnm_duplicate>,
                  .applies_says = "type: black_hole, random_drop, corruption, pfc_loss, "
                                  "pfc_duplicate, pfc_delay, cnm_loss or cnm_duplicate"}),
          key<S>(&S::rate, {.name = "rate",
                            .min = kSlowestLine,
                            .max = kFastestTraffic,
                            .absent = "none",
                            .help = "what is left",
                            .applies = is<S, slow_link, slow_receiver>,
                            .applies_says = "type: slow_link or slow_receiver"}),
          key<S>(&S::start, {.name = "start", .max = kLatest, .help = "from the run's beginning"}),
          key<S>(&S::duration,
                 {.name = "duration", .max = kLatest, .absent = "end", .help = "how long"}),
          key<S>(&S::period,
                 {.name = "period",
                  .max = kLatest,
                  .absent = "none",
                  .help = "it begins again so long after each beginning, needs a shorter "
                          "duration; pause_storm: the time between two of its pause frames, "
                          "required"}),
          key<S>(&S::delay, {.name = "delay",
                             .max = kSecond,
                             .help = "of pause frames",
                             .applies = is<S, pfc_delay>,
                             .applies_says = "type: pfc_delay"}),
          changes_key(),
      },
      FaultConfig{});
  return section;
}

}  // namespace eddy::config
