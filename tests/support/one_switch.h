// One switch with hosts on its ports, and short ways to ask what it did and whether it is at rest.
//
// Port i leads to host i + 1 of leaf 1. Owner: one test.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "net/pause_frame.h"
#include "switch/dataplane/object/switch.h"
#include "tests/support/fabric.h"
#include "tests/support/topologies.h"

namespace eddy::test {

inline constexpr Priority kLossless{3};
inline constexpr uint8_t kLosslessDscp = 3;  // PG, queue and priority 3
inline constexpr uint8_t kOtherLosslessDscp = 4;
inline constexpr uint8_t kLossyDscp = 8;  // PG and queue 0

inline config::SwitchConfig hosts_switch(size_t hosts, BitRate speed = 10_Gbps) {
  config::SwitchConfig config = bare_switch("leaf", 1);
  config.leaf = LeafId(1);
  for (size_t host = 1; host <= hosts; ++host) add_host_port(config, 1, host, speed);
  return config;
}

// From the host on `from` to the host on `to`, both ports of a hosts_switch.
inline UdpSpec between(const config::SwitchConfig& config, size_t from, size_t to,
                       uint8_t dscp = 0) {
  return {.destination_mac = port_mac(config, from),
          .source_mac = host_mac(1, from + 1),
          .source = host_ip(1, from + 1),
          .destination = host_ip(1, to + 1),
          .dscp = dscp};
}

// A switch in a fabric whose ports are up and lead nowhere: what leaves them is in fabric.seen().
struct OneSwitch {
  explicit OneSwitch(const config::SwitchConfig& with, size_t shards = 1,
                     StageMaker stage = nullptr)
      : config(with), node(fabric.add_switch(with, shards, nullptr, std::move(stage))) {
    for (size_t i = 0; i < config.ports.size(); ++i) fabric.set_link(node, PortId(i), true);
  }

  Switch& object() { return fabric.at(node); }
  std::vector<Arrival>& seen(size_t port) { return fabric.seen(node, PortId(port)); }
  void inject(size_t port, const Frame& frame, size_t wire_len = 0) {
    fabric.inject(node, PortId(port), frame, wire_len);
  }
  void send(size_t from, size_t to, uint8_t dscp, size_t wire_len = 1000, uint8_t ecn = 0) {
    UdpSpec spec = between(config, from, to, dscp);
    spec.frame_len = wire_len;
    spec.readable_len = 128;
    spec.ecn = ecn;
    inject(from, udp_frame(spec), wire_len);
  }
  void run_for(Duration time) { fabric.run_until(fabric.now() + time); }

  config::SwitchConfig config;
  Fabric fabric{2048};
  size_t node;
};

inline Frame pause_frame(uint8_t priorities, uint16_t quanta) {
  PauseFrame pause{.source = host_mac(1, 1)};
  for (size_t i = 0; i < kPriorities; ++i)
    if ((priorities >> i & 1) != 0) pause.set(Priority(i), quanta);
  Frame frame(64);
  frame.resize(encode(pause, frame));
  return frame;
}
inline uint8_t bit(Priority priority) {
  return static_cast<uint8_t>(1u << priority.index());
}

// Sums over shards.
template <class Read>
uint64_t sum(const Switch& object, Read&& read) {
  uint64_t total = 0;
  for (size_t shard = 0; shard < object.shard_count(); ++shard)
    total += read(object.counters(ShardId(shard)));
  return total;
}
inline uint64_t count(const Switch& object, size_t port, PortCounter which) {
  return sum(object, [&](const Counters& c) { return c[PortId(port)].port.read(which); });
}
inline uint64_t count(const Switch& object, size_t port, Priority priority, PfcCounter which) {
  return sum(object,
             [&](const Counters& c) { return c[PortId(port)].pfc[priority.index()].read(which); });
}
inline uint64_t count(const Switch& object, size_t port, QueueId queue, QueueCounter which) {
  return sum(object,
             [&](const Counters& c) { return c[PortId(port)].queue[queue.index()].read(which); });
}
inline uint64_t count(const Switch& object, size_t port, PriorityGroupId pg, PgCounter which) {
  return sum(object, [&](const Counters& c) { return c[PortId(port)].pg[pg.index()].read(which); });
}
inline uint64_t drops(const Switch& object, DropReason reason) {
  uint64_t total = 0;
  for (size_t port = 0; port < object.port_count(); ++port)
    total += sum(object, [&](const Counters& c) { return c[PortId(port)].drops.read(reason); });
  return total;
}

// Of lossless priority groups, whatever the reason.
inline uint64_t lossless_lost(const Switch& object) {
  uint64_t total = 0;
  for (size_t port = 0; port < object.port_count(); ++port)
    for (size_t pg = 0; pg < kPriorities; ++pg)
      total += count(object, port, PriorityGroupId(pg), PgCounter::lossless_dropped_packets);
  return total;
}

// All events since the last call, shard by shard.
inline std::vector<Event> take_events(Switch& object) {
  std::vector<Event> events;
  Event event;
  for (size_t shard = 0; shard < object.shard_count(); ++shard)
    while (object.events(ShardId(shard)).pop(event)) events.push_back(event);
  return events;
}
inline std::vector<Event> only(const std::vector<Event>& events, EventKind kind) {
  std::vector<Event> some;
  for (const Event& event : events)
    if (event.kind == kind) some.push_back(event);
  return some;
}

// PFC frames among what arrived, decoded, with their times.
struct SeenPause {
  Instant at;
  PauseFrame pause;
};
inline std::vector<SeenPause> pauses_in(const std::vector<Arrival>& arrivals) {
  std::vector<SeenPause> pauses;
  for (const Arrival& arrival : arrivals) {
    PauseFrame pause;
    if (decode(ConstOctets(arrival.frame), pause) == CodecVerdict::ok)
      pauses.push_back({arrival.at, pause});
  }
  return pauses;
}

// What is left behind in a switch that should be empty; empty string when it is.
inline std::string leftovers(const Switch& object) {
  std::string text;
  const auto note = [&text](const std::string& what, int64_t n) {
    if (n != 0) text += what + " " + std::to_string(n) + "; ";
  };
  for (size_t port = 0; port < object.port_count(); ++port) {
    for (size_t i = 0; i < kPriorities; ++i) {
      const std::string at = std::to_string(port) + "/" + std::to_string(i);
      const PgStatus pg = object.pg_status(PortId(port), PriorityGroupId(i));
      note("PG " + at + " used", pg.used);
      note("PG " + at + " headroom", pg.headroom);
      note("PG " + at + " pausing", pg.pausing ? 1 : 0);
      note("queue " + at + " used", object.queue_status(PortId(port), QueueId(i)).used);
    }
  }
  note("shared", object.buffer_status().shared_used);
  note("headroom", object.buffer_status().headroom_used);
  note("stages", object.buffer_status().stages_used);
  note("held", static_cast<int64_t>(object.balance().held));
  if (!object.balance().holds()) text += "balance does not hold; ";
  return text;
}

}  // namespace eddy::test
