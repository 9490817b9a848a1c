// The keys of the RoCEv2 hosts of an experiment.
#include "config/keys/experiment.h"
#include "config/keys/makers.h"
#include "config/keys/units.h"

namespace eddy::config {
namespace {

constexpr int64_t kGigabyte = 1'000'000'000;

constexpr std::array<std::string_view, 2> kRecoveries = {"go_back_n", "irn"};
constexpr std::array<std::string_view, 3> kCongestionControls = {"none", "dcqcn", "dctcp"};
constexpr std::array<std::string_view, 2> kDcqcnPresets = {"paper", "vendor"};

// The DCQCN table's member of the configuration.
template <auto Member>
Key dcqcn_key(const KeyInfo& info) {
  return key<DcqcnKeys>(
      [](auto& d) -> auto& { return d.config.*Member; }, info);
}
template <auto Member>
Key host_key(const KeyInfo& info) {
  return key<HostKeys>(
      [](auto& h) -> auto& { return h.config.*Member; }, info);
}

}  // namespace

template <>
std::span<const std::string_view> choices_of<Recovery>() {
  return kRecoveries;
}
template <>
std::span<const std::string_view> choices_of<CongestionControl>() {
  return kCongestionControls;
}
template <>
std::span<const std::string_view> choices_of<DcqcnPreset>() {
  return kDcqcnPresets;
}

template <>
const Section& section_of<DcqcnKeys>() {
  using C = DcqcnConfig;
  static const Section section = make_section(
      "dcqcn",
      "DCQCN's reaction and notification points. A lone word is the preset; with `preset` in the "
      "section, the other keys override it.",
      {
          key<DcqcnKeys>(
              &DcqcnKeys::preset,
              {.name = "preset",
               .absent = "none",
               .help = "paper: of the DCQCN paper; vendor: of NICs, for topology.host_rate; "
                       "none: the defaults here",
               .source = "DCQCN; HPCC's simulator"}),
          dcqcn_key<&C::g_shift>({.name = "g_shift", .max = 16, .help = "g = 2^-g_shift"}),
          dcqcn_key<&C::alpha_timer>({.name = "alpha_timer",
                                      .min = kMicrosecond / 10,
                                      .max = kSecond,
                                      .help = "so long without a CNP: alpha = (1 - g) alpha"}),
          dcqcn_key<&C::decrease_interval>({.name = "decrease_interval",
                                            .max = kSecond,
                                            .absent = "none",
                                            .help = "at most one rate cut in each; none: at every "
                                                    "CNP"}),
          dcqcn_key<&C::cnp_interval>({.name = "cnp_interval",
                                       .max = kSecond,
                                       .absent = "none",
                                       .help = "receiver: at most one CNP a flow in each; none: at "
                                               "every marked packet"}),
          dcqcn_key<&C::increase_timer>({.name = "increase_timer",
                                         .min = kMicrosecond / 10,
                                         .max = kSecond,
                                         .help = "an increase event after so long"}),
          dcqcn_key<&C::byte_counter>({.name = "byte_counter",
                                       .max = kGigabyte,
                                       .absent = "none",
                                       .help = "and one after so many octets; none: timer only"}),
          dcqcn_key<&C::fast_recovery>({.name = "fast_recovery",
                                        .min = 1,
                                        .max = 100,
                                        .help = "F: increase events before additive increase"}),
          dcqcn_key<&C::additive_increase>(
              {.name = "additive_increase", .max = kFastestLine, .help = "R_AI"}),
          dcqcn_key<&C::hyper_increase>(
              {.name = "hyper_increase", .max = kFastestLine, .help = "R_HAI"}),
          dcqcn_key<&C::min_rate>({.name = "min_rate",
                                   .min = kSlowestLine,
                                   .max = kFastestLine,
                                   .help = "a flow never sends slower"}),
          dcqcn_key<&C::clamp_target>(
              {.name = "clamp_target", .help = "the target rate is never above the line rate"}),
      },
      DcqcnKeys{});
  return section;
}

template <>
const Section& section_of<DctcpConfig>() {
  using S = DctcpConfig;
  static const Section section = make_section(
      "dctcp", "A window that follows the fraction of marked ACKs.",
      {
          key<S>(&S::g_shift, {.name = "g_shift", .max = 16, .help = "g = 2^-g_shift"}),
          key<S>(&S::initial_window, {.name = "initial_window",
                                      .max = kGigabyte,
                                      .absent = "auto",
                                      .help = "auto: one bandwidth-delay product"}),
      },
      DctcpConfig{});
  return section;
}

template <>
const Section& section_of<IrnConfig>() {
  using S = IrnConfig;
  static const Section section = make_section(
      "irn", "Selective repeat.",
      {
          key<S>(&S::rto_low, {.name = "rto_low",
                               .min = kMicrosecond,
                               .max = kSecond,
                               .help = "timeout with few packets in flight",
                               .source = "IRN"}),
          key<S>(&S::rto_high, {.name = "rto_high",
                                .min = kMicrosecond,
                                .max = kSecond,
                                .help = "timeout otherwise",
                                .source = "IRN"}),
          key<S>(&S::rto_low_packets,
                 {.name = "rto_low_packets", .max = 1'000, .help = "how many are few"}),
      },
      IrnConfig{});
  return section;
}

template <>
const Section& section_of<HostKeys>() {
  using C = HostConfig;
  static const Section section = make_section(
      "host", "The RoCEv2 NIC of every host.",
      {
          host_key<&C::recovery>({.name = "recovery", .help = "of lost packets"}),
          host_key<&C::congestion_control>(
              {.name = "congestion_control", .help = "which of the sections below is used"}),
          short_key<HostKeys>(&HostKeys::dcqcn, {.name = "dcqcn", .help = "DCQCN"}),
          host_key<&C::dctcp>({.name = "dctcp", .help = "DCTCP"}),
          host_key<&C::irn>({.name = "irn", .help = "recovery: irn"}),
          host_key<&C::mtu>({.name = "mtu",
                             .min = 256,
                             .max = 4'096,
                             .help = "octets of payload a packet: 256, 512, 1024, 2048 or 4096"}),
          host_key<&C::rto>({.name = "rto",
                             .min = kMicrosecond,
                             .max = 60 * kSecond,
                             .help = "go_back_n: so long without an ACK, back to the first "
                                     "packet that has none"}),
          host_key<&C::nak_timer>({.name = "nak_timer",
                                   .max = kSecond,
                                   .absent = "never",
                                   .help = "a second NAK for the same gap no earlier; never, or "
                                           "0ps: each gap has but one"}),
          host_key<&C::nak_cuts_rate>({.name = "nak_cuts_rate",
                                       .help = "a NAK counts as a CNP",
                                       .source = "ConWeave's simulator"}),
          host_key<&C::ack_every>(
              {.name = "ack_every", .min = 1, .max = 1'024, .help = "packets an ACK"}),
          host_key<&C::window>(
              {.name = "window", .help = "at most one bandwidth-delay product in flight"}),
          host_key<&C::variable_window>(
              {.name = "variable_window", .help = "the window shrinks with the rate"}),
          host_key<&C::bdp>({.name = "bdp",
                             .max = kGigabyte,
                             .absent = "auto",
                             .help = "auto: line rate x base RTT of the flow"}),
          host_key<&C::reorder_buffer>({.name = "reorder_buffer",
                                        .help = "packets out of order are kept, not dropped",
                                        .source = "Presto"}),
          host_key<&C::reorder_timeout>({.name = "reorder_timeout",
                                         .max = kSecond,
                                         .absent = "never",
                                         .help = "then a gap counts as a loss; never, or 0ps: "
                                                 "only a timeout of the sender fills it"}),
          host_key<&C::dscp>({.name = "dscp", .max = 63, .help = "of data"}),
          host_key<&C::control_dscp>(
              {.name = "control_dscp", .max = 63, .help = "of ACK, NAK and CNP"}),
          host_key<&C::priority>({.name = "priority", .max = 7, .help = "PFC priority of data"}),
          host_key<&C::queue_pairs>({.name = "queue_pairs",
                                     .min = 1,
                                     .max = 64,
                                     .help = "a flow is spread over so many"}),
          host_key<&C::icrc_check>({.name = "icrc_check", .help = "compute and verify the ICRC"}),
          host_key<&C::pfc_honour>({.name = "pfc_honour", .help = "obey received pauses"}),
      },
      HostKeys{});
  return section;
}

}  // namespace eddy::config
