// Shard: the part of a Switch that one worker polls: its ports' ingress, queues, pauses and timers.
//
// poll(io, now) takes what `io` has and answers through `io`. Time never goes back between polls of
// one shard. next_deadline() knows every timer; the world polls at the latest then, and whenever io
// has something. Thread: one at a time. Cost of a poll: the packets and due timers in it. Source:
// architecture, sections 3 and 4.
#pragma once

#include <cstdint>
#include <memory>

#include "net/ids.h"
#include "net/units.h"
#include "switch/dataplane/state/counters.h"
#include "switch/dataplane/state/io.h"

namespace eddy {

// What a poll is for where one thing has happened.
struct LoneNews {
  PortId port;
  bool lines_by_clock = false;  // as News
  Packet* packet = nullptr;     // that the port has received; null: its line is free
};

class Shard {
 public:
  virtual ~Shard() = default;
  virtual PollStats poll(Io& io, Instant now) = 0;
  // The same of a poll for one thing, at the cost of that alone.
  enum class Lone : uint8_t {
    refused,  // more is to be done: nothing is, and it takes a poll()
    quiet,    // it is done, and next_deadline() is what it was
    done,
  };
  virtual Lone poll_alone(Io& io, Instant now, LoneNews news);
  // The earliest time at which a poll has work of its own; never() when only io can bring any. Mail
  // counts as now.
  virtual Instant next_deadline() const = 0;
  // Of a world with News::lines_by_clock, between two polls. Settles frames that have left their
  // lines by `until` and were not to be reported; returns when the last of them did, or
  // long_past().
  virtual Instant settle_lines(Instant /*until*/) { return Instant::long_past(); }
  // All lines are reported from now on: asks `io` for those of which it was not to be told.
  virtual void report_lines(Io& /*io*/) {}
  // Worlds count what only they see (rx_missed_packets, rx_nombuf_packets). Thread: the shard's.
  virtual Counters& counters() = 0;
  virtual void push_event(const struct Event& event) = 0;
  // Polls of this shard come in a row, behind those of many others: asks for the lines that they
  // will touch first. Changes nothing.
  virtual void ask_for_lines() {}
};

}  // namespace eddy
