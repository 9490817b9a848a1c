// A fabric in the lab's world with the experiment's faults, under the checker; for tests.
#pragma once

#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <vector>

#include "lab/check/fabric_checker.h"
#include "lab/fabric/topology.h"
#include "lab/faults/faults.h"
#include "lab/world/world.h"
#include "tests/unit/lab/fabric/fabrics.h"

namespace eddy::test {

inline lab::Flow flow_of(uint32_t source, uint32_t destination, Bytes size, Instant start = {}) {
  return {.source = source,
          .destination = destination,
          .size = size,
          .start = start,
          .source_port = static_cast<uint16_t>(50'000 + source)};
}

// Nothing slows the senders but windows, pauses and faults.
inline config::Experiment plain_experiment(int leaves, int spines, int hosts) {
  config::Experiment experiment = leaf_spine_of(leaves, spines, hosts);
  experiment.host.congestion_control = "none";
  experiment.host.rto = 500_us;
  return experiment;
}

struct CheckedFabric {
  CheckedFabric(const config::Experiment& experiment, const std::vector<lab::Flow>& flows,
                const lab::SetKey& set_key = nullptr)
      : CheckedFabric(experiment, flows, lab::CheckRules::of(experiment), set_key) {}

  CheckedFabric(const config::Experiment& experiment, const std::vector<lab::Flow>& flows,
                const lab::CheckRules& rules, const lab::SetKey& set_key = nullptr)
      : topology(built(experiment)) {
    auto made = lab::World::create(topology, flows, [](uint32_t, uint32_t) { return 30_us; },
                                   {.host = experiment.host,
                                    .poll_model = experiment.run.poll_model,
                                    .poll_period = experiment.run.poll_period,
                                    .poll_jitter = experiment.run.poll_jitter});
    world = std::move(*made);
    auto installed = lab::Faults::install(experiment, topology, *world, kSeed, set_key);
    for (const std::string& problem : installed ? Problems{} : installed.problems())
      ADD_FAILURE() << problem;
    if (installed) faults = std::move(*installed);
    checker = std::make_unique<lab::Checker>(*world, topology, rules, "this test");
  }

  // Until all flows have ended and what is left has settled; all invariants hold.
  void complete(Instant limit = Instant() + 200_ms) {
    EXPECT_TRUE(world->run_to_completion(limit));
    settle();
  }
  void settle() {
    world->run_until(world->now() + 5_ms);
    checker->finish();
    EXPECT_TRUE(checker->problems().empty()) << checker->problems().front();
    EXPECT_TRUE(faults->problems().empty()) << faults->problems().front();
    EXPECT_GT(checker->checks(), 0u);
  }

  Duration fct(size_t flow) const {
    return world->records()[flow].sender_done - world->flows()[flow].start;
  }
  uint64_t frames(size_t fault = 0) const { return faults->report()[fault].frames; }
  uint64_t lost_on_lines() const {
    uint64_t lost = 0;
    for (const uint64_t of_line : world->lost()) lost += of_line;
    return lost;
  }
  uint64_t dropped(DropReason reason) const {
    return sum([reason](const PortCounters& port) { return port.drops.read(reason); });
  }
  uint64_t port_sum(PortCounter which) const {
    return sum([which](const PortCounters& port) { return port.port.read(which); });
  }
  uint64_t pfc_sum(PfcCounter which) const {
    return sum([which](const PortCounters& port) {
      uint64_t all = 0;
      for (size_t i = 0; i < kPriorities; ++i) all += port.pfc[i].read(which);
      return all;
    });
  }
  uint64_t nic_sum(host::NicCounter which) const {
    uint64_t all = 0;
    for (size_t i = 0; i < world->host_count(); ++i) all += world->nic(i).counter(which);
    return all;
  }

  static constexpr uint64_t kSeed = 1;
  lab::Topology topology;
  std::unique_ptr<lab::World> world;
  std::unique_ptr<lab::Faults> faults;
  std::unique_ptr<lab::Checker> checker;

 private:
  template <class Read>
  uint64_t sum(Read read) const {
    uint64_t all = 0;
    for (size_t i = 0; i < world->switch_count(); ++i)
      for (size_t port = 0; port < world->switch_at(i).port_count(); ++port)
        all += read(world->switch_at(i).counters(ShardId(0))[PortId(port)]);
    return all;
  }
};

}  // namespace eddy::test
