// Predictor: says of an ingress (port, PG) that it is about to send PFC, before it does.
//
// A PG is sampled when what it holds may have changed (a burst was admitted, charges came back), at
// most once an interval, and, while it warns, at each refresh. The slope is what it grew by over
// the time that really passed, smoothed by halves. Modes: `fixed` warns above a threshold;
// `derivative` when a PG above a floor would reach XOFF within the horizon; `combined` also above a
// ceiling. It is clear again when two samples in a row say so, and not before the dwell time. A
// warning is told at once when it begins or its severity jumps, else once a refresh; a clear is
// told twice. A prediction, a warning that began before PFC was sent, is right if PFC is sent
// before it ends. Units: octets, octets a millisecond, picoseconds. Owner: one shard. Bounds:
// `ports` x 8 states, taken at construction. Cost: a sample that is too early one compare; else
// about 15 cycles and a division. Source: reference B.2.4, B.3; RLB paper, section 3.2.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "net/deadlines.h"
#include "net/ids.h"
#include "net/memory/reserved.h"
#include "net/rebase.h"
#include "net/units.h"

namespace eddy::config {
enum class PredictorMode : uint8_t;
struct PortConfig;
struct RlbConfig;
}  // namespace eddy::config

namespace eddy::pfc {

// A port's side of the configuration.
struct PredictorPlan {
  uint8_t watched = 0;    // PGs; 0 = off
  bool notifies = false;  // the peer is told: it is a switch
  bool sends_clear = true;
  bool until_drained = true;  // calm only while it shrinks
  config::PredictorMode mode{};
  Duration interval;      // between samples
  Duration horizon;       // derivative: XOFF is nearer than this
  Duration refresh;       // of a warning that lasts
  Duration dwell;         // a warning lasts at least so long
  int64_t floor = 0;      // derivative: below this nothing is predicted
  int64_t threshold = 0;  // fixed
  int64_t clear = 0;      // a PG below this that does not grow is clear
  int64_t exposure =
      0;  // what may still come before a warning has an effect: ceiling = XOFF - this

  // `lossless_pgs`: the lossless PGs of this port, as a mask.
  static PredictorPlan of(const config::RlbConfig& rlb, const config::PortConfig& port,
                          uint8_t lossless_pgs);
  bool operator==(const PredictorPlan&) const = default;
};

// What a PG holds, headroom excluded, and where it pauses its sender.
struct PgLevel {
  int64_t queue = 0;
  int64_t xoff = 0;
};

// What the peer behind a port is to be told of one of its PGs.
struct PfcWarning {
  PortId port;
  PriorityGroupId pg;
  uint8_t severity = 0;   // 1..62, nearer and nearer; 63: PFC was sent; 0: clear
  uint32_t sequence = 0;  // of this port
  PgLevel level;
  int64_t growth = 0;     // octets since the sample before
  Duration time_to_xoff;  // Duration::max(): not at this slope
  bool begins = false;    // it was clear before
  bool ends = false;      // and is so again
  bool missed = false;    // a prediction has ended, and PFC was not sent
};

// A pause, as it was predicted.
struct PauseForesight {
  bool begins = false;    // else the priority was paused already
  bool foreseen = false;  // a warning was out
  bool first = false;     // of those during that warning: it was right
  Duration lead;          // first: since the warning began
};

class Predictor {
 public:
  static constexpr uint8_t kClear = 0;
  static constexpr uint8_t kNear = 62;
  static constexpr uint8_t kPfcSent = 63;
  static constexpr uint8_t kJump = 16;  // a severity that rises by this is told at once

  // `next`: as of Deadlines.
  explicit Predictor(size_t ports, std::optional<DeadlinePlace> next = std::nullopt);

  // Adopts a configuration. A PG that is no longer watched forgets its warning, which expires.
  void configure(PortId port, const PredictorPlan& plan);
  bool watches(PortId port, PriorityGroupId pg) const {
    return (plans_[port.index()].watched >> pg.index() & 1) != 0;
  }

  // Of a watched PG: a sample would not come too early.
  bool is_due(PortId port, PriorityGroupId pg, Instant now) const {
    return now >= states_[index_of(port, pg)].next_sample;
  }
  // What a watched PG holds now.
  void sample(PortId port, PriorityGroupId pg, const PgLevel& level, Instant now) {
    if (is_due(port, pg, now)) evaluate(index_of(port, pg), level, now);
  }
  // PFC has been sent for a watched PG, or has been taken back.
  PauseForesight pfc_sent(PortId port, PriorityGroupId pg, bool paused, Instant now);
  // Samples the PGs whose refresh is due: PgLevel look(PortId, PriorityGroupId).
  template <class Look>
  void on_timers(Instant now, Look&& look) {
    while (const auto id = refreshes_.pop_due(now))
      evaluate(*id, look(port_of(*id), pg_of(*id)), now);
  }
  Instant next_deadline() const { return refreshes_.next(); }
  void rebase(const Rebase& rebase);

  // What is to be told since the last flush: void emit(const PfcWarning&).
  bool owes() const { return !owed_.empty(); }
  template <class Emit>
  void flush(Emit&& emit) {
    for (const uint16_t index : owed_) emit(take_owed(index));
    owed_.clear();
  }

  uint8_t severity(PortId port, PriorityGroupId pg) const {
    return states_[index_of(port, pg)].severity;
  }
  // Octets a millisecond, smoothed.
  int64_t slope(PortId port, PriorityGroupId pg) const { return states_[index_of(port, pg)].slope; }

 private:
  struct State {
    Instant next_sample;  // not before
    Instant begun_at;     // the warning
    Instant told_at;
    PgLevel level;              // at the last sample
    int64_t growth = 0;         // since the one before
    int64_t slope = 0;          // octets a millisecond, smoothed
    uint8_t severity = kClear;  // as told, or owed
    uint8_t calm = 0;           // samples in a row
    uint8_t samples = 0;        // up to 2: from then on there is a slope
    bool paused = false;        // PFC was sent
    bool predicts = false;      // the warning began before PFC, which has not been sent since
    bool ends = false;          // owed, too
    bool missed = false;        // owed, too
    bool repeats_clear = false;
    bool owed = false;
  };

  static size_t index_of(PortId port, PriorityGroupId pg) {
    return port.index() * kPriorities + pg.index();
  }
  static PortId port_of(size_t index) { return PortId(index / kPriorities); }
  static PriorityGroupId pg_of(size_t index) { return PriorityGroupId(index % kPriorities); }
  void evaluate(size_t index, const PgLevel& level, Instant now);
  static PauseForesight foresight(const State& state, Instant now);
  static void measure(State& state, const PredictorPlan& plan, const PgLevel& level, Instant now);
  // The severity to be told now, if any; `danger`: what the sample shows.
  static std::optional<uint8_t> due(State& state, const PredictorPlan& plan, uint8_t danger,
                                    Instant now);
  void tell(size_t index, uint8_t severity, Instant now);
  PfcWarning take_owed(size_t index);

  std::vector<uint32_t> sequences_;   // by port: of the last warning
  std::vector<PredictorPlan> plans_;  // by port
  Reserved<State> states_;            // by (port, PG); zero until it was watched
  std::vector<uint16_t> owed_;        // indices into states_, each once
  Deadlines refreshes_;               // by (port, PG)
};

// Octets over (octets a millisecond) as a time; Duration::max() when the slope is not positive.
Duration time_to_fill(int64_t octets, int64_t slope);

}  // namespace eddy::pfc
