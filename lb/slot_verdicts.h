// SlotVerdicts: what the slots of four of a burst's flows say, found out at once: whether their
// flowlets are over, whether the slot is the set's alone, whether nothing that it was given is on
// the way, whether it keeps its member whatever has arrived, and how it is written.
//
// The words are loaded one by one, and so is what has arrived on each one's path, as words are
// moved out of vectors by few units; the rest is in vectors. Two packets may share a slot: who
// takes four sees that by their words (twins_of). Owner: a call. Cost: some 20 instructions a
// packet. Source: docs/adr/0031.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

#include "lb/flow_slots.h"
#include "lb/four_words.h"
#include "lb/path_arrivals.h"

namespace eddy::lb {

class SlotVerdicts {
  static constexpr int kIdleShift = FlowSlot::kTimeShift + PathArrivals::kStepBits;
  static constexpr int kTagShift = 6;
  static constexpr uint64_t kTop = uint64_t{1} << 63;  // added to what signed words are to compare

 public:
  struct Terms {
    PathArrivals::Reader arrivals;
    uint64_t now = 0;    // as slots have it
    uint64_t step = 0;   // and as arrivals have it
    uint64_t age = 0;    // steps; longer than this nothing is on the way
    uint64_t bound = 0;  // words of flowlets that are not over, as FlowletTable has it,
    uint64_t span = 0;   // are up to so much above
  };
  // The same for all of a burst, as vectors have it.
  struct Measure {
    explicit Measure(const Terms& terms)
        : arrivals(terms.arrivals),
          row_shift(kTagShift - terms.arrivals.row_shift()),
          now(four_of(terms.now)),
          now_step(now & steps),
          step(four_of(terms.step + kTop)),
          age(four_of(terms.age + kTop)),
          bound(four_of(terms.bound + kTop)),
          span(four_of(terms.span + kTop)) {}

    PathArrivals::Reader arrivals;
    int row_shift;
    uint64_t tag_bits = FlowSlot::kTagBits;
    FourWords tags = four_of(FlowSlot::kTagBits);
    FourWords owners = four_of(FlowSlot::kTagBits | FlowSlot::kMixed);
    FourWords mixed = four_of(FlowSlot::kMixed);
    FourWords steps = four_of(~((uint64_t{1} << kIdleShift) - 1));
    FourWords top = four_of(kTop);
    FourWords now, now_step, step, age, bound, span;
  };

  [[gnu::always_inline]] SlotVerdicts(const std::array<uint64_t, kFour>& slots,
                                      const FourWords& sets, const Measure& measure) {
    words = four_by([&](size_t lane) { return slots[lane]; });
    const FourWords arrived = four_by([&](size_t lane) {
      const uint64_t row = (~slots[lane] & measure.tag_bits) >> measure.row_shift;
      return measure.arrivals.at(row | (slots[lane] & FlowSlot::kMemberBits));
    });
    const FourWords tags = ~(sets << kTagShift) & measure.tags;
    const FourWords idle =
        ((measure.now_step - (words & measure.steps)) >> kIdleShift) + measure.top;
    const FourWords owner = words & measure.owners;
    const auto old = FourWords(FourSigned(idle) > FourSigned(measure.age));
    const auto proven = FourWords(FourSigned(idle) > FourSigned(measure.step - arrived));
    over = FourWords(FourSigned(words - measure.bound) > FourSigned(measure.span));
    plain = FourWords(owner == tags);
    keeps = FourWords(owner == measure.mixed) & ~old;
    going = (proven & ~(words >> FlowSlot::kMixedBit)) | keeps;
    next = measure.now | (tags ^ (keeps & (tags ^ measure.mixed)));
  }

  FourWords words;
  // Masks.
  FourWords over;   // the flowlet is
  FourWords plain;  // as FlowSlot::is_plain()
  FourWords keeps;  // flows of several sets share it: whatever arrives, it keeps its member until
                    // it was silent for the age
  // The lowest bit: it keeps it, or is not mixed, and all that it was given has arrived.
  FourWords going;
  // As it is when its packet has gone by the member that is or'ed to it: its own if the slot keeps
  // it, else any if the slot is going or the flowlet goes on.
  FourWords next;
};
static_assert(FlowSlot::tag_of(1) == (~(uint64_t{1} << 6) & FlowSlot::kTagBits));

}  // namespace eddy::lb
