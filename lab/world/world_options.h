// WorldOptions: how a world runs, apart from its topology and its flows.
//
// Owner: whoever makes the world, which keeps a copy.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>

#include "config/experiment.h"
#include "net/fault_sites.h"
#include "net/units.h"

namespace eddy {
class Shard;
class Switch;
}  // namespace eddy

namespace eddy::lab {

class Exchange;
struct Waits;

// Which nodes a world runs together through windows of time, and on how many threads. It changes
// how fast a run is and never what happens in it.
struct DivisionOptions {
  enum class Grain : uint8_t {
    automatic,  // by rack, where windows are worth their cost; else one
    one,        // all nodes are one partition, which needs no windows
    rack,       // a switch and its hosts
    node,       // a switch, or a host
  };
  Grain grain = Grain::automatic;
  size_t together = 1;                 // neighbours by number that are one partition
  Duration shortest{};                 // nodes whose line is shorter are one partition
  Duration longest = Duration::max();  // of a window
  size_t threads = 1;                  // that share the partitions out, at most
  size_t windows_a_look = 0;           // after which they are shared out anew; 0: Windows' own
  bool as_worthwhile = false;          // automatic: no more threads than windows are worth
  size_t ranks = 1;                    // processes that share them out
};

struct WorldOptions {
  config::HostConfig host;
  uint64_t seed = 1;
  config::PollModel poll_model = config::PollModel::exact;
  Duration poll_period = Duration::microseconds(1);  // busy_poll
  Duration poll_jitter{};
  int poll_burst = 32;
  size_t packets = 0;  // 0 = packets_needed(); else there may be too few, and the world is one
                       // partition, since who gets the last is settled by the order of turns
  DivisionOptions division;
  // Which flows wait, by their numbers; null: none. For the time that the world is made.
  const Waits* waits = nullptr;
  // What is polled in the place of each switch's shard, by the switch's number; empty: the shard.
  std::function<std::unique_ptr<Shard>(size_t switch_index, Switch& object)> instead;
  // With the other ranks of the run, which make the same world; null: there are none.
  Exchange* exchange = nullptr;
  // In builds with fault sites: of all switches and of the world, which is then one partition.
  // Their clocks show this much more than the world's, and a site delays no poll by more than
  // `latest`.
  FaultSites* sites = nullptr;
  Duration clock_ahead{};
  Duration latest{};
  // The same: of the polls of a switch, after each that this number divides its clock is moved by a
  // rebase, forward and back in turn; 0: after none.
  uint64_t rebase_every = 0;
};

}  // namespace eddy::lab
