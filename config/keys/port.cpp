// The keys of a port and of what hangs on it.
#include "config/keys/makers.h"
#include "config/keys/units.h"

namespace eddy::config {
namespace {

using enum KeyClass;

constexpr std::array<std::string_view, 2> kPortRoles = {"host", "fabric"};
constexpr std::array<std::string_view, 2> kTaggingModes = {"tagged", "untagged"};
constexpr std::array<std::string_view, 2> kLinkReaches = {"local", "global"};
constexpr std::array<std::string_view, 3> kPfcRx = {"honour", "clamp", "ignore"};
constexpr std::array<std::string_view, 2> kWatchdogDetect = {"stalled", "paused"};
constexpr std::array<std::string_view, 3> kWatchdogAction = {"drop", "forward", "alert"};
constexpr std::array<std::string_view, 2> kSchedulers = {"strict", "dwrr"};

Key vlan_key() {
  return key<PortConfig>(
      &PortConfig::vlan,
      {.name = "vlan",
       .min = 1,
       .max = 4'094,
       .absent = "none",
       .help = "the VLAN that the port is in; none: untagged and priority-tagged frames alone are "
               "taken",
       .source = "802.1Q"});
}
Key tagging_mode_key() {
  return key<PortConfig>(
      &PortConfig::tagging_mode,
      {.name = "tagging_mode",
       .help = "with vlan. tagged: IP, ARP and all between switches comes and goes with its tag, "
               "and with the PCP of the queue's PFC priority; untagged: frames are taken with and "
               "without the tag, and sent without",
       .source = "SONiC's VLAN_MEMBER"});
}

}  // namespace

template <>
std::span<const std::string_view> choices_of<PortRole>() {
  return kPortRoles;
}
template <>
std::span<const std::string_view> choices_of<LinkReach>() {
  return kLinkReaches;
}
template <>
std::span<const std::string_view> choices_of<TaggingMode>() {
  return kTaggingModes;
}
template <>
std::span<const std::string_view> choices_of<PfcRx>() {
  return kPfcRx;
}
template <>
std::span<const std::string_view> choices_of<WatchdogDetect>() {
  return kWatchdogDetect;
}
template <>
std::span<const std::string_view> choices_of<WatchdogAction>() {
  return kWatchdogAction;
}
template <>
std::span<const std::string_view> choices_of<SchedulerType>() {
  return kSchedulers;
}

template <>
const Section& section_of<QueueConfig>() {
  using S = QueueConfig;
  static const Section section = make_section(
      "queues", "One egress queue.",
      {
          key<S>(&S::scheduler, {.name = "scheduler",
                                 .default_says = "dwrr; queues 6 and 7: strict",
                                 .help = "strict goes before dwrr, the higher queue first",
                                 .source = "SONiC"}),
          key<S>(&S::weight, {.name = "weight",
                              .min = 1,
                              .max = 255,
                              .default_says = "14; queues 3 and 4: 15",
                              .help = "share of a dwrr queue; its quantum is weight x 1,024 octets",
                              .source = "SONiC"}),
          key<S>(&S::wred, {.name = "wred",
                            .max = 32,
                            .absent = "none",
                            .pattern = kNamePattern,
                            .pattern_says = kNameSays,
                            .default_says = "none; queues 3 and 4: default",
                            .help = "the WRED profile that marks this queue's packets"}),
          key<S>(&S::max_rate, {.name = "max_rate",
                                .min = 1'000'000,
                                .max = 1'600'000'000'000,
                                .absent = "none",
                                .help = "the queue sends no faster than this"}),
          key<S>(&S::dynamic_th,
                 {.name = "dynamic_th",
                  .min = -8,
                  .max = 8,
                  .help = "lossy queues: at most 2^dynamic_th of the free shared buffer",
                  .source = "SAI"}),
          key<S>(&S::reserved,
                 {.name = "reserved",
                  .max = kGib,
                  .absent = "auto",
                  .help = "lossy queues: takes as much however full the shared buffer is; auto: "
                          "the largest reserve of the lossy groups that feed it, on any port",
                  .source = "SONiC's egress buffer profiles: size"}),
      },
      QueueConfig{});
  return section;
}

template <>
const Section& section_of<QosMaps>() {
  using S = QosMaps;
  constexpr std::string_view kSonic = "SONiC's map";
  static const Section section = make_section(
      "qos", "Which packets get which class, priority group and queue.",
      {
          indexed<S>(&S::dscp_to_tc,
                     {.name = "dscp_to_tc",
                      .max = 7,
                      .default_says = "3: 3, 4: 4, 5: 2, 8: 0, 46: 5, 48: 6, else 1",
                      .help = "traffic class of an untagged IP packet, by DSCP",
                      .source = kSonic}),
          indexed<S>(&S::pcp_to_tc, {.name = "pcp_to_tc",
                                     .max = 7,
                                     .default_says = "the same number",
                                     .help = "traffic class of a tagged IP packet, by PCP",
                                     .source = "802.1Q"}),
          indexed<S>(&S::tc_to_pg, {.name = "tc_to_pg",
                                    .max = 7,
                                    .default_says = "3: 3, 4: 4, 7: 7, else 0",
                                    .help = "ingress priority group, by traffic class",
                                    .source = kSonic}),
          indexed<S>(&S::tc_to_queue, {.name = "tc_to_queue",
                                       .max = 7,
                                       .default_says = "the same number",
                                       .help = "egress queue, by traffic class",
                                       .source = kSonic}),
          indexed<S>(&S::pfc_to_queue,
                     {.name = "pfc_to_queue",
                      .max = 7,
                      .default_says = "the same number",
                      .help = "queue that a received pause stops, by PFC priority",
                      .source = kSonic}),
          indexed<S>(&S::pg_to_pfc, {.name = "pg_to_pfc",
                                     .max = 7,
                                     .default_says = "the same number",
                                     .help = "PFC priority that a full priority group pauses",
                                     .source = kSonic}),
          indexed<S>(&S::tc_to_next,
                     {.name = "tc_to_next",
                      .max = 7,
                      .default_says = "the same number",
                      .help = "class to which a packet of a class rises where it has to leave its "
                              "virtual channel; the same: it has no channels",
                      .source = "reference A.16"}),
          key<S>(
              &S::trust_pcp,
              {.name = "trust_pcp",
               .help = "tagged packets are classified by PCP; false: by DSCP, as untagged ones"}),
      },
      QosMaps::sonic_defaults());
  return section;
}

template <>
const Section& section_of<WatchdogConfig>() {
  using S = WatchdogConfig;
  constexpr int64_t kLongest = 60'000 * kMillisecond;
  static const Section section = make_section(
      "watchdog", "The PFC watchdog: what to do when a peer pauses a queue without end.",
      {
          key<S>(&S::enabled, {.name = "enabled", .help = "watch this port's lossless queues"}),
          key<S>(&S::detection_time, {.name = "detection_time",
                                      .min = kMillisecond,
                                      .max = 5'000 * kMillisecond,
                                      .help = "stopped this long is a storm",
                                      .source = "SONiC; below 100ms for tests"}),
          key<S>(&S::restoration_time, {.name = "restoration_time",
                                        .min = kMillisecond,
                                        .max = kLongest,
                                        .help = "without a pause this long the storm is over",
                                        .source = "SONiC"}),
          key<S>(&S::poll_interval, {.name = "poll_interval",
                                     .min = kMillisecond,
                                     .max = kLongest,
                                     .help = "how often it looks",
                                     .source = "SONiC"}),
          key<S>(&S::detect, {.name = "detect",
                              .help = "stalled: nothing sent although packets wait; paused: paused "
                                      "all the time, packets or not"}),
          key<S>(&S::action,
                 {.name = "action",
                  .help = "in a storm: drop the queue, forward against the pause, or only alert",
                  .source = "SONiC"}),
      },
      WatchdogConfig{});
  return section;
}

template <>
const Section& section_of<PfcPortConfig>() {
  using S = PfcPortConfig;
  static const Section section = make_section(
      "pfc", "Priority-based flow control of a port.",
      {
          key<S>(&S::tx, {.name = "tx", .help = "pause the peer for full lossless groups"}),
          key<S>(&S::enable, {.name = "enable",
                              .max = 15,
                              .absent = "auto",
                              .pattern = "^(none|[0-7](,[0-7])*)$",
                              .pattern_says = "priorities such as \"3,4\", or none",
                              .help = "priorities whose PFC is sent and obeyed, whichever profile "
                                      "their groups have; auto: those of lossless groups. A group "
                                      "without a lossless profile sends none, a lossless one whose "
                                      "priority is not named loses packets",
                              .source = "SONiC's pfc_enable"}),
          key<S>(&S::rx, {.name = "rx",
                          .help = "obey the peer's pauses; clamp: within pause_budget; ignore: "
                                  "count them only"}),
          key<S>(&S::asymmetric, {.name = "asymmetric",
                                  .help = "obey pauses of all priorities, send for lossless only",
                                  .source = "SONiC"}),
          key<S>(&S::quanta, {.name = "quanta",
                              .min = 1,
                              .max = 65'535,
                              .help = "pause time asked for, in 512 bit times",
                              .source = "802.1Q, 802.3 annex 31B"}),
          key<S>(&S::refresh_limit,
                 {.name = "refresh_limit",
                  .min = kMicrosecond,
                  .max = kSecond,
                  .help = "a pause is renewed after this or half the pause time, the earlier"}),
          key<S>(&S::pause_budget, {.name = "pause_budget",
                                    .min = kMicrosecond,
                                    .max = kSecond,
                                    .help = "rx: clamp: paused at most this long in a window"}),
          key<S>(&S::budget_window, {.name = "budget_window",
                                     .min = kMicrosecond,
                                     .max = 10 * kSecond,
                                     .help = "the window of pause_budget"}),
      },
      PfcPortConfig{});
  return section;
}

// A line end would begin a line of DPDK's messages.
static KeyInfo device_info() {
  return {.name = "device",
          .key_class = port,
          .max = 512,
          .absent = "none",
          .pattern = "^[^\\n]*$",
          .pattern_says = "a text of one line",
          .help = "what DPDK opens: a PCI address or a virtual device with its arguments"};
}

template <>
const Section& section_of<PortConfig>() {
  using S = PortConfig;
  static const Section section = make_section(
      "ports", "One port. The same keys under port_defaults hold for all ports.",
      {
          key<S>(&S::device, device_info()),
          key<S>(&S::role,
                 {.name = "role",
                  .key_class = port,
                  .help = "host: end stations, gateway addresses; fabric: another switch"}),
          key<S>(&S::reach,
                 {.name = "reach",
                  .key_class = port,
                  .help = "fabric: where the link leads, to a switch of this group or of "
                          "another; for virtual channels"}),
          key<S>(&S::admin_up, {.name = "admin_up", .help = "false takes the port down"}),
          key<S>(&S::speed, {.name = "speed",
                             .key_class = port,
                             .min = kSlowestLine,
                             .max = kFastestLine,
                             .help = "line rate that shaping, pause times and headroom use"}),
          key<S>(&S::mtu, {.name = "mtu",
                           .key_class = port,
                           .min = 576,
                           .max = 9'216,
                           .class_says = "port; restart where no port had as much at start",
                           .help = "longest IP packet, octets; af_packet raises its interface's"}),
          vlan_key(),
          tagging_mode_key(),
          key<S>(&S::mac, {.name = "mac",
                           .key_class = port,
                           .absent = "auto",
                           .help = "address of the port; auto: derived from the switch's"}),
          key<S>(&S::peer_mac, {.name = "peer_mac",
                                .absent = "auto",
                                .help = "fabric: address of the peer's port; auto: by LLDP"}),
          list<S>(
              &S::addresses,
              {.name = "addresses", .help = "gateway addresses answered here, with their length"},
              {.shape = Type::Shape::prefix}),
          key<S>(&S::worker, {.name = "worker",
                              .key_class = restart,
                              .max = kMaxShards - 1,
                              .help = "the worker that serves the port, below switch.workers"}),
          key<S>(&S::cable_delay,
                 {.name = "cable_delay", .max = kMillisecond, .help = "one way, for headroom"}),
          key<S>(&S::shaper, {.name = "shaper",
                              .min = kSlowestLine,
                              .max = kFastestLine,
                              .absent = "none",
                              .help = "send no faster than this; none: the speed"}),
          key<S>(&S::line_overhead,
                 {.name = "line_overhead",
                  .max = 64,
                  .help = "octets of line time a frame takes besides its own: FCS, preamble, gap"}),
          key<S>(&S::pfc, {.name = "pfc", .help = "priority-based flow control"}),
          key<S>(&S::watchdog, {.name = "watchdog", .help = "the PFC watchdog"}),
          indexed<S>(&S::pg_profiles, {.name = "pgs",
                                       .max = 32,
                                       .pattern = kNamePattern,
                                       .pattern_says = kNameSays,
                                       .default_says = "lossy, every one",
                                       .help = "buffer profile, by priority group"}),
          indexed<S>(&S::queues, {.name = "queues", .help = "egress queues"}),
          key<S>(&S::maps, {.name = "qos", .help = "this port's maps, over the global ones"}),
      },
      default_document().base_port);
  return section;
}

}  // namespace eddy::config
