// Watchdog: finds lossless queues that a peer pauses without end (a PFC storm or a deadlock), and
// says when the storm is over.
//
// A queue is watched from the moment it becomes paused until it has been free and without pause
// frames for a detection time; it is looked at every poll_interval. `stalled`: a storm when the
// queue is paused, was watched, held packets and sent none for detection_time. `paused`: when it
// was paused for more than 99 % of detection_time, whatever it held. Either fires between
// detection_time and detection_time + one poll_interval after the cause, while pause frames go
// on arriving. A storm ends at the first
// look that finds no pause frame within restoration_time. What a storm does is the configured
// action: drop | forward | alert, read by the data plane as masks; it also keeps the exact
// counters. Owner: one shard; the masks may be read by any thread. Bounds: `ports` x 8 states,
// taken at construction. Cost: none for queues that are not paused; a pause frame one store a
// priority; a look about 30 cycles. Source: reference C.6; SONiC pfcwd.
#pragma once

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
enum class WatchdogDetect : uint8_t;
enum class WatchdogAction : uint8_t;
struct PortConfig;
}  // namespace eddy::config

namespace eddy::pfc {

// A port's side of the configuration.
struct WatchdogPlan {
  uint8_t watched = 0;  // queues; 0 = off
  Duration detection;
  Duration restoration;
  Duration interval;
  config::WatchdogDetect detect{};
  config::WatchdogAction action{};

  // `lossless`: the lossless queues of this port, as a mask.
  static WatchdogPlan of(const config::PortConfig& port, uint8_t lossless);
};

// What the data plane knows of a queue.
struct QueueProgress {
  bool backlogged = false;  // holds packets
  Instant since;            // of its last packet sent, or when it stopped being empty, if later
};

struct WatchdogVerdict {
  PortId port;
  QueueId queue;
  bool storm = false;  // false: the storm is over
};

class Watchdog {
 public:
  // `next`: as of Deadlines.
  explicit Watchdog(size_t ports, std::optional<DeadlinePlace> next = std::nullopt);

  // Adopts a configuration. Returns the queues whose storm ended because they are no longer
  // watched.
  uint8_t configure(PortId port, const WatchdogPlan& plan, Instant now);
  // A frame asked to pause what `queues` send (heeded or not).
  void on_pause_frame(PortId port, uint8_t queues, Instant now);
  // `changed` queues became paused or free; `paused` are the paused ones now.
  void on_paused(PortId port, uint8_t paused, uint8_t changed, Instant now);

  // Looks at the queues that are due: QueueProgress progress(PortId, QueueId) tells of them, void
  // report(const WatchdogVerdict&) hears of changes.
  template <class Progress, class Report>
  void poll(Instant now, Progress&& progress, Report&& report) {
    while (const auto id = deadlines_.pop_due(now)) {
      const PortId port(*id / kPriorities);
      const QueueId queue(*id % kPriorities);
      if (look(port, queue, progress(port, queue), now))
        report(WatchdogVerdict{port, queue, (storming(port) >> queue.index() & 1) != 0});
    }
  }

  Instant next_deadline() const { return deadlines_.next(); }
  void rebase(const Rebase& rebase);

  // Queues in a storm, and those of them that the action discards from or sends against the pause.
  uint8_t storming(PortId port) const { return read(ports_[port.index()].storming); }
  uint8_t dropping(PortId port) const { return read(ports_[port.index()].dropping); }
  uint8_t forwarding(PortId port) const { return read(ports_[port.index()].forwarding); }

 private:
  struct Queue {
    Instant watched_since;  // in this state: under watch, or in the storm
    Instant last_frame;     // pause frame
    Instant paused_since;   // paused: since when
    Duration paused_total;  // of pauses that have ended
    Instant window_start;   // detect paused: of the time that is judged
    Duration window_base;   // detect paused: paused time at its start
    bool paused = false;

    Duration paused_time(Instant now) const {
      return paused ? paused_total + (now - paused_since) : paused_total;
    }
    void watch_from(Instant now);
    void rebase(const Rebase& rebase);
  };
  struct Port {
    WatchdogPlan plan;
    std::atomic<uint8_t> storming{0};
    std::atomic<uint8_t> dropping{0};
    std::atomic<uint8_t> forwarding{0};
    Queue* queues = nullptr;
  };

  static uint8_t read(const std::atomic<uint8_t>& mask) {
    return mask.load(std::memory_order_relaxed);
  }
  static Deadlines::Id id_of(PortId port, size_t queue) {
    return static_cast<Deadlines::Id>(port.index() * kPriorities + queue);
  }
  void watch(PortId port, size_t queue, Instant now);
  bool look(PortId port, QueueId queue, const QueueProgress& progress, Instant now);
  static bool begins(const WatchdogPlan& plan, Queue& queue, const QueueProgress& progress,
                     Instant now);
  static bool stalled(const WatchdogPlan& plan, const Queue& queue, const QueueProgress& progress,
                      Instant now);
  static bool paused_throughout(const WatchdogPlan& plan, Queue& queue, Instant now);
  static bool ends(const WatchdogPlan& plan, const Queue& queue, Instant now);
  void set_storm(Port& port, size_t queue, bool on);

  std::unique_ptr<Port[]> ports_;
  Reserved<Queue> queues_;  // by (port, queue); zero until it was paused
  Deadlines deadlines_;
};

}  // namespace eddy::pfc
