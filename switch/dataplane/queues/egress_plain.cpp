// Egress: several ports that nothing limits, one behind the other.
//
// It does with each what service_port() does, to the same end, where one queue waits there and
// nothing of the port may stop, shape, mark or time it. A port then is asked only whether its line
// rested, so that its first frame starts now, or what it could have sent since its last one; what
// was on its line goes back with what leaves now. Which of the two it is no predictor can know: a
// world that asks for no order of ports gets those whose line rested first. They give nothing back,
// so that what others give back is settled in the same order.
#include <rte_prefetch.h>

#include <algorithm>
#include <bit>

#include "net/assert.h"
#include "switch/dataplane/queues/egress.h"
#include "switch/dataplane/queues/line_signals.h"

namespace eddy {

// Of one service(). Nothing takes its address, so that it stays out of memory.
class Egress::PlainVisits {
 public:
  // What one visit takes; filled up to its counts.
  struct Taken {
    Taken() {}
    union {
      Packets packets;
    };
    union {
      std::array<Owed, kMostFrames + 1> owed;  // as Burst::owed, what was on the line first
    };
  };

  PlainVisits(Egress& egress, Taken& taken)
      : egress_(egress),
        context_(egress.context_),
        taken_(taken),
        now_(context_.now),
        latest_(now_ - egress.max_lateness_) {}

  // Ports from `first` on whose line rests: those that one queue waits for start a frame. Returns
  // the others.
  [[gnu::always_inline]] uint64_t start_resting(size_t first, uint64_t resting) const {
    uint64_t others = 0;
    for (; resting != 0; resting &= resting - 1) {
      const size_t place = first + static_cast<size_t>(std::countr_zero(resting));
      Port& port = egress_.ports_[place];
      if (!is_plain(port) || port.line_busy || !port.idle) [[unlikely]]
        others |= resting & -resting;
      else
        send_first({place, queue_of(port)}, port);
    }
    return others;
  }
  // False: the port is to be served in another way, and nothing is done.
  [[gnu::always_inline]] bool serve(size_t place) const {
    Port& port = egress_.ports_[place];
    if (!is_plain(port)) [[unlikely]]
      return false;
    if (port.line_busy) {
      send_due({place, queue_of(port)}, port);
      return true;
    }
    return port.idle && start_apart(egress_, taken_, place);
  }

 private:
  // One queue waits, and nothing keeps its first frame from leaving now.
  [[gnu::always_inline]] bool is_plain(const Port& port) const {
    if (kHasFaultSites) ASSERT(port.limitless == is_limitless(port));
    const unsigned waiting = port.waiting;
    return port.limitless && waiting != 0 && (waiting & (waiting - 1)) == 0 && !port.own_waiting &&
           port.free_at <= now_ && port.refused_until <= now_;
  }
  static size_t queue_of(const Port& port) {
    return static_cast<size_t>(std::countr_zero(unsigned{port.waiting}));
  }
  // Out of the way of ports that are due.
  [[gnu::noinline]] static bool start_apart(Egress& egress, Taken& taken, size_t place) {
    Port& port = egress.ports_[place];
    PlainVisits(egress, taken).send_first({place, queue_of(port)}, port);
    return true;
  }

  struct From {
    size_t place;
    size_t at;
    PortId id() const { return PortId(place); }
    uint8_t queue() const { return static_cast<uint8_t>(at); }
  };
  struct Run {
    uint32_t frames;
    uint32_t octets;
    uint32_t owed;     // the first so many of Taken::owed
    uint32_t on_line;  // octets of the last frame, if it stays there
  };

  // The line rests: a frame starts now, and stays there.
  [[gnu::always_inline]] void send_first(From from, Port& port) const {
    PacketFifo& fifo = context_.queue(from.id(), from.queue()).fifo;
    Packet* const packet = fifo.head();
    leave(fifo, packet->next, 1, from, port);
    rte_prefetch0(packet->ahead);
    const uint32_t octets = packet->wire_len;
    const Instant done = now_ + port.line.time_of(Bytes(int64_t{octets} + port.line_overhead));
    port.free_at = done;
    packet->sent_at = done;
    port.on_line = Charge::of(*packet);
    port.idle = false;
    taken_.packets[0] = packet;
    if (context_.fires(FaultSite::device_full) ||
        context_.io->transmit(from.id(), {taken_.packets.data(), 1}, done) == 0) [[unlikely]]
      return egress_.put_one_back(from.id(), port, packet, {.queue = from.queue()}, {});
    port.line_busy = true;
    lb::PortSignals& signals = context_.signals(from.id());
    put_on_line(signals, from.queue(), octets);
    count(from, signals, 1, octets);
  }

  // What the line would have sent since.
  [[gnu::always_inline]] void send_due(From from, Port& port) const {
    PacketFifo& fifo = context_.queue(from.id(), from.queue()).fifo;
    const LineRate line = port.line;
    const int64_t overhead = port.line_overhead;
    const int64_t now = now_.ps();
    Instant start = std::max(port.free_at, latest_);
    Packet* packet = fifo.head();
    uint32_t row = IngressBuffer::row_of(port.on_line);
    uint32_t owes = port.on_line.bytes;
    taken_.owed[0].row = row;
    taken_.owed[0].bytes = owes;
    size_t last = 0;
    uint32_t frames = 0;
    uint32_t octets = 0;
    do {
      Packet* const next = packet->next;
      rte_prefetch0(packet->ahead);
      const uint32_t wire_len = packet->wire_len;
      start = start + line.time_of(Bytes(wire_len + overhead));
      packet->sent_at = start;
      octets += wire_len;
      taken_.packets[frames++] = packet;
      const uint32_t its_row = IngressBuffer::row_of(*packet);
      last += its_row != row ? 1 : 0;
      row = its_row;
      owes += packet->charged_bytes;
      taken_.owed[last].row = row;
      taken_.owed[last].bytes = owes;
      packet = next;
    } while (start.ps() <= now && packet != nullptr && frames < kMostFrames);
    leave(fifo, packet, frames, from, port);
    port.free_at = start;
    Run run{frames, octets, static_cast<uint32_t>(last + 1), 0};
    const bool stays = start.ps() > now;
    port.line_busy = stays;
    port.idle = packet == nullptr && !stays;
    take_off_line(context_.signals(from.id()));
    if (stays) [[unlikely]]
      run.on_line = keep_last(run, port);
    give(from, port, run);
  }
  [[gnu::always_inline]] static void leave(PacketFifo& fifo, Packet* next, uint32_t frames,
                                           From from, Port& port) {
    const unsigned gone = next == nullptr ? 1 : 0;
    port.waiting = static_cast<uint8_t>(port.waiting & ~(gone << from.at));
    fifo.popped(next, frames);
  }
  // The last frame stays on the line: its octets.
  uint32_t keep_last(const Run& run, Port& port) const {
    const Packet& last = *taken_.packets[run.frames - 1];
    port.on_line = Charge::of(last);
    taken_.owed[run.owed - 1].bytes -= last.charged_bytes;
    return last.wire_len;
  }

  // To the device, and counts it.
  [[gnu::always_inline]] void give(From from, Port& port, Run run) const {
    const size_t given = context_.fires(FaultSite::device_full) ? run.frames / 2 : run.frames;
    const bool none = kHasFaultSites && given == 0;
    const size_t sent =
        none ? 0 : context_.io->transmit(from.id(), {taken_.packets.data(), given}, port.free_at);
    if (sent < run.frames) [[unlikely]]
      run = take_back(egress_, taken_, from, run, sent);
    egress_.buffer_.release_rows({taken_.owed.data(), run.owed});
    if (sent == 0) [[unlikely]]
      return;
    lb::PortSignals& signals = context_.signals(from.id());
    if (run.on_line != 0) [[unlikely]]
      put_on_line(signals, from.queue(), run.on_line);
    take_octets(signals.queued_bytes[from.at], run.octets - run.on_line);
    count(from, signals, run.frames, run.octets);
    if (run.frames == kMostFrames) [[unlikely]]
      egress_.service_port(from.id());
  }
  // What the device has refused, as put_back().
  [[gnu::noinline]] static Run take_back(Egress& egress, Taken& taken, From from, Run run,
                                         size_t sent) {
    Port& port = egress.ports_[from.place];
    egress.context_.count(from.id(), PortCounter::tx_refused_packets, run.frames - sent);
    if (port.line_busy) taken.owed[run.owed - 1].bytes += port.on_line.bytes;
    while (run.frames > sent) {
      Packet* const packet = taken.packets[--run.frames];
      if (IngressBuffer::row_of(*packet) != taken.owed[run.owed - 1].row) --run.owed;
      taken.owed[run.owed - 1].bytes -= packet->charged_bytes;
      run.octets -= packet->wire_len;
      egress.go_back(from.id(), port, packet, from.queue());
    }
    run.on_line = 0;
    port.line_busy = false;
    egress.await_retry(from.id(), port);
    return run;
  }

  [[gnu::always_inline]] void count(From from, lb::PortSignals& signals, uint32_t frames,
                                    uint32_t octets) const {
    const PortTally counters = context_.counters[from.id()];
    count_sent_of_queue(counters, from.queue(), frames, octets);
    count_sent(context_, counters, signals, frames, octets, now_);
    context_.queue(from.id(), from.queue()).progress_at = now_;
  }

  Egress& egress_;
  ShardContext& context_;
  Taken& taken_;
  const Instant now_;
  const Instant latest_;
};

bool Egress::is_limitless(const Port& port) {
  return port.up && port.tx_enabled && port.lookahead == Duration{} &&
         (port.limited | port.watched | port.stops.stopped | port.stops.forwarding) == 0;
}

// Of so many ports the predictor knows as much as two loops over them spare.
constexpr int kFewPorts = 4;

[[gnu::noinline]] void Egress::service_several(size_t first, uint64_t ports, uint64_t resting) {
  PlainVisits::Taken taken;
  const PlainVisits visits(*this, taken);
  const bool many = std::popcount(ports) > kFewPorts;
  if (many && ports_apart_ && !by_clock_)
    ports = (ports & ~resting) | visits.start_resting(first, resting);
  for (; ports != 0; ports &= ports - 1) {
    const size_t place = first + static_cast<size_t>(std::countr_zero(ports));
    if (by_clock_ || !visits.serve(place)) [[unlikely]]
      service_port(PortId(place));
  }
}

}  // namespace eddy
