// irn: the receiver keeps what is out of order and names each such packet in a NAK; the sender
// repeats what is lost, with one bandwidth-delay product in flight at most. Source: IRN, section
// 3.1; reference D.2.
#include <algorithm>

#include "host/describe.h"
#include "host/recovery/held_packets.h"
#include "host/recovery/selective_repeat.h"

namespace eddy::host {
namespace {

class Irn : public SendRecovery {
 public:
  struct Parameters {
    Duration rto_low = Duration::microseconds(100);
    Duration rto_high = Duration::microseconds(320);
    int64_t rto_low_packets = 3;
  };
  static constexpr auto parameters() {
    using P = Parameters;
    return std::array{
        ranged<&P::rto_low>("rto_low", Duration::microseconds(1), Duration::seconds(1),
                            {"timeout with few packets in flight", "IRN"}),
        ranged<&P::rto_high>("rto_high", Duration::microseconds(1), Duration::seconds(1),
                             {"timeout otherwise", "IRN"}),
        ranged<&P::rto_low_packets>("rto_low_packets", 0, 1'000, {"how many are few", "IRN"})};
  }
  static constexpr std::string_view kSummary =
      "packets out of order are kept and named in NAKs, and only lost ones are sent again";
  static constexpr bool kNaksName = true;

  Irn(const LawInit& init, const Parameters& parameters)
      : parameters_(parameters), repeats_(init.nic.senders, init.nic.reorder_packets) {}

  Timeouts timeouts() const override {
    return {parameters_.rto_high, parameters_.rto_low,
            static_cast<int>(parameters_.rto_low_packets)};
  }
  uint32_t full_window(uint32_t, uint32_t bdp) const override {
    return static_cast<uint32_t>(std::min<uint64_t>(bdp, repeats_.window()));
  }
  void on_ack(uint32_t qpn, const Ack& ack, SendState& state) override {
    repeats_.on_advance(qpn, state.unacked - ack.packets, state.unacked);
    show(qpn, state);
  }
  void on_nak(uint32_t qpn, const Ack& ack, SendState& state) override {
    if (repeats_.on_arrived(qpn, state.unacked, state.next, ack.arrived)) state.progress = ack.now;
    show(qpn, state);
  }
  void on_timeout(uint32_t qpn, SendState& state, Instant) override {
    repeats_.on_timeout(qpn, state.unacked, state.next);
    show(qpn, state);
  }
  uint64_t next_send(uint32_t qpn, SendState& state) override {
    const uint64_t sequence = repeats_.take_lost(qpn);
    show(qpn, state);
    return sequence;
  }

 private:
  void show(uint32_t qpn, SendState& state) {
    const bool listens = repeats_.knows_beyond(qpn, state.unacked);
    state.repair = repeats_.has_lost(qpn) ? Repair::pending
                   : listens              ? Repair::listens
                                          : Repair::none;
  }

  const Parameters parameters_;
  SelectiveRepeat repeats_;
};

class Keeper : public ReceiveRecovery {
 public:
  Keeper(const LawInit& init, const Irn::Parameters&) : held_(init) {}

  Disposal on_ahead(uint32_t qpn, uint64_t sequence, ReceiveState& state, Instant) override {
    if (!held_.fits(state, sequence)) return {};
    return {held_.keep(qpn, sequence, state), Reply::nak};
  }
  void on_filled(uint32_t qpn, ReceiveState& state, Instant) override { held_.take(qpn, state); }

 private:
  HeldPackets held_;
};

}  // namespace

EDDY_RECOVERY(irn, Irn, Keeper)

}  // namespace eddy::host
