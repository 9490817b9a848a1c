// A small run with known numbers, for tests of results.
#pragma once

#include "lab/run/run_record.h"

namespace eddy::lab {

// Ten measured flows of 1,000 to 10,000,000 octets, one of them unfinished, and one that is not
// measured; all numbers grow with the seed.
inline RunRecord sample_run(const std::string& variant, uint64_t seed) {
  RunRecord run;
  run.identity = {.experiment = "sample",
                  .title = "A sample",
                  .size = "ci",
                  .variant = variant,
                  .commit = "abc",
                  .config_hash = 0x1234,
                  .config = "id: sample\n",
                  .rlb = {},
                  .bdp_bytes = 50'000,
                  .expect = {"It works."},
                  .replay = "eddylab run sample.yaml"};
  run.topology.hosts.resize(2);
  run.topology.hosts[0].name = "leaf1.host1";
  run.topology.hosts[1].name = "leaf2.host1";
  run.topology.hosts[1].node = 300;
  RunResult& result = run.result;
  result.scheme = "ecmp";
  result.seed = seed;
  std::vector<double> fct;
  std::vector<double> slowdown;
  constexpr int kFlows = 11;
  constexpr int64_t kSizes[] = {1'000, 10'000, 100'000, 1'000'000, 10'000'000};
  for (int i = 0; i < kFlows; ++i) {
    FlowResult flow;
    flow.flow = {.source = 0,
                 .destination = 1,
                 .size = Bytes(kSizes[i % 5]),
                 .start = Instant() + Duration::microseconds(i),
                 .source_port = 50'000};
    flow.measured = i != 0;
    flow.finished = i != kFlows - 1;
    flow.ideal = Duration::microseconds(10);
    flow.fct = flow.ideal * (i + static_cast<int64_t>(seed));
    flow.receiver_fct = flow.fct - Duration::microseconds(1);
    flow.slowdown = static_cast<double>(i) + static_cast<double>(seed);
    flow.sent.sent_packets = 7;
    result.flows.push_back(flow);
    if (!flow.measured || !flow.finished) continue;
    fct.push_back(static_cast<double>(flow.fct.ns()) / 1e3);
    slowdown.push_back(flow.slowdown);
  }
  result.unfinished = 1;
  result.censored = true;
  result.fct_us = statistics(fct);
  result.slowdown = statistics(slowdown);
  result.ooo_ratio = 0.25;
  result.pfc_events = 10 * seed;
  result.counters = {{"rx_packets", 5}};
  result.samples = {{.at = Instant() + Duration::microseconds(10), .max_queue = 2'048},
                    {.at = Instant() + Duration::microseconds(20), .max_queue = 4'096}};
  result.digest = 0xfeed + seed;
  return run;
}

}  // namespace eddy::lab
