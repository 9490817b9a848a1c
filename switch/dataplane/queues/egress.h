// Egress: the queues of the ports a shard owns, their scheduler, and the virtual line at the
// configured speed.
//
// A frame starts when the line is free, its queue is neither paused nor shaped, and the scheduler
// says so; it leaves at start + (wire_len + overhead) / speed. A poll that comes late sends what
// the line would have sent meanwhile, over at most 20 us or poll_gap. Frames of our own (PFC, ARP,
// ...) go first and are never paused. At most one frame a port is still on the line after a poll:
// its octets stay queued and charged until the world reports the line free. A port with a lookahead
// is given, each time that its line is free, what starts within it, too; of that, all but the last
// frame counts as gone. Where the world goes by the clock (News::lines_by_clock) a line is reported
// only if something is to be done then: something waits for it, or the charge that ends may resume
// a sender or is watched. Else the frame is settled before the next poll reads anything, to the
// same end. Owner: the shard. Bounds: queues are unbounded lists; the buffer bounds what is in
// them. Cost of service(): the ports that have something to do. Source: architecture, sections 3
// and 4; reference C.5, C.7, C.9.
#pragma once

#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "lb/either.h"
#include "lb/packet_fifo.h"
#include "net/deadlines.h"
#include "net/ids.h"
#include "net/memory/reserved.h"
#include "net/packet.h"
#include "net/random.h"
#include "net/rebase.h"
#include "net/units.h"
#include "pfc/scheduler.h"
#include "pfc/watchdog.h"
#include "switch/dataplane/queues/hot_ports.h"
#include "switch/dataplane/queues/ingress_buffer.h"
#include "switch/dataplane/queues/line_clock.h"
#include "switch/dataplane/queues/long_flows.h"
#include "switch/dataplane/queues/queue_row.h"
#include "switch/dataplane/state/packet_lane.h"
#include "switch/dataplane/state/port_set.h"
#include "switch/dataplane/state/shard_context.h"

namespace eddy {

namespace detail {
// What is sent of a port's queues at once, where it may be more than a frame.
enum class Visit : uint8_t {
  sole,   // of one queue, beside which nothing waits and that nothing limits, marks or stops
  timed,  // the same, and its packets' tolerable delays count down
  any,
};
}  // namespace detail

class Egress {
 public:
  static constexpr size_t kMostFrames = 2 * kBurst;  // given to the device at once

  static constexpr Duration kMinLateness = Duration::microseconds(20);
  static constexpr Duration kRetry = Duration::microseconds(5);  // after a device refused frames

  Egress(ShardContext& context, IngressBuffer& buffer, size_t ports);

  // A packet whose frame is ready for the line. Takes it: queued, or dropped and counted.
  void enqueue(Packet* packet);
  // What a row keeps of its queue. False: what goes there is dropped now.
  bool learn(QueueRow& row);
  QueueRow* rows() { return rows_.data(); }  // by queue and port
  // Begins row.packets, at row.stub, for a burst that makes at most `octets`, with its tags; `ect`:
  // some may be ECN-capable. Below 0: one of them might be dropped or marked. What is no question
  // behind the last packet of the burst is none behind any: the queue only grows, and the pool
  // stands still, as all of them are admitted. Later bursts of the poll may go on with the row as
  // long as they make no more octets than are returned. Nothing leaves the queue meanwhile, and
  // whatever else goes into it closes the row first.
  int64_t open(QueueRow& row, uint32_t octets, bool ect) {
    const int64_t found = row.queued->load(std::memory_order_relaxed);
    int64_t room = row.unasked - found - octets;
    if (room < 0) [[unlikely]] {
      if (!takes(row, found, octets, ect)) return room;
      room = 0;
    }
    row.packets.begin(row.state->fifo, *row.stub);
    row.state->row_open = true;
    return room;
  }
  // Counts row.octets in the queue; returns what it holds then.
  static uint32_t count(const QueueRow& row) {
    const uint32_t holds = row.queued->load(std::memory_order_relaxed) + row.octets;
    row.queued->store(holds, std::memory_order_relaxed);
    return holds;
  }
  // Of an open row: counts its octets and appends its packets. Without a branch on whether it has
  // got any: rows are opened for what may come.
  void close(const QueueRow& row) {
    EgressQueue& queue = *row.state;
    Port& port = ports_[row.port.index()];
    const bool got = !row.packets.empty();
    queue.row_open = false;
    const bool begins = got && queue.fifo.empty();
    queue.progress_at = lb::either(begins, context_.now, queue.progress_at);
    queue.fifo.append(row.packets, *row.stub);
    port.waiting = static_cast<uint8_t>(port.waiting | unsigned{got} << row.queue.index());
    queue.watermarks.raise(count(row));
    if (port.free_at <= context_.now) [[likely]] {
      ready_.insert_if(row.port, got);
      resting_.note(row.port, got && !port.line_busy);
    } else if (got) {
      look_at_line(row.port, port);
    }
  }
  // A frame of our own, ahead of every queue. Takes and counts it.
  void originate(PortId port, Packet* packet);
  // The same, but in Packet::queue, behind what waits there.
  void originate_behind(PortId port, Packet* packet);
  // First in a poll: settles what has left lines that are not reported. `by_clock`: what this poll
  // sends need not be, either. `ports_apart`: as News.
  void begin_poll(bool by_clock, bool ports_apart) {
    by_clock_ = by_clock;
    ports_apart_ = ports_apart;
    if (lines_.next() <= context_.now) [[unlikely]]
      follow_lines();
  }
  // All lines are reported from now on, until the next begin_poll(); in a poll.
  void report_lines();
  // Between polls: settles what has left by `until`, and returns when the last of it has; nothing:
  // long_past().
  Instant settle_lines(Instant until);
  // Of a packet that came alone: as open(), push() and close(). False: it goes through enqueue().
  bool put_alone(const QueueRow& row, Packet* packet) {
    return put_whole(row, packet->wire_len, packet->has(kPacketEct),
                     [packet](PacketFifo& fifo) { fifo.push(packet); });
  }
  // The same of those that another shard has put into a row of its own, linked and ready for the
  // line. Reads none of them.
  bool put_row(const QueueRow& row, std::span<Packet* const> packets, const LaneRow& of) {
    return put_whole(row, of.octets, of.ect != 0,
                     [packets](PacketFifo& fifo) { fifo.append(packets); });
  }
  // The world says that the line may be free.
  void line_free(PortId port) { ready_.insert(port); }
  // The same, and starts what may start there, where nothing else has happened: line_free(),
  // service() and IngressBuffer::flush().
  void line_free_alone(PortId port);
  // Starts all that may start now. No row is open.
  void service() {
    if (ready_.empty()) return;
    ready_.take_all([this](size_t first, uint64_t ports) {
      const uint64_t resting = resting_.take(first);
      if ((ports & (ports - 1)) != 0) return service_several(first, ports, resting);
      service_port(PortId(first + static_cast<size_t>(std::countr_zero(ports))));
    });
  }

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
  // The port is down, and another will have its place; ours.
  void forget(PortId port);
  void adopt(const Snapshot& now);

  void on_timers();
  void rebase(const Rebase& rebase);

  // Of a port of ours. For reports.
  const QueueStops& stops(PortId port) const { return ports_[port.index()].stops; }
  bool tx_enabled(PortId port) const { return ports_[port.index()].tx_enabled; }
  bool up(PortId port) const { return ports_[port.index()].up; }
  // What the watchdog judges by.
  pfc::QueueProgress progress(PortId port, QueueId queue) const;
  void clear_watermarks(PortId port, pfc::WatermarkKind kind);  // ours
  uint64_t held() const;  // packets in queues, what is on the line excluded
  HotPorts& hot_ports() { return hot_ports_; }
  LongFlows& long_flows() { return long_flows_; }

 private:
  // The priority under which what PFC and its watchdog do to a queue is counted.
  size_t priority_of(PortId port, size_t queue) const {
    return context_.plans(port).pause_rx.queue_to_pfc[queue].index();
  }
  static constexpr uint8_t kOwn = kPriorities;  // in place of a queue: the FIFO of our own frames

  static constexpr uint8_t kNoQueue = kPriorities + 1;

  // What starts and ends a frame is the first line; a queue's own line is in CommonState.
  struct alignas(64) Port {
    Instant free_at;                        // of the line
    Instant refused_until;                  // the device was full: no new try before
    const QueueSettings* queues = nullptr;  // of the snapshot in force; null: another shard's port
    LineRate line;
    Charge on_line;       // line_busy: of a frame whose last bit has not left; see PortSignals
    uint8_t waiting = 0;  // bit = queue with packets
    uint8_t limited = 0;  // bit = queue with a rate: QueueRates::limited()
    uint8_t watched = 0;  // bit = queue that marks at dequeue, or is timed
    QueueStops stops;
    bool own_waiting = false;
    bool up = false;
    bool tx_enabled = true;
    bool idle = true;  // nothing could start when last looked: no lateness to catch up
    bool line_busy = false;
    int16_t line_overhead = 0;
    bool limitless = false;  // nothing stops, shapes, marks or times what waits: is_limitless()
    bool reported = true;    // the world tells when the line is free; else LineClock has it
    Duration lookahead;      // frames are given to the device that much before they start

    alignas(64) PacketFifo own;
    pfc::Scheduler scheduler;
    pfc::QueueRates rates;
    bool timed = false;   // tolerable delays of what leaves count down
    bool marked = false;  // some queue marks at dequeue
    // Of isolation (docs/adr/0039): what came into the queue `gated` behind packets of `gate`
    // leaves behind them. Its packets know how many those were by then.
    uint8_t gated = kNoQueue;
    uint8_t gate = kNoQueue;
    uint32_t passed =
        0;  // packets that have left `gate` while others waited, and that were dropped
  };
  static_assert(offsetof(Port, own) == 64);
  // The queue to serve next; `alone`: nothing else on the port can start before it is empty.
  struct Turn {
    uint8_t queue = kNoQueue;
    bool alone = false;
    bool scheduled = false;  // `before` has what to go back to if the device refuses
  };
  // The frames that one turn brought into a burst.
  struct Run {
    uint8_t queue;
    bool scheduled;
    uint16_t packets;
    uint32_t octets;
  };
  using Owed = IngressBuffer::Owed;
  using Visit = detail::Visit;
  static constexpr size_t turns_of(Visit visit) { return visit == Visit::any ? kMostFrames : 1; }
  // What a visit to a port sends. Filled by gather() up to the counts; the rest is not even
  // initialised.
  using Packets = std::array<Packet*, kMostFrames>;
  template <Visit kVisit>
  struct Burst {
    Burst() {}
    size_t turns() const { return kVisit == Visit::any ? run_count : 1; }
    // That its finished runs took from the queue.
    int64_t octets_of(uint8_t queue) const {
      int64_t octets = 0;
      for (size_t i = 0; kVisit == Visit::any && i < run_count; ++i)
        if (runs[i].queue == queue) octets += runs[i].octets;
      return octets;
    }

    size_t count = 0;
    size_t run_count = 0;
    size_t owed_count = 0;
    union {
      std::array<Owed, kMostFrames> owed;  // by the packets, neighbors with another row
    };
    union {
      std::array<Run, turns_of(kVisit)> runs;
    };
    union {
      std::array<pfc::Scheduler::State, turns_of(kVisit)> before;  // of the runs that are scheduled
    };
  };

  template <Visit kVisit>
  class Owing;
  struct Leaving {
    uint8_t queue;
    int64_t ahead;  // octets of it that were taken before, and are not yet accounted
  };
  // A packet leaves a queue with a rate, or one that marks at dequeue.
  void watch(Port& port, Packet& packet, Instant start, const Leaving& leaving);

  // Something else goes into the queue.
  void close_early(PortId port, size_t queue);
  // What put() brings into the queue, none of it or all.
  template <class Put>
  bool put_whole(const QueueRow& row, uint32_t octets, bool ect, Put&& put) {
    Port& port = ports_[row.port.index()];
    EgressQueue& queue = *row.state;
    const uint32_t found = row.queued->load(std::memory_order_relaxed);
    const int64_t holds = int64_t{found} + octets;
    if (holds > row.unasked && !takes(row, found, octets, ect)) [[unlikely]]
      return false;
    if (queue.fifo.empty()) queue.progress_at = context_.now;
    put(queue.fifo);
    port.waiting = static_cast<uint8_t>(port.waiting | 1u << row.queue.index());
    row.queued->store(static_cast<uint32_t>(holds), std::memory_order_relaxed);
    queue.watermarks.raise(holds);
    look_at_line(row.port, port);
    return true;
  }
  bool takes(const QueueRow& row, int64_t found, uint32_t octets, bool ect) const {
    const QueueSettings& settings = ports_[row.port.index()].queues[row.queue.index()];
    if (found + octets > settings.attended) return false;
    if (!settings.lossless && !buffer_.pool().admit_queue(found, octets, settings.lossy_limit) &&
        found + octets > settings.reserved)
      return false;
    return !ect || !settings.ecn || settings.wred.probability(found + octets) == 0;
  }
  template <bool kTagged>
  void enqueue_as(Packet* packet);
  // Of a packet that finds its queue above what QueueSettings says.
  void attend(Port& port, Packet& packet);
  static bool is_limitless(const Port& port);
  static void follow_limits(Port& port) { port.limitless = is_limitless(port); }
  bool is_crowded(PortId id, const Port& port) const;
  void follow_isolation(PortId id, Port& port, const IsolationPlan& plan);
  uint8_t held_at_gate(PortId id, const Port& port) const;
  void enqueue_tagged(Packet* packet, uint16_t tci);
  void mark(Packet& packet, const pfc::WredCurve& curve, int64_t queue_bytes);
  void mark_leaving(Packet& packet, int64_t leaving);
  void service_port(PortId id);
  // In egress_plain.cpp.
  class PlainVisits;
  // As PortSet::take_all(); `resting`: as resting_.
  void service_several(size_t first, uint64_t ports, uint64_t resting);
  void start_frames(PortId id, Port& port);
  void serve_one(PortId id, Port& port);
  void serve_own(PortId id, Port& port);
  uint32_t start_frame(PortId id, Port& port, Packet* packet, uint8_t queue);
  void put_one_back(PortId id, Port& port, Packet* packet, const Turn& turn,
                    const pfc::Scheduler::State& before);
  static bool sends_one_queue(const Port& port);
  template <Visit kVisit>
  void serve(PortId id, Port& port, Instant start);
  template <Visit kVisit>
  bool gather(PortId id, Port& port, Packets& packets, Burst<kVisit>& burst, Instant start);
  Turn next_turn(PortId id, Port& port, pfc::Scheduler::State& before, Instant start);
  Turn contended_turn(PortId id, Port& port, pfc::Scheduler::State& before, Instant start);
  template <Visit kVisit>
  Instant take(PortId id, Port& port, Packets& packets, Burst<kVisit>& burst, Turn turn,
               Instant start);
  template <Visit kVisit>
  void put_back(PortId id, Port& port, const Packets& packets, Burst<kVisit>& burst, size_t sent);
  static void unpick(Port& port, uint8_t queue, const pfc::Scheduler::State& before);
  void go_back(PortId id, Port& port, Packet* packet, uint8_t queue);
  void await_retry(PortId id, Port& port);
  struct Last {  // of the frames that leave
    uint32_t len;
    Charge charge;
  };
  template <Visit kVisit>
  void account(PortId id, Port& port, Burst<kVisit>& burst, const Last& last);
  struct Sent {
    uint8_t queue;
    uint16_t packets;
    uint32_t octets;
  };
  void count_queue(PortId id, const Port& port, const Sent& sent);
  void count_port(PortId id, lb::PortSignals& signals, size_t frames, uint32_t octets);
  void settle(PortId id, const Port& port);
  // A frame behind which nothing comes, and whose end concerns nobody.
  bool is_quiet(const Port& port, const Charge& charge) const {
    return by_clock_ && port.waiting == 0 && !port.own_waiting && !buffer_.is_watched(charge);
  }
  void start_line(PortId id, Port& port);
  void follow_lines();
  void settle_past(PortId id);
  void await(PortId id, Port& port);
  // Something waits for the line: it may start now, or when the line is reported.
  void look_at_line(PortId id, Port& port) {
    if (port.free_at <= context_.now) {
      ready_.insert(id);
      resting_.note(id, !port.line_busy);
    } else if (!port.reported) [[unlikely]] {
      await(id, port);
    }
  }
  void drop_queue(PortId id, uint8_t queue, DropReason reason);
  void discard(Packet* packet, bool up);
  void count_discarded(PortId id, size_t queue, uint64_t packets);
  PacketFifo& fifo_of(PortId id, Port& port, uint8_t queue) {
    return queue == kOwn ? port.own : context_.queue(id, queue).fifo;
  }

  ShardContext& context_;
  IngressBuffer& buffer_;
  std::vector<Port> ports_;
  Reserved<QueueRow> rows_;               // by queue and port, of which few are used
  Duration max_lateness_ = kMinLateness;  // of the line: the poll gap, if that is longer
  config::DreConfig dre_;                 // in force
  PortSet ready_;
  PortNotes resting_;  // of those: a packet came while the line rested
  bool by_clock_ = false;
  bool ports_apart_ = false;
  LineClock lines_;   // of ports that are not `reported`
  Deadlines timers_;  // by port: retry, or a shaped queue becoming eligible
  RandomStream marking_;
  HotPorts hot_ports_;
  LongFlows long_flows_;  // of ports that hot_ports_ has no hosts of: its timers are theirs, too
};

}  // namespace eddy
