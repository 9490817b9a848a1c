// reorder_buffer: go-back-N whose receiver keeps what is out of order, and names a gap only when it
// has not been filled for reorder_timeout, or when a packet is too far ahead to be kept. Source:
// reference D.2; Presto.
#include "host/describe.h"
#include "host/recovery/go_back_n.h"
#include "host/recovery/held_packets.h"

namespace eddy::host {
namespace {

class Sender final : public GoBackN {
 public:
  static constexpr std::string_view kSummary =
      "packets out of order are kept for a time; then the sender goes back";
  using GoBackN::GoBackN;
};

class Reorderer : public ReceiveRecovery {
 public:
  explicit Reorderer(const LawInit& init)
      : ReceiveRecovery(init.nic.receivers),
        names_(init.nic.config.nak_timer),
        timeout_(init.nic.config.reorder_timeout),
        held_(init) {}

  Disposal on_ahead(uint32_t qpn, uint64_t sequence, ReceiveState& state, Instant now) override {
    if (!held_.fits(state, sequence)) return {.reply = names_.name(state, now)};
    const Disposal::Packet packet = held_.keep(qpn, sequence, state);
    if (!timers().pending(qpn)) watch_gap(qpn, state, now);
    return {.packet = packet};
  }
  void on_filled(uint32_t qpn, ReceiveState& state, Instant now) override {
    held_.take(qpn, state);
    watch_gap(qpn, state, now);
  }
  Reply on_timer(uint32_t qpn, ReceiveState& state, Instant now) override {
    watch_gap(qpn, state, now);
    return Reply::nak;
  }

 private:
  // The gap before the packets kept, if there is one, is new.
  void watch_gap(uint32_t qpn, const ReceiveState& state, Instant now) {
    const bool timed = state.held != 0 && timeout_ > Duration{};
    timers().set(qpn, timed ? now + timeout_ : Instant::never());
  }

  const GapNames names_;
  const Duration timeout_;
  HeldPackets held_;
};

}  // namespace

EDDY_RECOVERY(reorder_buffer, Sender, Reorderer)

}  // namespace eddy::host
