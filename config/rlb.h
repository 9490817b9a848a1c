// RLB as plain values: how PFC is predicted, how peers are warned, and what a warned path changes.
//
// A preset sets every value; keys beside it override. Times and rates are not scaled yet. Owner:
// whoever loaded it. Source: reference B.14; architecture, section 11.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string_view>

#include "net/units.h"

namespace eddy::config {

using namespace eddy::literals;

// paper: what is printed; paper_star: the paper's RLB*; standard (YAML: default): what works.
enum class RlbPreset : uint8_t { off, paper, paper_star, standard };
inline constexpr std::array<std::string_view, 4> kRlbPresetNames = {"off", "paper", "paper_star",
                                                                    "default"};
enum class PredictorMode : uint8_t { fixed, derivative, combined };  // YAML: static, ...

struct PredictorConfig {
  PredictorMode mode = PredictorMode::combined;
  Duration interval = 2_us;    // between samples of a PG
  Bytes threshold{98'304};     // fixed: warn above this
  std::optional<Bytes> floor;  // derivative: predict nothing below; nullopt = 2 d C
  std::optional<Duration>
      horizon;                // derivative: warn when XOFF is nearer; nullopt = loop + interval
  Duration reaction = 1_us;   // of a switch to a warning; part of the control loop
  bool until_drained = true;  // calm when it shrinks, not when it grows slowly
  bool operator==(const PredictorConfig&) const = default;
};

struct WarningConfig {
  Duration refresh = 8_us;        // while the danger lasts
  Duration life = 24_us;          // without a refresh
  Duration dwell = 4_us;          // at least
  Duration contribution = 64_us;  // who fed the endangered port so recently is told, too
  int relays = 1;                 // 1 in two tiers, 2 in three
  bool clear = true;              // tell when the danger is over, not only stop telling
  bool until_cleared = true;      // who was told is told on, even if it feeds the port no more
  bool beside_pause = true;       // a pause of the same port does not take its place
  bool operator==(const WarningConfig&) const = default;
};

enum class GuardMode : uint8_t { off, follow, paced, strict };
inline constexpr std::array<std::string_view, 4> kGuardModeNames = {"off", "follow", "paced",
                                                                    "strict"};
enum class GuardScope : uint8_t { moves, all };
enum class Granularity : uint8_t { packet, unit };

struct GuardConfig {
  GuardMode mode = GuardMode::strict;
  std::optional<GuardScope> scope;  // nullopt: all for strict, else moves; moves where `sorted`
  bool sorted = false;  // the last leaf puts flows in order: as the switch's resequence is, no key
  int64_t flows = 16'384;  // remembered, of a shard
  Duration margin = 1_us;  // paced: by which a packet must come later
  Duration pause = 50_us;  // of a flow, after which it is as good as new; strict: never
  Duration age = 100_ms;   // strict: nothing is on the way for so long
  Duration patience{};     // strict, all: a flow waits so long for a slow path to drain; 0: never
  Bytes patience_room = Bytes::kib(1'024);  // of what one ingress port may have waiting so
  Duration linger = 1_ms;                   // moves: flows are watched for so long after a warning

  // Changes of path that are the scheme's own are guarded, too.
  bool guards_all() const {
    const bool pins = mode == GuardMode::strict || mode == GuardMode::paced;
    const bool strict = mode == GuardMode::strict && !sorted;
    const auto usual = strict ? GuardScope::all : GuardScope::moves;
    return pins && scope.value_or(usual) == GuardScope::all;
  }
  bool is_patient() const {
    return mode == GuardMode::strict && guards_all() && patience > Duration{};
  }
  bool operator==(const GuardConfig&) const = default;
};

enum class RoundLimit : uint8_t { most, rounds, packets };
enum class OnExceed : uint8_t { optimal, suboptimal, least_bad };
enum class FollowRelease : uint8_t { flush, loop };
enum class AllWarned : uint8_t { least_bad, base, wait_once, score };
enum class Suspend : uint8_t { most, all };  // of the paths are warned by one switch
// Which warnings count: this switch's own pauses; pauses that others tell of, too; and pauses
// foreseen.
enum class Heed : uint8_t { local, relayed, predicted };
// Where a new flow goes instead of a warned path: to the scheme's next best, or where packets take
// the least time.
enum class Placement : uint8_t { alternative, least_delay };

struct RecirculationConfig {
  bool enabled = true;
  Duration latency = 1_us;  // of a round
  std::optional<BitRate>
      rate;  // of the loop; nullopt: of the fastest fabric port, 100 Gb/s at most
  RoundLimit limit = RoundLimit::rounds;
  int64_t most_rounds = 8;          // of a packet
  bool cumulative = true;           // the rounds together cost less than the other path
  std::optional<Bytes> cap;         // nullopt: four loops' worth, between limits
  Bytes port_cap = Bytes::kib(64);  // of what one ingress port may have in it
  int64_t followers = 64;           // of a flow
  FollowRelease follow_release = FollowRelease::flush;
  OnExceed on_exceed = OnExceed::suboptimal;  // what is taken when there is no round left
  bool rebase_on_return = false;              // the scheme is asked again
  bool operator==(const RecirculationConfig&) const = default;
};

enum class DetectorMode : uint8_t { off, paper, guarded };

// Which paths are taken out of use because they seem to have failed.
struct FailureDetectorConfig {
  DetectorMode mode = DetectorMode::guarded;
  Duration window = 100_us;          // a path is suspicious in one or it is not
  int64_t unanswered = 4;            // stamps in a row that make a window suspicious
  Duration silence = 5_ms;           // and so long must they have gone without an answer
  int64_t forced_percent = 80;       // of decisions that a limit forced onto the path
  int64_t decisions = 64;            // that such a share is made of, at least
  Duration exclusion = 10_ms;        // the first one of a path
  Duration longest_exclusion = 1_s;  // of one that fails again and again
  bool operator==(const FailureDetectorConfig&) const = default;
};

struct RlbConfig {
  RlbPreset preset = RlbPreset::off;
  PredictorConfig predictor;
  WarningConfig warning;
  GuardConfig guard;
  Granularity granularity = Granularity::packet;
  RecirculationConfig recirculation;
  FailureDetectorConfig failure_detector;
  AllWarned all_warned = AllWarned::least_bad;
  Suspend suspend = Suspend::all;
  Heed heed = Heed::predicted;
  Placement placement = Placement::alternative;
  bool culprits = false;        // warnings name the destinations that cause them, which heed none
  bool reroute_credit = false;  // delays grow by what was just moved to the path
  double reaction = 1.0;  // chance that a flow heeds the mildest warning; the severest all heed

  bool enabled() const { return preset != RlbPreset::off; }
  // A path selector made for one serves the other.
  bool decides_like(const RlbConfig& other) const {
    return enabled() == other.enabled() && guard == other.guard &&
           granularity == other.granularity && recirculation == other.recirculation &&
           all_warned == other.all_warned && suspend == other.suspend &&
           placement == other.placement && reroute_credit == other.reroute_credit &&
           warning.life == other.warning.life && reaction == other.reaction;
  }
  bool operator==(const RlbConfig&) const = default;
};

RlbConfig rlb_preset(RlbPreset preset);

}  // namespace eddy::config
