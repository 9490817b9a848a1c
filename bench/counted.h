// Counted: a case that runs a fixed number of polls, so that callgrind can count its instructions.
//
// The work is done inside ShardImpl::poll(), which is what callgrind collects. A poll of a case
// brings the same number of packets each time.
#pragma once

#include <cstddef>
#include <functional>
#include <string>

namespace eddy::bench {

struct Counted {
  std::string name;
  size_t packets = 0;  // a poll, of all shards together
  std::function<void(size_t polls)> run;
};

}  // namespace eddy::bench
