// ShardCommands: requests from control to shards, carried out inside their polls, awaited here.
//
// A worker that does not answer in time leaves its command alive here until it does, so that it
// never writes to freed memory. Owner: control, under its mutex. Bounds: kWaitRounds waits a call.
#pragma once

#include <functional>
#include <memory>
#include <string_view>
#include <vector>

#include "net/result.h"
#include "switch/dataplane/object/switch.h"
#include "switch/dataplane/state/explanation.h"
#include "switch/explain/description.h"
#include "switch/explain/loose_packet.h"

namespace eddy::control {

// Of all workers.
struct FlowSurvey {
  std::vector<FlowRow> rows;   // those wanted, the least idle first
  uint64_t matching = 0;       // how many were wanted; more than `rows` where those are cut
  uint64_t watched = 0;        // flows that the order guards know
  uint64_t places = 0;         // that their tables have
  uint64_t scheme_flows = 0;   // flows or flowlets in the schemes' own tables
  uint64_t scheme_places = 0;  // that those have
  bool phased = false;         // the scheme says how many of its flows
  uint64_t asking = 0;         // wait for an answer of their path
  uint64_t moved = 0;          // have left one that is not yet proven empty
};

class ShardCommands {
 public:
  // `wait` is called between looks at a command.
  ShardCommands(Switch& object, std::function<void()> wait);

  // Waits until every worker has begun and finished a poll: it obeys the newest configuration, and
  // what it did before is done. Empty = done.
  Problems meet();
  // Empty = done.
  Problems set_port_tx(PortId port, ShardId owner, bool on);
  // Of a port; none: of every port, and of the pools.
  Problems clear_watermarks(PortId port, const WatermarkScope& scope);
  Result<std::vector<NeighborRow>> neighbors();
  // Null: it ends. `lives`: what the order is part of, as long as the shard may look at it.
  Problems capture(ShardId shard, const CaptureOrder* order, std::shared_ptr<const void> lives);
  // By the worker of the port by which the packet would come.
  Result<Explanation> explain(const explain::Description& packet);
  // As the first worker sees them.
  Result<std::vector<PathRow>> paths();
  // Of all workers, one after the other: a host that several know has a row of each.
  Result<std::vector<IsolatedRow>> isolated();
  // The first `most` of the rows that `wants` lets through. A command a FlowScan::kPlaces places.
  using WantsFlow = std::function<bool(const FlowRow&)>;
  Result<FlowSurvey> flows(const WantsFlow& wants, size_t most);

 private:
  struct Pending {
    Command command;
    std::vector<NeighborRow> rows;
    std::vector<PathRow> path_rows;
    std::vector<FlowRow> flow_rows;
    std::vector<IsolatedRow> isolated_rows;
    std::shared_ptr<const void> lives;
    std::unique_ptr<explain::LoosePacket> packet;
    std::unique_ptr<Explanation> explanation;
  };
  // One worker's.
  Problems add_flows(ShardId shard, const WantsFlow& wants, size_t most, FlowSurvey& survey);
  // Posts it to the shard and waits.
  Problems run(ShardId shard, std::unique_ptr<Pending>& pending, std::string_view what);

  Switch& object_;
  std::function<void()> wait_;
  std::vector<std::unique_ptr<Pending>> late_;  // given up waiting for
};

}  // namespace eddy::control
