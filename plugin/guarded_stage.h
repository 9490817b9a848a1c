// GuardedStage: a flow stage of a plugin that cannot take the switch down, nor packets with it.
//
// It keeps a list of its own of what the stage holds. When anything of the scheme throws, what is
// held goes on in the order in which it was taken, counted (StageEvent::forced_flow), and from
// then on every packet is passed. A stage that releases less than everything when it is asked for
// that has failed, too. Owner and thread: as the stage's. Bounds: as many packets as the shortest
// frames that the stage may hold, kMostHeld at most. Cost: the calls of a burst are made twice, and
// a search for each packet held, released or passed. Source: docs/plugins.md.
#pragma once

#include "lb/flow_stage.h"
#include "plugin/held_set.h"
#include "plugin/scheme_guard.h"

namespace eddy::plugin {

class GuardedStage final : public lb::FlowStage {
 public:
  static constexpr size_t kMostHeld = size_t{1} << 20;

  GuardedStage(lb::FlowStage& inner, SchemeGuard& guard);

  lb::StageKind kind() const override { return kind_; }
  lb::StageBounds bounds() const override { return bounds_; }
  void take(lb::StageView& view, std::span<Packet* const> burst) override;
  // At once, while a stage that has failed holds anything.
  Instant next_deadline() const override;
  void on_timers(lb::StageView& view) override;
  void release_all(lb::StageView& view) override;
  void rebase(const Rebase& rebase) override;

 private:
  // The view of the stage: what it does is noted, and done in the switch's own.
  class View;

  void empty(lb::StageView& view);

  lb::FlowStage& inner_;
  SchemeGuard& guard_;
  const lb::StageKind kind_;
  const lb::StageBounds bounds_;
  HeldSet held_;
};

}  // namespace eddy::plugin
