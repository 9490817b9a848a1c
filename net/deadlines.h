// Deadlines: timers that are few and rare. Each is known by a small number (a port, or a port and a
// queue) and has at most one time at which it is due.
//
// An indexed binary min-heap; timers that are due at one time come out by their numbers, so the
// order never depends on history. Owner: one shard, which may say where the earliest deadline is to
// be told: if several heaps share a DeadlineBoard, one look tells whether anything is due.
// Bounds: `capacity` ids, all memory reserved at construction (docs/adr/0033). Cost: next() and
// has_due() are one load; set, cancel and pop O(log pending). Source: architecture, section 3.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <utility>

#include "net/assert.h"
#include "net/memory/reserved.h"
#include "net/rebase.h"
#include "net/units.h"

namespace eddy {

// Where one keeper tells its next deadline. What it refers to outlives it.
class DeadlinePlace {
 public:
  DeadlinePlace(Instant& at, bool& moved) : at_(&at), moved_(&moved) {}

  Instant at() const { return *at_; }
  void set(Instant at) const {
    *at_ = at;
    *moved_ = true;
  }

 private:
  Instant* at_;
  bool* moved_;
};

// When each of several keepers of timers has its next one due, side by side. Whoever looks after
// all of them asks one flag whether any has moved since it last settled, and takes the least of all
// only then. Owner: one shard. Cost: a move is two stores.
template <size_t kPlaces>
class DeadlineBoard {
 public:
  DeadlineBoard() { places_.fill(Instant::never()); }
  DeadlineBoard(const DeadlineBoard&) = delete;  // its places are known by where they are
  DeadlineBoard& operator=(const DeadlineBoard&) = delete;

  DeadlinePlace place(size_t index) { return {places_[index], moved_}; }
  Instant at(size_t index) const { return places_[index]; }
  Instant earliest() const { return *std::min_element(places_.begin(), places_.end()); }

  // Since settle(): a deadline was set, or touch() called.
  bool moved() const { return moved_; }
  void touch() { moved_ = true; }
  void settle() { moved_ = false; }

 private:
  bool moved_ = true;
  std::array<Instant, kPlaces> places_;
};

class Deadlines {
 public:
  using Id = uint32_t;

  // The heap alone writes at `next`.
  explicit Deadlines(size_t capacity, std::optional<DeadlinePlace> next = std::nullopt)
      : next_(next.value_or(DeadlinePlace(own_next_, own_moved_))),
        heap_(capacity),
        place_of_(capacity) {
    next_.set(Instant::never());
  }
  Deadlines(const Deadlines&) = delete;
  Deadlines& operator=(const Deadlines&) = delete;

  // The earliest pending deadline; Instant::never() if none.
  Instant next() const { return next_.at(); }
  bool has_due(Instant now) const { return next() <= now; }

  // Sets or moves. Instant::never() cancels.
  void set(Id id, Instant at) {
    ASSERT(id < place_of_.size());
    if (at == Instant::never()) return cancel(id);
    if (!pending(id)) {
      put(pending_, {at, id});
      rise(pending_++);
    } else {
      heap_[slot_of(id)].at = at;
      settle(slot_of(id));
    }
    next_.set(heap_[0].at);
  }

  void cancel(Id id) {
    ASSERT(id < place_of_.size());
    if (!pending(id)) return;
    const size_t slot = slot_of(id);
    place_of_[id] = kIdle;
    const Entry last = heap_[--pending_];
    if (slot != pending_) {
      put(slot, last);
      settle(slot);
    }
    tell();
  }

  bool pending(Id id) const { return place_of_[id] != kIdle; }
  Instant at(Id id) const { return pending(id) ? heap_[slot_of(id)].at : Instant::never(); }

  // The id of the earliest deadline that is not after `now`, which is then no longer pending.
  std::optional<Id> pop_due(Instant now) {
    if (!has_due(now)) return std::nullopt;
    const Id id = heap_[0].id;
    cancel(id);
    return id;
  }

  void rebase(const Rebase& rebase) {
    for (size_t slot = 0; slot < pending_; ++slot) rebase.shift(heap_[slot].at);
    for (size_t slot = 0; slot < pending_; ++slot) rise(slot);  // long past ones are equal now
    tell();
  }

 private:
  static constexpr uint32_t kIdle = 0;  // of place_of_, where its memory has never been written

  struct Entry {
    Instant at;
    Id id;
    auto operator<=>(const Entry&) const = default;  // time, then id
  };

  size_t slot_of(Id id) const { return place_of_[id] - 1; }
  void put(size_t slot, Entry entry) {
    heap_[slot] = entry;
    place_of_[entry.id] = static_cast<uint32_t>(slot) + 1;
  }
  void tell() { next_.set(pending_ == 0 ? Instant::never() : heap_[0].at); }

  void settle(size_t slot) {
    rise(slot);
    sink(slot);
  }

  void rise(size_t slot) {
    const Entry entry = heap_[slot];
    for (; slot > 0 && entry < heap_[(slot - 1) / 2]; slot = (slot - 1) / 2)
      put(slot, heap_[(slot - 1) / 2]);
    put(slot, entry);
  }

  void sink(size_t slot) {
    const Entry entry = heap_[slot];
    for (size_t child = 2 * slot + 1; child < pending_; child = 2 * slot + 1) {
      if (child + 1 < pending_ && heap_[child + 1] < heap_[child]) ++child;
      if (entry < heap_[child]) break;
      put(slot, heap_[child]);
      slot = child;
    }
    put(slot, entry);
  }

  Instant own_next_;
  bool own_moved_ = false;
  DeadlinePlace next_;
  size_t pending_ = 0;
  Reserved<Entry> heap_;         // the first pending_
  Reserved<uint32_t> place_of_;  // by id: its slot + 1
};

}  // namespace eddy
