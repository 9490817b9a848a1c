// FlowletVerdicts: what becomes of the flowlets of a burst whose scheme has a best few members in
// each set: whether each keeps its member, and else whether its last one is as good as any.
//
// It is asked of four flowlets at once, in vectors that every compiler and machine has, before any
// slot changes, so that who chooses for the burst keeps his registers for the choice. Packets of a
// burst may share a slot: whoever has changed one asks for its verdict anew, and sees that by the
// word. Owner: a call. Bounds: kBurst packets. Cost: some 20 instructions a packet.
// Source: reference A.5, A.8.
#pragma once

#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>

#include "lb/flow_slots.h"
#include "lb/flowlets.h"
#include "lb/members.h"
#include "net/packet.h"

namespace eddy::lb {

// kOdd: as FlowletTable::Cursor.
template <bool kOdd>
class FlowletVerdicts {
 public:
  // `best`: by set, as `live`.
  FlowletVerdicts(const FlowletTable::Cursor<kOdd>& slots, const MemberMask* live,
                  const MemberMask* best)
      : slots_(slots), live_(live), best_(best) {}

  void look_at(std::span<Packet* const> burst, std::span<const uint16_t> sets) {
    size_t i = 0;
    if constexpr (!kOdd)
      for (; i + kLanes <= burst.size(); i += kLanes) look_at_four(&burst[i], &sets[i], i);
    for (; i < burst.size(); ++i) {
      places_[i] = static_cast<uint32_t>(slots_.index_of(*burst[i]));
      next_[i] = FlowSlot(slots_.now(), sets[i], 0).word();
      (void)renew(i, sets[i]);
    }
  }
  FlowSlot slot(size_t place) const { return slots_[places_[place]]; }
  // That of the packet at the place is as it was, and the packet is not astray.
  bool holds(size_t place) const { return slot(place).word() == words_[place]; }
  // Else. False: it is astray: its flowlet is not over, but another set's, and its member is none
  // that lives.
  [[gnu::noinline]] bool renew(size_t place, uint16_t set) {
    const FlowSlot slot = this->slot(place);
    const bool young = slots_.is_young(slot, places_[place]);
    const bool lives = contains(live_[set], slot.member());
    const bool drawn = slot.drawn_by(set);
    const bool astray = young & !lives & !drawn;
    const bool keeps = young & lives;
    words_[place] = astray ? kAstray : slot.word();
    keeps_[place] = -uint64_t{keeps};
    const bool stays = keeps | (drawn & contains(best_[set], slot.member()));
    stays_[place] = -uint64_t{stays};
    return !astray;
  }
  // Masks, of all bits or of none: the flowlet keeps its member; it does, or may as well.
  uint64_t keeps(size_t place) const { return keeps_[place]; }
  uint64_t stays(size_t place) const { return stays_[place]; }
  void put(size_t place, MemberIndex member) const {
    slots_.put(places_[place], FlowSlot::of_word(next_[place] ^ member));
  }

 private:
  static constexpr size_t kLanes = 4;
  static constexpr uint64_t kAstray = 0;  // in place of the word: that of no slot in use
  using Words = uint64_t __attribute__((vector_size(kLanes * sizeof(uint64_t))));

  static_assert(std::endian::native == std::endian::little);

  [[gnu::always_inline]] void look_at_four(Packet* const* burst, const uint16_t* sets,
                                           size_t place) {
    const auto find = [&](size_t lane) {
      const size_t index = slots_.index_of(*burst[lane]);
      places_[place + lane] = static_cast<uint32_t>(index);
      return slots_[index].word();
    };
    const auto of_four = [&](const MemberMask* masks) {
      return Words{masks[sets[0]], masks[sets[1]], masks[sets[2]], masks[sets[3]]};
    };
    const Words words = {find(0), find(1), find(2), find(3)};
    const Words live = of_four(live_);
    const Words best = of_four(best_);
    uint64_t sets_of_four;
    std::memcpy(&sets_of_four, sets, sizeof sets_of_four);
    const Words set = (Words{} + sets_of_four) >> Words{0, 16, 32, 48};  // and more above it
    const Words next = (set << 6 & FlowSlot::kTagBits) ^ FlowSlot(slots_.now(), 0, 0).word();
    const Words last = words & FlowSlot::kMemberBits;
    const auto young = reinterpret_cast<Words>(words - slots_.bound() <= slots_.span());
    const auto drawn = reinterpret_cast<Words>(((words ^ next) & FlowSlot::kTagBits) == 0);
    const Words keeps = young & -(live >> last & 1);
    const Words stays = -(((drawn & best) >> last | keeps) & 1);
    const Words known = words & ~(young & ~(keeps | drawn));  // or kAstray
    std::memcpy(&words_[place], &known, sizeof known);
    std::memcpy(&next_[place], &next, sizeof next);
    std::memcpy(&keeps_[place], &keeps, sizeof keeps);
    std::memcpy(&stays_[place], &stays, sizeof stays);
  }

  const FlowletTable::Cursor<kOdd> slots_;
  const MemberMask* live_;
  const MemberMask* best_;
  std::array<uint32_t, kBurst> places_;
  std::array<uint64_t, kBurst> words_;
  std::array<uint64_t, kBurst> next_;  // as the slots are written, but for the member
  std::array<uint64_t, kBurst> keeps_;
  std::array<uint64_t, kBurst> stays_;
};

}  // namespace eddy::lb
