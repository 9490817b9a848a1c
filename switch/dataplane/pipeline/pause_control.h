// PauseControl: PFC in both directions for the ports of a shard, and the watchdog over it.
//
// Received: PFC and PAUSE stop and free egress queues (pfc::PauseReceiver) with their timers. Sent:
// what the ingress buffer marked (pfc::PauseSender) becomes frames ahead of all queues. The
// watchdog turns a storm into discarding or forwarding. Every change is counted and told as an
// event. Owner: the shard. Source: reference C.1, C.3, C.5, C.6.
#pragma once

#include <cstdint>

#include "net/ids.h"
#include "net/memory/reserved.h"
#include "net/packet.h"
#include "net/rebase.h"
#include "pfc/pause_receiver.h"
#include "pfc/pause_sender.h"
#include "pfc/watchdog.h"
#include "switch/dataplane/paths/path_warnings.h"
#include "switch/dataplane/queues/egress.h"
#include "switch/dataplane/queues/ingress_buffer.h"
#include "switch/dataplane/state/shard_context.h"

namespace eddy {

class PauseControl {
 public:
  PauseControl(ShardContext& context, IngressBuffer& buffer, Egress& egress,
               pfc::PauseSender& sender, PathWarnings& warnings, size_t ports);

  // A MAC control frame. Takes it; false: it is none that ports of ours obey, and is dropped.
  bool mac_control(Packet* packet);
  // A packet that is discarded where it arrives, because its group's queue is in a storm.
  void count_discarded(const Packet& packet);
  // Gives the ports their due PFC frames.
  void send_frames() {
    if (sender_.owes(context_.now)) [[unlikely]]
      send_owed();
  }
  void link_changed(PortId port, bool up);
  void adopt(const Snapshot& now);
  void on_timers();
  void rebase(const Rebase& rebase) {
    receiver_.rebase(rebase);
    watchdog_.rebase(rebase);
  }
  void resume_all() { sender_.resume_all(); }
  // Of pfc_rx_paused_ps: what has passed of a pause in force and is not counted yet.
  Duration uncounted_pause(PortId port, Priority priority, Instant now) const {
    return receiver_.uncounted_time(port, priority, now);
  }

 private:
  // Of a queue and of the priority groups that its pauses fill.
  struct Traffic {
    uint64_t tx = 0;
    uint64_t tx_dropped = 0;
    uint64_t rx = 0;
    uint64_t rx_dropped = 0;
  };
  void apply(const pfc::PauseChange& change);
  void count(const pfc::PauseChange& change);
  Traffic traffic_of(PortId port, size_t queue) const;
  Traffic& counted(PortId port, size_t queue) {
    return counted_[port.index() * kPriorities + queue];
  }
  void begin_storm(PortId port, size_t queue);
  void count_storm(PortId port, size_t queue);
  // The queue whose pauses are answered by pausing the group's sender.
  size_t queue_of(PortId port, size_t pg) const;
  void on_verdict(const pfc::WatchdogVerdict& verdict);
  void follow(PortId port);
  void send_owed();
  bool send_frame(const pfc::OwedPause& frame);

  ShardContext& context_;
  IngressBuffer& buffer_;
  Egress& egress_;
  pfc::PauseSender& sender_;
  PathWarnings& warnings_;
  pfc::PauseReceiver receiver_;
  pfc::Watchdog watchdog_;
  Reserved<Traffic> counted_;  // of queues in a storm, by port and queue: what is in counters
};

}  // namespace eddy
