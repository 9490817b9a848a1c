// World: a fabric of Switch objects, RoCEv2 hosts and links in virtual time.
//
// Every hop is two events: a frame's last bit leaves a line (the sender's completion), and it
// arrives a propagation delay later. All events of an instant are taken together, then every node
// they touched is polled once: a node sees an instant as one moment, and the order of frames that
// tie there is seeded and counted (SwitchIo). Timers are one deadline a node. Poll models: `exact`
// polls a switch at the instants that concern it; `busy_poll` at the next point of its own grid.
// Deterministic: the same topology, flows, options and seed give the same digest. Owner: one run;
// one thread. Bounds: packets and events are fixed at construction, nothing is allocated between
// start() and the end. Cost: about two polls a hop. Source: architecture, sections 3 and 4;
// reference 0.3.
#pragma once

#include <array>
#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "config/experiment.h"
#include "host/nic.h"
#include "lab/fabric/topology.h"
#include "lab/traffic/traffic.h"
#include "lab/world/event_queue.h"
#include "lab/world/flow_book.h"
#include "lab/world/packet_pool.h"
#include "lab/world/switch_node.h"
#include "net/deadlines.h"
#include "net/fault_sites.h"
#include "net/result.h"
#include "net/units.h"

namespace eddy::lab {

struct WorldOptions {
  config::HostConfig host;
  uint64_t seed = 1;
  config::PollModel poll_model = config::PollModel::exact;
  Duration poll_period = Duration::microseconds(1);  // busy_poll
  Duration poll_jitter{};
  int poll_burst = 32;
  size_t packets = 0;  // 0 = packets_needed()
  // In builds with fault sites: of all switches and of the world. Their clocks show this much more
  // than the world's, and a site delays no poll by more than `latest`.
  FaultSites* sites = nullptr;
  Duration clock_ahead{};
  Duration latest{};
  // The same: of all polls, after each that this number divides the switch's clock is moved by a
  // rebase, forward and back in turn; 0: after none.
  uint64_t rebase_every = 0;
};

// One direction of a link: from the port that sends to the port that receives.
struct alignas(64) Line {
  uint32_t from = 0;  // node
  uint32_t to = 0;
  PortId from_port;
  PortId to_port;
  bool up = true;
  bool filtered = false;  // a LineFilter looks at every frame
  Duration delay;
  LineRate rate;
  uint64_t entered = 0;    // frames given to the line, and copies that a filter made
  uint64_t delivered = 0;  // of those, arrived
  uint64_t lost = 0;  // of those, lost: the link was down at one end of the flight, or a filter
};

// Looks at frames of lines that are `filtered`, when they leave.
class LineFilter {
 public:
  struct Verdict {
    bool lose = false;
    bool duplicate = false;
    Duration extra_delay{};
  };
  virtual ~LineFilter() = default;
  virtual Verdict judge(uint32_t line, Packet& packet, Instant now) = 0;
};

// Sees every frame and every turn, as they happen; for checkers. It changes nothing but may stop().
class Watcher {
 public:
  enum class Step : uint8_t { entered, delivered, lost };
  virtual ~Watcher() = default;
  virtual void on_frame(uint32_t line, Step step, const Packet& packet) = 0;
  virtual void on_turn(uint32_t node) = 0;
  virtual void on_instant() = 0;  // all events and turns of now() are done
};

// Stands between a host's line and its NIC: takes frames, and hands them on by World::deliver().
class Intake {
 public:
  virtual ~Intake() = default;
  virtual void take(Packet* packet) = 0;
  virtual size_t held() const = 0;  // frames
};

struct WorldCounts {
  uint64_t events = 0;
  uint64_t packet_hops = 0;  // frames delivered over one line
  uint64_t ties = 0;
  uint64_t polls = 0;  // of switches
  uint64_t host_turns = 0;
  uint64_t blank_missing = 0;  // times that a host had no packet to write into
};

class World final : private Wires {
 public:
  // `rtt_of` tells the base RTT between two hosts. All that memory must hold is taken here.
  using RttOf = FlowBook::RttOf;
  static Result<std::unique_ptr<World>> create(const Topology& topology,
                                               std::span<const Flow> flows, const RttOf& rtt_of,
                                               const WorldOptions& options);
  ~World() override;
  // Packets that can be in the fabric at once: on lines, in buffers, with headers only.
  static size_t packets_needed(const Topology& topology);
  // Resident octets that such a world will take, roughly; to refuse a run before it is built.
  static size_t memory_needed(const Topology& topology, size_t queue_pairs);

  // Runs to `end` (all events at or before it). May be called again with a later one.
  void run_until(Instant end);
  // Until every flow has ended, nothing happens any more, or `limit`; true if all flows ended.
  bool run_to_completion(Instant limit);
  // An action at an instant not before now; used for faults, sampling, measurement windows.
  void at(Instant when, std::function<void(World&)> action);
  void set_watcher(Watcher* watcher) { watcher_ = watcher; }  // null: none
  // Ends run_until() and run_to_completion() after this instant, for good.
  void stop() { stopped_ = true; }
  bool stopped() const { return stopped_; }
  // Nothing will happen any more.
  bool idle() const { return queue_->empty() && wakes_->next() == Instant::never(); }

  Instant now() const { return now_; }
  const FlowBook& book() const { return book_; }
  size_t flows_ended() const { return book_.ended(); }  // sender and receiver
  std::span<const FlowRecord> records() const { return book_.records(); }
  std::span<const Flow> flows() const { return book_.flows(); }
  host::SendOutcome send_outcome(size_t flow) const { return book_.send_outcome(flow); }
  host::ReceiveOutcome receive_outcome(size_t flow) const { return book_.receive_outcome(flow); }

  size_t switch_count() const { return switches_.size(); }
  size_t host_count() const { return hosts_.size(); }
  Switch& switch_at(size_t index) { return *switches_[index].object; }
  SwitchNode& switch_node(size_t index) { return switches_[index]; }
  host::Nic& nic(size_t index) { return *hosts_[index].nic; }
  std::span<Line> lines() { return lines_; }
  uint32_t line_of(size_t switch_index, PortId port) const;
  uint32_t line_of_host(size_t host) const;
  uint32_t reverse(uint32_t line) const { return reverse_[line]; }
  // Both directions; the ports at both ends follow.
  void set_link(uint32_t line, bool up);
  void set_filter(uint32_t line, LineFilter* filter);  // null: none
  void poll(size_t switch_index);                      // now, outside of its turn
  // The switch takes a turn at this instant: it was given something that no frame tells it of.
  void nudge(size_t switch_index) { take_part(static_cast<uint32_t>(switch_index)); }
  // A frame as if it had left the line's sender now.
  void inject(uint32_t line, Packet* packet);
  void set_host_rate(size_t host, BitRate rate);  // from its next frame on
  void set_intake(size_t host, Intake* intake);   // null: frames reach the NIC at once
  void deliver(size_t host, Packet* packet);      // into the NIC

  PacketPool& pool() { return *pool_; }
  WorldCounts counts() const;
  size_t frames_in_flight() const;
  size_t frames_in_intakes() const;
  // Of everything that has happened: flow ends, counters of all nodes. Same run, same digest.
  uint64_t digest() const;

 private:
  enum Kind : uint32_t { kSent, kSentLast, kArrival, kFlowStart, kAction };
  struct HostNode {
    std::unique_ptr<host::Nic> nic;
    LineRate rate;
    Intake* intake = nullptr;
    int line_overhead = 0;
    bool line_busy = false;
    bool due = false;            // its deadline has come
    bool blank_missing = false;  // the pool was empty when it last had something to send
    Instant wake_at = Instant::never();
    uint32_t line = 0;
  };

  World(const Topology& topology, std::span<const Flow> flows, const WorldOptions& options);
  Problems build(const Topology& topology, const RttOf& rtt_of);
  Problems add_switches(const Topology& topology);
  void add_lines(const Topology& topology);
  void add_hosts(const Topology& topology);
  static size_t events_needed(const Topology& topology);
  void open_flows(const RttOf& rtt_of);
  void reserve_lanes(int line_overhead);
  void join(uint32_t line, uint32_t other);

  void send(uint32_t line, Packet* packet, bool last) override;
  void advance(Instant at);
  void dispatch(const Event& event);
  void prefetch(const Event& event) const;
  void leave(const Event& event);
  void leave_filtered(Line& line, const Event& event);
  void lose(Line& line, Packet* packet);
  void arrive(const Event& event);
  void start_flows();
  void take_turns();
  void turn_switch(uint32_t node);
  bool is_put_off(uint32_t node);
  Instant deadline_of(uint32_t node);
  // By the clock of the switch, which the world's own is compared to.
  static Instant of_switch(const SwitchNode& node, Instant at) {
    return kHasFaultSites ? at + node.clock_ahead : at;
  }
  static Instant of_world(const SwitchNode& node, Instant at) {
    return kHasFaultSites && at != Instant::never() ? at - node.clock_ahead : at;
  }
  void move_clock(SwitchNode& node);
  void turn_host(uint32_t node);
  void transmit(HostNode& host);
  void touch(uint32_t node);
  void take_part(uint32_t node) {
    if (is_touched_[node] != 0) return;
    is_touched_[node] = 1;
    touched_.push_back(node);
  }
  void wake(uint32_t node);
  void wake_at(uint32_t node, Instant& planned, Instant at);
  Instant grid_from(uint32_t node, Instant from);
  void run_action(uint32_t index);
  void tell(uint32_t line, Watcher::Step step, const Packet& packet) {
    if (watcher_ != nullptr) [[unlikely]]
      watcher_->on_frame(line, step, packet);
  }
  bool is_switch(uint32_t node) const { return node < first_host_; }
  HostNode& host_at(uint32_t node) { return hosts_[node - first_host_]; }

  WorldOptions options_;
  [[no_unique_address]] FaultProbe sites_;
  Instant now_;
  std::vector<Line> lines_;
  std::vector<uint32_t> reverse_;
  std::vector<SwitchNode> switches_;
  std::vector<HostNode> hosts_;
  uint32_t first_host_ = 0;           // switches are the first nodes
  std::vector<uint32_t> first_line_;  // of each switch
  std::unique_ptr<PacketPool> pool_;
  std::unique_ptr<EventQueue> queue_;
  std::unique_ptr<Deadlines> wakes_;  // by node
  std::vector<uint32_t> touched_;
  std::vector<uint8_t> is_touched_;
  std::vector<LineFilter*> filters_;  // by line
  std::vector<Intake*> intakes_;      // those that are set

  std::vector<IpAddress> addresses_;  // of hosts
  FlowBook book_;
  std::vector<std::function<void(World&)>> actions_;
  std::vector<uint32_t> spare_actions_;  // places in actions_ that are free
  Watcher* watcher_ = nullptr;
  bool stopped_ = false;
  WorldCounts counts_;
};

}  // namespace eddy::lab
