// IdleProber: measures paths that no packet has measured of late, by probes.
//
// It looks at one path set after the other, each once a round, and sends a probe by each path of
// this shard that was not stamped for `rest`; without a round of its own only where a detector
// waits for an answer. With several shards it first has those that rest woken, so that what it
// stamps proves arrivals. Owner: one shard; made by control. Bounds: one probe for each path and
// round. Cost: nothing for a packet; a few loads for each member of the set that is looked at.
// Source: reference 1.7; docs/paths.md.
#pragma once

#include <cstddef>

#include "lb/agent.h"

namespace eddy::lb {

class IdleProber final : public PathAgent {
 public:
  struct Plan {
    size_t sets = 0;
    size_t first = 0;    // leaves that start together begin with different sets
    Duration round;      // in which each set is looked at once
    bool probes = true;  // else only what a detector waits for
    Duration rest;       // a path that was stamped since then needs no probe
  };
  static constexpr Speech kSpeech = {// A round is its budget.
                                     .timers = true,
                                     .makes = kind_bit(ShimKind::probe),
                                     .line_percent = 100};

  explicit IdleProber(const Plan& plan)
      : PathAgent(kSpeech), plan_(plan), next_set_(plan.sets == 0 ? 0 : plan.first % plan.sets) {}

  Instant next_deadline() const override { return next_look_; }
  void on_timers(Voice& voice) override;
  void rebase(const Rebase& rebase) override { rebase.shift(next_look_); }

 private:
  void look_at(Voice& voice, uint16_t set);

  Plan plan_;
  size_t next_set_;
  bool woke_ = false;  // others, before the next look
  Instant next_look_ = Instant::long_past();
};

}  // namespace eddy::lb
