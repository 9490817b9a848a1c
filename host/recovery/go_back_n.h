// GoBackN: the sender's half of go-back-N; GapNames: when a receiver that drops names its gap.
//
// After a NAK or a timeout the sender goes back to the lowest unacknowledged packet. A receiver
// that drops what is ahead says so once a gap, and again only for a packet that comes nak_timer
// after its last NAK. Owner: one Nic. Cost: a few instructions. Source: reference D.2.
#pragma once

#include "host/recovery.h"

namespace eddy::host {

class GoBackN : public SendRecovery {
 public:
  explicit GoBackN(const LawInit& init) : rto_(init.nic.config.rto) {}

  Timeouts timeouts() const override { return {.rto = rto_, .short_rto = rto_}; }
  void on_nak(uint32_t, const Ack& ack, SendState& state) override {
    state.progress = ack.now;
    state.next = state.unacked;
  }
  void on_timeout(uint32_t, SendState& state, Instant) override { state.next = state.unacked; }

 private:
  const Duration rto_;
};

class GapNames {
 public:
  explicit GapNames(Duration nak_timer) : nak_timer_(nak_timer) {}

  Reply name(ReceiveState& state, Instant now) const {
    const bool again = nak_timer_ > Duration{} && now >= state.next_nak;
    if (state.gap_named && !again) return Reply::none;
    state.gap_named = true;
    state.next_nak = now + nak_timer_;
    return Reply::nak;
  }

 private:
  const Duration nak_timer_;
};

}  // namespace eddy::host
