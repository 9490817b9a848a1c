#include "switch/dpdk/completion_calendar.h"

#include <algorithm>
#include <functional>

#include "net/assert.h"

namespace eddy {

void CompletionCalendar::set(PortId port, Instant done) {
  done_[port.index()] = done;
  if (waiting_[port.index()]) return;  // its entry is moved on when it comes up
  waiting_[port.index()] = true;
  ASSERT(size_ < heap_.size());
  heap_[size_++] = {done, port};
  std::push_heap(heap_.begin(), heap_.begin() + static_cast<ptrdiff_t>(size_), std::greater<>{});
}

// What is long past comes out in any order: all of it is due.
void CompletionCalendar::rebase(const Rebase& rebase) {
  for (Instant& done : done_) rebase.shift(done);
  for (size_t i = 0; i < size_; ++i) rebase.shift(heap_[i].done);
}

size_t CompletionCalendar::take_due(Instant now, std::span<PortId> out) {
  size_t taken = 0;
  while (size_ > 0 && heap_[0].done <= now) {
    std::pop_heap(heap_.begin(), heap_.begin() + static_cast<ptrdiff_t>(size_), std::greater<>{});
    Entry entry = heap_[--size_];
    waiting_[entry.port.index()] = false;
    const Instant done = done_[entry.port.index()];
    if (done <= now)
      out[taken++] = entry.port;
    else
      set(entry.port, done);
  }
  return taken;
}

}  // namespace eddy
