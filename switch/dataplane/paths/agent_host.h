// AgentHost: where the path agents of a shard live (lb/agent.h). It asks each for what it declared,
// in bursts, and is the Voice by which they speak.
//
// The agents are the scheme's, if it speaks, and those that stand by themselves because something
// else needs them (Snapshot::schemes). All that comes in by a port is gathered and told before
// packets that came with it go on. What an agent may not do it does not get done: fields and frames
// that it did not declare and frames beyond its share of a port's line are counted and not sent.
// Frames in our own name or of a leaf that is none of ours are counted and not heard, and so are
// those of a scheme that nobody here speaks. A frame that is heard is told to the agents of all
// shards, by mail. Owner: the shard. Bounds: kMostAgents; kMostHeard frames a poll. Cost: nothing
// for a packet where no agent asks. Source: docs/adr/0025.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "lb/agent.h"
#include "net/byte_order.h"
#include "net/ids.h"
#include "net/packet.h"
#include "net/rebase.h"
#include "net/shim.h"
#include "switch/dataplane/paths/control_frames.h"
#include "switch/dataplane/paths/failure_detector.h"
#include "switch/dataplane/paths/path_service.h"
#include "switch/dataplane/state/mailbox.h"
#include "switch/dataplane/state/reply_flows.h"
#include "switch/dataplane/state/shard_context.h"
#include "switch/dataplane/state/shim_layout.h"

namespace eddy {

class AgentHost final : public lb::Voice {
 public:
  static constexpr size_t kMostAgents = 4;
  static constexpr uint32_t kMostHeard = 64;            // frames of agents, by a poll
  static constexpr int64_t kSendBurst = 2 * kMaxPaths;  // frames that a port sends at once

  struct Services {
    IngressBuffer& buffer;
    ControlFrames& frames;
    PathService& paths;
    const FailureDetector& failures;
  };
  AgentHost(ShardContext& context, const Services& services, size_t ports)
      : context_(context), services_(services), budgets_(ports) {}

  // A packet with a shim came in at a fabric port.
  void arrived(const Packet& packet, uint32_t shim_offset);
  // A control frame with a shim, from a fabric port. Takes it; or makes it ready to go on by the
  // set that is returned.
  std::optional<uint16_t> control(Packet* packet);
  // Of a feedback frame, as ShortWay::is_feedback() has it, that is sound: control() would have the
  // path service hear it, and nobody else.
  bool is_for_paths(const Packet& packet) const {
    const uint8_t* const shim = packet.data() + kEthernetHeader;
    return hears_feedback_ && packet.wire_len <= ControlFrames::kLongest &&
           LeafId(load_be16(shim + shim_at::kDestination)) == context_.snapshot->leaf;
  }
  // Takes such a frame.
  void feedback(Packet* packet, PortId port);
  // By mail: what another shard heard.
  void take(const PathReport& report);
  void take(const AgentMail& mail);
  bool has_news() const { return something_came_; }
  // Tells the agents what came in.
  void tell() {
    if (has_news()) [[unlikely]]
      tell_agents();
  }

  // Some agent writes in shims.
  bool dresses() const { return dressers_ != 0; }
  void dress(std::span<lb::Dressing> burst);
  // Who does so is at most one, that can be asked briefly.
  bool dresses_briefly() const { return dressers_ <= 1; }
  // As lb::PathAgent; true where nobody writes. At most kBurst.
  bool dress_briefly(std::span<Packet* const> burst, std::span<const uint16_t> sets,
                     std::span<uint32_t, kBurst> briefs);
  // And these say a tolerable delay of each packet.
  bool says_delays() const {
    return dresser_ != nullptr && (dresser_->speech().fields & lb::kFieldDelay) != 0;
  }
  // Beside that; null: none.
  lb::LoadReports* reports() const { return reports_; }
  // Fields that no agent declared which was asked until now; they are counted.
  void take_out_undeclared(lb::Dressing& dressing);
  uint8_t declared() const { return declared_; }  // fields, of the agents of the last dress()
  // Some agent hears of answers to our hosts.
  bool hears_replies() const { return asks_.replies; }
  // Some agent is told of waits.
  bool hears_waits() const { return asks_.waits; }
  // They are told before this poll sends; more than kBurst a poll are not.
  void wait(const lb::Waiting& waiting);
  void tell_waits();
  // Packets whose egress port is chosen, at most kBurst.
  void watch_replies(std::span<Packet* const> packets);

  void adopt(const Snapshot& now);
  void on_timers();
  // At the end of a poll: whatever was asked may have set a deadline.
  void follow_timers() {
    if (may_have_new_deadlines()) [[unlikely]]
      read_deadlines();
  }
  // An agent that stands by itself sets its deadline when it is called, a scheme's also as it
  // chooses, and as its stage has packets.
  bool may_have_new_deadlines() const { return scheme_sets_timers_ || (called_ && asks_.timers); }
  void rebase(const Rebase& rebase);

  // lb::Voice
  lb::PathView view() override { return context_.view_without_loop(); }
  LeafId leaf() const override { return context_.snapshot->leaf; }
  lb::PathTable* paths() override { return context_.paths; }
  bool is_own_set(uint16_t set) const override;
  bool owns(lb::PathKey path) const override;
  bool wants_answer(lb::PathKey path) const override;
  bool stamps_prove() const override { return services_.paths.keeps_up(); }
  void wake_others() override { services_.paths.wake_others(); }
  Duration proof_lag() const override { return context_.snapshot->path_plan.proof_lag; }
  bool send(const lb::Utterance& utterance) override;
  bool pause_host(PortId port, PriorityGroupId pg, bool on) override;
  void disbelieve(PortId port) override { context_.count(port, PortCounter::agent_frames_stale); }

 private:
  struct Asks {  // what some agent declared
    bool arrivals = false;
    bool replies = false;
    bool waits = false;
    bool timers = false;
    uint16_t hears = 0;
    uint16_t overhears = 0;
  };
  // Of frames that agents sent by a port: the time at which they would have been due at their share
  // of its line.
  struct Budget {
    Instant due = Instant::long_past();
  };

  bool dresses(const lb::PathAgent& agent) const;
  void add(lb::PathAgent* agent);
  void note(const Packet& packet, lb::Arrival& arrival);
  void tell_agents();
  bool is_believable(PortId port, const Shim& shim);
  bool is_understood(ShimKind kind) const;
  bool hear(PortId port, const ShimControl& message, bool for_us);
  void tell_other_shards(const lb::HeardFrame& frame);
  bool may_make(const lb::PathAgent& agent, const lb::Utterance& utterance) const;
  bool take_budget(PortId port, uint8_t line_percent);
  void read_deadlines();
  // Before any call of it.
  void let_speak(const lb::PathAgent* agent) {
    speaker_ = agent;
    called_ = true;
  }
  std::span<lb::PathAgent* const> agents() const { return {agents_.data(), agent_count_}; }

  ShardContext& context_;
  Services services_;
  Asks asks_;
  std::array<lb::PathAgent*, kMostAgents> agents_{};  // of the snapshot
  size_t agent_count_ = 0;
  size_t standing_ = 0;                     // of these, not a selector's
  uint8_t declared_ = 0;                    // fields, of the agents asked in this dress()
  size_t dressers_ = 0;                     // agents that write in shims
  lb::PathAgent* dresser_ = nullptr;        // of these the last
  lb::LoadReports* reports_ = nullptr;      // its
  const lb::PathAgent* speaker_ = nullptr;  // whose call it is
  const lb::PathAgent* pauser_ = nullptr;   // who has paused hosts
  ReplyFlows* flows_ = nullptr;             // of the snapshot; null: no agent hears replies
  Instant heard_at_;                        // the poll whose frames heard_now_ counts
  uint32_t heard_now_ = 0;
  bool hears_feedback_ = false;  // feedback frames are the path service's alone
  bool scheme_sets_timers_ = false;
  bool called_ = false;          // some agent, since deadlines were read
  bool something_came_ = false;  // that no agent has been told yet
  size_t arrival_count_ = 0;
  size_t heard_count_ = 0;
  std::array<lb::Arrival, kBurst> arrivals_{};  // that no agent has been told yet
  std::array<lb::HeardFrame, kBurst> heard_{};  // likewise
  size_t wait_count_ = 0;
  std::array<lb::Waiting, kBurst> waits_{};  // likewise
  std::vector<Budget> budgets_;              // by port
};

}  // namespace eddy
