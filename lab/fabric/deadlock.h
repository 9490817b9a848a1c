// Whether lossless frames could wait for each other in a circle: a cycle in the graph of channels.
//
// A channel is a cable in one direction, or one of its virtual channels; it waits for another when
// some frame arrives by the first and goes on by the second. Up/down routing has no cycle; shortest
// ways in other graphs, and dragonfly's with one lossless priority, may. Between virtual channels
// frames rise as config::rises() says, which is what switches do. With isolation a cable's
// direction has two classes: each switch may put a frame into the one or the other, and the
// isolated one waits for the normal one of its port (docs/adr/0039). Control plane only. Cost:
// linear in leaves x path sets x virtual channels, and in the dependencies found. Source: reference
// A.16 (deadlock), A.17; "Channel dependency" in docs/papers.md.
#pragma once

#include <string>
#include <vector>

#include "lab/fabric/fabric_plan.h"

namespace eddy::lab {

struct ChannelUse {
  int channels = 0;       // virtual ones of a lossless priority; 0: frames never rise
  bool detours = false;   // frames may begin by lab/fabric/detours.h
  bool isolates = false;  // without virtual channels
};
struct Circles {
  std::string circle;  // "leaf1 > leaf2 > leaf1", by the switches of one; empty: there is none
  std::string beyond;  // "leaf1 > leaf2": a cable after which a frame needs one more channel
};
[[nodiscard]] Circles circles_of(const FabricPlan& plan, const ChannelUse& use);
// The circle, with one priority.
[[nodiscard]] std::string waiting_circle(const FabricPlan& plan);

}  // namespace eddy::lab
