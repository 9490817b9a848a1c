// A shard that sends what comes in on its first port out of its second, and the other way: enough
// of a switch to test the world around one.
#pragma once

#include <functional>
#include <vector>

#include "switch/dataplane/object/shard.h"
#include "switch/dataplane/state/events.h"

namespace eddy::testing_support {

class BridgeShard final : public Shard {
 public:
  PollStats poll(Io& io, Instant now) override {
    ++polls;
    last_poll = now;
    const News news = io.news();
    for (const LinkChange& change : news.link_changes) links.push_back(change);
    for (PortId port : news.completions) completed.push_back(port);
    PollStats stats;
    std::vector<Packet*> packets(kBurst);
    for (Received got = io.receive(packets); got.count > 0; got = io.receive(packets))
      stats.received += forward(io, got, packets, now, stats);
    if (on_poll) on_poll();
    return stats;
  }
  Instant next_deadline() const override { return deadline; }
  Counters& counters() override { return counters_; }
  void push_event(const Event& event) override { events.push_back(event); }

  std::function<void()> on_poll;
  Instant deadline = Instant::never();
  Duration line_time = Duration::nanoseconds(100);
  int polls = 0;
  Instant last_poll;
  std::vector<LinkChange> links;
  std::vector<PortId> completed;
  std::vector<Event> events;
  std::vector<uint32_t> lengths;
  std::vector<PortId> visits;
  std::vector<bool> sums_good;  // by visit

 private:
  uint16_t forward(Io& io, const Received& got, std::vector<Packet*>& packets, Instant now,
                   PollStats& stats) {
    visits.push_back(got.port);
    sums_good.push_back(got.sums_good);
    for (uint16_t i = 0; i < got.count; ++i) lengths.push_back(packets[i]->wire_len);
    const uint16_t sent =
        io.transmit(PortId(got.port.index() ^ 1), {packets.data(), got.count}, now + line_time);
    stats.transmitted += sent;
    io.free({packets.data() + sent, static_cast<size_t>(got.count - sent)});
    return got.count;
  }

  Counters counters_{32};
};

}  // namespace eddy::testing_support
