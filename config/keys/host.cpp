// The keys of the RoCEv2 hosts of an experiment.
#include <algorithm>
#include <iterator>

#include "config/keys/experiment.h"
#include "config/keys/host_laws.h"
#include "config/keys/makers.h"
#include "config/keys/units.h"

namespace eddy::config {
namespace {

constexpr int64_t kGigabyte = 1'000'000'000;

constexpr std::array<std::string_view, 2> kDcqcnPresets = {"paper", "vendor"};
constexpr std::array<std::string_view, 2> kDcqcnAlgorithms = {"paper", "vendor"};

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

// What a CNP does, and how often.
std::vector<Key> decrease_keys() {
  using C = DcqcnConfig;
  return {
      key<DcqcnKeys>(&DcqcnKeys::preset,
                     {.name = "preset",
                      .absent = "none",
                      .help = "paper: of the DCQCN paper; vendor: of NICs; none: the defaults here",
                      .source = "DCQCN; HPCC's simulator"}),
      dcqcn_key<&C::algorithm>(
          {.name = "algorithm",
           .help = "paper: a CNP cuts the rate and takes the target along; vendor: CNPs are "
                   "noted, alpha and cuts go by slots, and the target stays until the rate "
                   "has grown",
           .source = "reference D.3"}),
      dcqcn_key<&C::g_shift>({.name = "g_shift", .max = 16, .help = "g = 2^-g_shift"}),
      dcqcn_key<&C::alpha_timer>({.name = "alpha_timer",
                                  .min = kMicrosecond / 10,
                                  .max = kSecond,
                                  .help = "paper: so long without a CNP alpha = (1 - g) alpha; "
                                          "vendor: the slots of alpha"}),
      dcqcn_key<&C::decrease_interval>({.name = "decrease_interval",
                                        .max = kSecond,
                                        .absent = "none",
                                        .help = "paper: at most one rate cut in each; vendor: the "
                                                "slots of cuts; none: a cut at every CNP"}),
      dcqcn_key<&C::cnp_interval>({.name = "cnp_interval",
                                   .max = kSecond,
                                   .absent = "none",
                                   .help = "receiver: at most one CNP a flow in each; none: at "
                                           "every marked packet"}),
  };
}

std::vector<Key> increase_keys() {
  using C = DcqcnConfig;
  return {
      dcqcn_key<&C::increase_timer>({.name = "increase_timer",
                                     .min = kMicrosecond / 10,
                                     .max = kSecond,
                                     .help = "an increase event after so long"}),
      dcqcn_key<&C::byte_counter>({.name = "byte_counter",
                                   .max = kGigabyte,
                                   .absent = "none",
                                   .help = "paper: and one after so many octets; none: timer "
                                           "only"}),
      dcqcn_key<&C::fast_recovery>({.name = "fast_recovery",
                                    .min = 1,
                                    .max = 100,
                                    .help = "F: increase events before additive increase"}),
      dcqcn_key<&C::additive_increase>({.name = "additive_increase",
                                        .max = kFastestLine,
                                        .absent = "auto",
                                        .help = "R_AI; auto: 5 Mb/s for each 25 Gb/s of the NIC"}),
      dcqcn_key<&C::hyper_increase>({.name = "hyper_increase",
                                     .max = kFastestLine,
                                     .absent = "auto",
                                     .help = "R_HAI; auto: 50 Mb/s for each 25 Gb/s of the NIC"}),
      dcqcn_key<&C::min_rate>({.name = "min_rate",
                               .min = kSlowestLine,
                               .max = kFastestLine,
                               .help = "a flow never sends slower"}),
      dcqcn_key<&C::cap_target>({.name = "cap_target",
                                 .help = "paper: the target rate is never above the line rate, "
                                         "as it never is with vendor",
                                 .former = "clamp_target"}),
      dcqcn_key<&C::clamp_target_rate>(
          {.name = "clamp_target_rate",
           .help = "vendor: every cut takes the target rate along, as with paper",
           .source = "HPCC's simulator: CLAMP_TARGET_RATE"}),
      dcqcn_key<&C::first_cnp_rate>(
          {.name = "first_cnp_rate",
           .max = 1,
           .help = "vendor: of the rate at the first CNP, so much is left before the first cut",
           .source = "HPCC's simulator: RATE_ON_FIRST_CNP"}),
  };
}

// Which laws; the section of the one that stands in a struct of its own.
std::vector<Key> law_keys() {
  using C = HostConfig;
  return {
      law_key(&C::recovery, LawKind::recovery, {.name = "recovery", .help = "of lost packets"}),
      law_key(&C::congestion_control, LawKind::rate_control,
              {.name = "congestion_control", .help = "how fast a flow sends"}),
      law_key(&C::entropy, LawKind::entropy,
              {.name = "entropy", .help = "which source port its packets have"}),
      law_key(&C::pacing, LawKind::pacing, {.name = "pacing", .help = "when a packet may start"}),
      short_key<HostKeys>(&HostKeys::dcqcn, {.name = "dcqcn", .help = "DCQCN"}),
  };
}

std::vector<Key> sending_keys() {
  using C = HostConfig;
  return {
      host_key<&C::mtu>({.name = "mtu",
                         .min = 256,
                         .max = 4'096,
                         .help = "octets of payload a packet; NICs have 256, 512, 1024, 2048 "
                                 "and 4096, simulators 1000"}),
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
  };
}

std::vector<Key> other_keys() {
  using C = HostConfig;
  return {
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
      host_key<&C::queue_pairs>(
          {.name = "queue_pairs", .min = 1, .max = 64, .help = "a flow is spread over so many"}),
      host_key<&C::icrc_check>({.name = "icrc_check", .help = "compute and verify the ICRC"}),
      host_key<&C::pfc_honour>({.name = "pfc_honour", .help = "obey received pauses"}),
  };
}

}  // namespace

template <>
std::span<const std::string_view> choices_of<DcqcnPreset>() {
  return kDcqcnPresets;
}

template <>
std::span<const std::string_view> choices_of<DcqcnAlgorithm>() {
  return kDcqcnAlgorithms;
}

template <>
const Section& section_of<DcqcnKeys>() {
  static const Section section = [] {
    std::vector<Key> keys = decrease_keys();
    std::ranges::move(increase_keys(), std::back_inserter(keys));
    return make_section(
        "dcqcn",
        "DCQCN's reaction and notification points. A lone word is the preset; with `preset` in "
        "the section, the other keys override it.",
        std::move(keys), DcqcnKeys{});
  }();
  return section;
}

template <>
const Section& section_of<HostKeys>() {
  static const Section section = [] {
    std::vector<Key> keys = law_keys();
    std::ranges::move(law_sections(), std::back_inserter(keys));
    std::ranges::move(sending_keys(), std::back_inserter(keys));
    std::ranges::move(other_keys(), std::back_inserter(keys));
    return make_section("host", "The RoCEv2 NIC of every host.", std::move(keys), HostKeys{});
  }();
  return section;
}

}  // namespace eddy::config
