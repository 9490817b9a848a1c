// FabricPlan: a fabric before its switches are configured: which switches there are, which cable
// joins whom, where the hosts hang, and by what rule packets are routed.
//
// Every kind of topology is turned into such a plan first. Numbers are positions in the vectors.
// Owner: the builder that makes it. Source: reference A.16, A.17, E.0.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "config/experiment.h"
#include "net/units.h"

namespace eddy::lab {

enum class FabricRouting : uint8_t {
  up_down,    // shortest ways that never climb after they have gone down; needs tiers
  shortest,   // all shortest ways
  dragonfly,  // one global cable between groups: to a switch that owns one, over it, to the end
};

struct FabricPlan {
  struct Node {
    std::string name;
    int tier = 0;   // up_down: 0 is next to the hosts
    int group = 0;  // dragonfly
    uint32_t number = 0;
  };
  struct Cable {
    size_t a = 0;  // of up_down: the lower end
    size_t b = 0;
    BitRate rate;
    Duration delay;  // one way
    bool up = true;
    std::string name;
    int weight = 1;  // of paths that begin with it
    size_t other(size_t end) const { return end == a ? b : a; }
  };
  struct Host {
    size_t at = 0;
    BitRate rate;
    Duration delay;
    uint32_t number = 0;
  };

  std::string name;
  FabricRouting routing = FabricRouting::up_down;
  std::vector<Node> switches;
  std::vector<Host> hosts;  // in the order in which they are numbered on their switches
  std::vector<Cable> cables;

  size_t add_switch(std::string name, int tier, int group = 0);
  void add_hosts(size_t at, int count, const config::TopologyConfig& config);
  void add_cable(size_t a, size_t b, const config::TopologyConfig& config);
};

// "leaf1-spine2", and ".2" behind the second of parallel cables. Once all cables are there.
void name_cables(FabricPlan& plan);
// Numbers as HPCC's files have them: hosts first, then switches.
void number_nodes(FabricPlan& plan);

}  // namespace eddy::lab
