// ReactionPoint: DCQCN's rate of one sending QP.
//
// Rates are bits a second, alpha is in units of 2^-30; all is integers. A CNP lowers the rate by
// alpha / 2 at most once in decrease_interval; one that comes earlier only puts off the decay of
// alpha. Until the first CNP the QP sends at line rate and no timer runs. Timers are applied when
// somebody looks: catch_up(now) replays those that have gone off since, each kind in its order,
// which gives the same rates since alpha and the increases do not touch each other between CNPs. A
// timer that goes off at the very time of a CNP counts as earlier. Owner: one QP. Cost: a few
// instructions, plus two a timer that went off; halves are rounded up so that the line rate is
// reached again. Source: reference D.3, I-5; hyper increase i times R_HAI with i = min(T, BC) - F.
#pragma once

#include <cstdint>

#include "config/host.h"
#include "net/units.h"

namespace eddy::host {

class ReactionPoint {
 public:
  void start(BitRate line) { current_ = target_ = line.bps(); }

  void catch_up(const config::DcqcnConfig& config, BitRate line, Instant now) {
    if (next_event() <= now) replay(config, line, now);
  }
  void on_cnp(const config::DcqcnConfig& config, BitRate line, Instant now);
  // Frame octets that have left; after catch_up().
  void on_sent(const config::DcqcnConfig& config, BitRate line, int64_t octets) {
    if (octets_left_ <= 0) return;  // no CNP yet, or no byte counter
    octets_left_ -= octets;
    if (octets_left_ <= 0) count_octets(config, line);
  }

  // As of the last catch_up().
  int64_t rate_bps() const { return current_; }
  int64_t target_bps() const { return target_; }
  uint32_t alpha_q30() const { return alpha_; }
  // When a timer goes off next, and when one that makes the rate grow.
  Instant next_event() const { return alpha_due_ < increase_due_ ? alpha_due_ : increase_due_; }
  Instant next_increase() const { return increase_due_; }

  static constexpr uint32_t kAlphaOne = 1U << 30;

 private:
  void count_octets(const config::DcqcnConfig& config, BitRate line);
  void replay(const config::DcqcnConfig& config, BitRate line, Instant now);
  void decay_alpha(const config::DcqcnConfig& config, Instant now);
  void increase(const config::DcqcnConfig& config, BitRate line, uint16_t& events);

  int64_t current_ = 0;  // RC
  int64_t target_ = 0;   // RT
  Instant alpha_due_ = Instant::never();
  Instant increase_due_ = Instant::never();
  Instant next_cut_;
  int64_t octets_left_ = 0;  // until the byte counter's next event
  uint32_t alpha_ = kAlphaOne;
  uint16_t timer_events_ = 0;  // T
  uint16_t byte_events_ = 0;   // BC
};
static_assert(sizeof(ReactionPoint) == 56);

}  // namespace eddy::host
