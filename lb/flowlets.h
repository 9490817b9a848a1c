// FlowletTable: which member each flowlet uses, for every scheme that moves a flow only where it
// pauses.
//
// The table is indexed directly by a hash of the flow and has entries of 8 octets; two flows that
// fall into one entry are treated as one flow. A flowlet ends when its flow has been silent for
// long enough. Mode `exact` ends it after `gap`. Mode `agebit` does what hardware does with one bit
// of age for each entry, without scanning the table: an entry last used in epoch e = floor((t -
// phase) / gap) is dead from epoch e + 2 on, so the silence that ends a flowlet lies between gap
// and 2 gap. Stamps are epochs or picoseconds modulo 2^48. So an exact entry that was unused for
// 281 s can look alive, and its flow then keeps an old path. Owner: one selector, at its shard.
// Cost: a cache line for each packet; set_time() divides once a burst. Source: reference A.5.
#pragma once

#include <rte_prefetch.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <string_view>
#include <vector>

#include "lb/members.h"
#include "net/packet.h"
#include "net/rebase.h"
#include "net/units.h"

namespace eddy::lb {

enum class FlowletMode : uint8_t { agebit, exact };
inline constexpr std::array<std::string_view, 2> kFlowletModeNames = {"agebit", "exact"};
enum class SweepPhase : uint8_t { zero, swept };  // agebit: when an entry's epochs begin
inline constexpr std::array<std::string_view, 2> kSweepPhaseNames = {"zero", "swept"};

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

// Of a flow whose entry another set's flow uses: the same for all its packets.
inline MemberIndex by_hash(const Packet& packet, MemberMask live) {
  return random_of(live, static_cast<uint32_t>(mix64(packet.order_hash)));
}

class FlowletTable {
 public:
  struct Plan {
    Duration gap;
    FlowletMode mode = FlowletMode::agebit;
    SweepPhase phase = SweepPhase::zero;
    int64_t entries = 0;
  };
  explicit FlowletTable(const Plan& plan)
      : plan_(plan),
        max_age_(plan.mode == FlowletMode::agebit ? 1 : static_cast<uint64_t>(plan.gap.ps())),
        entries_(static_cast<uint32_t>(plan.entries)),
        first_late_(entries_),
        table_(entries_, Flowlet(0, kNoSet, ~max_age_ - 1)) {}  // too old at 0, also under a sweep

  void prefetch(const Packet& packet) const { rte_prefetch0(&table_[index_of(packet)]); }
  // Before the first question at `now`.
  void set_time(Instant now) {
    if (plan_.mode == FlowletMode::exact) {
      stamp_ = static_cast<uint64_t>(now.ps());
      return;
    }
    stamp_ = epoch_ + static_cast<uint64_t>((now - epoch_began_) / plan_.gap);
    if (plan_.phase == SweepPhase::swept) sweep_to(now);
  }

  // Epochs go on as they were: one of them began where the clock's zero comes to lie, or before.
  void rebase(const Rebase& rebase) {
    epoch_began_ = epoch_began_ - Duration::picoseconds(rebase.back().ps() % plan_.gap.ps());
    epoch_ += static_cast<uint64_t>(rebase.back() / plan_.gap);
    if (epoch_began_ > Instant() - plan_.gap) return;
    epoch_began_ = epoch_began_ + plan_.gap;
    ++epoch_;
  }

  // Entries, and how many of [from, from + count) are flowlets that were not over at set_time().
  size_t capacity() const { return entries_; }
  size_t used(size_t from, size_t count) const {
    const size_t end = std::min(from + count, capacity());
    size_t used = 0;
    for (size_t index = from; index < end; ++index) used += is_young(table_[index], index) ? 1 : 0;
    return used;
  }

  size_t index_of(const Packet& packet) const { return place_of(packet, entries_); }
  Flowlet operator[](size_t index) const { return table_[index]; }
  // Not yet over.
  bool is_young(Flowlet flowlet, size_t index) const {
    return flowlet.age(stamp_of(index)) <= max_age_;
  }
  void put(size_t index, MemberIndex member, uint16_t set) {
    table_[index] = Flowlet(member, set, stamp_of(index));
  }
  void keep(size_t index) { table_[index].use(stamp_of(index)); }

  // The same of a whole burst, with what it asks of the table in registers. kSwept: swept().
  template <bool kSwept>
  class Cursor {
   public:
    explicit Cursor(FlowletTable& table)
        : table_(table.table_.data()),
          max_age_(table.max_age_),
          stamp_(table.stamp_),
          first_late_(table.first_late_),
          entries_(table.entries_) {}
    size_t index_of(const Packet& packet) const { return place_of(packet, entries_); }
    Flowlet operator[](size_t index) const { return table_[index]; }
    bool is_young(Flowlet flowlet, size_t index) const {
      return flowlet.age(stamp_of(index)) <= max_age_;
    }
    void put(size_t index, MemberIndex member, uint16_t set) const {
      table_[index] = Flowlet(member, set, stamp_of(index));
    }

   private:
    uint64_t stamp_of(size_t index) const {
      return stamp_ - (kSwept && index >= first_late_ ? 1 : 0);
    }
    Flowlet* table_;
    uint64_t max_age_;
    uint64_t stamp_;
    size_t first_late_;
    uint32_t entries_;
  };
  // Since set_time(): some entries are still in the epoch before.
  bool swept() const { return first_late_ < entries_; }

 private:
  static constexpr uint16_t kNoSet = 1'023;  // drew no entry of a fresh table

  static size_t place_of(const Packet& packet, uint32_t entries) {
    return scaled_to(static_cast<uint32_t>(packet.order_hash >> 32), entries);
  }
  uint64_t stamp_of(size_t index) const { return stamp_ - (index >= first_late_ ? 1 : 0); }
  // Under a sweeping checker entry i is visited i * gap / entries late: from first_late_ on,
  // entries are still in the epoch before.
  void sweep_to(Instant now) {
    const __int128 into_epoch = (now - epoch_began_).ps() % plan_.gap.ps();
    const __int128 gap = plan_.gap.ps();
    first_late_ = static_cast<size_t>(((into_epoch + 1) * entries_ + gap - 1) / gap);
  }

  Plan plan_;
  uint64_t max_age_;    // in stamps
  uint64_t stamp_ = 0;  // of this burst
  uint64_t epoch_ = 0;  // agebit: that began at epoch_began_
  Instant epoch_began_;
  uint32_t entries_;
  size_t first_late_;
  std::vector<Flowlet> table_;
};

}  // namespace eddy::lb
