// FabricPaths: how far hosts are apart: links, delays and rates of the best way that the path sets
// allow, and what follows from it: base RTT and the ideal flow completion time.
//
// The best way has the fewest links and, of those, the fastest slowest link; ties go to the first.
// Hosts are numbered as in Topology::hosts. Immutable; keeps the topology by reference. Cost:
// making one is linear in the path sets of all switches, a question in the links of a way. Source:
// reference D.5, I-6.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "config/experiment.h"
#include "lab/fabric/topology.h"
#include "net/units.h"

namespace eddy::lab {

class FabricPaths {
 public:
  explicit FabricPaths(const Topology& topology);

  struct Path {
    int links = 0;     // both hosts' included; 0: no way
    Duration delay{};  // one way, propagation only
    BitRate bottleneck;
    uint64_t ways = 0;  // how many different ways the path sets allow in all
  };
  [[nodiscard]] Path path(uint32_t source, uint32_t destination) const;
  // There and back without queues: propagation both ways, and `packet` octets on each link of the
  // way there.
  [[nodiscard]] Duration base_rtt(uint32_t source, uint32_t destination, Bytes packet) const;
  // The largest rate of a host times its base RTT to another. A dilated fabric has that of the one
  // it stands for.
  [[nodiscard]] Bytes largest_bdp(Bytes packet) const;
  // Of a flow in packets of `payload` octets and `header` more on the line, alone in the fabric.
  struct Packets {
    Bytes payload;
    Bytes header;
  };
  [[nodiscard]] Duration ideal_fct(uint32_t source, uint32_t destination, Bytes size,
                                   const Packets& packets) const;

 private:
  static constexpr uint32_t kNone = 0xffffffff;

  struct Step {  // of a switch towards a path set's leaf
    uint32_t link = kNone;
    int links = 0;  // to the leaf; 0: not known or no way
    BitRate bottleneck;
    uint64_t ways = 0;
    bool begun = false;
  };
  using Members = std::vector<std::vector<std::vector<uint32_t>>>;  // by set, by switch: links

  size_t set_of(LeafId id);
  Members members();
  const Step& find(size_t set, size_t at, size_t end, const Members& members);
  // Calls visit(rate, delay) for each link of the way; false: there is none.
  template <class Visit>
  bool walk(uint32_t source, uint32_t destination, Visit visit) const;

  const Topology& topology_;
  std::vector<size_t> sets_;              // by leaf id: position in steps_
  std::vector<std::vector<Step>> steps_;  // by set, by switch
  std::vector<size_t> set_of_host_;
};

// Hosts of one leaf are alike but for their rates and delays: two of each stand for all, the second
// for pairs under one leaf.
[[nodiscard]] std::vector<uint32_t> typical_hosts(const Topology& topology);

// For `eddylab topology`: sizes, rates, RTTs, buffers and what is worth knowing before a run.
[[nodiscard]] std::string describe_topology(const config::Experiment& experiment,
                                            const Topology& topology);

}  // namespace eddy::lab
