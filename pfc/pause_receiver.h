// PauseReceiver: the pauses that peers have laid on the egress queues of one shard's ports.
//
// A PFC frame pauses the priorities that it enables for their quanta. The time is counted at the
// configured port speed from the poll that reads the frame; time 0 resumes at once. Symmetric PFC
// obeys pauses of the lossless priorities only, asymmetric PFC of all. PfcRx::ignore obeys none.
// Each priority has `budget` of pause in each window of `window`, the first of which starts with
// its first pause: PfcRx::clamp ends a pause that would take more; a host port that is honoured
// beyond it is reported, once a window. A queue is paused while any priority mapped to it is. Ends
// of pauses are deadlines. Pause time is accounted by the protocol to the picosecond, however late
// a poll comes. Owner: one shard; paused_queues() may be read by any thread. Bounds: `ports` port
// states, taken at construction. Cost: paused_queues() is one load; a frame about 70 cycles;
// expire() one compare when nothing is due. Source: reference C.1, C.5.
#pragma once

#include <array>
#include <atomic>
#include <cstdint>
#include <memory>
#include <optional>

#include "net/deadlines.h"
#include "net/ids.h"
#include "net/memory/reserved.h"
#include "net/rebase.h"
#include "net/units.h"

namespace eddy::config {
struct PortConfig;
}

namespace eddy::pfc {

// A port's side of the configuration.
struct PauseRxPlan {
  LineRate line;
  uint8_t heeded = 0;   // priorities whose PFC counts
  bool clamp = false;   // to the budget
  bool report = false;  // what exceeds the budget
  Duration budget;
  Duration window;
  std::array<QueueId, kPriorities> pfc_to_queue{};
  std::array<Priority, kPriorities> queue_to_pfc{};  // by queue: the lowest that pauses it

  // `lossless`: the priorities that are lossless on this port, as a mask.
  static PauseRxPlan of(const config::PortConfig& port, uint8_t lossless);
};

// What one frame, or the passing of time, did to a port. Masks by priority, but `queues` by queue.
struct PauseChange {
  PortId port;
  uint8_t xoff = 0;         // asked to pause, heeded or not
  uint8_t xon = 0;          // asked to resume
  uint8_t ended = 0;        // pauses that ended: their paused time is final
  uint8_t over_budget = 0;  // pauses beyond the budget; clamp: cut short or refused
  uint8_t queues = 0;       // queues that became paused or free
};

class PauseReceiver {
 public:
  // `next`: as of Deadlines.
  explicit PauseReceiver(size_t ports, std::optional<DeadlinePlace> next = std::nullopt);

  // Adopts a configuration. Priorities no longer heeded resume; running pauses keep their end.
  PauseChange configure(PortId port, const PauseRxPlan& plan, Instant now);
  PauseChange on_pfc(PortId port, uint8_t enable, const std::array<uint16_t, kPriorities>& times,
                     Instant now);
  // The peer is gone, its pauses with it.
  PauseChange on_link_down(PortId port, Instant now);

  // Ends what is due and calls void report(const PauseChange&) for each port concerned, in the
  // order of their deadlines.
  template <class Report>
  void expire(Instant now, Report&& report) {
    while (const auto id = deadlines_.pop_due(now)) report(end_due(PortId(*id), now));
  }

  Instant next_deadline() const { return deadlines_.next(); }
  void rebase(const Rebase& rebase);

  // Queues that may not start a packet.
  uint8_t paused_queues(PortId port) const {
    return ports_[port.index()].queues.load(std::memory_order_relaxed);
  }
  uint8_t paused_priorities(PortId port) const { return ports_[port.index()].paused; }
  // For how long the priority has been paused since the start or the last rebase, up to `now`; what
  // had not been taken then is counted.
  Duration paused_time(PortId port, Priority priority, Instant now) const;
  // The same since the last take: what a counter still lacks.
  Duration uncounted_time(PortId port, Priority priority, Instant now) const {
    return paused_time(port, priority, now) -
           pauses_[place_of(ports_[port.index()], priority.index())].taken;
  }
  Duration take_paused_time(PortId port, Priority priority, Instant now);

 private:
  struct Pause {
    Instant since;       // paused: start of this pause
    Instant until;       // paused: its end, the clamp applied
    Instant asked;       // paused: its end as the peer asked for
    Duration total;      // of the pauses that have ended
    Duration taken;      // of paused_time, by take_paused_time
    Instant window_end;  // of the current window of the budget
    Duration spent;      // paused in the current window before `charged_to`
    Instant charged_to;  // this pause is accounted up to here
    Instant report_at;   // paused: when to see whether it exceeds the budget; never(): not at all
    Instant reported;    // end of the last window of which that was said
  };
  struct Port {
    PauseRxPlan plan;
    Instant budget_since;
    uint8_t unbegun = 0;  // priorities that have not been paused since
    uint8_t paused = 0;
    std::atomic<uint8_t> queues{0};
  };

  size_t place_of(const Port& port, size_t priority) const {  // in pauses_
    return static_cast<size_t>(&port - ports_.get()) * kPriorities + priority;
  }
  PauseChange end_due(PortId port, Instant now);
  void begin_budget(Port& port, size_t priority);
  void pause(Port& port, size_t priority, uint16_t quanta, Instant now, PauseChange& change);
  void end(Port& port, size_t priority, Instant at, PauseChange& change);
  void end_expired(Port& port, Instant now, PauseChange& change);
  void charge(const PauseRxPlan& plan, Pause& pause, Instant to);
  Instant budget_end(const PauseRxPlan& plan, Pause& pause, bool running, Instant now);
  bool exceeds(const PauseRxPlan& plan, Pause& pause, Instant at);
  void publish(PortId port, PauseChange& change);

  size_t port_count_;
  std::unique_ptr<Port[]> ports_;
  Reserved<Pause> pauses_;  // by (port, priority); zero until it is paused
  Deadlines deadlines_;
};

}  // namespace eddy::pfc
