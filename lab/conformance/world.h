// World: the switch that a selector of the suite sees. Six path sets from one member to 64; queues,
// loads, pauses, what is measured of paths, members that die and return, and, where it is a world
// for RLB, warnings, a table of flows and proofs of arrival. All of it comes from a seed.
#pragma once

#include <cstdint>
#include <memory>

#include "lab/conformance/burst.h"
#include "lab/conformance/paths.h"
#include "net/random.h"
#include "net/rebase.h"

namespace eddy::conformance {

inline constexpr uint64_t kSeed = 20'260'701;

lb::test::Paths six_sets();
// Of as many members each.
lb::test::Paths six_alike_sets();

class World {
 public:
  struct Plan {
    bool warned = false;   // warnings come and go
    bool watched = false;  // there is a table of flows for RLB's order guard
    bool settled = false;  // all packets of a flow have one path set, as those of a loop must have
    bool alike = false;    // the sets are six_alike_sets()
  };
  // `slots`: the selector's, if it has some, as in a switch.
  explicit World(const Plan& plan, std::shared_ptr<lb::FlowSlots> slots = nullptr);

  // Time passes, the world changes, and packets of random flows come. With deaths: of members.
  void next(Burst& burst, bool with_deaths = true);
  void wait(Duration time) { now_ = now_ + time; }
  // The clock of the switch goes forward and back in turn.
  void move_clock(lb::Selector& selector);

  lb::PathView view(lb::WaitingRoom* loop = nullptr);
  lb::test::Paths& paths() { return paths_; }

 private:
  Instant now() const { return now_ + ahead_; }
  void change_ports();
  void measure(uint16_t set);
  void warn();

  lb::test::Paths paths_;
  lb::WarningTable warnings_;
  lb::FlowPaths flows_;
  std::shared_ptr<lb::FlowSlots> slots_;
  Plan plan_;
  RandomStream random_{kSeed, 0, 0};
  Instant now_ = Instant::at(Duration::milliseconds(1));
  Duration ahead_;
  uint32_t packets_ = 0;
};

}  // namespace eddy::conformance
