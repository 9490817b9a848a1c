// Flow stages for tests, one for each thing that a stage may do.
//
// Each tells packets of a flow by their order hash. Owner: one test.
#pragma once

#include <algorithm>
#include <functional>
#include <memory>

#include "lb/flow_stage.h"

namespace eddy::test {

class TestStage : public lb::FlowStage {
 public:
  lb::StageBounds bounds() const override { return limits; }
  Instant next_deadline() const override { return Instant::never(); }
  void on_timers(lb::StageView&) override {}
  void rebase(const Rebase&) override {}
  void release_all(lb::StageView& view) override {
    while (!waiting.empty()) view.release(waiting.pop());
  }

  lb::StageBounds limits{1 << 20, Duration::milliseconds(1)};
  PacketFifo waiting;
  std::function<bool(const Packet&)> wants = [](const Packet&) { return true; };
  size_t largest_burst = 0;

 protected:
  void hold(lb::StageView& view, Packet* packet) {
    view.hold(packet);
    waiting.push(packet);
  }
};

// Holds what it wants, until it is told to let go, and asks nobody whether there is room.
class Hoarder final : public TestStage {
 public:
  void take(lb::StageView& view, std::span<Packet* const> burst) override {
    largest_burst = std::max(largest_burst, burst.size());
    for (Packet* packet : burst) {
      if (!shut || !wants(*packet)) {
        release_all(view);
        view.pass(packet);
      } else {
        hold(view, packet);
      }
    }
  }
  bool shut = true;
};

// Lets packets go in pairs, the later one first.
class Turner final : public TestStage {
 public:
  void take(lb::StageView& view, std::span<Packet* const> burst) override {
    for (Packet* packet : burst) {
      view.hold(packet);
      waiting.push_front(packet);
      if (waiting.count() == 2) release_all(view);
    }
  }
};

// One packet a `gap`.
class Pacer final : public TestStage {
 public:
  void take(lb::StageView& view, std::span<Packet* const> burst) override {
    for (Packet* packet : burst) {
      if (waiting.empty() && next <= view.now()) {
        next = view.now() + gap;
        view.pass(packet);
      } else {
        hold(view, packet);
      }
    }
  }
  Instant next_deadline() const override { return waiting.empty() ? Instant::never() : next; }
  void on_timers(lb::StageView& view) override {
    view.release(waiting.pop());
    next = view.now() + gap;
  }
  void rebase(const Rebase& rebase) override { rebase.shift(next); }

  Duration gap = Duration::microseconds(10);
  Instant next;
};

// Marks what it wants, and gives it another class.
class Marker final : public TestStage {
 public:
  void take(lb::StageView& view, std::span<Packet* const> burst) override {
    for (Packet* packet : burst) {
      if (wants(*packet)) {
        if (marks) view.mark_ce(*packet);
        view.set_dscp(*packet, dscp);
      }
      view.pass(packet);
    }
  }
  bool marks = true;
  uint8_t dscp = 0;
};

// Says at every moment that it is due, and holds what it gets.
class Hothead final : public TestStage {
 public:
  void take(lb::StageView& view, std::span<Packet* const> burst) override {
    for (Packet* packet : burst) hold(view, packet);
  }
  Instant next_deadline() const override { return waiting.empty() ? Instant::never() : Instant(); }
  void on_timers(lb::StageView&) override { ++calls; }
  uint64_t calls = 0;
};

}  // namespace eddy::test
