// FlowletTable: which member each flowlet uses, for every scheme that moves a flow only where it
// pauses.
//
// The table is indexed directly by a hash of the flow and has entries of 8 octets; two flows that
// fall into one entry are treated as one flow. A flowlet ends when its flow has been silent for
// long enough. Mode `exact` ends it after `gap`. Mode `agebit` does what hardware does with one bit
// of age for each entry, without scanning the table: an entry last used in epoch e = floor((t -
// phase) / gap) is dead from epoch e + 2 on, so the silence that ends a flowlet lies between gap
// and 2 gap: it is over when it was used before the epoch that came before this one. The entries
// are words of FlowSlots: one that was silent for a multiple of 140 s can look alive, and its flow
// then keeps an old path. Owner: one selector, at its shard; the words outlive it. Cost: a cache
// line for each packet; set_time() divides once a burst. Source: reference A.5.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <memory>
#include <string_view>
#include <utility>

#include "lb/flow_slots.h"
#include "lb/members.h"
#include "net/packet.h"
#include "net/rebase.h"
#include "net/units.h"

namespace eddy::lb {

enum class FlowletMode : uint8_t { agebit, exact };
inline constexpr std::array<std::string_view, 2> kFlowletModeNames = {"agebit", "exact"};
enum class SweepPhase : uint8_t { zero, swept };  // agebit: when an entry's epochs begin
inline constexpr std::array<std::string_view, 2> kSweepPhaseNames = {"zero", "swept"};

// A flowlet of a flow with a place of its own (lb/flow_table.h).
// Bits 0-5: the member; 6-15: the path set (modulo 1,024) that drew it; above: the stamp of the
// last use.
class Flowlet {
 public:
  Flowlet() = default;
  Flowlet(MemberIndex member, uint16_t set, uint64_t stamp)
      : word_(stamp << kStampShift | tag_of(set) | member) {}

  MemberIndex member() const { return static_cast<MemberIndex>(word_ & kMemberBits); }
  bool drawn_by(uint16_t set) const { return (word_ & kTagBits) == tag_of(set); }
  uint64_t age(uint64_t stamp) const {
    return ((stamp << kStampShift) - (word_ & ~kLowBits)) >> kStampShift;
  }
  void use(uint64_t stamp) { word_ = stamp << kStampShift | (word_ & kLowBits); }

 private:
  static constexpr int kStampShift = 16;
  static constexpr uint64_t kLowBits = 0xFFFF;
  static constexpr uint64_t kMemberBits = 0x3F;
  static constexpr uint64_t kTagBits = 0xFFC0;
  static constexpr uint64_t tag_of(uint16_t set) { return uint64_t{set} << 6 & kTagBits; }
  uint64_t word_ = 0;
};
static_assert(sizeof(Flowlet) == 8 && kMaxPaths == 64);

class FlowletTable {
 public:
  struct Plan {
    Duration gap;
    FlowletMode mode = FlowletMode::agebit;
    SweepPhase phase = SweepPhase::zero;
    int64_t entries = 0;
  };
  // In `slots`, where they are as many; else in a table of its own.
  explicit FlowletTable(const Plan& plan, std::shared_ptr<FlowSlots> slots = nullptr)
      : plan_(plan),
        late_((plan.gap.ps()) / plan.entries),
        later_(static_cast<uint64_t>(plan.gap.ps() % plan.entries)),
        slots_(std::move(slots)) {
    const auto entries = static_cast<size_t>(plan.entries);
    if (slots_ == nullptr || slots_->count() != entries)
      slots_ = std::make_shared<FlowSlots>(entries);
  }

  const std::shared_ptr<FlowSlots>& slots() const { return slots_; }
  FlowLines lines() const { return slots_->lines(); }
  // Before the first question at `now`.
  void set_time(Instant now) {
    now_ = FlowSlot::time_of(now);
    into_epoch_ = plan_.mode == FlowletMode::exact ? 0 : (now - epoch_began_).ps() % plan_.gap.ps();
    bound_ = FlowSlot::bound_of(now - Duration::picoseconds(into_epoch_) - plan_.gap);
    odd_ = is_swept() || is_between(0, bound_, now_);
  }

  // Epochs go on as they were: one of them began where the clock's zero comes to lie, or before.
  void rebase(const Rebase& rebase) {
    epoch_began_ = epoch_began_ - Duration::picoseconds(rebase.back().ps() % plan_.gap.ps());
    if (epoch_began_ <= Instant() - plan_.gap) epoch_began_ = epoch_began_ + plan_.gap;
  }

  // Entries, and how many of [from, from + count) are flowlets that were not over at set_time().
  size_t capacity() const { return slots_->count(); }
  size_t used(size_t from, size_t count) const {
    const size_t end = std::min(from + count, capacity());
    size_t used = 0;
    for (size_t index = from; index < end; ++index)
      used += is_young((*slots_)[index], index) ? 1 : 0;
    return used;
  }

  size_t index_of(const Packet& packet) const { return slots_->index_of(packet); }
  FlowSlot operator[](size_t index) const { return (*slots_)[index]; }
  // Not yet over.
  bool is_young(FlowSlot flowlet, size_t index) const {
    return flowlet.used() && is_between(flowlet.word(), bound_of(index), now_);
  }
  void put(size_t index, MemberIndex member, uint16_t set) {
    (*slots_)[index] = FlowSlot(now_, set, member);
  }
  void keep(size_t index) { (*slots_)[index].use(now_); }

  // The same of a whole burst, with what it asks of the table in registers. kOdd: odd().
  template <bool kOdd>
  class Cursor {
   public:
    explicit Cursor(FlowletTable& table)
        : table_(table),
          slots_(table.slots_->data()),
          bound_(table.bound_),
          now_(table.now_),
          span_(span_of(table.bound_, table.now_)),
          entries_(static_cast<uint32_t>(table.slots_->count())) {}
    size_t index_of(const Packet& packet) const {
      return FlowSlots::index_of(packet.order_hash, entries_);
    }
    FlowSlot operator[](size_t index) const { return slots_[index]; }
    bool is_young(FlowSlot flowlet, size_t index) const {
      if constexpr (kOdd) return table_.is_young(flowlet, index);
      return flowlet.word() - bound_ <= span_;
    }
    // The same as a mask: all bits, or none.
    uint64_t young(FlowSlot flowlet, size_t index) const {
      return -static_cast<uint64_t>(is_young(flowlet, index));
    }
    void put(size_t index, MemberIndex member, uint16_t set) const {
      slots_[index] = FlowSlot(now_, set, member);
    }
    void put(size_t index, FlowSlot slot) const { slots_[index] = slot; }
    void keep(size_t index) const { slots_[index].use(now_); }
    // Where it is the same for all: words of flowlets that are not over are up to span() above.
    uint64_t bound() const { return bound_; }
    uint64_t span() const { return span_; }
    uint64_t now() const { return now_; }

   private:
    const FlowletTable& table_;
    FlowSlot* slots_;
    uint64_t bound_;
    uint64_t now_;
    uint64_t span_;
    uint32_t entries_;
  };
  // select(cursor), with the one that serves since set_time().
  template <class Select>
  void with_cursor(Select&& select) {
    odd_ ? select(Cursor<true>(*this)) : select(Cursor<false>(*this));
  }
  // Since set_time(): the bound is not the same for all entries, or one that was never used would
  // look young.
  bool odd() const { return odd_; }

 private:
  bool is_swept() const {
    return plan_.phase == SweepPhase::swept && plan_.mode == FlowletMode::agebit;
  }
  static uint64_t span_of(uint64_t bound, uint64_t now) {
    return (now - bound) | FlowSlot::kLowBits;
  }
  static bool is_between(uint64_t word, uint64_t bound, uint64_t now) {
    return word - bound <= span_of(bound, now);
  }
  // Under a sweeping checker entry i is visited i * gap / entries late: its epochs begin by so much
  // later.
  uint64_t bound_of(size_t index) const {
    if (!is_swept()) return bound_;
    const int64_t phase = static_cast<int64_t>(index) * late_ +
                          static_cast<int64_t>(index * later_ / slots_->count());
    const int64_t began = phase > into_epoch_ ? phase - plan_.gap.ps() : phase;
    return bound_ + (static_cast<uint64_t>(began) << FlowSlot::kTimeShift);
  }

  Plan plan_;
  int64_t late_;    // gap / entries, and
  uint64_t later_;  // what is left over
  std::shared_ptr<FlowSlots> slots_;
  uint64_t now_ = 0;    // of this burst, as words have it
  uint64_t bound_ = 0;  // what was used before is over
  bool odd_ = false;
  int64_t into_epoch_ = 0;  // agebit: since it began
  Instant epoch_began_;     // one of them
};

}  // namespace eddy::lb
