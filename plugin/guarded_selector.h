// GuardedSelector: a selector of a plugin that cannot take the switch down with an exception.
//
// What it throws ends its use: from then on every packet goes by ECMP, each is counted
// (PathView::report_fallback), its agent is not called any more, its stages hold nothing
// (guarded_stage.h), and what was thrown is kept for reports. The scheme's own state may be half
// changed by then, so it is not asked again. A scheme that throws out of a function that is
// noexcept, or writes where it may not, ends the process as code of the tree would. Owner and
// thread: as the selector's. Cost: one more virtual call a burst. Source: docs/plugins.md.
#pragma once

#include <array>
#include <memory>
#include <optional>

#include "config/loaded_scheme.h"
#include "lb/agent.h"
#include "lb/buckets.h"
#include "lb/flow_stage.h"
#include "lb/selector.h"
#include "lb/selector_init.h"
#include "plugin/guarded_stage.h"
#include "plugin/scheme_guard.h"

namespace eddy::plugin {

class GuardedSelector final : public lb::Selector {
 public:
  GuardedSelector(std::unique_ptr<lb::Selector> inner, const lb::SelectorInit& init,
                  config::SchemeTrouble& trouble);
  GuardedSelector(const GuardedSelector&) = delete;
  GuardedSelector& operator=(const GuardedSelector&) = delete;

  void expect(std::span<Packet* const> burst) override;
  void select(const lb::PathView& view, std::span<Packet* const> burst,
              std::span<const uint16_t> set_of) override;
  lb::MemberIndex again(const lb::PathView& view, Packet& packet, uint16_t set,
                        lb::Trip& trip) override;
  void follow(const lb::PathView& view, Packet& packet, uint16_t set,
              lb::MemberIndex member) override;
  lb::FlowTableUse flow_table(Instant now, size_t from, size_t count) override;
  lb::PathKnowledge knowledge(Instant now, uint16_t set, lb::MemberIndex member) override;
  lb::Preview preview(const lb::PathView& view, Packet& packet, uint16_t set) override;
  lb::PathAgent* agent() override { return agent_ ? &*agent_ : nullptr; }
  lb::FlowStage* stage(lb::StagePlace place) override {
    auto& stage = stages_[static_cast<size_t>(place)];
    return stage ? &*stage : nullptr;
  }
  void rebase(const Rebase& rebase) override;

 private:
  // The scheme's agent, which falls silent with it.
  class Agent final : public lb::PathAgent {
   public:
    Agent(SchemeGuard& guard, lb::PathAgent& inner)
        : PathAgent(inner.speech()), guard_(guard), inner_(inner) {}
    Instant next_deadline() const override;
    void on_timers(lb::Voice& voice) override;
    void dress(lb::Voice& voice, std::span<lb::Dressing> burst) override;
    bool dress_briefly(lb::Voice& voice, std::span<Packet* const> burst,
                       std::span<const uint16_t> sets, std::span<uint32_t> briefs) override;
    void arrived(lb::Voice& voice, std::span<const lb::Arrival> burst) override;
    void on_feedback(lb::Voice& voice, std::span<const lb::Feedback> burst) override;
    void on_frames(lb::Voice& voice, std::span<lb::HeardFrame> burst) override;
    void on_replies(lb::Voice& voice, std::span<const lb::Reply> burst) override;

   private:
    SchemeGuard& guard_;
    lb::PathAgent& inner_;
  };

  lb::MemberIndex by_ecmp(const lb::PathView& view, Packet& packet, uint16_t set);
  static void take(const lb::PathView& view, Packet& packet, uint16_t set, lb::MemberIndex member);
  void report(const lb::PathView& view, uint32_t packets);

  std::unique_ptr<lb::Selector> inner_;
  lb::BucketTable ecmp_;
  SchemeGuard guard_;
  std::optional<Agent> agent_;  // if the scheme has one
  std::array<std::optional<GuardedStage>, lb::kStagePlaces> stages_;
  bool said_ = false;
};

}  // namespace eddy::plugin
