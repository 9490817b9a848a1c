// Faults: what an experiment breaks, scheduled in its world.
//
//   link_flap        links (hosts: theirs) go down and come back; frames in flight are lost
//   slow_link        the senders of links become slower: a switch's shaper by live
//                    reconfiguration, a host's NIC by its line rate
//   black_hole       packets of chosen pairs of hosts are lost on the way into a switch; by
//                    fraction, also what chosen pairs of leaves say to each other
//   random_drop      packets are lost on lines, or on the way into switches
//   corruption       one bit of a header is flipped there
//   pfc_loss, pfc_duplicate, pfc_delay   the same for PFC frames alone
//   cnm_loss, cnm_duplicate              and for congestion notification messages alone
//   pause_storm      hosts pause their leaf, one spoofed longest PFC frame every `period`
//   slow_receiver    hosts take their data at `rate` out of a finite buffer (SlowReceiver)
//   switch_stall     switches are not polled for `duration`
//   pool_exhaustion  switches get no packets for frames of their own; no switch named: the packet
//                    pool of the world gives out only what comes back to it
//   reconfigure      keys of switches change live, and back after `duration`
//
// A fault is on from `start` for `duration` (0: to the end), again every `period` (pause_storm:
// period is the time between frames). Overlapping faults add up: the slowest rate holds, a link is
// up when no fault has it down. Deterministic: the same seed breaks the same. Owner: one run; the
// topology must outlive it and it must outlive the world's run. Cost: lines that no fault concerns
// pay nothing. Source: reference C.6, E.1; FaultPlan for names.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "config/experiment.h"
#include "lab/fabric/topology.h"
#include "lab/faults/fault_plan.h"
#include "lab/faults/line_fault.h"
#include "lab/faults/slow_receiver.h"
#include "lab/world/world.h"
#include "net/result.h"

namespace eddy::lab {

// Sets a key of a switch ("buffer.profiles.lossless.xoff") as a configuration file would, or says
// why not. The lab has no YAML of its own.
using SetKey = std::function<Problems(config::SwitchConfig& config, const std::string& key,
                                      const std::string& value)>;

struct FaultReport {
  config::FaultType type{};
  uint64_t begun = 0;  // times
  // slow_receiver: those of its hosts, whichever such fault they are due to.
  uint64_t frames = 0;  // lost, damaged, doubled or delayed; pauses that were spoofed or begun
  uint64_t lost = 0;    // slow_receiver: frames that did not fit its buffer
};

// What is wrong with the faults of an experiment, as far as can be known without a world.
[[nodiscard]] Problems fault_problems(const config::Experiment& experiment,
                                      const Topology& topology, uint64_t seed,
                                      const SetKey& set_key);

class Faults {
 public:
  // Before the world runs. All problems at once, "faults.0.links.1: what, what would be valid".
  static Result<std::unique_ptr<Faults>> install(const config::Experiment& experiment,
                                                 const Topology& topology, World& world,
                                                 uint64_t seed, const SetKey& set_key = nullptr);
  ~Faults();

  std::vector<FaultReport> report() const;  // by fault
  // A reconfiguration that a switch refused in mid-run, which stops the world.
  const Problems& problems() const { return problems_; }

 private:
  struct Fault {
    FaultPlan plan;
    std::unique_ptr<LineFault> frames;
    bool on = false;
    uint64_t begun = 0;
    uint64_t spoofed = 0;
  };
  // Several faults of one line, in their order.
  class Layers final : public LineFilter {
   public:
    explicit Layers(size_t lines) : faults_(lines) {}
    void add(World& world, uint32_t line, LineFault* fault);
    void remove(World& world, uint32_t line, LineFault* fault);
    Verdict judge(uint32_t line, Packet& packet, Instant now) override;

   private:
    std::vector<std::vector<LineFault*>> faults_;
  };

  Faults(const config::Experiment& experiment, const Topology& topology, World& world,
         const SetKey& set_key);
  void prepare(FaultPlan&& plan, uint64_t seed);
  void plan_begin(Fault& fault, Instant at);
  void begin(Fault& fault);
  void end(Fault& fault);
  void turn(Fault& fault);
  void cut_links(const Fault& fault);
  void slow_links(const Fault& fault);
  void set_layers(Fault& fault);
  void slow_receivers(const Fault& fault);
  void storm(Fault& fault);
  void stall(const Fault& fault);
  void starve(const Fault& fault);
  void reconfigure(uint32_t index);
  // Puts what the fault changes of the switch with this index into its configuration.
  Problems edit(uint32_t index, const Fault& fault, config::SwitchConfig& config) const;
  BitRate host_rate(uint32_t host) const;
  BitRate drain_of(uint32_t host) const;
  bool is_on(config::FaultType type, uint32_t switch_index) const;

  const Topology& topology_;
  World& world_;
  config::HostConfig host_;
  SetKey set_key_;
  Layers layers_;
  std::vector<std::unique_ptr<Fault>> faults_;
  std::map<uint32_t, std::unique_ptr<SlowReceiver>> receivers_;  // by host
  std::map<uint32_t, int> down_;  // by line: how many faults have its link down
  Problems problems_;
};

}  // namespace eddy::lab
