// LineFault: what one fault does to the frames of its lines: it loses, damages, doubles or delays
// them with a probability.
//
// black_hole, random_drop and corruption leave PFC frames and CNMs alone; pfc_loss, cnm_loss and
// their like are for those. Corruption flips one bit whose change must be noticed: in the IPv4
// header, whose checksum every node verifies, and, where NICs verify the ICRC, also in everything
// behind it that the ICRC covers. A frame that is no IPv4 packet is spared by these three, with one
// exception: a black hole of a fraction of pairs also takes probes and echoes of that fraction of
// pairs of leaves. Draws come from a stream of (seed, number of the fault, line), one for each
// frame concerned, in the order of time: what one line loses does not depend on the order in which
// frames of other lines are looked at. Owner: Faults. Cost: parsing a frame and finding the line's
// stream. Source: reference E.1, D.1; 802.1Q clause 36.
#pragma once

#include <cstdint>
#include <unordered_map>
#include <unordered_set>
#include <vector>

#include "config/experiment.h"
#include "lab/fabric/topology.h"
#include "lab/faults/fault_plan.h"
#include "lab/world/world.h"
#include "net/random.h"

namespace eddy::lab {

class LineFault {
 public:
  // `icrc_check`: the NICs verify the ICRC.
  LineFault(const FaultPlan& plan, const Topology& topology, uint64_t seed, bool icrc_check);

  // `line` is one of the plan's.
  LineFilter::Verdict judge(uint32_t line, Packet& packet);

  uint64_t hits() const { return hits_; }  // frames lost, damaged, doubled or delayed

 private:
  bool concerns(const Packet& packet) const;
  bool chosen_leaves(const Packet& packet) const;
  bool chosen_pair(const uint8_t* ip) const;
  void flip_bit(Packet& packet, RandomStream& random) const;

  config::FaultType type_;
  uint64_t threshold_;  // of a 32-bit draw
  Duration delay_;
  bool icrc_check_;
  uint64_t seed_;
  uint64_t pair_threshold_;
  std::unordered_set<uint64_t> pairs_;
  std::unordered_map<uint32_t, uint32_t> host_of_;  // black_hole: by IPv4 address
  std::vector<uint32_t> lines_;                     // in order
  std::vector<RandomStream> streams_;               // of the lines
  uint64_t hits_ = 0;
};

}  // namespace eddy::lab
