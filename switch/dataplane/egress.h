// Egress: the queues of the ports a shard owns, their scheduler, and the virtual line at the
// configured speed.
//
// A frame starts when the line is free, its queue is neither paused nor shaped, and the scheduler
// says so; it leaves at start + (wire_len + overhead) / speed. A poll that comes late sends what
// the line would have sent meanwhile, over at most 20 us or poll_gap. Frames of our own (PFC, ARP,
// ...) go first and are never paused. At most one frame a port is still on the line after a poll:
// its octets stay queued and charged until the world reports the line free. Owner: the shard.
// Bounds: queues are unbounded lists; the buffer bounds what is in them. Cost of service(): the
// ports that have something to do. Source: architecture, sections 3 and 4; reference C.5, C.7, C.9.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <vector>

#include "net/deadlines.h"
#include "net/ids.h"
#include "net/packet.h"
#include "net/random.h"
#include "net/units.h"
#include "pfc/scheduler.h"
#include "pfc/watchdog.h"
#include "switch/dataplane/ingress_buffer.h"
#include "switch/dataplane/packet_fifo.h"
#include "switch/dataplane/port_set.h"
#include "switch/dataplane/shard_context.h"

namespace eddy {

class Egress {
 public:
  static constexpr Duration kMinLateness = Duration::microseconds(20);
  static constexpr Duration kRetry = Duration::microseconds(5);  // after a device refused frames

  Egress(ShardContext& context, IngressBuffer& buffer, size_t ports);

  // A packet whose frame is ready for the line. Takes it: queued, or dropped and counted.
  void enqueue(Packet* packet);
  // A frame of our own, ahead of every queue. Takes and counts it.
  void originate(PortId port, Packet* packet);
  // The world says that the line may be free.
  void line_free(PortId port) { ready_.insert(port); }
  // Starts all that may start now.
  void service();

  void set_up(PortId port, bool up);
  // Queues as masks: those that may not start a frame, those that send against a pause, and those
  // whose packets are discarded (what is there now, and what comes).
  struct QueueStops {
    uint8_t stopped = 0;
    uint8_t forwarding = 0;
    uint8_t discarding = 0;
  };
  void set_stopped(PortId port, const QueueStops& stops);
  void set_tx_enabled(PortId port, bool enabled);
  void adopt(const Snapshot& now);

  void on_timers();
  Instant next_deadline() const { return timers_.next(); }

  bool up(PortId port) const { return ports_[port.index()].up; }
  // What the watchdog judges by.
  pfc::QueueProgress progress(PortId port, QueueId queue) const;
  void clear_watermarks();
  uint64_t held() const;  // packets in queues, what is on the line excluded

 private:
  static constexpr size_t kControl = kPriorities;  // index of the FIFO of our own frames

  // What is left of a frame given to the line: the charge and the octets that are released when it
  // has gone.
  struct Departure {
    Charge charge;
    uint32_t wire_len;
    uint8_t fifo;
    bool scheduled;  // chosen by the scheduler
  };
  struct Port {
    // Where the port's part of other tables is: settings for the snapshot in force, the rest for
    // ever.
    const PortSettings* settings = nullptr;
    lb::PortSignals* signals = nullptr;
    QueueGauge* gauges = nullptr;  // by queue
    std::array<PacketFifo, kPriorities + 1> fifos;
    uint8_t waiting = 0;  // bit = queue with packets
    QueueStops stops;
    bool up = false;
    bool tx_enabled = true;
    bool idle = true;        // nothing could start when last looked: no lateness to catch up
    Instant free_at;         // of the line
    Instant refused_until;   // the device was full: no new try before
    bool line_busy = false;  // on_line is a frame whose last bit has not left
    Departure on_line;
    pfc::Scheduler scheduler;
    pfc::QueueRates rates;
    std::array<Instant, kPriorities> progress_at{};  // last packet sent, or became non-empty
  };
  struct Burst {  // filled by gather() up to count; the rest is stale
    std::array<Packet*, kBurst> packets;
    std::array<Departure, kBurst> departures;
    std::array<pfc::Scheduler::State, kBurst> before;  // of those scheduled
    size_t count;
  };

  void service_port(PortId id);
  void gather(PortId id, Port& port);
  // The FIFO to serve next; `alone`: nothing else on the port can start before it is empty.
  struct Turn {
    size_t fifo;
    bool alone = false;
    bool scheduled = false;  // burst_.before has what to go back to if the device refuses
  };
  std::optional<Turn> next_turn(PortId id, Port& port, Instant start);
  void take(Port& port, const Turn& turn, Instant start);
  size_t hand_over(PortId id, Port& port);
  void put_back(PortId id, Port& port, size_t sent);
  void settle(Port& port, const Departure& departure);
  void account(PortId id, Port& port, size_t sent, size_t gone);
  void count_sent_from(PortId id, size_t queue, uint64_t packets, uint64_t bytes);
  void drop_queue(PortId id, size_t fifo, DropReason reason);
  void discard(Packet* packet, bool up);
  void set_queued(Port& port, size_t queue, uint32_t octets);
  void take_queued(Port& port, size_t queue, uint32_t octets);

  ShardContext& context_;
  IngressBuffer& buffer_;
  std::vector<Port> ports_;
  Burst burst_;                           // of the port in service
  Duration max_lateness_ = kMinLateness;  // of the line: the poll gap, if that is longer
  config::DreConfig dre_;                 // in force
  PortSet ready_;
  Deadlines timers_;  // by port: retry, or a shaped queue becoming eligible
  RandomStream marking_;
};

}  // namespace eddy
