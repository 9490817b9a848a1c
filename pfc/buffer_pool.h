// Ingress accounting of the shared packet buffer. A priority group (PG) fills its reserved octets
// first, then the shared pool up to its threshold, where it pauses its sender (XOFF), and then, if
// it is lossless, its headroom.
//
// Units: octets, already rounded to cells by the caller (round_to_cells). The threshold of a PG is
// `xoff` (static, reserved included) or reserved + 2^dynamic_th * free shared pool (dynamic); it is
// compared with all that the PG holds. Where a packet is placed depends on what the PG held before
// it, and XOFF on what it holds after it. So the packet that crosses the threshold is still shared,
// if the pool has room, and headroom takes what comes later. A PG that had to use headroom because
// the shared pool was full pauses its sender, too; so no PG has headroom in use without having
// paused. Where the headroom of all PGs is one pool (an overcommitted buffer), a PG pauses its
// sender as soon as its own headroom would no longer fit into what is left of that pool and of the
// shared one, and resumes only when it fits again. What was unread when a PG paused has the room
// that it was compared with, also when the threshold falls while it is being read: headroom is for
// what the sender sends until it reads the pause (docs/adr/0046). Owner: each PG has one shard. A
// shard's BufferPool is its own, and of the common PoolUse lines it writes one. Other threads may
// read all atomics (relaxed, old by one poll at most); with one shard everything is exact. Bounds:
// shared use exceeds the shared size by no more than what other shards took within one poll;
// headroom never exceeds its limit. Cost: admit and release together about 9 cycles, inline; no
// loop but one over the shards, in a poll that asks what they hold. Source: reference C.2, C.3; SAI
// buffer model.
#pragma once

#include <algorithm>
#include <atomic>
#include <cstdint>
#include <span>

#include "net/assert.h"
#include "net/ids.h"
#include "net/units.h"
#include "pfc/watermarks.h"

namespace eddy::config {
struct BufferProfile;
}

namespace eddy::pfc {

// What a frame costs in a buffer of cells.
[[nodiscard]] constexpr int64_t round_to_cells(int64_t bytes, int64_t cell_bytes) {
  return (bytes + cell_bytes - 1) / cell_bytes * cell_bytes;
}

// The same by multiplication, for the hot path. Exact for frames up to 64 KiB and cells up to 64
// KiB.
class CellSize {
 public:
  CellSize() = default;
  explicit CellSize(int64_t cell_bytes)
      : bytes_(static_cast<uint32_t>(cell_bytes)),
        reciprocal_((uint64_t{1} << kShift) / bytes_ + 1) {}
  int64_t bytes() const { return bytes_; }
  int64_t charge_of(uint32_t bytes) const {
    return static_cast<int64_t>(((bytes + bytes_ - 1) * reciprocal_ >> kShift) * bytes_);
  }

 private:
  static constexpr int kShift = 40;  // (bytes + cell) < 2^17 and the error stays below 1 / cell
  uint32_t bytes_ = 1;
  uint64_t reciprocal_ = (uint64_t{1} << kShift) + 1;
};

inline constexpr int kMaxDynamicTh = 10;  // |dynamic_th| at most; SONiC uses -8..8

// 2^dynamic_th as two shifts, of which one is 0.
struct PowerOfTwo {
  uint8_t left = 0;
  uint8_t right = 0;

  constexpr PowerOfTwo() = default;
  explicit constexpr PowerOfTwo(int exponent)
      : left(static_cast<uint8_t>(exponent > 0 ? exponent : 0)),
        right(static_cast<uint8_t>(exponent < 0 ? -exponent : 0)) {}
  constexpr int64_t times(int64_t n) const { return (n << left) >> right; }
  bool operator==(const PowerOfTwo&) const = default;
};

// A buffer profile, compiled for one PG. Immutable.
struct alignas(64) PgLimits {
  int64_t reserved = 0;
  int64_t base = 0;          // static: xoff; dynamic: reserved
  int64_t dynamic_mask = 0;  // static: 0; dynamic: all ones
  int64_t xon_offset = 0;
  int64_t headroom = 0;
  PowerOfTwo alpha;
  bool lossless = false;

  // `headroom` is the resolved one (pfc/headroom.h); a lossy profile has none.
  static PgLimits of(const config::BufferProfile& profile, Bytes headroom);

  int64_t threshold(int64_t free_shared) const {
    return base + (alpha.times(free_shared) & dynamic_mask);
  }
  bool operator==(const PgLimits&) const = default;
};

// What one PG holds, in one line. One writer: the shard of its port.
struct alignas(64) PgBuffer {
  std::atomic<int64_t> used{0};           // reserved + shared + headroom
  std::atomic<int64_t> headroom_used{0};  // its part in headroom
  Watermarks shared_watermarks;           // of what it holds beside its headroom
  Watermarks headroom_watermarks;
  // Above XOFF and not yet below XON: up to which level it fills the shared region in any case, as
  // that much was here when it paused. Else kFlows.
  std::atomic<int64_t> paused_level{kFlows};
  const PgLimits* limits = nullptr;  // in force; for the writer alone

  static constexpr int64_t kFlows = -1;

  bool pausing() const { return get(paused_level) != kFlows; }
  int64_t outside_headroom() const { return get(used) - get(headroom_used); }

  template <class T>
  static T get(const std::atomic<T>& value) {
    return value.load(std::memory_order_relaxed);
  }
  template <class T>
  static void set(std::atomic<T>& value, T to) {
    value.store(to, std::memory_order_relaxed);
  }
};

static_assert(sizeof(PgBuffer) == 64);

// What one shard's PGs hold together. One line a shard, shared by the pools of a switch.
struct alignas(64) PoolUse {
  std::atomic<int64_t> shared{0};
  std::atomic<int64_t> headroom{0};
  // Of what all shards hold, as this one has seen it.
  Watermarks shared_watermarks;
  Watermarks headroom_watermarks;
};

enum class AdmitVerdict : uint8_t {
  accepted,
  shared_full,   // lossy: over its limit, or the pool is full
  headroom_full  // lossless: over its threshold and no headroom left: it was configured too small
};

struct Admission {
  AdmitVerdict verdict = AdmitVerdict::accepted;
  bool xoff_edge = false;  // pause the sender: this packet took the PG above its threshold, or to
                           // where its headroom would not fit, or was refused
};

// What admit() would do, in words.
struct Foresight {
  AdmitVerdict verdict = AdmitVerdict::accepted;
  bool in_headroom = false;
  bool pauses = false;      // Admission::xoff_edge
  int64_t taken = 0;        // of the shared region
  int64_t free_shared = 0;  // before
};

class BufferPool {
 public:
  static constexpr Bytes kNoLimit{int64_t{1} << 62};

  // `use` has one line a shard and outlives the pool; `shared_size` is the buffer less all reserved
  // octets and headroom.
  BufferPool(std::span<PoolUse> use, ShardId self, Bytes shared_size)
      : use_(use), mine_(&use[self.index()]), shared_size_(shared_size.count()) {}

  // What the other shards hold is what the poll finds where it first asks. One that only sends asks
  // nothing, and leaves them their lines.
  void begin_poll() { others_are_old_ = use_.size() > 1; }

  // `extra_backlog`: octets that have arrived on the port but are not read yet; they count towards
  // XOFF and XON only.
  [[nodiscard]] Admission admit(PgBuffer& pg, const PgLimits& limits, int64_t charge,
                                int64_t extra_backlog = 0) {
    const int64_t used = PgBuffer::get(pg.used);
    const int64_t after = used + charge;
    const int64_t taken = beyond(after, limits.reserved) - beyond(used, limits.reserved);
    const int64_t left = free_shared() - taken;
    const bool plain = left >= scarce_ && PgBuffer::get(pg.headroom_used) == 0 &&
                       after + extra_backlog <= limits.threshold(left);
    if (!plain) [[unlikely]]
      return admit_slow(pg, limits, charge, extra_backlog);
    hold(pg, after, taken);
    return {};
  }

  // What admit() would do with the charge, which it does not. For reports.
  [[nodiscard]] Foresight foresee(const PgBuffer& pg, const PgLimits& limits, int64_t charge,
                                  int64_t extra_backlog) const;

  // Packets of several PGs, each with the sum of its charges, if admit() would do no more than
  // accept each of them, in whatever order. False: nothing is done. What holds behind the last of
  // them holds behind each: what a PG holds only grows, what is free only falls, and the threshold
  // with it.
  struct Demand {
    PgBuffer* pg;
    int64_t charge;
  };
  [[nodiscard]] bool admit_all(std::span<const Demand> demands, int64_t extra_backlog) {
    int64_t taken = 0;
    for (const Demand& demand : demands) taken += taken_by(demand);
    const int64_t left = free_shared() - taken;
    if (left < scarce_) [[unlikely]]
      return false;
    for (const Demand& demand : demands) {
      const PgBuffer& pg = *demand.pg;
      const int64_t after = PgBuffer::get(pg.used) + demand.charge;
      if (PgBuffer::get(pg.headroom_used) != 0 ||
          after + extra_backlog > pg.limits->threshold(left)) [[unlikely]]
        return false;
    }
    for (const Demand& demand : demands)
      hold(*demand.pg, PgBuffer::get(demand.pg->used) + demand.charge, taken_by(demand));
    return true;
  }

  // For a lossless PG, as soon as `extra_backlog` is known: it may be long until a packet of the PG
  // is admitted, if what is unread before it is of other PGs. True: pause the sender.
  [[nodiscard]] bool look_ahead(PgBuffer& pg, const PgLimits& limits, int64_t extra_backlog) const;

  // Gives back what admit() charged. True: the PG fell to its XON level, send XON. What is still
  // unread on the port counts as if it were held. A PG that waits() afterwards gets no release that
  // could resume it: the caller looks again, soon and until it resumes.
  [[nodiscard]] bool release(PgBuffer& pg, const PgLimits& limits, int64_t charge,
                             int64_t extra_backlog = 0) {
    return !release_plain(pg, limits, charge) && release_slow(pg, limits, charge, extra_backlog);
  }
  // The same where nobody is paused and no headroom in use; else false, and nothing is done.
  [[nodiscard]] bool release_plain(PgBuffer& pg, const PgLimits& limits, int64_t charge) {
    if (pg.pausing() || PgBuffer::get(pg.headroom_used) != 0) [[unlikely]]
      return false;
    const int64_t used = PgBuffer::get(pg.used);
    const int64_t after = used - charge;
    add(mine_->shared, beyond(after, limits.reserved) - beyond(used, limits.reserved));
    PgBuffer::set(pg.used, after);
    return true;
  }

  // Paused, and holding nothing: what is unread is of another class, or there is no room.
  static bool waits(const PgBuffer& pg) { return pg.pausing() && PgBuffer::get(pg.used) == 0; }
  // True: it resumes, send XON.
  [[nodiscard]] bool look_again(PgBuffer& pg, const PgLimits& limits, int64_t extra_backlog) {
    return falls_to_xon(pg, limits, extra_backlog);
  }

  // Egress: may a lossy queue that holds `queue_used` take `charge` more?
  [[nodiscard]] bool admit_queue(int64_t queue_used, int64_t charge, PowerOfTwo alpha) const {
    return queue_used + charge <= alpha.times(std::max<int64_t>(free_shared(), 0));
  }

  // The PG's XOFF threshold now.
  int64_t threshold(const PgLimits& limits) const {
    return limits.threshold(std::max<int64_t>(free_shared(), 0));
  }
  // Negative only while several shards overshoot together.
  int64_t free_shared() const {
    return shared_size_ - others().shared - PgBuffer::get(mine_->shared);
  }
  int64_t shared_size() const { return shared_size_; }
  int64_t free_headroom() const {
    return headroom_pool_ - others().headroom - PgBuffer::get(mine_->headroom);
  }

  // Takes note of how high the shared pool stands: after what came in, for which it was asked what
  // the others hold, before what goes out.
  void mark_shared() {
    mine_->shared_watermarks.raise(others_.shared + PgBuffer::get(mine_->shared));
  }
  void clear_shared_watermark(WatermarkKind kind) {
    mine_->shared_watermarks.clear(kind, shared_in_use());
  }
  void clear_headroom_watermark(WatermarkKind kind) {
    mine_->headroom_watermarks.clear(kind, headroom_in_use());
  }

  // Reconfiguration. The PG keeps what it holds under its new limits; true: it is now below XON.
  // `headroom_pool`: what the headroom of all PGs may take together, beside each PG's own limit.
  void resize(Bytes shared_size, Bytes headroom_pool = kNoLimit) {
    shared_size_ = shared_size.count();
    headroom_pool_ = headroom_pool.count();
    scarce_ = headroom_pool == kNoLimit ? 0 : headroom_pool_;
  }
  [[nodiscard]] bool relimit(PgBuffer& pg, int64_t reserved_before, const PgLimits& now,
                             int64_t extra_backlog = 0);

 private:
  struct Others {  // what the other shards hold, in octets
    int64_t shared = 0;
    int64_t headroom = 0;
  };

  static int64_t beyond(int64_t used, int64_t reserved) {
    return std::max<int64_t>(used - reserved, 0);
  }
  static int64_t taken_by(const Demand& demand) {
    const int64_t used = PgBuffer::get(demand.pg->used);
    const int64_t reserved = demand.pg->limits->reserved;
    return beyond(used + demand.charge, reserved) - beyond(used, reserved);
  }
  static void add(std::atomic<int64_t>& value, int64_t n) {
    PgBuffer::set(value, PgBuffer::get(value) + n);
  }

  // `headroom`: what of `after` it holds there.
  void hold(PgBuffer& pg, int64_t after, int64_t taken, int64_t headroom = 0) {
    add(mine_->shared, taken);
    PgBuffer::set(pg.used, after);
    pg.shared_watermarks.raise(after - headroom);
  }
  void hold_in_headroom(PgBuffer& pg, int64_t charge);
  void begin_pause(PgBuffer& pg, const PgLimits& limits, int64_t extra_backlog) const;
  int64_t shared_in_use() const { return others().shared + PgBuffer::get(mine_->shared); }
  int64_t headroom_in_use() const { return others().headroom + PgBuffer::get(mine_->headroom); }
  const Others& others() const {
    if (others_are_old_) [[unlikely]]
      sum_others();
    return others_;
  }

  Admission admit_slow(PgBuffer& pg, const PgLimits& limits, int64_t charge, int64_t extra_backlog);
  bool release_slow(PgBuffer& pg, const PgLimits& limits, int64_t charge, int64_t extra_backlog);
  bool falls_to_xon(PgBuffer& pg, const PgLimits& limits, int64_t extra_backlog);
  bool has_room_after_xoff(const PgLimits& limits, int64_t shared, int64_t headroom) const;
  void sum_others() const;

  std::span<PoolUse> use_;
  PoolUse* mine_;
  int64_t shared_size_;
  int64_t headroom_pool_ = kNoLimit.count();
  int64_t scarce_ = 0;  // free shared octets below which the headroom pool counts
  mutable Others others_;
  mutable bool others_are_old_ = false;
};

}  // namespace eddy::pfc
