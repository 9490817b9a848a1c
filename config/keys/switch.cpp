// The keys of the switch as a whole, and the shape of the file.
#include <algorithm>
#include <filesystem>

#include "config/capabilities.h"
#include "config/keys/makers.h"
#include "config/keys/units.h"

namespace eddy::config {
namespace {

using enum KeyClass;

constexpr std::array<std::string_view, 2> kIdlePolicies = {"busy", "adaptive"};
constexpr std::array<std::string_view, 2> kBufferModes = {"static", "dynamic"};
constexpr std::array<std::string_view, 2> kControlWays = {"ecmp", "scheme"};

bool is_static_profile(const void* profile) {
  return static_cast<const BufferProfile*>(profile)->mode == BufferMode::fixed;
}
bool is_dynamic(const void* profile) {
  return static_cast<const BufferProfile*>(profile)->mode == BufferMode::dynamic;
}
bool is_lossless(const void* profile) {
  return static_cast<const BufferProfile*>(profile)->lossless;
}

Key ports_key() {
  const Type element = type_of<PortConfig>({});
  Type type{.shape = Type::Shape::mapping, .element = std::make_shared<const Type>(element)};
  type.key_says = "port names";
  type.key_pattern = kNamePattern;
  const auto read = [=](Reader& reader, const Node& node, void* object) {
    auto& document = *static_cast<Document*>(object);
    if (!expect_kind(reader, node, Node::Kind::map, type)) return;
    for (const Node::Member& entry : node.members) {
      Reader::Scope scope(reader, entry.key, entry.key_at);
      check_name(reader, entry);
      PortConfig& added = document.config.ports.emplace_back(document.base_port);
      added.name = entry.key;
      read_value(reader, entry.value, element, added);
    }
  };
  const auto print = [=](const void* object) {
    Value value{.kind = Value::Kind::map};
    for (const PortConfig& each : static_cast<const Document*>(object)->config.ports)
      value.members.push_back({each.name, print_value(each, element)});
    return value;
  };
  const auto dilate = [=](void* object, int64_t factor) {
    for (PortConfig& each : static_cast<Document*>(object)->config.ports)
      dilate_value(each, element, factor);
  };
  return {{.name = "ports",
           .help = "the ports, by name; a reload adds and removes them while there is room "
                   "(switch.spare_ports)"},
          type,
          read,
          print,
          dilate};
}

Key leaves_key() {
  constexpr size_t kLastLeaf = 65'534;
  Type path = type_of<PathConfig>({});
  path.short_form = true;
  const Key paths = list<LeafConfig>(&LeafConfig::paths, {}, path);
  Type type{.shape = Type::Shape::mapping, .element = std::make_shared<const Type>(paths.type)};
  type.key_says = "leaf ids (0 to 65534)";
  type.key_pattern = "^[0-9]{1,5}$";
  const auto read = [=](Reader& reader, const Node& node, void* object) {
    if (!expect_kind(reader, node, Node::Kind::map, type)) return;
    for (const Node::Member& entry : node.members) {
      Reader::Scope scope(reader, entry.key, entry.key_at);
      const auto id = read_index(reader, entry, 0, kLastLeaf);
      if (!id) continue;
      LeafConfig& leaf = static_cast<Document*>(object)->config.leaves.emplace_back();
      leaf.id = LeafId(*id);
      paths.read(reader, entry.value, &leaf);
    }
  };
  const auto print = [=](const void* object) {
    Value value{.kind = Value::Kind::map};
    for (const LeafConfig& leaf : static_cast<const Document*>(object)->config.leaves)
      value.members.push_back({Codec<LeafId>::format(leaf.id), paths.print(&leaf)});
    return value;
  };
  const auto dilate = [=](void* object, int64_t factor) {
    for (LeafConfig& leaf : static_cast<Document*>(object)->config.leaves)
      paths.dilate(&leaf, factor);
  };
  return {{.name = "leaves", .help = "how to reach other leaves: leaf id -> paths"},
          type,
          read,
          print,
          dilate};
}

}  // namespace

template <>
std::span<const std::string_view> choices_of<IdlePolicy>() {
  return kIdlePolicies;
}
template <>
std::span<const std::string_view> choices_of<BufferMode>() {
  return kBufferModes;
}

template <>
std::span<const std::string_view> choices_of<ControlBy>() {
  return kControlWays;
}

template <>
std::span<const std::string_view> choices_of<PortKind>() {
  return port_kind_names();
}

template <>
const Section& section_of<BufferProfile>() {
  using S = BufferProfile;
  static const Section section = make_section(
      "buffer profiles",
      "How much buffer a priority group may use, and when it pauses its sender. Profiles "
      "'lossless' "
      "and 'lossy' exist.",
      {
          key<S>(&S::lossless, {.name = "lossless",
                                .default_says = "false; profile lossless: true",
                                .help = "pause the sender instead of dropping"}),
          key<S>(&S::mode, {.name = "mode",
                            .default_says = "dynamic; profile lossless: static",
                            .help = "static: a fixed threshold (xoff); dynamic: a share of what is "
                                    "free (dynamic_th)",
                            .source = "SAI"}),
          key<S>(&S::reserved,
                 {.name = "reserved", .max = kGib, .help = "guaranteed to the group"}),
          key<S>(&S::xoff, {.name = "xoff",
                            .min = 1,
                            .max = kGib,
                            .help = "static: pause (lossy: drop) above this, reserved included",
                            .source = "RLB paper, 256 KiB",
                            .applies = is_static_profile,
                            .applies_says = "mode: static"}),
          key<S>(&S::dynamic_th, {.name = "dynamic_th",
                                  .min = -8,
                                  .max = 8,
                                  .help = "dynamic: threshold = 2^dynamic_th x free shared buffer",
                                  .source = "SAI",
                                  .applies = is_dynamic,
                                  .applies_says = "mode: dynamic"}),
          key<S>(&S::xon_offset, {.name = "xon_offset",
                                  .max = kGib,
                                  .help = "lossless: resume this far below the threshold",
                                  .source = "2 x MTU; 0B is the RLB paper's rule",
                                  .applies = is_lossless,
                                  .applies_says = "lossless: true"}),
          key<S>(&S::headroom,
                 {.name = "headroom",
                  .max = kGib,
                  .absent = "auto",
                  .help = "lossless: room for what arrives after the pause; auto: from "
                          "speed, cable_delay, mtu and poll_gap",
                  .source = "802.1Qbb annex O",
                  .applies = is_lossless,
                  .applies_says = "lossless: true"}),
      },
      BufferProfile{});
  return section;
}

template <>
std::span<const std::string_view> choices_of<WredMark>() {
  static constexpr std::array<std::string_view, 2> kMarks = {"enqueue", "dequeue"};
  return kMarks;
}

template <>
const Section& section_of<WredProfile>() {
  using S = WredProfile;
  static const Section section =
      make_section("wred profiles", "ECN marking by queue length. Profile 'default' exists.",
                   {
                       key<S>(&S::ecn, {.name = "ecn", .help = "mark ECN-capable packets"}),
                       key<S>(&S::kmin, {.name = "kmin",
                                         .max = kGib,
                                         .help = "no marking up to this queue length",
                                         .source = "HPCC's scaling, 40 Gb/s"}),
                       key<S>(&S::kmax, {.name = "kmax",
                                         .min = 1,
                                         .max = kGib,
                                         .help = "everything is marked from this queue length on",
                                         .source = "HPCC's scaling, 40 Gb/s"}),
                       key<S>(&S::pmax, {.name = "pmax",
                                         .max = 1,
                                         .help = "marking probability just below kmax",
                                         .source = "HPCC"}),
                       key<S>(&S::mark, {.name = "mark",
                                         .help = "enqueue: by the queue that the packet finds; "
                                                 "dequeue: by what waits behind it when it leaves",
                                         .source = "HPCC's simulator marks at dequeue"}),
                   },
                   WredProfile{});
  return section;
}

template <>
const Section& section_of<PathConfig>() {
  using S = PathConfig;
  static const Section section = make_section(
      "paths", "One path to a leaf. The name of the port alone will do.",
      {
          key<S>(&S::port,
                 {.name = "port", .max = 32, .required = true, .help = "the port it leaves by"}),
          key<S>(&S::weight,
                 {.name = "weight", .min = 1, .max = 64, .help = "share, for schemes that weigh"}),
          key<S>(&S::path_id, {.name = "path_id",
                               .absent = "auto",
                               .help = "the same number at both leaves; auto: position/255"}),
          key<S>(&S::hops,
                 {.name = "hops",
                  .max = 15,
                  .help = "links to the leaf, for schemes that compare them; 0: not said"}),
          key<S>(&S::detour, {.name = "detour",
                              .help = "longer than need be: taken by schemes that take detours, "
                                      "and only where a packet enters the fabric"}),
      },
      PathConfig{});
  return section;
}

template <>
const Section& section_of<RouteConfig>() {
  using S = RouteConfig;
  static const Section section = make_section(
      "routes", "Where a prefix lives: behind a leaf or on a port, exactly one of the two.",
      {
          key<S>(&S::prefix, {.name = "prefix", .required = true, .help = "what it is about"}),
          key<S>(&S::leaf, {.name = "leaf",
                            .max = 65'534,
                            .absent = "none",
                            .help = "behind this leaf, by the paths under leaves"}),
          key<S>(&S::port,
                 {.name = "port", .max = 32, .absent = "none", .help = "directly on this port"}),
      },
      RouteConfig{});
  return section;
}

template <>
const Section& section_of<NeighborConfig>() {
  using S = NeighborConfig;
  static const Section section = make_section(
      "neighbors", "A host that is known, or asked for, before there is traffic to it.",
      {
          key<S>(&S::address, {.name = "address", .required = true, .help = "its IP address"}),
          key<S>(&S::mac, {.name = "mac",
                           .absent = "auto",
                           .help = "its MAC address; auto: it is asked for by ARP or ND as soon as "
                                   "the port is up, and never forgotten while it is up"}),
          key<S>(&S::port,
                 {.name = "port", .max = 32, .required = true, .help = "the port it is on"}),
      },
      NeighborConfig{});
  return section;
}

template <>
const Section& section_of<BufferConfig>() {
  using S = BufferConfig;
  static const Section section = make_section(
      "buffer", "The shared packet buffer.",
      {
          key<S>(&S::size, {.name = "size",
                            .key_class = restart,
                            .min = 64 * kKib,
                            .max = 4 * kGib,
                            .help = "all of it: reserved, shared and headroom"}),
          key<S>(&S::cell_bytes, {.name = "cell",
                                  .key_class = restart,
                                  .min = 1,
                                  .max = 4'096,
                                  .help = "octets a cell; a packet is charged in whole cells"}),
          key<S>(&S::overcommit,
                 {.name = "overcommit",
                  .key_class = restart,
                  .help = "run lossless groups that do not all fit, with a warning: thresholds are "
                          "met only while the shared buffer lasts, and headroom that would take "
                          "more than half of the buffer is one pool of that half, which may run "
                          "out",
                  .source = "SONiC's shared headroom pool"}),
          key<S>(
              &S::stages,
              {.name = "stages",
               .max = kGib,
               .absent = "auto",
               .help = "octets set aside for packets that flow stages hold, and for those until "
                       "they have left; what finds no room stays charged to its priority group. "
                       "auto: none; with resequence or the scheme conweave on a switch with hosts "
                       "half of what lossless groups leave over, at most a quarter of the shared "
                       "buffer"}),
          named<S>(&S::profiles, {.name = "profiles", .help = "buffer profiles, by name"}),
      },
      default_switch("switch").buffer);
  return section;
}

template <>
const Section& section_of<DreConfig>() {
  using S = DreConfig;
  static const Section section = make_section(
      "dre",
      "The discounting rate estimator: how much each port sent of late, for schemes and reports. A "
      "change starts it from nothing.",
      {
          key<S>(&S::period, {.name = "period",
                              .min = kMicrosecond,
                              .max = 10'000 * kMicrosecond,
                              .help = "time between two decays"}),
          key<S>(&S::alpha, {.name = "alpha",
                             .max = 1,
                             .help = "share that a decay takes away, at least 0.001; it looks back "
                                     "over period / alpha",
                             .source = "CONGA: 160 us"}),
          key<S>(&S::q, {.name = "q",
                         .min = 1,
                         .max = 8,
                         .help = "bits of a utilisation level",
                         .source = "CONGA"}),
      },
      DreConfig{});
  return section;
}

template <>
const Section& section_of<ControlConfig>() {
  using S = ControlConfig;
  static const Section section = make_section(
      "control", "The slow side.",
      {
          key<S>(&S::socket, {.name = "socket",
                              .key_class = restart,
                              .max = 107,
                              .absent = "auto",
                              .pattern = "^/.*$",
                              .pattern_says = "a path that starts with /",
                              .help = "path of eddyctl's socket; auto: /run/eddy/NAME.sock"}),
          key<S>(&S::icmp_errors_per_second, {.name = "icmp_rate",
                                              .max = 1'000'000,
                                              .help = "ICMP errors sent in a second, at most",
                                              .source = "RFC 1812"}),
          key<S>(&S::neighbor_age, {.name = "neighbor_age",
                                    .min = kSecond,
                                    .max = 7'200 * kSecond,
                                    .help = "a learned neighbor is asked again after this; one "
                                            "that no longer answers is used for as long again"}),
          key<S>(&S::neighbors_per_port,
                 {.name = "neighbor_quota",
                  .min = 1,
                  .max = 512,
                  .help = "learned neighbors of a port; a new one takes the place of the one that "
                          "is missed least"}),
          key<S>(&S::neighbor_queue,
                 {.name = "neighbor_queue",
                  .min = 64 * kKib,
                  .max = 16 * kMib,
                  .help = "what a worker holds for neighbors that have yet to answer, a quarter of "
                          "it for each; it counts in no priority group"}),
          key<S>(&S::neighbor_messages_per_second,
                 {.name = "neighbor_rate",
                  .min = 1,
                  .max = 1'000'000,
                  .help = "ARP and ND messages of a port that are read in a second, and new "
                          "neighbors of a port",
                  .source = "SONiC CoPP"}),
          key<S>(&S::lldp_frames_per_second, {.name = "lldp_rate",
                                              .min = 1,
                                              .max = 1'000'000,
                                              .help = "LLDP frames of a port read in a second",
                                              .source = "SONiC CoPP"}),
          key<S>(&S::local_packets_per_second,
                 {.name = "local_rate",
                  .min = 1,
                  .max = 1'000'000,
                  .help = "packets of a port to the switch itself, as pings, read in a second",
                  .source = "SONiC CoPP, ip2me"}),
          key<S>(&S::lldp, {.name = "lldp", .help = "speak LLDP on fabric ports"}),
      },
      ControlConfig{});
  return section;
}

template <>
const Section& section_of<TelemetryConfig>() {
  using S = TelemetryConfig;
  static const Section section = make_section(
      "telemetry", "Numbers for programs that collect them.",
      {
          key<S>(&S::prometheus,
                 {.name = "prometheus",
                  .key_class = restart,
                  .max = 64,
                  .absent = "none",
                  .pattern = R"(^([0-9.]{7,15}|\[[0-9a-fA-F:.]{2,45}\]):[0-9]{1,5}$)",
                  .pattern_says = "an address and a port, such as 127.0.0.1:9477 or [::1]:9477",
                  .help = "where /metrics answers Prometheus over HTTP"}),
          key<S>(&S::remote, {.name = "remote",
                              .key_class = restart,
                              .help = "let that be an address which other machines can reach"}),
      },
      TelemetryConfig{});
  return section;
}

template <>
const Section& section_of<PrivilegesConfig>() {
  using S = PrivilegesConfig;
  static const Section section = make_section(
      "privileges", "What eddyd keeps of the rights that it was started with.",
      {
          list<S>(&S::ports,
                  {.name = "ports",
                   .key_class = restart,
                   .help = "kinds of ports whose capabilities are kept beside those of the ports "
                           "that there are, for ports to come by a reload; eddyd --capabilities "
                           "lists them; other: nothing is given up"},
                  type_of<PortKind>({})),
          key<S>(&S::user,
                 {.name = "user",
                  .key_class = restart,
                  .max = 32,
                  .absent = "auto",
                  .pattern = "^[a-z_][a-z0-9_-]{0,31}$",
                  .pattern_says = "the name of a user",
                  .help = "the user that eddyd becomes when root starts it; auto: eddy, where "
                          "there is one, the ports allow it and it has access to the files of the "
                          "configuration, else the one that there is"}),
      },
      PrivilegesConfig{});
  return section;
}

template <>
const Section& section_of<SwitchConfig>() {
  using S = SwitchConfig;
  static const Section section = make_section(
      "switch", "The switch itself.",
      {
          key<S>(&S::name, {.name = "name",
                            .key_class = restart,
                            .max = 32,
                            .pattern = "^[A-Za-z0-9_][A-Za-z0-9_-]{0,31}$",
                            .pattern_says = "up to 32 letters, digits, '_' and '-', no '-' first",
                            .help = "names sockets, metrics and messages"}),
          key<S>(&S::id, {.name = "id",
                          .key_class = restart,
                          .max = 65'534,
                          .help = "different for every switch of a fabric"}),
          key<S>(&S::leaf, {.name = "leaf",
                            .key_class = restart,
                            .max = 65'534,
                            .absent = "none",
                            .help = "this switch's leaf id; none: it only passes on"}),
          key<S>(&S::seed,
                 {.name = "seed", .key_class = restart, .help = "of every random choice"}),
          key<S>(&S::mac,
                 {.name = "mac", .key_class = restart, .help = "ports derive theirs from it"}),
          list<S>(&S::loopbacks,
                  {.name = "loopbacks",
                   .help = "addresses of the switch itself, on no port: pinged, and the source of "
                           "its ICMP where a port has none"},
                  {.shape = Type::Shape::address}),
          key<S>(&S::time_dilation, {.name = "time_dilation",
                                     .key_class = restart,
                                     .min = 1,
                                     .max = 10'000,
                                     .help = "divides every rate and multiplies every time"}),
          key<S>(&S::workers, {.name = "workers",
                               .key_class = restart,
                               .min = 1,
                               .max = kMaxShards,
                               .help = "threads that forward packets"}),
          key<S>(&S::spare_ports,
                 {.name = "spare_ports",
                  .key_class = restart,
                  .min = 0,
                  .max = kMaxPorts - 1,
                  .help = "room for ports that a reload adds while the switch runs; a port that a "
                          "reload removes leaves room, too"}),
          key<S>(&S::idle, {.name = "idle",
                            .key_class = restart,
                            .help = "busy: always poll; adaptive: yield and sleep when idle"}),
          key<S>(&S::poll_gap, {.name = "poll_gap",
                                .min = kMicrosecond,
                                .max = kSecond,
                                .absent = "auto",
                                .machine_time = true,
                                .help = "longest time between two polls of a port, for headroom; "
                                        "auto: 10us busy, 1ms adaptive"}),
          key<S>(&S::lookahead,
                 {.name = "lookahead",
                  .max = 2 * kMicrosecond,
                  .help = "how long before it may start a frame is given to a device of 10 Gb/s or "
                          "less, so that it gets bursts; pauses take that much longer at both "
                          "ends, for which auto headroom has room; 0s: no sooner than it may"}),
      },
      SwitchConfig{});
  return section;
}

const Key& control_key() {
  static const Key control = key<LoadBalancerConfig>(
      &LoadBalancerConfig::control,
      {.name = "control",
       .help = "how the ACKs, NAKs and CNPs of RoCE go: by ecmp whatever the scheme, and then RLB "
               "neither moves nor holds them; or by the scheme, as data does",
       .source = "reference 1.5"});
  return control;
}

const Key& plugin_key() {
  static const Key plugin = key<LoadBalancerConfig>(
      &LoadBalancerConfig::plugin,
      {.name = "plugin",
       .default_says = "none",
       .help = "a file with schemes that are not of this program (docs/plugins.md): a path, "
               "relative to the folder of this file, or a plain name, which is looked for in "
               "schemes of $EDDY_DATA, beside this file, and where packages put schemes",
       .source = "docs/plugins.md"});
  return plugin;
}

namespace {

// Paths of the command line are those of the shell.
void read_plugin(Reader& reader, const Node& node, LoadBalancerConfig& out) {
  plugin_key().read(reader, node, &out);
  std::error_code error;
  if (node.at.source > 0 && out.plugin.find('/') != std::string::npos)
    out.plugin = std::filesystem::absolute(out.plugin, error).string();
}

}  // namespace

Key load_balancer_key(const std::function<LoadBalancerConfig&(void*)>& of) {
  const Type type{.shape = Type::Shape::scheme};
  const auto read = [=](Reader& reader, const Node& node, void* object) {
    LoadBalancerConfig& out = of(object);
    if (!expect_kind(reader, node, Node::Kind::map, type)) return;
    for (const Node::Member& entry : node.members) {
      const bool word = entry.value.kind == Node::Kind::scalar;
      Reader::Scope scope(reader, entry.key, word ? entry.value.at : entry.key_at);
      if (entry.key == control_key().info.name) {
        control_key().read(reader, entry.value, &out);
        continue;
      }
      if (entry.key == plugin_key().info.name) {
        read_plugin(reader, entry.value, out);
        continue;
      }
      if (!expect_kind(reader, entry.value, Node::Kind::scalar, Type{})) continue;
      (entry.key == "scheme" ? out.scheme : out.parameters[entry.key]) = entry.value.text;
    }
    const auto gives = [&](std::string_view key) {
      return std::ranges::find(node.members, key, &Node::Member::key) != node.members.end();
    };
    if (gives("plugin") && !gives("scheme") && !out.plugin.empty()) out.scheme.clear();
  };
  const auto print = [=](const void* object) {
    const LoadBalancerConfig& in = of(const_cast<void*>(object));
    Value value{.kind = Value::Kind::map};
    if (!in.plugin.empty()) value.members.push_back({"plugin", plugin_key().print(&in)});
    value.members.push_back({"scheme", {.word = in.scheme}});
    value.members.push_back({std::string(control_key().info.name), control_key().print(&in)});
    for (const auto& [name, text] : in.parameters) value.members.push_back({name, {.word = text}});
    return value;
  };
  const auto dilate = [=](void* object, int64_t factor) {
    dilate_words(of(object).parameters, factor);
  };
  return {{.name = "load_balancer", .help = "how a path is chosen"}, type, read, print, dilate};
}

Document default_document() {
  Document document{default_switch("switch"), default_port("")};
  document.base_port.pg_profiles.fill("lossy");  // lossless only where the file says so
  return document;
}

const Section& document_section() {
  using S = Document;
  static const Section section = make_section(
      "the file", "One switch.",
      {
          key<S>(&S::config, {.name = "switch", .help = "the switch itself"}),
          key<S>([](auto& d) -> auto& { return d.config.buffer; },
                 {.name = "buffer", .help = "the shared packet buffer"}),
          named<S>([](auto& d) -> auto& { return d.config.buffer.wred; },
                   {.name = "wred", .help = "WRED profiles, by name"}),
          key<S>([](auto& d) -> auto& { return d.base_port.maps; },
                 {.name = "qos", .help = "the maps of all ports"}),
          key<S>(&S::base_port, {.name = "port_defaults",
                                 .help = "keys of all ports, unless the port says otherwise"}),
          ports_key(),
          leaves_key(),
          list<S>(
              [](auto& d) -> auto& { return d.config.routes; },
              {.name = "routes", .help = "where prefixes live"}, type_of<RouteConfig>({})),
          list<S>(
              [](auto& d) -> auto& { return d.config.neighbors; },
              {.name = "neighbors", .help = "hosts known beforehand"}, type_of<NeighborConfig>({})),
          load_balancer_key([](void* d) -> LoadBalancerConfig& {
            return static_cast<Document*>(d)->config.load_balancer;
          }),
          key<S>([](auto& d) -> auto& { return d.config.dre; },
                 {.name = "dre", .help = "how the load of a port is estimated"}),
          short_key<S>([](auto& d) -> auto& { return d.config.rlb; },
                       {.name = "rlb", .help = "keep packets off paths that PFC will stop"}),
          key<S>([](auto& d) -> auto& { return d.config.path_service; },
                 {.name = "path_service", .help = "what is measured of paths"}),
          key<S>([](auto& d) -> auto& { return d.config.resequence; },
                 {.name = "resequence", .help = "flows are put back in order before their host"}),
          key<S>([](auto& d) -> auto& { return d.config.isolation; },
                 {.name = "isolation", .help = "packets to congested hosts in a class apart"}),
          key<S>([](auto& d) -> auto& { return d.config.control; },
                 {.name = "control", .help = "the slow side"}),
          key<S>([](auto& d) -> auto& { return d.config.telemetry; },
                 {.name = "telemetry", .help = "numbers for programs that collect them"}),
          key<S>([](auto& d) -> auto& { return d.config.privileges; },
                 {.name = "privileges", .help = "what eddyd keeps of its rights"}),
      },
      default_document());
  return section;
}

}  // namespace eddy::config
