// PathJudges: the judge of each member of each path set, of one shard.
//
// A snapshot hands them on to the next while the path sets stay the same. Owner: the shard, after
// control has made them. Bounds: 48 octets a member, taken at construction. Cost: two loads.
// Source: reference B.9; docs/adr/0011.
#pragma once

#include <cstddef>
#include <span>
#include <vector>

#include "lb/path_set.h"
#include "lb/rlb/path_judge.h"
#include "net/rebase.h"

namespace eddy {

class PathJudges {
 public:
  explicit PathJudges(std::span<const lb::PathSet> sets) {
    size_t count = 0;
    for (const lb::PathSet& set : sets) {
      first_.push_back(count);
      count += set.count;
    }
    judges_.resize(count);
  }
  void rebase(const Rebase& rebase) {
    for (lb::PathJudge& judge : judges_) judge.rebase(rebase);
  }
  lb::PathJudge& at(size_t set, lb::MemberIndex member) { return judges_[first_[set] + member]; }

 private:
  std::vector<size_t> first_;  // by set
  std::vector<lb::PathJudge> judges_;
};

}  // namespace eddy
