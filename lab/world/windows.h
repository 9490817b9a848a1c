// Windows: the partitions of a world that is divided, and their way through time.
//
// In a window [t, t + L), where L is the least delay of a line between two partitions, each one
// runs all of its own events before the next one does. What it sends to others arrives at t + L or
// later, so nobody can tell in which order they ran, and a run is the same as with one partition.
// Where all lines join two sides, as leaves and spines are, the sides take turns, each with a
// window of 2 L: it begins where the other side is a window ahead. What it brings: the state of a
// rack stays in the cache for hundreds of packets, and threads can share the partitions out; they
// meet once a window. Now and then they look how many events each partition had and how fast each
// thread was, and share them out anew where that would let them end together. Owner: the world; the
// threads of its crew, which are idle between two calls. Bounds: room for what lines can carry is
// taken at construction. Cost: a look at every partition a window. Source: architecture, section 3;
// decisions 0029, 0032.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "lab/world/crew.h"
#include "lab/world/division.h"
#include "lab/world/flow_book.h"
#include "lab/world/nodes.h"
#include "lab/world/packet_pool.h"
#include "lab/world/partition.h"
#include "lab/world/post.h"
#include "lab/world/ranks.h"
#include "lab/world/shares.h"
#include "net/units.h"

namespace eddy::lab {

class Windows {
 public:
  // Nodes, lines and flows of the book are complete. With `ranks`, which may be null, it has the
  // partitions of this one.
  Windows(Nodes& nodes, FlowBook& book, const Division& division, const Ranks* ranks);

  Duration length() const { return length_; }
  size_t partitions() const { return parts_.size(); }
  size_t threads() const { return crew_.size(); }
  // Seconds of CPU that each thread but the caller's has used.
  std::vector<double> helper_seconds() { return crew_.helper_seconds(); }
  Instant next() const { return std::min(next_[0], next_[1]); }
  uint64_t count() const { return count_; }            // that were run
  uint64_t moves() const { return sharing_.moves(); }  // of partitions, from one thread to another
  // Of the partition that is ahead.
  Instant now() const;
  // Windows, one after the other, of what happens before `end`. With `to_completion` they end where
  // some instant of the next one could see the end of the last flow. They end early, too, behind
  // one in which an item ended that others wait for.
  void run(Instant end, bool to_completion);
  // Of all that has happened up to `now`.
  void add_counts(WorldCounts& counts, Instant now) const;

  // All nodes with their frames and timers, between two instants.
  void take_over(Whole& whole);
  void hand_over(Whole& whole);
  // Between two windows, with other ranks: packs what leaves for them before `stop`; the rest is
  // kept. Returns the first of the instants at which one of them arrives, or one kept leaves.
  Instant send_away(Instant stop, Ranks& ranks);
  // A frame that has come from one of them.
  void hand_in(Instant at, uint32_t line, Packet* packet);
  // Frames that have left their lines by `until`, of which no event tells. Returns when the last of
  // them did, or long_past().
  Instant settle_lines(Instant until);
  // Between two windows: what has been seen of items goes to `news`.
  void tell_items(ItemNews& news);
  void add_release(const Release& release);
  // Packets that no thread uses go back to the world's pool.
  void settle_pools();

 private:
  // What all threads know between two windows. Where there is one side it is side 0.
  struct Front {
    std::array<Instant, 2> next;    // by side: nothing of it happens earlier
    std::array<size_t, 2> ended{};  // the same: ends of receivers that the book waits for, this run
    Instant reach;                  // of the side that is ahead
    bool item_ended = false;

    Instant earliest() const { return std::min(next[0], next[1]); }
  };
  // Of a run, or a part of it that ends with a look.
  struct Passed {
    Front front;
    uint64_t windows = 0;
    bool over = false;
  };
  struct Goal {
    Instant end;
    bool to_completion;
  };
  // What a thread tells the others at the end of a window, while they may still read what it told
  // at the end of the last one.
  struct alignas(64) Told {
    struct {
      Instant next;    // of the side that ran
      Instant posted;  // the first frame for those that it sends to
      size_t ended = 0;
      bool item_ended = false;
    } of[2];
    uint64_t worked = 0;  // since the last look, in cycles of its clock
  };
  struct Thread {
    std::unique_ptr<PacketPool> pool;  // null: there is one thread, which has the world's
    std::unique_ptr<Wheel::Store> events = std::make_unique<Wheel::Store>();
    std::array<std::vector<Part*>, 2> parts;  // by side
  };

  // Null: another rank has it.
  Part* part_of(uint32_t node) { return by_number_[partition_of_[node]]; }
  // That of side, if there is one.
  size_t other(size_t side) const { return side ^ (sides_ - 1); }
  void bring_forward(uint32_t node, Instant at);
  void make_parts(const Division& division, const Ranks* ranks);
  void take_frame(const Event& event);
  Tools tools_of(size_t thread);
  Passed go_together(const Front& front, const Goal& goal);
  Passed go(size_t thread, Front front, Goal goal);
  Instant stop_of(size_t side, const Front& front, Instant end) const;
  void run_window(size_t thread, size_t side, Instant stop, Front& front, size_t number);
  void finish_flows();
  void look();
  void share_anew();

  Nodes& nodes_;
  FlowBook& book_;
  const std::vector<uint16_t> partition_of_;  // by node
  const size_t sides_;
  const std::vector<uint8_t> side_of_;  // by partition
  const Duration length_;
  const bool level_;  // sides go no further than a window that both have begun together
  Post post_;
  std::vector<Thread> threads_;
  std::vector<Told> told_;                    // by thread
  std::vector<std::unique_ptr<Part>> parts_;  // of this rank
  std::vector<Part*> by_number_;              // null: another rank has it
  uint64_t left_ = 0;                         // events: frames that left for other ranks
  std::array<Instant, 2> next_{Instant::never(), Instant::never()};  // by side
  uint64_t count_ = 0;
  const uint64_t windows_a_look_;
  const uint64_t events_a_look_;
  uint64_t next_look_;  // when so many windows were run; with one thread there is none
  // Both know partitions by their places in parts_.
  std::vector<uint64_t> events_seen_;  // by the last look
  Sharing sharing_;
  Crew crew_;
};

}  // namespace eddy::lab
