// OwnQueueSwitch: what a lab's world polls in the place of a switch's shard, to know what could be
// gained at most: every flow has a queue of its own at every port, and a queue that is too long
// stops its flow at the hop before, and nothing else.
//
// A queue above its port's threshold has a frame sent to the port by which the flow came, which
// says that this flow is to stop there (flow_xoff of net/shim.h, which hosts obey as well); at the
// threshold or below another lets it go on. The threshold is what a flow alone needs so as not to
// starve its line when it goes on: two propagation delays and three frames. Flows take turns, a
// packet each. ACK, NAK and CNP go first and wait for no flow, as in the highest class of a switch;
// stops go before them. A host's PFC for the data's priority stops its port. Paths are ecmp's, the
// same as the switch's. Memory is as large as need be: nothing is ever dropped for want of it.
// Routes, path sets, seeds and MACs are those of the switch whose place it takes, and it counts
// into that one's counters. ECN marks as packets come, by the curve of the queue that the hosts'
// priority has. Not known here: links that change while a run goes on, VLANs, IPv6, the shim of
// data. Owner: the world; one thread. Cost: as FlowQueues, and a look at every port a poll.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "config/config.h"
#include "config/experiment.h"
#include "lab/reference/flow_queues.h"
#include "lb/buckets.h"
#include "lb/packet_fifo.h"
#include "net/addresses.h"
#include "net/parse.h"
#include "net/random.h"
#include "net/shim.h"
#include "net/units.h"
#include "pfc/wred.h"
#include "switch/dataplane/object/switch.h"
#include "switch/dataplane/state/routes.h"

namespace eddy::lab {

class OwnQueueSwitch final : public Shard {
 public:
  struct Line {  // of a port
    Duration delay;
    MacAddress host;  // at its end; zero: a switch is
  };
  struct Setup {
    const config::SwitchConfig& config;
    Switch& object;  // whose place it takes; outlives it, as do the routes
    const RouteTable& routes;
    std::vector<Line> lines;  // by port
    Priority priority;        // of the hosts' data
    config::FlowQueues marking{};
  };
  explicit OwnQueueSwitch(const Setup& setup);

  PollStats poll(Io& io, Instant now) override;
  Instant next_deadline() const override;
  Counters& counters() override { return shard_.counters(); }
  void push_event(const eddy::Event& event) override { shard_.push_event(event); }

  // What it took, since the beginning.
  struct Use {
    uint64_t stops = 0;       // frames that stop a flow
    int64_t most_octets = 0;  // in all queues at once
    int64_t most_of_flow = 0;
    size_t most_flows = 0;  // that a port knew at once
  };
  const Use& use() const { return use_; }
  int64_t threshold(PortId egress) const { return ports_[egress.index()].threshold; }
  int64_t waiting() const { return octets_; }  // of data

 private:
  struct Port {
    LineRate rate;
    int line_overhead = 0;
    MacAddress mac;
    MacAddress host;
    pfc::WredCurve curve;
    bool ecn = false;
    int64_t threshold = 0;  // of each queue fed by this port
    bool up = false;
    Instant free_at = Instant::long_past();
    Instant paused_until = Instant::long_past();
    PacketFifo stops;    // frames of our own
    PacketFifo control;  // of hosts
    FlowQueues flows;
  };

  void read_news(const News& news);
  void take(Packet* packet, PortId from);
  void obey(const Packet& packet, Port& port, PortId id);
  void hear(const Packet& packet, const ParsedFrame& frame, Port& port, PortId id);
  void forward(Packet* packet, const ParsedFrame& frame, PortId from);
  PortId way_of(const ParsedFrame& frame, DropReason& why_not);
  lb::MemberMask live(const lb::PathSet& set) const;
  void enqueue(Packet* packet, const ParsedFrame& frame, PortId from, PortId to);
  void mark(Packet& packet, const ParsedFrame& frame, int64_t found, PortId to);
  void serve_all();
  Packet* next_of(Port& port);
  void send(Packet* packet, PortId id);
  void tell(const FlowQueues::Flow& flow, ShimKind what);
  void use_up(Packet* packet, PortId port);
  void drop(Packet* packet, PortId port, DropReason reason);

  const config::SwitchConfig& config_;
  Shard& shard_;  // whose counters these are
  std::span<const lb::PathSet> sets_;
  const RouteTable& routes_;
  const Priority priority_;
  const config::FlowQueues marking_;
  lb::BucketTable ecmp_;
  RandomStream marks_;
  std::vector<uint16_t> set_of_leaf_;
  std::vector<Port> ports_;
  Io* io_ = nullptr;  // while it is polled
  Instant now_;
  uint64_t told_ = 0;  // frames made in this poll
  uint32_t sent_ = 0;
  int64_t octets_ = 0;
  Use use_;
};

}  // namespace eddy::lab
