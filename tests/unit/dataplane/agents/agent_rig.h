// Two leaves behind two spines whose schemes speak, and RoCEv2 between their hosts. Owner: one
// test.
#pragma once

#include <string>

#include "net/roce.h"
#include "tests/support/path_fabric.h"
#include "tests/unit/dataplane/agents/talker.h"

namespace eddy::test {

struct AgentRig : PathFabric {
  struct With {
    std::string leaves = "talker";
    std::string spines = "ecmp";
    size_t shards = 1;
    size_t spine_count = 2;
    bool rlb = false;
  };
  AgentRig() : AgentRig(With{}) {}
  explicit AgentRig(const With& with)
      : PathFabric({.service = {.common_clock = true, .base_rtt = kBaseRtt},
                    .shards = with.shards,
                    .spines = with.spine_count,
                    .change =
                        [&with](config::SwitchConfig& leaf) {
                          leaf.load_balancer.scheme = with.leaves;
                          if (with.rlb) leaf.rlb = config::rlb_preset(config::RlbPreset::standard);
                        },
                    .change_spine =
                        [&with](config::SwitchConfig& spine) {
                          spine.load_balancer.scheme = with.spines;
                        }}) {}
  AgentRig(const AgentRig&) = delete;
  AgentRig& operator=(const AgentRig&) = delete;

  // Of leaf l, from 0.
  Talk& of_leaf(size_t l, size_t shard = 0) { return talk(shape.leaves[l].id, ShardId(shard)); }
  Talk& of_spine(size_t s, size_t shard = 0) { return talk(shape.spines[s].id, ShardId(shard)); }

  // A leaf's agent is called now, and says what the test wants it to.
  void speak(Talk& who, std::function<void(lb::Voice&)> what, Duration then = 10_us) {
    who.on_timers = std::move(what);
    who.deadline = Instant();
    for (const auto* nodes : {&leaves, &spines})
      for (const size_t node : *nodes) fabric.poll(node);
    run_for(then);
    who.on_timers = nullptr;
  }
  uint64_t count_spine(size_t s, PortCounter which) {
    uint64_t total = 0;
    for (size_t port = 0; port < spine(s).port_count(); ++port)
      total += test::count(spine(s), port, which);
    return total;
  }
};

}  // namespace eddy::test
