// ReactionPoint: DCQCN's rate of one sending QP, by the paper's rules or by those of NICs.
//
// Rates are bits a second, alpha is in units of 2^-30; all is integers. Paper: a CNP lowers the
// rate by alpha / 2 at most once in decrease_interval; one that comes earlier only puts off the
// decay of alpha. Vendor: two clocks run in slots from the first CNP on. A CNP is noted; at the end
// of an alpha slot alpha grows if one was, else decays; a cut slot lowers the rate if one was, and
// the target only if the rate has grown since the last cut. Until the first CNP the QP sends at
// line rate and no timer runs. Timers are applied when somebody looks: catch_up(now) replays those
// that have gone off since. Between CNPs those of alpha and the increases do not touch each other,
// so each kind is replayed in its own order as soon as no CNP is noted. A timer that goes off at
// the very time of a CNP counts as earlier; of one moment alpha comes first, then the cut, then the
// increase. Owner: one QP. Cost: a few instructions, plus two a timer that went off; halves are
// rounded up so that the line rate is reached again. Source: reference D.3, I-5; paper: hyper
// increase i times R_HAI with i = min(T, BC) - F.
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
  Instant next_event() const {
    const Instant timer = alpha_due_ < increase_due_ ? alpha_due_ : increase_due_;
    return cut_noted_ && next_cut_ < timer ? next_cut_ : timer;
  }
  Instant next_increase() const { return increase_due_; }
  // Frame octets until the byte counter's next event; 0: it does not run.
  int64_t octets_left() const { return octets_left_; }

  static constexpr uint32_t kAlphaOne = 1U << 30;

 private:
  void note_cnp(const config::DcqcnConfig& config, BitRate line, Instant now);
  void replay_slots(const config::DcqcnConfig& config, BitRate line, Instant now);
  void end_alpha_slot(const config::DcqcnConfig& config);
  void end_cut_slot(const config::DcqcnConfig& config, BitRate line);
  void grow(const config::DcqcnConfig& config, BitRate line);
  void grow_until(const config::DcqcnConfig& config, BitRate line, Instant now);
  void count_octets(const config::DcqcnConfig& config, BitRate line);
  void replay(const config::DcqcnConfig& config, BitRate line, Instant now);
  void decay_alpha(const config::DcqcnConfig& config, Instant now);
  void increase(const config::DcqcnConfig& config, BitRate line, uint16_t& events);

  int64_t current_ = 0;  // RC
  int64_t target_ = 0;   // RT
  Instant alpha_due_ = Instant::never();
  Instant increase_due_ = Instant::never();
  Instant next_cut_;         // paper: no cut before; vendor: the end of the cut slot
  int64_t octets_left_ = 0;  // until the byte counter's next event
  uint32_t alpha_ = kAlphaOne;
  uint16_t timer_events_ = 0;  // T; vendor: the stage
  uint16_t byte_events_ = 0;   // BC
  bool alpha_noted_ = false;   // vendor: a CNP came in this slot
  bool cut_noted_ = false;
};
static_assert(sizeof(ReactionPoint) == 64);

}  // namespace eddy::host
