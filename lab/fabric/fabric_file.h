// Fabrics from files: our own description, and the topology files of the HPCC simulator and its
// descendants (ConWeave).
//
// Ours has one thing a line, words between blanks, '#' for comments:
//   switch NAME...
//   hosts  SWITCH [count=1] [rate=] [delay=]        without rate and delay: the experiment's
//   link   SWITCH SWITCH [count=1] [rate=] [delay=]
// HPCC's begins with "nodes switches links", then the numbers of the switches, then a line a link:
// "source destination rate delay error-rate". Switches are called "switch<number>" there.
//
// In both a switch's tier is its distance from the nearest switch with hosts. Where every link
// joins two tiers and every host is reached so, packets go up and down; else by all shortest ways.
// Problems are told with file:line:column, all at once. Control plane only. Source: reference E.0,
// E.6; the HPCC simulator's format.
#pragma once

#include <string>

#include "config/experiment.h"
#include "lab/fabric/fabric_plan.h"
#include "net/result.h"

namespace eddy::lab {

// TopologyKind file or hpcc, from config.file.
[[nodiscard]] Result<FabricPlan> read_fabric(const config::TopologyConfig& config);
// From the text of a file; `name` stands for it in messages.
[[nodiscard]] Result<FabricPlan> parse_fabric(const std::string& name, std::string text,
                                              const config::TopologyConfig& config);

}  // namespace eddy::lab
