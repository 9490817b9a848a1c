// Checker: the invariants of a world, checked after every instant for what the instant touched.
//
// Every frame is somewhere: each line's counters agree with the frames seen to enter and leave it,
// each switch balances, and the pool's packets in use are those that switches, lines and intakes
// hold. Buffer accounts agree with each other. RLB's loop keeps to its caps. No lossless drop, no
// circle of queues that wait for each other, no paused queue that the watchdog forgot, no pause
// longer than its frames asked for, no data packet overtaken by a later one of its queue pair, as
// far as CheckRules say. When all is over nothing is held. The first violation is kept as a text
// with time, place and how to see it again, and stops the world. Owner: one run; the world must
// outlive it. Cost: a run takes several times as long: a balance reads all counters of a switch;
// the sums over all groups of a switch are taken every kSumsEvery turns of it. Source:
// architecture, sections 4 and 10.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <unordered_map>
#include <vector>

#include "lab/check/check_rules.h"
#include "lab/check/late_pauses.h"
#include "lab/check/waiting_circles.h"
#include "lab/fabric/topology.h"
#include "lab/world/world.h"
#include "net/pause_frame.h"
#include "net/result.h"

namespace eddy::lab {

class Checker final : public Watcher {
 public:
  // Watches `world` from now on. What is under way already is counted, but its order is not known.
  // `replay` is the line that runs the same again.
  Checker(World& world, const Topology& topology, const CheckRules& rules, std::string replay);
  ~Checker() override;
  Checker(const Checker&) = delete;
  Checker& operator=(const Checker&) = delete;

  // At the end of a run: everything once more. If nothing can happen any more, all flows must have
  // ended and no packet be in use; if no packet is in use, the buffers must be empty.
  void finish();
  // Empty while every invariant held.
  const Problems& problems() const { return problems_; }
  uint64_t checks() const { return checks_; }  // switches looked at
  // Packets that found no headroom because the peer read the pause too late (late_pauses.h).
  uint64_t excused() const;

  void on_frame(uint32_t line, Step step, const Packet& packet) override;
  void on_turn(uint32_t node) override;
  void on_instant() override;

 private:
  static constexpr uint64_t kSumsEvery = 16;

  struct PausedQueue {
    PortId port;
    QueueId queue;
    uint64_t sent = 0;    // packets, when last looked
    Instant since;        // of the last progress
    uint64_t frames = 0;  // that paused it, when last looked
    Instant last_frame;
    Instant renewed;  // when these frames came back after a silence
  };
  struct Node {
    uint64_t holds = 0;  // packets of the switch and its Io, as last seen
    uint64_t turns = 0;
    uint64_t dropped = 0;
    int64_t most_stages = 0;  // the largest buffer of flow stages so far, in octets
    bool touched = false;
    std::vector<PausedQueue> paused;
  };
  struct Losses {                                  // of a port, as last seen
    std::array<uint64_t, kPriorities> lossless{};  // by PG
    uint64_t no_headroom = 0;
    uint64_t excused = 0;
  };
  struct DataKey {         // of a RoCEv2 data packet
    uint64_t order = 0;    // what must stay in order; 0: any other frame
    uint32_t balance = 0;  // what its path may depend on
    bool operator==(const DataKey&) const = default;
  };
  struct Sent {  // a data packet on its way
    DataKey key;
    uint64_t number = 0;
  };
  struct FlowOrder {
    uint64_t sent = 0;
    uint64_t arrived = 0;  // the highest number
  };

  static DataKey data_key(const Packet& packet);
  void take_over();
  void check_switch(uint32_t node);
  void check_sums(uint32_t node);
  void check_stages(uint32_t node, const BufferStatus& buffer);
  void check_lossless(uint32_t node);
  uint64_t count_losses(uint32_t node, PortId port);
  void check_loop(uint32_t node);
  void check_pool();
  void check_paused(uint32_t node);
  void note_progress(Switch& object, const QueueStatus& status, PausedQueue& paused) const;
  void check_empty(uint32_t node);
  void watch_pauses(uint32_t line, const PauseFrame& pause);
  void judge_pause(uint32_t node, const PausedQueue& paused);
  void note_sent(const Packet& packet);
  void check_order(uint32_t line, const Packet& packet);
  bool is_switch(uint32_t node) const { return node < nodes_.size(); }
  std::string name_of(uint32_t node) const;
  void fail(const std::string& place, const std::string& what);

  World& world_;
  const Topology& topology_;
  CheckRules rules_;
  std::string replay_;
  std::vector<Node> nodes_;  // switches
  LatePauses late_pauses_;
  std::optional<WaitingCircles> circles_;
  std::vector<Losses> losses_;       // by the port's line
  std::vector<uint64_t> in_flight_;  // frames, by line
  uint64_t all_in_flight_ = 0;
  uint64_t all_held_ = 0;  // by switches
  std::vector<uint32_t> touched_;
  std::unordered_map<const Packet*, Sent> sent_;
  std::unordered_map<uint64_t, FlowOrder> flows_;
  Problems problems_;
  uint64_t checks_ = 0;
};

}  // namespace eddy::lab
