// What a shard knows of paths, as rows for reports.
//
// Threads: the shard, by a command of control. Cost: some loads a path.
#pragma once

#include <cstddef>
#include <span>

#include "switch/dataplane/state/command.h"
#include "switch/dataplane/state/shard_context.h"

namespace eddy {

PathRow path_row(ShardContext& context, size_t set, lb::MemberIndex member);
// Every member of every set, as far as there are rows; how many there were.
size_t dump_paths(ShardContext& context, std::span<PathRow> rows);

}  // namespace eddy
