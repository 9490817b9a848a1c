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
#include "switch/dataplane/switch.h"

namespace eddy::control {

class ShardCommands {
 public:
  // `wait` is called between looks at a command.
  ShardCommands(Switch& object, std::function<void()> wait);

  // Empty = done.
  Problems set_port_tx(PortId port, ShardId owner, bool on);
  Problems clear_watermarks();
  Result<std::vector<NeighborRow>> neighbors();
  // As the first worker sees them.
  Result<std::vector<PathRow>> paths();

 private:
  struct Pending {
    Command command;
    std::vector<NeighborRow> rows;
    std::vector<PathRow> path_rows;
  };
  // Posts it to the shard and waits.
  Problems run(ShardId shard, std::unique_ptr<Pending>& pending, std::string_view what);

  Switch& object_;
  std::function<void()> wait_;
  std::vector<std::unique_ptr<Pending>> late_;  // given up waiting for
};

}  // namespace eddy::control
