// HermesFlow: what the table of `hermes` keeps of a flow; and four of a burst's flows at once.
//
// Four are noted in vectors (lb/four_words.h), so that a packet of a flow that stays where it is,
// or begins, costs some 25 instructions. They are to be four different flows. Times are the
// scheme's ticks, octets are counted in units. Owner: the selector. Octets: 12, and 4 of the
// table's tag. Source: reference A.10.
#pragma once

#include <algorithm>
#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <cstring>

#include "lb/four_words.h"
#include "lb/members.h"

namespace eddy::lb {

class HermesFlow {
 public:
  static constexpr int kTicksShift = 4;   // ticks of a rate period
  static constexpr size_t kPeriods = 64;  // after as many nothing is left of a rate
  static constexpr uint32_t kMostUnits = (1u << 14) - 1;
  static constexpr uint32_t kFastest = UINT16_MAX;
  static constexpr uint32_t kMovedBits = 14;
  static constexpr uint32_t kNever = ~0u;
  // What is left of a rate after so many periods, in 2^-32; 0 at the end.
  using Shares = std::array<uint64_t, kPeriods + 1>;

  uint16_t psn = 0;   // of the last packet, its low bits
  uint16_t rate = 0;  // a DRE register in units

  uint32_t sent() const { return sent_ & kMostUnits; }  // units
  bool has_psn() const { return (sent_ & kHasPsn) != 0; }
  void set_sent(uint32_t units, bool has_psn) {
    sent_ = static_cast<uint16_t>((sent_ & kHasMoved) | units | (has_psn ? kHasPsn : 0));
  }
  MemberIndex member() const { return static_cast<MemberIndex>(seen_ & kMemberBits); }
  // Ticks since its last packet; periods since the one in which that was.
  uint32_t since(uint32_t tick) const {
    return ((tick << kSeenShift | (kLowest - 1)) - seen_) >> kSeenShift;
  }
  uint32_t periods_since(uint32_t tick) const {
    return static_cast<uint16_t>((tick >> kTicksShift) - (seen_ >> (kSeenShift + kTicksShift)));
  }
  void see(uint32_t tick, MemberIndex member) { seen_ = tick << kSeenShift | member; }
  uint32_t since_move(uint32_t tick) const {
    return (sent_ & kHasMoved) != 0 ? (tick - moved_) & ((1u << kMovedBits) - 1) : kNever;
  }
  void move(uint32_t tick) {
    sent_ = static_cast<uint16_t>(sent_ | kHasMoved);
    moved_ = static_cast<uint16_t>(tick);
  }

 private:
  friend class FourHermesFlows;
  static constexpr uint32_t kHasPsn = kMostUnits + 1;
  static constexpr uint32_t kHasMoved = kHasPsn << 1;
  static constexpr uint32_t kSeenBits = 20;
  static constexpr uint32_t kSeenShift = 32 - kSeenBits;
  static constexpr uint32_t kLowest = 1u << kSeenShift;  // of a tick in seen_
  static constexpr uint32_t kMemberBits = kMaxPaths - 1;

  uint16_t sent_ = 0;
  uint16_t moved_ = 0;  // tick, of which kMovedBits count
  uint32_t seen_ = 0;   // tick of the last packet; below it the member
};
static_assert(sizeof(HermesFlow) == 12 && kMaxPaths == 64);

class FourHermesFlows {
 public:
  static constexpr size_t kFlows = kFour;
  using Words = FourWords;
  using Mask = FourSigned;  // of each lane all bits are set, or none

  // What is the same for all flows of a burst; `size`: in units, above which a flow is large.
  struct Measure {
    Measure(uint32_t tick, uint32_t life_ticks, uint32_t size, const HermesFlow::Shares& left)
        : now(Words{} + (tick << HermesFlow::kSeenShift | (HermesFlow::kLowest - 1))),
          over(Mask{} + (int64_t{life_ticks} + 1) * HermesFlow::kLowest),
          period(Words{} + (tick >> HermesFlow::kTicksShift)),
          seen(Words{} + (tick << HermesFlow::kSeenShift)),
          most(Mask{} + (int64_t{size} << kSentShift)),
          kept(Words{} + kKept),
          half(Words{} + kHalf),
          shares(left) {}

    Words now;
    Mask over;
    Words period;
    Words seen;
    Mask most;
    Words kept;  // two constants at hand
    Words half;
    const HermesFlow::Shares& shares;
  };

  // Two of them are the same.
  static bool are_twins(HermesFlow* const* flows) {
    Words all;
    std::memcpy(&all, flows, sizeof all);
    return lanes_of(twins_of(all)) != 0;
  }

  [[gnu::always_inline]] FourHermesFlows(HermesFlow* const* flows, const Measure& measure) {
    const auto word = [&](size_t flow) {
      uint64_t loaded;
      std::memcpy(&loaded, flows[flow], sizeof loaded);
      return loaded;
    };
    const Words words = {word(0), word(1), word(2), word(3)};
    seen_ = Words{flows[0]->seen_, flows[1]->seen_, flows[2]->seen_, flows[3]->seen_};
    const Words silent = (measure.now - seen_) & UINT32_MAX;
    stays_ = Words((measure.over > Mask(silent)) & (Mask(words & kSent) > 0));
    numbers_ = words;
    words_ = words & stays_;
  }

  Words members() const { return seen_ & HermesFlow::kMemberBits; }
  // Something was sent, and they were not silent for longer than their life; else they begin.
  Words stays() const { return stays_; }
  // And they are large.
  Words large(const Measure& measure) const { return Words(Mask(words_ & kSent) > measure.most); }
  // They have a number that these are not ahead of.
  Words behind(const Words& psns) const {
    const Words ahead = (psns - numbers_) & UINT16_MAX;
    const Words not_ahead = ahead | (ahead - 1);
    return -(not_ahead >> 15 & numbers_ >> kHasPsnBit & 1);
  }

  // The packets are noted with their flows, which keep their members. Those that begin forget what
  // was.
  [[gnu::always_inline]] void note(const Words& units, const Measure& measure) {
    const Words left =
        product_of(words_ >> kRateShift & UINT16_MAX, shares(measure)) + measure.half;
    const Words rate = least(left / kWhole + units, HermesFlow::kFastest);
    const Words sent = least((words_ & kSent) + (units << kSentShift),
                             uint64_t{HermesFlow::kMostUnits} << kSentShift);
    words_ = (words_ & measure.kept) | rate << kRateShift | sent;
    seen_ = members() | measure.seen;
  }
  // So do the numbers of those packets that have one; else they are 0.
  void note_numbers(const Words& numbered, const Words& psns) {
    words_ = (words_ & ~(numbered & UINT16_MAX)) | (numbered & kHasPsn) | psns;
  }
  [[gnu::always_inline]] void store(HermesFlow* const* flows) const {
    const std::array<HermesFlow*, kFlows> to = {flows[0], flows[1], flows[2], flows[3]};
    for (size_t i = 0; i < kFlows; ++i) {
      const uint64_t word = words_[i];
      std::memcpy(static_cast<void*>(to[i]), &word, sizeof word);
      to[i]->seen_ = static_cast<uint32_t>(seen_[i]);
    }
  }

 private:
  static_assert(std::endian::native == std::endian::little);
  // Where the parts of a flow's first word are.
  static constexpr int kRateShift = 16, kSentShift = 32;
  static constexpr int kHasPsnBit = kSentShift + std::countr_zero(HermesFlow::kHasPsn);
  static constexpr uint64_t kHasPsn = uint64_t{1} << kHasPsnBit;
  static constexpr uint64_t kSent = uint64_t{HermesFlow::kMostUnits} << kSentShift;
  static constexpr uint64_t kKept =
      uint64_t{UINT16_MAX} << 48 | UINT16_MAX | uint64_t{HermesFlow::kHasMoved} << kSentShift;
  static constexpr uint64_t kWhole = uint64_t{1} << 32, kHalf = kWhole / 2;

  // Of numbers below 2^63.
  static Words least(const Words& numbers, uint64_t most) {
    const Mask most_of = Mask{} + static_cast<int64_t>(most);
    return Words(Mask(numbers) > most_of ? most_of : Mask(numbers));
  }
  [[gnu::always_inline]] Words shares(const Measure& measure) const {
    constexpr int kPeriodShift = HermesFlow::kSeenShift + HermesFlow::kTicksShift;
    const Words since = (measure.period - (seen_ >> kPeriodShift)) & UINT16_MAX;
    const Words periods = least(since, HermesFlow::kPeriods);
    const auto share = [&](size_t flow) { return measure.shares[periods[flow]]; };
    const Words shares = {share(0), share(1), share(2), share(3)};
    return shares - shares / kWhole;  // of 16 bits 1 - 2^-32 leaves as much as 1
  }

  Words words_;    // all of a flow but its last word; 0 of those that begin
  Words seen_;     // which is this
  Words numbers_;  // what words_ were
  Words stays_;
};

}  // namespace eddy::lb
