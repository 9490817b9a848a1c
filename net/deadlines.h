// Deadlines: timers that are few and rare. Each is known by a small number (a port, or a port and a
// queue) and has at most one time at which it is due.
//
// An indexed binary min-heap; timers that are due at one time come out by their numbers, so the
// order never depends on history. Owner: one shard, which may say where the earliest deadline is to
// be told: if several heaps share a DeadlineBoard, one look tells whether anything is due.
// Bounds: `capacity` ids, all memory taken at construction. Cost: next() and has_due() are one
// load; set, cancel and pop O(log pending). Source: architecture, section 3.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <utility>
#include <vector>

#include "net/assert.h"
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
      : next_(next.value_or(DeadlinePlace(own_next_, own_moved_))), slot_of_(capacity, kIdle) {
    heap_.reserve(capacity);
    next_.set(Instant::never());
  }
  Deadlines(const Deadlines&) = delete;
  Deadlines& operator=(const Deadlines&) = delete;

  // The earliest pending deadline; Instant::never() if none.
  Instant next() const { return next_.at(); }
  bool has_due(Instant now) const { return next() <= now; }

  // Sets or moves. Instant::never() cancels.
  void set(Id id, Instant at) {
    ASSERT(id < slot_of_.size());
    if (at == Instant::never()) return cancel(id);
    if (slot_of_[id] == kIdle) {
      slot_of_[id] = static_cast<uint32_t>(heap_.size());
      heap_.push_back({at, id});
      rise(heap_.size() - 1);
    } else {
      heap_[slot_of_[id]].at = at;
      settle(slot_of_[id]);
    }
    next_.set(heap_.front().at);
  }

  void cancel(Id id) {
    ASSERT(id < slot_of_.size());
    const uint32_t slot = std::exchange(slot_of_[id], kIdle);
    if (slot == kIdle) return;
    const Entry last = heap_.back();
    heap_.pop_back();
    if (slot != heap_.size()) {
      put(slot, last);
      settle(slot);
    }
    next_.set(heap_.empty() ? Instant::never() : heap_.front().at);
  }

  bool pending(Id id) const { return slot_of_[id] != kIdle; }
  Instant at(Id id) const { return pending(id) ? heap_[slot_of_[id]].at : Instant::never(); }

  // The id of the earliest deadline that is not after `now`, which is then no longer pending.
  std::optional<Id> pop_due(Instant now) {
    if (!has_due(now)) return std::nullopt;
    const Id id = heap_.front().id;
    cancel(id);
    return id;
  }

  void rebase(const Rebase& rebase) {
    for (Entry& entry : heap_) rebase.shift(entry.at);
    for (size_t slot = 0; slot < heap_.size(); ++slot) rise(slot);  // long past ones are equal now
    next_.set(heap_.empty() ? Instant::never() : heap_.front().at);
  }

 private:
  static constexpr uint32_t kIdle = UINT32_MAX;

  struct Entry {
    Instant at;
    Id id;
    auto operator<=>(const Entry&) const = default;  // time, then id
  };

  void put(size_t slot, Entry entry) {
    heap_[slot] = entry;
    slot_of_[entry.id] = static_cast<uint32_t>(slot);
  }

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
    for (size_t child = 2 * slot + 1; child < heap_.size(); child = 2 * slot + 1) {
      if (child + 1 < heap_.size() && heap_[child + 1] < heap_[child]) ++child;
      if (entry < heap_[child]) break;
      put(slot, heap_[child]);
      slot = child;
    }
    put(slot, entry);
  }

  Instant own_next_;
  bool own_moved_ = false;
  DeadlinePlace next_;
  std::vector<Entry> heap_;
  std::vector<uint32_t> slot_of_;
};

}  // namespace eddy
