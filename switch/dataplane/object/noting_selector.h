// NotingSelector: a shard's selector while packets are captured: the same choices, and in each
// packet a note of what RLB decided about it (net/capture/capture_record.h).
//
// Where RLB is on, the selector behind it is asked packet by packet, which by contract
// (lb/schemes/scheme.h) chooses as for the burst at once. Owner: the shard. Cost: none but a
// virtual call a burst without RLB; with it, what a burst of one costs each packet.
#pragma once

#include "lb/selector.h"

namespace eddy {

class NotingSelector final : public lb::Selector {
 public:
  // What is asked; it outlives the use.
  void stand_before(lb::Selector& inner) {
    inner_ = &inner;
    flow_lines_ = inner.flow_lines();
  }
  lb::Selector* inner() const { return inner_; }

  void expect(std::span<Packet* const> burst) override { inner_->expect(burst); }
  void select(const lb::PathView& view, std::span<Packet* const> burst,
              std::span<const uint16_t> set_of) override;
  lb::MemberIndex again(const lb::PathView& view, Packet& packet, uint16_t set,
                        lb::Trip& trip) override;
  void follow(const lb::PathView& view, Packet& packet, uint16_t set,
              lb::MemberIndex member) override;
  lb::FlowTableUse flow_table(Instant now, size_t from, size_t count) override {
    return inner_->flow_table(now, from, count);
  }
  lb::PathKnowledge knowledge(Instant now, uint16_t set, lb::MemberIndex member) override {
    return inner_->knowledge(now, set, member);
  }
  lb::Preview preview(const lb::PathView& view, Packet& packet, uint16_t set) override {
    return inner_->preview(view, packet, set);
  }
  std::shared_ptr<lb::FlowSlots> flow_slots() override { return inner_->flow_slots(); }
  lb::PathAgent* agent() override { return inner_->agent(); }
  lb::FlowStage* stage(lb::StagePlace place) override { return inner_->stage(place); }
  void rebase(const Rebase& rebase) override { inner_->rebase(rebase); }

 private:
  void select_one(const lb::PathView& view, Packet& packet, uint16_t set, size_t index);

  lb::Selector* inner_ = nullptr;
};

}  // namespace eddy
