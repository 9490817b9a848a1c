// SlotVerdicts: what the slots of a burst's flows say, found out before any of them changes:
// whether the flowlet goes on, whether the slot is the set's alone, whether nothing that it was
// given is on the way, whether it keeps its member whatever has arrived, and how it is written.
//
// It is asked of four slots at once, in vectors that every compiler and machine has, so that who
// chooses for the burst branches on a few bits and keeps his registers for the choice. Packets of a
// burst may share a slot: whoever has changed one asks for its verdict anew, and sees that by the
// word. Owner: a call. Bounds: kBurst packets. Cost: some 25 instructions a packet.
// Source: docs/adr/0031.
#pragma once

#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>

#include "lb/flow_slots.h"
#include "lb/path_arrivals.h"
#include "net/packet.h"

namespace eddy::lb {

class SlotVerdicts {
 public:
  static constexpr uint64_t kYoung = 1;   // the flowlet is not over
  static constexpr uint64_t kFree = 2;    // not mixed, and all that it was given has arrived
  static constexpr uint64_t kGoesOn = 4;  // young and plain
  // These two an octet apart, so that a sum over a burst counts both.
  static constexpr int kPlainBit = 8;
  static constexpr int kKeepsBit = 16;
  static constexpr uint64_t kPlain = 1 << kPlainBit;  // as FlowSlot::is_plain()
  // Flows of several sets share it: whatever arrives, it keeps its member until it was silent for
  // the age.
  static constexpr uint64_t kKeeps = 1 << kKeepsBit;
  static_assert(kBurst <= UINT8_MAX);

  // What is the same for all of them.
  struct Measure {
    PathArrivals::Reader arrivals;
    uint64_t now = 0;   // as slots have it
    uint64_t step = 0;  // and as arrivals have it
    uint64_t age = 0;   // steps; longer than this nothing is on the way
  };
  struct Verdict {
    size_t index;  // of the slot
    FlowSlot slot;
    uint64_t bits;
    bool has(uint64_t which) const { return (bits & which) != 0; }
  };

  explicit SlotVerdicts(const Measure& measure) : measure_(measure) {}

  // index_of(packet), slots[index], bound(): as FlowletTable::Cursor has them.
  template <class Slots>
  [[gnu::noinline]] void look_at(const Slots slots, std::span<Packet* const> burst,
                                 std::span<const uint16_t> sets) {
    const Terms terms{measure_, bound_ = slots.bound()};
    uint64_t any = 0;
    uint64_t all = ~uint64_t{0};
    uint64_t young = 0;
    size_t i = 0;
    Words young_of_lane{};
    for (; i + kLanes <= burst.size(); i += kLanes) {
      for (size_t lane = 0; lane < kLanes; ++lane) {
        any |= head_of(*burst[i + lane]);
        all &= head_of(*burst[i + lane]);
      }
      look_at_four(slots, terms, &burst[i], &sets[i], i, young_of_lane);
    }
    for (size_t lane = 0; lane < kLanes; ++lane) young += young_of_lane[lane];
    for (; i < burst.size(); ++i) {
      any |= head_of(*burst[i]);
      all &= head_of(*burst[i]);
      const size_t index = slots.index_of(*burst[i]);
      places_[i] = static_cast<uint32_t>(index);
      words_[i] = slots[index].word();
      renew(i, slots[index], sets[i]);
      young += bits_[i] & kYoung;
    }
    any_ = any;
    all_ = all;
    young_ = static_cast<uint32_t>(young);
  }
  uint32_t young() const { return young_; }  // how many flowlets were
  // No packet has one of these flags, and all are for one queue.
  bool are_alike(uint16_t flags) const {
    return (any_ & flags) == 0 && (any_ ^ all_) >> kQueueShift == 0;
  }
  QueueId queue() const { return QueueId(any_ >> kQueueShift); }  // of all, then
  // Of the packet at the place, whose slot may have changed since.
  template <class Slots>
  [[gnu::always_inline]] Verdict of(size_t place, const Slots& slots, uint16_t set) {
    const size_t index = places_[place];
    const FlowSlot slot = slots[index];
    if (slot.word() != words_[place]) [[unlikely]]
      renew(place, slot, set);
    return {index, slots[index], bits_[place]};
  }
  // The same packet's slot when it has gone by the member: its own if the slot keeps it, else any
  // if the slot is free or the flowlet goes on.
  FlowSlot after(size_t place, MemberIndex member) const {
    return FlowSlot::of_word(next_[place] | member);
  }

 private:
  static constexpr size_t kLanes = 4;
  static constexpr int kIdleShift = FlowSlot::kTimeShift + PathArrivals::kStepBits;
  static constexpr int kQueueShift = 56;
  using Words = uint64_t __attribute__((vector_size(kLanes * sizeof(uint64_t))));
  using Signed = int64_t __attribute__((vector_size(kLanes * sizeof(int64_t))));

  static_assert(std::endian::native == std::endian::little);

  struct Terms {
    Measure measure;
    uint64_t bound;
  };
  // Words of flowlets that are not over are up to so much above the bound.
  uint64_t span(uint64_t bound) const { return (measure_.now - bound) | FlowSlot::kLowBits; }

  // The eight octets of a packet from its flags to its queue.
  static uint64_t head_of(const Packet& packet) {
    static_assert(offsetof(Packet, queue) == offsetof(Packet, flags) + sizeof(uint64_t) - 1);
    uint64_t head;
    std::memcpy(&head, &packet.flags, sizeof head);
    return head;
  }
  [[gnu::noinline]] void renew(size_t place, FlowSlot slot, uint16_t set) {
    bits_[place] = bits_of(slot, set);
    next_[place] = measure_.now | (keeps(slot) ? FlowSlot::kMixed : FlowSlot::tag_of(set));
  }
  bool keeps(FlowSlot slot) const {
    return slot.has_many_sets() & (slot.idle_steps(measure_.now) <= measure_.age);
  }
  uint64_t bits_of(FlowSlot slot, uint16_t set) const {
    const uint64_t ago = measure_.arrivals.ago(slot.set(), slot.member(), measure_.step);
    const bool young = slot.word() - bound_ <= span(bound_);
    const bool free = !slot.mixed() & (ago < slot.idle_steps(measure_.now));
    const uint64_t plain = slot.is_plain(set) ? kPlain | (young ? kGoesOn : 0) : 0;
    return (young ? kYoung : 0) | plain | (free ? kFree : 0) | (keeps(slot) ? kKeeps : 0);
  }
  // Counts those that are young, lane by lane. Words go by reference: by value they would be passed
  // as each machine's widest vectors have it.
  template <class Slots>
  [[gnu::always_inline]] void look_at_four(const Slots& slots, const Terms& terms,
                                           Packet* const* burst, const uint16_t* sets, size_t place,
                                           Words& young_of_lane) {
    const auto& [measure, bound] = terms;
    const auto find = [&](size_t lane) {
      const size_t index = slots.index_of(*burst[lane]);
      places_[place + lane] = static_cast<uint32_t>(index);
      return slots[index].word();
    };
    const Words words = {find(0), find(1), find(2), find(3)};
    const Words rows = (~words & FlowSlot::kTagBits) >> 6 << measure.arrivals.row_shift() |
                       (words & FlowSlot::kMemberBits);
    const auto arrived = [&](size_t lane) { return measure.arrivals.at(rows[lane]); };
    const Words ago = measure.step - Words{arrived(0), arrived(1), arrived(2), arrived(3)};
    uint64_t sets_of_four;
    std::memcpy(&sets_of_four, sets, sizeof sets_of_four);
    const Words set = (Words{} + sets_of_four) >> Words{0, 16, 32, 48};  // and more above it
    const Words tags = ~(set << 6) & FlowSlot::kTagBits;
    const uint64_t now = measure.now >> kIdleShift << kIdleShift;
    const Words idle = (now - (words >> kIdleShift << kIdleShift)) >> kIdleShift;
    const auto young = reinterpret_cast<Words>(words - bound <= span(bound)) & kYoung;
    const Words owner = words & (FlowSlot::kTagBits | FlowSlot::kMixed);
    const auto plain = reinterpret_cast<Words>(owner == tags);
    const auto old = reinterpret_cast<Signed>(idle) > static_cast<int64_t>(measure.age);
    const auto keeps =
        reinterpret_cast<Words>(owner == FlowSlot::kMixed) & ~reinterpret_cast<Words>(old);
    const auto proven = reinterpret_cast<Words>(ago < idle);
    const Words mixed = words >> (FlowSlot::kMixedBit - 1);  // its bit stands for kFree
    const Words bits =
        young | (plain & (kPlain | young << 2)) | (proven & ~mixed & kFree) | (keeps & kKeeps);
    const Words next = measure.now | (reinterpret_cast<Signed>(keeps) < 0 ? owner : tags);
    std::memcpy(&words_[place], &words, sizeof words);
    std::memcpy(&bits_[place], &bits, sizeof bits);
    std::memcpy(&next_[place], &next, sizeof next);
    young_of_lane += young;
  }

  Measure measure_;
  uint64_t bound_ = 0;  // of words, as FlowletTable has it: what was used before is over
  uint64_t any_ = 0;
  uint64_t all_ = 0;
  uint32_t young_ = 0;
  std::array<uint32_t, kBurst> places_;
  std::array<uint64_t, kBurst> words_;
  std::array<uint64_t, kBurst> bits_;
  std::array<uint64_t, kBurst> next_;  // words without their members
};
static_assert(SlotVerdicts::kGoesOn == SlotVerdicts::kYoung << 2 && SlotVerdicts::kFree == 2);

}  // namespace eddy::lb
