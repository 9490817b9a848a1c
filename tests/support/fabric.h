// Fabric: a small manual-clock world: switches joined by links, with simple hosts, in one process
// and one thread.
//
// Every event is a moment: a frame arrives, a line becomes free, a deadline is due. At each the
// shard concerned is polled ("exact"), then every other shard that has mail, and the conservation
// law is checked. Links are lossless and have a delay; ports are paired by connect(). Hosts send
// what they are given at their line rate, obey PFC at once and keep what they receive. Times are
// picoseconds from 0. Deterministic: ties go by the order in which events were made.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <queue>
#include <vector>

#include "config/config.h"
#include "net/ids.h"
#include "net/rebase.h"
#include "net/units.h"
#include "switch/dataplane/object/switch.h"
#include "tests/support/frames.h"
#include "tests/support/packet_pool.h"

namespace eddy::test {

class Fabric;
class NodeIo;

// One frame a host wants to send.
struct Transmission {
  Frame frame;
  size_t wire_len = 0;  // 0: the frame's own
  Priority priority{0};
};

// A frame that a host or an unconnected port received.
struct Arrival {
  Instant at;
  Frame frame;
  uint32_t wire_len = 0;
};

class FabricHost {
 public:
  BitRate speed = BitRate::gbps(10);
  bool obeys_pfc = true;
  int line_overhead = 24;
  bool keep_frames = true;  // else only counts
  // Called when the host could send: the next frame, if it has one. Default: the queue below.
  std::function<bool(Transmission&)> source;
  std::vector<Transmission> to_send;  // in order; sent from the front
  std::vector<Arrival> received;
  uint64_t received_count = 0;
  uint64_t received_bytes = 0;
  uint64_t sent_count = 0;

  bool paused(Priority priority, Instant now) const { return pause_until_[priority.index()] > now; }

 private:
  friend class Fabric;
  size_t node_ = 0;
  PortId port_;
  size_t next_ = 0;
  Instant free_at_;
  bool has_pending_ = false;
  Transmission pending_;
  std::array<Instant, kPriorities> pause_until_{};
  bool wake_scheduled_ = false;
};

class Fabric {
 public:
  explicit Fabric(size_t packets = 4096, size_t data_room = 2048);
  ~Fabric();

  // The switch becomes node number size()-1; all its ports are unconnected. Fails the process on a
  // bad configuration. `routes`: a table for the whole fabric; null = the switch's own.
  size_t add_switch(const config::SwitchConfig& config, size_t shards = 1,
                    std::shared_ptr<const RouteTable> routes = nullptr, StageMaker stage = nullptr);
  // Both directions; the ports come up at the present time.
  void connect(size_t node_a, PortId port_a, size_t node_b, PortId port_b, Duration delay);
  FabricHost& attach_host(size_t node, PortId port, Duration delay);
  void set_link(size_t node, PortId port, bool up);  // this end only
  // The port is another shard's from now on.
  void hand_over(size_t node, PortId port, ShardId to);
  // The port's device takes at most this many frames a call (65535: all).
  void limit_transmit(size_t node, PortId port, uint16_t frames);
  // A frame as if the device of the port had received it now.
  void inject(size_t node, PortId port, const Frame& frame, size_t wire_len = 0);
  void kick(FabricHost& host);  // after adding to to_send

  void run_until(Instant end);
  // The clocks of all switches go on in so many steps, with a poll after each, and are rebased when
  // that is due; the fabric's own time stands still.
  void age(Duration step, int steps);
  // Until nothing is pending but timers later than `limit`. Returns the time reached.
  Instant run_to_quiet(Instant limit);
  Instant now() const { return now_; }

  Switch& at(size_t node);
  std::vector<Arrival>& seen(size_t node, PortId port);  // what left an unconnected port
  PacketPool& pool() { return pool_; }
  uint64_t polls(size_t node) const;
  // Polls every shard of a node once, now.
  void poll(size_t node);
  bool check_balance = true;
  // After each poll whose number at its switch this divides, the switch's clock is moved by a
  // rebase, forward and back in turn; 0: after none. EDDY_REBASE_EVERY has what it is at first.
  uint64_t rebase_every = 0;
  FaultSites* sites = nullptr;  // of switches that are added from now on
  std::function<void()> after_event;

 private:
  friend class NodeIo;
  struct Node;
  struct Event {
    Instant at;
    uint64_t order = 0;
    std::function<void()> action;
    bool operator>(const Event& other) const {
      return at != other.at ? at > other.at : order > other.order;
    }
  };
  void schedule(Instant at, std::function<void()> action);
  void poll_shard(Node& node, size_t shard);
  void settle(Node& node);  // after a poll: mail, deadlines, the balance
  void move_clock(Node& node, const Rebase& rebase);
  void poll_those_with_mail(Node& node);
  void check(const Node& node) const;
  void deliver(size_t node, PortId port, Packet* packet);
  void leave(Node& node, PortId port, Packet* packet, Instant done);
  void host_receives(FabricHost& host, Packet* packet);
  void host_sends(FabricHost& host);
  void step();

  Instant now_;
  uint64_t order_ = 0;
  std::priority_queue<Event, std::vector<Event>, std::greater<>> events_;
  PacketPool pool_;
  std::vector<std::unique_ptr<Node>> nodes_;
  std::vector<std::unique_ptr<FabricHost>> hosts_;
};

}  // namespace eddy::test
