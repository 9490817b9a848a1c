#include "plugin/guarded_stage.h"

#include <stdexcept>

namespace eddy::plugin {

using lb::StageEvent;
using lb::StageView;

namespace {

constexpr int64_t kShortestFrame = 60;  // octets, without its FCS
constexpr size_t kLongestBurst = 64;    // PathView::away()

// Bounds are looked at when a call is over, so a burst may come on top.
size_t most_held(const lb::StageBounds& bounds) {
  const auto frames = static_cast<size_t>(std::max<int64_t>(bounds.octets, 0) / kShortestFrame);
  return std::min(frames, GuardedStage::kMostHeld) + kLongestBurst;
}

}  // namespace

class GuardedStage::View final : public StageView {
 public:
  // It begins where the switch's stands.
  View(GuardedStage& stage, StageView& real)
      : StageView(now_, &real.port(PortId(0))), now_(real.now()), stage_(stage), real_(real) {
    place_ = real.place();
    bounds_ = stage.bounds_;
    held_ = real.held_packets();
    octets_ = real.held_octets();
  }

  void mark_ce(Packet& packet) override { real_.mark_ce(packet); }
  void set_dscp(Packet& packet, uint8_t dscp) override { real_.set_dscp(packet, dscp); }
  void report(StageEvent event, const Packet& packet) override { real_.report(event, packet); }

  // Which packets of the burst the stage has neither passed nor held, as bits.
  uint64_t left_of(std::span<Packet* const> burst) const {
    uint64_t left = 0;
    for (size_t i = 0; i < burst.size(); ++i)
      if (!stage_.held_.contains(burst[i]) && !has_passed(burst[i])) left |= uint64_t{1} << i;
    return left;
  }
  void hand_on() {
    while (!passed_.empty()) {
      Packet* packet = passed_.pop();
      if (stage_.held_.remove(packet))
        real_.release(packet);
      else
        real_.pass(packet);
    }
  }

 private:
  void taken(Packet& packet) override {
    if (!stage_.held_.add(&packet))
      throw std::length_error("its stage holds more packets than the octets it may hold have");
    real_.hold(&packet);
  }
  bool has_passed(const Packet* packet) const {
    for (const Packet* each = passed_.head(); each != nullptr; each = each->next)
      if (each == packet) return true;
    return false;
  }

  const Instant now_;
  GuardedStage& stage_;
  StageView& real_;
};

GuardedStage::GuardedStage(lb::FlowStage& inner, SchemeGuard& guard)
    : inner_(inner),
      guard_(guard),
      kind_(inner.kind()),
      bounds_(inner.bounds()),
      held_(most_held(bounds_)) {}

void GuardedStage::take(StageView& view, std::span<Packet* const> burst) {
  View own(*this, view);
  if (guard_.survives([&] { inner_.take(own, burst); })) [[likely]]
    return own.hand_on();
  const uint64_t left = own.left_of(burst);
  own.hand_on();
  empty(view);
  for (size_t i = 0; i < burst.size(); ++i)
    if ((left >> i & 1) != 0) view.pass(burst[i]);
}

Instant GuardedStage::next_deadline() const {
  Instant due = Instant::never();
  if (guard_.survives([&] { due = inner_.next_deadline(); })) [[likely]]
    return due;
  return held_.size() != 0 ? Instant() : Instant::never();
}

void GuardedStage::on_timers(StageView& view) {
  View own(*this, view);
  const bool fine = guard_.survives([&] { inner_.on_timers(own); });
  own.hand_on();
  if (!fine) empty(view);
}

// Whoever asks for it counts what he wants to be counted.
void GuardedStage::release_all(StageView& view) {
  View own(*this, view);
  const bool fine = guard_.survives([&] { inner_.release_all(own); });
  own.hand_on();
  if (fine && held_.size() != 0) guard_.fail("its stage keeps what it should release");
  held_.take_all([&](Packet& packet) { view.release(&packet); });
}

void GuardedStage::rebase(const Rebase& rebase) {
  (void)guard_.survives([&] { inner_.rebase(rebase); });
}

void GuardedStage::empty(StageView& view) {
  held_.take_all([&](Packet& packet) {
    view.report(StageEvent::forced_flow, packet);
    view.release(&packet);
  });
}

}  // namespace eddy::plugin
