// flows.sqlite: every flow of a run, its hosts, its queue samples and what went over its links.
//
// Written in one transaction under a temporary name and renamed: a file under its own name is
// whole. Times are in the experiment's nanoseconds. Owner: the caller. Cost: about 2 us a flow.
// Source: reference D.5.
#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

#include "lab/run/run_record.h"
#include "net/result.h"

namespace eddy::lab {

// The problems; empty when it is written.
[[nodiscard]] Problems write_flows(const std::filesystem::path& file, const RunRecord& run);

// What figures need of a flow that was measured.
struct StoredFlow {
  int64_t size = 0;  // octets
  int64_t fct_ns = 0;
  double slowdown = 0;
};
struct StoredSample {
  int64_t at_ns = 0;
  int64_t max_queue_bytes = 0;
  int64_t max_buffer_bytes = 0;
  int64_t paused_queues = 0;
};
// What one end of a link sent in the whole run.
struct StoredLink {
  std::string link;
  std::string sender;
  int64_t bytes = 0;
  int64_t paused_ns = 0;
};
struct StoredRun {
  std::vector<StoredFlow> flows;  // measured and finished
  std::vector<StoredSample> samples;
  std::vector<StoredLink> links;
};
// Of a regular file whose tables are tables. It takes memory and time in proportion to the file's
// size, whatever is in it: a question that needs more is given up.
Result<StoredRun> read_flows(const std::filesystem::path& file);

}  // namespace eddy::lab
