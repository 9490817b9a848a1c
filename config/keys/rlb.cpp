// The keys of RLB.
#include "config/keys/makers.h"
#include "config/keys/units.h"

namespace eddy::config {
namespace {

constexpr int64_t kMostRelays = 2;

constexpr std::array<std::string_view, 3> kModes = {"static", "derivative", "combined"};

constexpr std::array<std::string_view, 2> kGuardScopes = {"moves", "all"};
constexpr std::array<std::string_view, 2> kGranularities = {"packet", "unit"};

constexpr std::array<std::string_view, 3> kRoundLimits = {"most", "rounds", "packets"};
constexpr std::array<std::string_view, 3> kOnExceed = {"optimal", "suboptimal", "least_bad"};
constexpr std::array<std::string_view, 2> kReleases = {"flush", "loop"};
constexpr std::array<std::string_view, 4> kAllWarned = {"least_bad", "base", "wait_once", "score"};
constexpr std::array<std::string_view, 2> kSuspend = {"most", "all"};
constexpr std::array<std::string_view, 3> kHeeds = {"local", "relayed", "predicted"};
constexpr std::array<std::string_view, 2> kPlacements = {"alternative", "least_delay"};

constexpr std::array<std::string_view, 3> kDetectors = {"off", "paper", "guarded"};

constexpr std::string_view kGuarded = "mode: guarded";
constexpr std::string_view kDetectorSays =
    "Paths that seem to have failed are not used for a while, by any scheme; the last path to a "
    "leaf always is. A lone word is the mode.";
bool is_guarded(const void* detector) {
  return static_cast<const FailureDetectorConfig*>(detector)->mode == DetectorMode::guarded;
}
bool is_paced(const void* guard) {
  return static_cast<const GuardConfig*>(guard)->mode == GuardMode::paced;
}
bool is_strict(const void* guard) {
  return static_cast<const GuardConfig*>(guard)->mode == GuardMode::strict;
}
bool may_be_patient(const void* guard) {
  return is_strict(guard) && static_cast<const GuardConfig*>(guard)->guards_all();
}
bool is_static_predictor(const void* predictor) {
  return static_cast<const PredictorConfig*>(predictor)->mode == PredictorMode::fixed;
}
bool is_derivative_predictor(const void* predictor) {
  return !is_static_predictor(predictor);
}

// First in the table, so that the keys beside it change what it has set.
Key preset_key() {
  const KeyInfo info{.name = "preset",
                     .help =
                         "off; paper: what the RLB paper prints; paper_star: its RLB*; default: "
                         "what works",
                     .source = "reference B.14"};
  const Key plain = key<RlbConfig>(&RlbConfig::preset, info);
  const auto read = [=](Reader& reader, const Node& node, void* object) {
    RlbConfig chosen;
    plain.read(reader, node, &chosen);
    *static_cast<RlbConfig*>(object) = rlb_preset(chosen.preset);
  };
  return {info, plain.type, read, plain.print, plain.dilate};
}

}  // namespace

template <>
std::span<const std::string_view> choices_of<RlbPreset>() {
  return kRlbPresetNames;
}
template <>
std::span<const std::string_view> choices_of<PredictorMode>() {
  return kModes;
}

template <>
std::span<const std::string_view> choices_of<GuardMode>() {
  return kGuardModeNames;
}
template <>
std::span<const std::string_view> choices_of<GuardScope>() {
  return kGuardScopes;
}
template <>
std::span<const std::string_view> choices_of<Granularity>() {
  return kGranularities;
}

template <>
std::span<const std::string_view> choices_of<RoundLimit>() {
  return kRoundLimits;
}
template <>
std::span<const std::string_view> choices_of<OnExceed>() {
  return kOnExceed;
}
template <>
std::span<const std::string_view> choices_of<FollowRelease>() {
  return kReleases;
}
template <>
std::span<const std::string_view> choices_of<AllWarned>() {
  return kAllWarned;
}
template <>
std::span<const std::string_view> choices_of<Suspend>() {
  return kSuspend;
}
template <>
std::span<const std::string_view> choices_of<Heed>() {
  return kHeeds;
}
template <>
std::span<const std::string_view> choices_of<Placement>() {
  return kPlacements;
}

template <>
std::span<const std::string_view> choices_of<DetectorMode>() {
  return kDetectors;
}

template <>
const Section& section_of<PredictorConfig>() {
  using S = PredictorConfig;
  static const Section section = make_section(
      "predictor", "When a priority group is said to be about to send PFC.",
      {
          key<S>(&S::mode, {.name = "mode",
                            .help = "static: above threshold; derivative: XOFF is nearer than the "
                                    "horizon; combined: also near XOFF at any slope",
                            .source = "reference B.2.4"}),
          key<S>(&S::interval, {.name = "interval",
                                .min = kMicrosecond / 10,
                                .max = kMillisecond,
                                .help = "at most one sample of a group in each",
                                .source = "RLB paper"}),
          key<S>(&S::threshold, {.name = "threshold",
                                 .min = 1,
                                 .max = kGib,
                                 .help = "warn above this",
                                 .applies = is_static_predictor,
                                 .applies_says = "mode: static"}),
          key<S>(&S::floor,
                 {.name = "floor",
                  .max = kGib,
                  .absent = "auto",
                  .help = "predict nothing below this; auto: what two cable delays bring",
                  .applies = is_derivative_predictor,
                  .applies_says = "mode: derivative or combined"}),
          key<S>(&S::horizon, {.name = "horizon",
                               .min = kMicrosecond / 10,
                               .max = 100 * kMillisecond,
                               .absent = "auto",
                               .help = "warn when XOFF is nearer than this; auto: the control loop "
                                       "and an interval",
                               .applies = is_derivative_predictor,
                               .applies_says = "mode: derivative or combined"}),
          key<S>(&S::reaction, {.name = "reaction",
                                .max = kMillisecond,
                                .help = "of a switch to a warning: a part of the control loop"}),
          key<S>(&S::until_drained,
                 {.name = "until_drained",
                  .help = "a warned group is calm only while it shrinks; false: also while it "
                          "grows so slowly that XOFF is two horizons away",
                  .source = "reference B.2.4"}),
      },
      PredictorConfig{});
  return section;
}

template <>
const Section& section_of<WarningConfig>() {
  using S = WarningConfig;
  static const Section section = make_section(
      "warning", "How switches upstream are told, and how long they believe it.",
      {
          key<S>(&S::refresh, {.name = "refresh",
                               .min = kMicrosecond,
                               .max = 100 * kMillisecond,
                               .help = "tell again while the danger lasts"}),
          key<S>(&S::life, {.name = "life",
                            .min = kMicrosecond,
                            .max = 100 * kMillisecond,
                            .help = "a warning that is not refreshed ends after this"}),
          key<S>(
              &S::dwell,
              {.name = "dwell", .max = kMillisecond, .help = "a warning lasts at least so long"}),
          key<S>(&S::contribution,
                 {.name = "contribution",
                  .min = kMicrosecond,
                  .max = 100 * kMillisecond,
                  .help = "a warning is passed on to ports that fed the endangered one so recently",
                  .source = "reference B.4"}),
          key<S>(&S::relays,
                 {.name = "relays",
                  .max = kMostRelays,
                  .help = "switches that pass a warning on: 1 in two tiers, 2 in three"}),
          key<S>(&S::clear, {.name = "clear",
                             .help = "tell when the danger is over; false: warnings just end"}),
          key<S>(&S::until_cleared,
                 {.name = "until_cleared",
                  .help = "a port that a warning was passed on to gets its refreshes and its end, "
                          "even if it no longer feeds the endangered port; false: only while it "
                          "fed it within contribution",
                  .source = "reference B.4"}),
          key<S>(&S::beside_pause,
                 {.name = "beside_pause",
                  .help = "a pause and the warning of its port stand beside each other; false: the "
                          "more severe takes the place of the other",
                  .source = "reference B.5"}),
      },
      WarningConfig{});
  return section;
}

template <>
const Section& section_of<GuardConfig>() {
  using S = GuardConfig;
  static const Section section = make_section(
      "guard", "Whether a flow may take another path than its earlier packets took.",
      {
          key<S>(&S::mode,
                 {.name = "mode",
                  .help = "off, follow: always; paced: when it would not overtake them by the "
                          "delays measured; strict: when they are proven to have arrived",
                  .source = "reference B.10"}),
          key<S>(&S::scope, {.name = "scope",
                             .absent = "auto",
                             .help = "guard moves that RLB makes, or all, the scheme's own too; "
                                     "auto: all if strict, unless resequence is on"}),
          key<S>(&S::flows, {.name = "flows",
                             .min = 64,
                             .max = 16'777'216,
                             .help = "flows watched, of a shard; 16 octets each"}),
          key<S>(&S::margin, {.name = "margin",
                              .max = kMillisecond,
                              .help = "a packet must come later by this",
                              .applies = is_paced,
                              .applies_says = "mode: paced"}),
          key<S>(&S::pause, {.name = "pause",
                             .min = kMicrosecond,
                             .max = 10'000 * kMillisecond,
                             .help = "a flow that was silent for this is as good as new; not to a "
                                     "strict guard"}),
          key<S>(&S::age, {.name = "age",
                           .min = kMicrosecond,
                           .max = 140'000 * kMillisecond,
                           .help = "longer than this no packet is on the way, proof or no proof",
                           .applies = is_strict,
                           .applies_says = "mode: strict"}),
          key<S>(&S::patience,
                 {.name = "patience",
                  .max = 100 * kMillisecond,
                  .help = "a flow that has paused and whose scheme wants a quicker path waits so "
                          "long for its earlier packets to arrive; 0: it stays",
                  .applies = may_be_patient,
                  .applies_says = "mode: strict and scope: all"}),
          key<S>(&S::patience_room,
                 {.name = "patience_room",
                  .max = 64 << 20,
                  .help = "what one ingress port may have waiting so; a quarter of the shared "
                          "buffer in all",
                  .applies = may_be_patient,
                  .applies_says = "mode: strict and scope: all"}),
          key<S>(&S::linger, {.name = "linger",
                              .max = 10'000 * kMillisecond,
                              .help = "scope moves: flows are watched while something is warned, "
                                      "and for this after"}),
      },
      GuardConfig{});
  return section;
}

template <>
const Section& section_of<RecirculationConfig>() {
  using S = RecirculationConfig;
  static const Section section = make_section(
      "recirculation",
      "Packets that wait for a warned path because the other one is slower still: they go round a "
      "loop and are looked at again.",
      {
          key<S>(&S::enabled, {.name = "enabled", .help = "packets wait at all"}),
          key<S>(&S::latency, {.name = "latency",
                               .min = kMicrosecond / 10,
                               .max = kMillisecond,
                               .help = "of a round",
                               .source = "reference B.7"}),
          key<S>(&S::rate,
                 {.name = "rate",
                  .min = 1'000'000,
                  .max = 1'600'000'000'000,
                  .absent = "auto",
                  .help = "of the loop; auto: of the fastest fabric port, 100 Gb/s at most",
                  .source = "reference B.7"}),
          key<S>(&S::limit,
                 {.name = "limit",
                  .help = "of a packet's rounds. most: most_rounds; rounds, packets: also "
                          "what fits before its ingress group sends PFC",
                  .source = "reference B.9"}),
          key<S>(
              &S::most_rounds,
              {.name = "most_rounds", .max = 64, .help = "of a packet", .source = "reference B.9"}),
          key<S>(&S::cumulative,
                 {.name = "cumulative",
                  .help = "a packet's rounds together take no longer than the other path would "
                          "have, at first",
                  .source = "RLB paper, eq. 6"}),
          key<S>(&S::cap, {.name = "cap",
                           .max = kGib,
                           .absent = "auto",
                           .help = "octets in the loop; auto: what four latencies bring, at least "
                                   "128 KiB, at most a quarter of the shared buffer",
                           .source = "reference B.7"}),
          key<S>(&S::port_cap, {.name = "port_cap",
                                .max = kGib,
                                .help = "of them, from one ingress port",
                                .source = "reference B.7"}),
          key<S>(&S::followers,
                 {.name = "followers",
                  .max = 4'096,
                  .help = "packets that wait behind one of their flow; one more and all leave",
                  .source = "reference B.10"}),
          key<S>(&S::follow_release,
                 {.name = "follow_release",
                  .help = "flush: they leave with it; loop: each goes round, as in hardware",
                  .source = "reference B.10"}),
          key<S>(&S::on_exceed,
                 {.name = "on_exceed",
                  .help = "the path of a packet that has no round left: optimal, the warned "
                          "one; suboptimal, the other one; least_bad, the one of the two with the "
                          "smaller delay and expected "
                          "pause. Where all are warned the last two take the least bad",
                  .source = "reference B.9"}),
          key<S>(&S::rebase_on_return,
                 {.name = "rebase_on_return",
                  .help = "a packet that comes back is the scheme's to choose for again",
                  .source = "reference B.8"}),
      },
      RecirculationConfig{});
  return section;
}

template <>
const Section& section_of<FailureDetectorConfig>() {
  using S = FailureDetectorConfig;
  static const Section section = make_section(
      "failure_detector", kDetectorSays,
      {
          key<S>(
              &S::mode,
              {.name = "mode",
               .help =
                   "off; paper: the port of most rounds in the loop, for good; guarded: paths that "
                   "do not answer",
               .source = "reference B.9; RLB paper, algorithm 2"}),
          key<S>(&S::window, {.name = "window",
                              .min = kMicrosecond,
                              .max = 1'000 * kMillisecond,
                              .help = "a path that is suspicious in two in a row has failed; one "
                                      "ends when the path is next looked at, each 8 base_rtt",
                              .source = "reference B.9",
                              .applies = is_guarded,
                              .applies_says = kGuarded}),
          key<S>(&S::unanswered, {.name = "unanswered",
                                  .min = 1,
                                  .max = 100,
                                  .help = "stamps in a row without an answer that are suspicious",
                                  .source = "reference B.9",
                                  .applies = is_guarded,
                                  .applies_says = kGuarded}),
          key<S>(&S::silence, {.name = "silence",
                               .max = 100'000 * kMillisecond,
                               .help = "for this long at least, and 8 base_rtt; time in "
                                       "which the path is warned or paused does not count",
                               .applies = is_guarded,
                               .applies_says = kGuarded}),
          key<S>(&S::forced_percent,
                 {.name = "forced_percent",
                  .max = 100,
                  .help = "share of packets weighed against the path that were forced onto it, "
                          "above which it is suspicious; 100: never",
                  .source = "reference B.9",
                  .applies = is_guarded,
                  .applies_says = kGuarded}),
          key<S>(&S::decisions, {.name = "decisions",
                                 .min = 1,
                                 .max = 1'000'000,
                                 .help = "packets of a window that such a share is made of",
                                 .applies = is_guarded,
                                 .applies_says = kGuarded}),
          key<S>(&S::exclusion, {.name = "exclusion",
                                 .min = kMicrosecond,
                                 .max = 100'000 * kMillisecond,
                                 .help = "how long a failed path is not used at least; then, the "
                                         "next answer brings it back",
                                 .source = "reference B.9",
                                 .applies = is_guarded,
                                 .applies_says = kGuarded}),
          key<S>(&S::longest_exclusion,
                 {.name = "longest_exclusion",
                  .min = kMicrosecond,
                  .max = 1'000'000 * kMillisecond,
                  .help = "of a path that fails again: twice as long each time, up to this; in use "
                          "for as long as this it starts anew",
                  .source = "reference B.9",
                  .applies = is_guarded,
                  .applies_says = kGuarded}),
      },
      FailureDetectorConfig{});
  return section;
}

template <>
const Section& section_of<RlbConfig>() {
  using S = RlbConfig;
  static const Section section = make_section(
      "rlb",
      "Predict PFC, warn the switches upstream, and keep packets off warned paths. A lone word is "
      "the preset; with `preset` in the section, the other keys override it.",
      {
          preset_key(),
          key<S>(&S::predictor, {.name = "predictor", .help = "when PFC is predicted"}),
          key<S>(&S::warning, {.name = "warning", .help = "how others are warned"}),
          key<S>(&S::guard, {.name = "guard", .help = "the order of flows"}),
          key<S>(&S::granularity,
                 {.name = "granularity",
                  .help = "packet: each goes by itself; unit: a flow is looked at again when its "
                          "scheme begins another flowlet or cell, or its path is warned",
                  .source = "reference B.11"}),
          key<S>(&S::recirculation,
                 {.name = "recirculation", .help = "packets that wait for a warned path"}),
          short_key<S>(&S::failure_detector,
                       {.name = "failure_detector", .help = "paths that do not work"}),
          key<S>(&S::all_warned,
                 {.name = "all_warned",
                  .help =
                      "when all paths are warned: least_bad, the least severe; base, the scheme's; "
                      "wait_once, a round in the loop first; score, the smallest delay and "
                      "expected pause, which is "
                      "warning.life for the severest warning and less for milder ones",
                  .source = "reference B.8"}),
          key<S>(&S::suspend,
                 {.name = "suspend",
                  .help = "the scheme decides alone where one switch warns of more than half of "
                          "the paths: most, always; all, only where no path is left that is not "
                          "warned",
                  .source = "reference B.8"}),
          key<S>(
              &S::heed,
              {.name = "heed",
               .help = "which warnings keep packets off a path: local, this switch's own pauses; "
                       "relayed, also pauses that others tell of; predicted, also pauses that "
                       "are foreseen. Whatever is heard is passed on all the same",
               .source = "reference B.5"}),
          key<S>(&S::placement,
                 {.name = "placement",
                  .help = "of a flow's first packet whose path is warned: alternative, by the "
                          "scheme's next best path that is not; least_delay, by the one of these "
                          "with the smallest delay measured",
                  .source = "reference B.8"}),
          key<S>(&S::culprits,
                 {.name = "culprits",
                  .help = "a warning names up to four destinations whose backlog causes it; their "
                          "packets stay where they are, since no path avoids their port",
                  .source = "reference B.3"}),
          key<S>(&S::reroute_credit,
                 {.name = "reroute_credit",
                  .help = "to the delay of a path is added what was moved to it since it was "
                          "measured last, by the rate of its port",
                  .source = "reference B.12"}),
          key<S>(&S::reaction,
                 {.name = "reaction",
                  .max = 1,
                  .help = "share of flows that heed the mildest warning; of the severest all do",
                  .source = "reference B.12"}),
      },
      RlbConfig{});
  return section;
}

}  // namespace eddy::config
