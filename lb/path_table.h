// PathTable: what a leaf has measured of its paths. For each (path set, member) it has a record of
// 32 octets, and 16 octets more that say what selectors did with the path.
//
// Delays are of the metric the table was made for: round trips, or one way where all switches share
// a clock. Both begin when a packet joins the queue of its port. "Arrived before T" is a proof:
// whatever this switch gave to the path strictly before T, if it is measured(), has reached
// the destination leaf. It is known from the echo of a stamp that waited behind those packets in
// the same queue, or of a sweep, which waits behind the packets of the isolated class, too. While
// the last echo proves nothing, only what was swept is proven.
// Owner: a record has one writer, the shard that owns the member's port; every shard reads it, and
// what it reads is old by one poll at most. PathUse and failed() are written on any shard, by
// whoever decides and judges. Times in records are of that world's clock. The short ones are
// microseconds modulo 2^32 of record_time(), which no rebase moves: a sample must be forgotten
// (forget) within 71 minutes. Bounds: 52 octets for each member and 8 for each set, taken at
// construction, and 16 for each member where paths are swept. Cost: a few loads and stores each.
// Source: reference 1.3, 1.7, B.6.
#pragma once

#include <algorithm>
#include <atomic>
#include <bit>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "lb/members.h"
#include "lb/path_arrivals.h"
#include "lb/path_set.h"
#include "net/ids.h"
#include "net/rebase.h"
#include "net/units.h"

namespace eddy::lb {

struct alignas(32) PathRecord {
  static constexpr uint32_t kUnknown = UINT32_MAX;
  static constexpr int64_t kSmoothing = 4;

  std::atomic<int64_t> echoed_ps{0};         // the stamp echoed last; bit 0: it proves an arrival
  std::atomic<uint32_t> requested_ns{0};     // the last stamp, as on the wire
  std::atomic<uint32_t> sampled_at_us{0};    // when the delay was last heard of; 0: unknown
  std::atomic<uint32_t> delay_ns{kUnknown};  // smoothed
  std::atomic<uint32_t> least_delay_ns{kUnknown};
  std::atomic<uint32_t> congestion_at_us{0};  // when congestion was last heard of; 0: unknown
  std::atomic<uint16_t> marked{0};            // of packets: 0..65535 for 0..1, smoothed
  std::atomic<uint8_t> congestion{0};         // most utilised link, as heard: 0..255 for 0..1
  std::atomic<uint8_t> suspicion{0};          // requests in a row that nothing answered

  // As `requested_ns` is written.
  static uint32_t wire_time(Instant at) { return static_cast<uint32_t>(at.ps() / 1'000); }
  // `now` is PathTable::record_time(), here and in age().
  // Writers. `smoothing`: of what the record holds, 1 / smoothing gives way to what is new.
  void take_marks(uint32_t packets, uint32_t marked_packets, int64_t smoothing = kSmoothing) {
    if (packets == 0 || (marked_packets | marked.load(std::memory_order_relaxed)) == 0) return;
    mix_marks(packets, marked_packets, smoothing);
  }
  void take_congestion(uint8_t utilisation, Instant now) {
    congestion.store(utilisation, std::memory_order_relaxed);
    congestion_at_us.store(stamp_of(now), std::memory_order_relaxed);
  }
  void forget() { sampled_at_us.store(0, std::memory_order_relaxed); }
  // What was heard so long ago that its age would soon begin again from zero.
  void forget_old_congestion(Instant now) {
    if (congestion_at_us.load(std::memory_order_relaxed) == 0) return;
    if (congestion_age(now) < Duration::seconds(30 * 60)) return;
    congestion.store(0, std::memory_order_relaxed);
    congestion_at_us.store(0, std::memory_order_relaxed);
  }
  void suspect() {
    const uint8_t before = suspicion.load(std::memory_order_relaxed);
    if (before != UINT8_MAX)
      suspicion.store(static_cast<uint8_t>(before + 1), std::memory_order_relaxed);
  }
  void trust() { suspicion.store(0, std::memory_order_relaxed); }
  void rebase(const Rebase& rebase);

  // Readers.
  bool known() const { return sampled_at_us.load(std::memory_order_relaxed) != 0; }
  // Since the last sample, where there is one.
  Duration age(Instant now) const { return since(sampled_at_us, now); }
  Duration congestion_age(Instant now) const { return since(congestion_at_us, now); }
  Instant echoed() const {
    return Instant::at(
        Duration::picoseconds(echoed_ps.load(std::memory_order_relaxed) & ~int64_t{1}));
  }
  Instant arrived_before() const {
    const int64_t echoed = echoed_ps.load(std::memory_order_relaxed);
    return Instant::at(Duration::picoseconds((echoed & 1) != 0 ? echoed & ~int64_t{1} : 0));
  }

 private:
  friend class PathTable;
  static int64_t smoothed(int64_t before, int64_t sample, int64_t smoothing) {
    const int64_t step = quotient(sample - before, smoothing);
    return step != 0 ? before + step : sample;  // closer than the fixed point can step
  }
  // A division of 64 bits is dear, and most are by a power of two.
  static int64_t quotient(int64_t of, int64_t by) {
    if (!std::has_single_bit(static_cast<uint64_t>(by))) [[unlikely]]
      return of / by;
    return (of + (of >> 63 & (by - 1))) >> std::countr_zero(static_cast<uint64_t>(by));
  }
  void mix_marks(uint32_t packets, uint32_t marked_packets, int64_t smoothing);
  void take_delay(Duration sample, Instant now, int64_t smoothing) {
    constexpr int64_t kLongest = int64_t{kUnknown} - 1;
    const auto ns = static_cast<uint32_t>(std::clamp<int64_t>(sample.ns(), 0, kLongest));
    const uint32_t before = delay_ns.load(std::memory_order_relaxed);
    const int64_t next = known() ? smoothed(before, ns, smoothing) : ns;
    delay_ns.store(static_cast<uint32_t>(next), std::memory_order_relaxed);
    if (ns < least_delay_ns.load(std::memory_order_relaxed))
      least_delay_ns.store(ns, std::memory_order_relaxed);
    sampled_at_us.store(stamp_of(now), std::memory_order_relaxed);
    trust();
  }
  void take_echo(Instant stamp, bool proves) {
    echoed_ps.store((stamp.ps() & ~int64_t{1}) | (proves ? 1 : 0), std::memory_order_relaxed);
  }
  static uint32_t stamp_of(Instant now) {  // 0: never
    return std::max(static_cast<uint32_t>(now.ps() / 1'000'000), uint32_t{1});
  }
  // Up to 70 minutes; a stamp of another shard may be a little ahead.
  static Duration since(const std::atomic<uint32_t>& at_us, Instant now) {
    const uint32_t at = at_us.load(std::memory_order_relaxed);
    const uint32_t age = stamp_of(now) - at;
    if (at == 0) return Duration::max();
    return Duration::microseconds(is_ahead(age) ? 0 : int64_t{age});
  }
  static bool is_ahead(uint32_t age_us) {
    constexpr uint32_t kAhead = 60'000'000;
    return age_us > ~kAhead;
  }
};
static_assert(sizeof(PathRecord) == 32);

// Why a path is not to be used.
enum class PathFailure : uint8_t {
  none,
  silent,  // it does not answer, others do
  forced,  // packets were forced onto it, which is slow for no reason that is known
  rounds,  // too many rounds in the loop were made for it
};

// What selectors of all shards do with a path. Rarely written: only for packets off warned paths.
struct PathUse {
  std::atomic<uint32_t> weighed{0};  // packets for which it was the other path, since last asked
  std::atomic<uint32_t> forced{0};   // of these, that a limit forced off their warned one
  std::atomic<uint32_t> moved{0};    // octets that RLB moved to it since it was measured last
  std::atomic<PathFailure> failure{PathFailure::none};

  void weigh() { weighed.fetch_add(1, std::memory_order_relaxed); }
  void force() { forced.fetch_add(1, std::memory_order_relaxed); }
  // Shards that move packets at the same time may forget some of them.
  void move(uint32_t octets) {
    const uint32_t before = moved.load(std::memory_order_relaxed);
    moved.store(before + octets, std::memory_order_relaxed);
  }
  void measured() { moved.store(0, std::memory_order_relaxed); }
};

// What is known of a path's sweeps: probes behind all that went before them, isolated or not.
struct PathSweep {
  std::atomic<int64_t> swept_ps{0};  // the last one that came through; 0: none
  uint32_t asked_ns = 0;             // the last one that was sent, as on the wire

  Instant swept() const {
    return Instant::at(Duration::picoseconds(swept_ps.load(std::memory_order_relaxed)));
  }
  bool waits() const { return PathRecord::wire_time(swept()) != asked_ns; }  // for its answer
};

// Packets whose arrival stamps and sweeps prove.
struct MeasuredPackets {
  uint8_t queues = 0;           // bit = queue that stamps wait in
  uint8_t swept_queues = 0;     // bit = queue of isolated packets, where paths are swept
  PriorityGroupId swept_group;  // in which those came; others of that queue are not measured
  bool in(QueueId queue) const { return (queues >> queue.index() & 1) != 0; }
  bool in(QueueId queue, PriorityGroupId pg) const {
    return in(queue) || ((swept_queues >> queue.index() & 1) != 0 && pg == swept_group);
  }
  bool operator==(const MeasuredPackets&) const = default;
};

class PathTable {
 public:
  struct Parameters {
    Duration base_rtt;     // of an idle path, there and back
    Duration proof_lag{};  // an echo proves what was given so much before its stamp
    bool one_way = false;  // delays are one way, else round trips
    uint8_t smoothing = 4;
    MeasuredPackets measured;
    bool operator==(const Parameters&) const = default;
  };
  static constexpr int64_t kStaleAfter = 16;  // base round trips

  // `leaves`: to which leaf each set leads. Members of sets to one leaf that are the same path
  // share a record; empty: each has its own.
  PathTable(std::span<const PathSet> sets, const Parameters& parameters,
            std::span<const LeafId> leaves = {});

  // Where a path is in the table, for who does several things with it.
  struct Place {
    size_t path;
    uint32_t record;
  };
  Place place(size_t set, MemberIndex member) const {
    const size_t path = first_[set] + member;
    return {path, record_of_[path]};
  }
  PathRecord& at(const Place& place) { return records_[place.record]; }
  PathUse& use(const Place& place) const { return uses_[place.record]; }
  PathRecord& at(size_t set, MemberIndex member) { return at(place(set, member)); }
  const PathRecord& at(size_t set, MemberIndex member) const {
    return records_[record_of_[first_[set] + member]];
  }
  // A sample of the path's delay. `now` and `smoothing`: as records have them.
  void take_delay(size_t set, MemberIndex member, Duration sample, Instant now,
                  int64_t smoothing = PathRecord::kSmoothing) {
    const Place of = place(set, member);
    records_[of.record].take_delay(sample, now, smoothing);
    show(of);
  }
  // Of the record's path, whoever looks at the table.
  PathUse& use(size_t set, MemberIndex member) const { return use(place(set, member)); }
  // The stamp of the instant was echoed; `proves`: it went the path's way, in its queue.
  void take_echo(const Place& place, Instant stamp, bool proves) {
    records_[place.record].take_echo(stamp, proves);
    show(place);
  }
  // Both, of a stamp that took `delay`.
  struct Answer {
    Instant stamp;
    Duration delay;
    Instant now;
    int64_t smoothing;
    bool proves;
  };
  void take_answer(const Place& place, const Answer& answer) {
    records_[place.record].take_delay(answer.delay, answer.now, answer.smoothing);
    take_echo(place, answer.stamp, answer.proves);
  }
  void take_echo(size_t set, MemberIndex member, Instant stamp, bool proves) {
    take_echo(place(set, member), stamp, proves);
  }
  // Where paths are swept.
  PathSweep& sweep(size_t set, MemberIndex member) {
    return sweeps_[record_of_[first_[set] + member]];
  }
  // What was given before the instant has arrived, in whichever class.
  void take_sweep(size_t set, MemberIndex member, Instant stamp) {
    const Place of = place(set, member);
    sweeps_[of.record].swept_ps.store(stamp.ps(), std::memory_order_relaxed);
    show(of);
  }
  const Parameters& parameters() const { return parameters_; }
  Instant record_time(Instant now) const { return now + ahead_; }
  // While nobody looks at the table.
  void rebase(const Rebase& rebase);
  // What an idle path is expected to take, in the metric of delay().
  Duration base_delay() const {
    return parameters_.one_way ? parameters_.base_rtt / 2 : parameters_.base_rtt;
  }

  // Smoothed; nullopt: never measured, or not lately.
  std::optional<Duration> delay(size_t set, MemberIndex member, Instant now) const {
    return Recent(*this, set, now).delay(member);
  }
  // What delay() says of a set's paths at one instant, for who asks for all of them.
  class Recent {
   public:
    static constexpr uint32_t kStale = PathRecord::kUnknown - 1;  // measured, but not lately

    // Of no set yet.
    Recent(const PathTable& table, Instant now)
        : records_(table.records_.get()),
          now_us_(PathRecord::stamp_of(table.record_time(now))),
          stale_us_(table.stale_us_) {}
    Recent(const PathTable& table, size_t set, Instant now) : Recent(table, now) {
      look_at(table, set);
    }
    void look_at(const PathTable& table, size_t set) {
      record_of_ = &table.record_of_[table.first_[set]];
    }
    const PathRecord& record(MemberIndex member) const { return records_[record_of_[member]]; }
    // Nanoseconds; kStale; PathRecord::kUnknown: never measured.
    uint32_t delay_ns(MemberIndex member) const {
      const PathRecord& record = this->record(member);
      const uint32_t at = record.sampled_at_us.load(std::memory_order_relaxed);
      if (at == 0) return PathRecord::kUnknown;
      const uint32_t age = now_us_ - at;
      const bool lately = (age <= stale_us_) | PathRecord::is_ahead(age);
      return lately ? record.delay_ns.load(std::memory_order_relaxed) : kStale;
    }
    static bool is_fresh(uint32_t delay_ns) { return delay_ns < kStale; }
    // As PathTable::delay().
    std::optional<Duration> delay(MemberIndex member) const {
      const uint32_t found = delay_ns(member);
      if (!is_fresh(found)) return std::nullopt;
      return Duration::nanoseconds(found);
    }

   private:
    const PathRecord* records_;
    const uint32_t* record_of_ = nullptr;
    uint32_t now_us_;
    uint32_t stale_us_;
  };
  // By how much packets took longer by one member than by another when both were last measured,
  // however long ago; nothing is to be made of it where one never was. Cheaper than delay(), for
  // who asks it of every packet: delays of a set's members stand side by side.
  class Leads {
   public:
    Leads() = default;  // to be asked nothing
    int64_t ns(size_t set, size_t slow, size_t quick) const {
      const std::atomic<uint32_t>* const of_set = delays_ + first_[set];
      return int64_t{of_set[slow].load(std::memory_order_relaxed)} -
             int64_t{of_set[quick].load(std::memory_order_relaxed)};
    }

   private:
    friend class PathTable;
    Leads(const uint32_t* first, const std::atomic<uint32_t>* delays)
        : first_(first), delays_(delays) {}
    const uint32_t* first_ = nullptr;
    const std::atomic<uint32_t>* delays_ = nullptr;
  };
  Leads leads() const { return {first_.data(), delays_.get()}; }
  // The least ever seen; base_delay() if nothing was.
  Duration least_delay(size_t set, MemberIndex member) const {
    const uint32_t least = at(set, member).least_delay_ns.load(std::memory_order_relaxed);
    return least == PathRecord::kUnknown ? base_delay() : Duration::nanoseconds(least);
  }
  // What this switch gave to the path before has arrived; Instant{}: nothing is proven.
  Instant arrived_before(size_t set, MemberIndex member, QueueId queue) const {
    return parameters_.measured.in(queue) ? arrived_before(set, member) : Instant{};
  }
  // The same of packets in queues that are measured.
  Instant arrived_before(size_t set, MemberIndex member) const {
    return arrived_before(record_of_[first_[set] + member]);
  }
  Instant arrived_before(size_t set, MemberIndex member, QueueId queue, PriorityGroupId pg) const {
    return parameters_.measured.in(queue, pg) ? arrived_before(set, member) : Instant{};
  }
  // The same in steps, for who asks it of every packet; of path sets below PathArrivals::kRows.
  const PathArrivals& arrivals() const { return arrivals_; }

  // Members that a detector has excluded: whoever chooses sees them as not live, unless none is.
  MemberMask failed(size_t set) const { return failed_[set].load(std::memory_order_relaxed); }
  // Of any set.
  bool any_failed() const { return failures_.load(std::memory_order_relaxed) != 0; }
  // The path, by whichever members of sets it is gone; none: it is good again. Slow.
  void set_failed(size_t set, MemberIndex member, PathFailure why);

 private:
  // One of the paths that share a record.
  struct Sharer {
    uint32_t next;  // by path: the ring of those that share it
    uint16_t set;
    MemberIndex member;
  };

  void link_sharers();
  Instant arrived_before(uint32_t record) const {
    Instant stamp = records_[record].arrived_before();
    if (sweeps_ != nullptr) stamp = std::max(stamp, sweeps_[record].swept());
    return stamp == Instant{} ? stamp : stamp - parameters_.proof_lag;
  }
  // What records say that is kept by path, too.
  void show(const Place& place) {
    const Instant before = arrived_before(place.record);
    const uint32_t delay = records_[place.record].delay_ns.load(std::memory_order_relaxed);
    size_t same = place.path;
    do {
      const Sharer& sharer = sharers_[same];
      if (sharer.set < PathArrivals::kRows) arrivals_.put(sharer.set, sharer.member, before);
      delays_[same].store(delay, std::memory_order_relaxed);
      same = sharer.next;
    } while (same != place.path);
  }

  Parameters parameters_;
  uint32_t stale_us_;                // older samples say nothing
  Duration ahead_;                   // of what records count by; less than their stamps' period
  std::vector<uint32_t> first_;      // place of a set's first member in record_of_
  std::vector<uint32_t> record_of_;  // by member, set by set
  std::vector<Sharer> sharers_;      // likewise
  std::unique_ptr<std::atomic<uint32_t>[]> delays_;  // likewise: delay_ns of their records
  PathArrivals arrivals_;
  size_t record_count_ = 0;
  std::unique_ptr<PathRecord[]> records_;
  std::unique_ptr<PathUse[]> uses_;                    // by record
  std::unique_ptr<PathSweep[]> sweeps_;                // likewise, where paths are swept
  std::unique_ptr<std::atomic<MemberMask>[]> failed_;  // by set
  std::atomic<uint32_t> failures_{0};                  // members in there
};

}  // namespace eddy::lb
