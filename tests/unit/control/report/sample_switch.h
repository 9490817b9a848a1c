// A small switch as configuration and samples made by hand: what reports are tested on.
#pragma once

#include <deque>
#include <vector>

#include "config/config.h"
#include "switch/control/report/report.h"

namespace eddy::control {

inline size_t index_of(auto counter) {
  return static_cast<size_t>(counter);
}

// Two ports: "host1" (up, worker 0) and "spine1" (fabric, down, worker 1); leaf 2 over spine1.
struct SampleSwitch {
  config::SwitchConfig config = config::default_switch("leaf1");
  Sample earlier;
  Sample now;
  std::vector<PortNumbers> baseline;
  std::vector<NeighborRow> neighbors;
  std::vector<SchemeParameterRow> schemes;
  std::deque<LoggedEvent> events;
  FlowSurvey flows;
  std::vector<IsolatedRow> isolated;

  SampleSwitch() {
    for (const char* name : {"host1", "spine1"}) config.ports.push_back(config::default_port(name));
    config.ports[1].role = config::PortRole::fabric;
    config.ports[1].worker = 1;
    config.ports[0].addresses = {*parse_ip_prefix("10.1.0.1/24")};
    config.leaves.push_back({LeafId(2), {config::PathConfig{"spine1"}}});
    config.routes.push_back({*parse_ip_prefix("10.2.0.0/16"), LeafId(2), {}});
    for (Sample* sample : {&earlier, &now}) {
      sample->numbers.resize(2);
      sample->ports.resize(2);
    }
    earlier.at_ns = 1'000'000'000;
    now.at_ns = 2'000'000'000;
    now.ports[0].up = true;
  }

  ReportInput input() const {
    return {.config = config,
            .now = now,
            .earlier = &earlier,
            .baseline = baseline,
            .neighbors = neighbors,
            .flows = &flows,
            .isolated = isolated,
            .schemes = schemes,
            .events = events,
            .generation = 3,
            .started_at_ns = 500'000'000};
  }
};

}  // namespace eddy::control
