// FlowSlots: of each slot of flows, in one word: the member that they take, the path set that it is
// of, and when the last packet was given to it.
//
// Both who cuts flows into flowlets (flowlets.h) and who guards their order (rlb/order_guard.h)
// read and write these words, and the table outlives them, so whoever comes next knows where flows
// are. A slot is found by the order hash and has no key: flows that share one are one flow to its
// readers, and what is proven of all that was given to the slot holds for each of them. It is
// `mixed` where one proof does not serve all: its packets went to more than one path set, or in a
// queue of which nothing is proven. Then only silence frees it. Times are picoseconds modulo 2^47,
// 140 s: a slot that was silent for a multiple of that looks as if it were not, and keeps its flows
// where they were. Owner: one shard. Bounds: 8 octets a slot, taken at construction; the pages of
// slots that were never used are not backed by memory. Cost: one line a packet. Source: reference
// A.5, B.10; docs/adr/0031.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <memory>

#include "lb/flow_lines.h"
#include "lb/members.h"
#include "lb/path_arrivals.h"
#include "net/assert.h"
#include "net/packet.h"
#include "net/units.h"

namespace eddy::lb {

// Bits 0-5: the member; 6-15: the path set modulo 1,024, inverted, so that a slot that was never
// used is of no set below 1,023; 16: mixed; above: the time.
class FlowSlot {
 public:
  static constexpr size_t kSetTags = PathArrivals::kRows;
  static constexpr uint16_t kManySets = 1'023;  // of a mixed slot; set 1,023 is taken for many, too
  static constexpr uint64_t kMemberBits = 0x3F;
  static constexpr uint64_t kTagBits = 0xFFC0;
  static constexpr int kMixedBit = 16;
  static constexpr uint64_t kMixed = uint64_t{1} << kMixedBit;
  static constexpr uint64_t kLowBits = kMemberBits | kTagBits | kMixed;
  static constexpr int kTimeShift = 17;

  // An instant as it stands in words; the rest of its bits are clear. Never 0: nothing that was
  // given looks as if nothing had been.
  static constexpr uint64_t time_of(Instant at) {
    const uint64_t time = bound_of(at);
    return time != 0 ? time : kLowBits + 1;
  }
  // The same of an instant to compare with.
  static constexpr uint64_t bound_of(Instant at) {
    return static_cast<uint64_t>(at.ps()) << kTimeShift;
  }
  static constexpr uint64_t tag_of(uint16_t set) { return kTagBits ^ inverse_tag_of(set); }

  constexpr FlowSlot() = default;  // never used
  constexpr FlowSlot(uint64_t time, uint16_t set, MemberIndex member, bool mixed = false)
      : word_((time | kTagBits) ^ inverse_tag_of(set) ^ member ^ (mixed ? kMixed : 0)) {}

  uint64_t word() const { return word_; }
  static FlowSlot of_word(uint64_t word) {
    FlowSlot slot;
    slot.word_ = word;
    return slot;
  }
  bool used() const { return word_ != 0; }
  MemberIndex member() const { return static_cast<MemberIndex>(word_ & kMemberBits); }
  uint16_t set() const { return static_cast<uint16_t>((~word_ & kTagBits) >> 6); }  // modulo 1,024
  bool drawn_by(uint16_t set) const { return (word_ & kTagBits) == tag_of(set); }
  // As far as the word tells, a packet of the set is the first of its flow.
  bool is_new_to(uint16_t set) const { return !used() | !drawn_by(set); }
  bool mixed() const { return (word_ & kMixed) != 0; }
  bool has_many_sets() const { return mixed() && drawn_by(kManySets); }
  // Of the set and of no other, and all that was given to the member is proven at once.
  bool is_plain(uint16_t set) const { return (word_ & (kTagBits | kMixed)) == tag_of(set); }

  // Since the last packet, modulo 2^47 ps, in the steps of PathArrivals.
  uint64_t idle_steps(uint64_t now) const {
    return ((now & kSteps) - (word_ & kSteps)) >> kStepShift;
  }
  Duration idle(uint64_t now) const {
    return Duration::picoseconds(static_cast<int64_t>(idle_steps(now) << PathArrivals::kStepBits));
  }

  // Another packet; of the rest nothing changes.
  void use(uint64_t time) { word_ = time | (word_ & kLowBits); }
  // As it is when packets of several sets go by it.
  FlowSlot shared(uint64_t time) const { return {time, kManySets, member(), true}; }
  // As it is when a packet of the set has gone by the member, in a queue of which arrivals are
  // proven. `free`: nothing that it was given before is on the way; else the member is its own. Of
  // sets below kManySets; without a branch.
  FlowSlot after(uint64_t time, uint16_t set, MemberIndex member, bool free) const {
    const bool ours = drawn_by(set);
    const bool stays_mixed = !(free | (ours & !mixed()));
    const uint64_t tag = tag_of(set) & -static_cast<uint64_t>(ours | free);  // that of many is 0
    FlowSlot next;
    next.word_ = time | tag | member | static_cast<uint64_t>(stays_mixed) << kMixedBit;
    return next;
  }

 private:
  static constexpr uint64_t inverse_tag_of(uint16_t set) { return uint64_t{set} << 6 & kTagBits; }
  static constexpr int kStepShift = kTimeShift + PathArrivals::kStepBits;
  static constexpr uint64_t kSteps = ~((uint64_t{1} << kStepShift) - 1);

  uint64_t word_ = 0;
};
static_assert(sizeof(FlowSlot) == 8 && kMaxPaths == 64);

// Of a flow whose slot another set's flow uses: the same for all its packets.
inline MemberIndex by_hash(const Packet& packet, MemberMask live) {
  return random_of(live, static_cast<uint32_t>(mix64(packet.order_hash)));
}

class FlowSlots {
 public:
  explicit FlowSlots(size_t slots)
      : count_(static_cast<uint32_t>(slots)),
        slots_(static_cast<FlowSlot*>(std::calloc(slots, sizeof(FlowSlot)))) {
    ASSERT(slots_ != nullptr);
  }

  size_t count() const { return count_; }
  static size_t index_of(uint64_t order_hash, uint32_t count) {
    return scaled_to(static_cast<uint32_t>(order_hash >> 32), count);
  }
  size_t index_of(const Packet& packet) const { return index_of(packet.order_hash, count_); }
  FlowSlot& operator[](size_t index) { return slots_.get()[index]; }
  const FlowSlot& operator[](size_t index) const { return slots_.get()[index]; }
  FlowSlot& of(const Packet& packet) { return slots_.get()[index_of(packet)]; }
  FlowSlot* data() { return slots_.get(); }
  void prefetch(const Packet& packet) const { lines().prefetch(packet.order_hash); }
  FlowLines lines() const { return {slots_.get(), count_}; }
  // The least order hash of a slot's flows.
  uint64_t first_hash(size_t index) const {
    return ((uint64_t{index} << 32) + count_ - 1) / count_ << 32;
  }

  // Control, when it lends the table on from whoever wrote it without a guard: of a slot with flows
  // of several sets it may say only the last.
  void doubt() { doubted_ = true; }
  bool doubted() const { return doubted_; }
  void trust() { doubted_ = false; }

 private:
  struct Free {
    void operator()(FlowSlot* slots) const { std::free(slots); }
  };
  uint32_t count_;
  bool doubted_ = false;
  std::unique_ptr<FlowSlot, Free> slots_;  // zeroed: never used
};

}  // namespace eddy::lb
