// FailureDetector: takes paths out of use that seem to have failed, and lets them back in.
//
// It gathers what the judges (lb/rlb/path_judge.h) ask for and carries out what they decide:
// a bit in PathTable::failed(), an event and a counter. Every shard then leaves the path out of
// what its selectors may choose from, as it does with a port that went down
// (CommonState::changes.links). The last path to a leaf stays in use. In mode guarded each path is
// judged by the shard of its port, when PathService looks at it. In mode paper each shard judges by
// the packets that leave its own loop. Owner: the shard. Bounds: the judges', made by control.
// Cost: on the packet path nothing, but in mode paper an addition for each packet that leaves the
// loop; a few loads for each look at a path. Source: reference B.9; docs/adr/0011.
#pragma once

#include <cstdint>

#include "lb/path_table.h"
#include "lb/rlb/path_judge.h"
#include "net/ids.h"
#include "net/rebase.h"
#include "switch/dataplane/state/path_judges.h"
#include "switch/dataplane/state/path_plan.h"

namespace eddy {

enum class EventKind : uint8_t;
struct ShardContext;
struct Snapshot;

class FailureDetector {
 public:
  // Of a round in the loop that the paper's window is at least as long as.
  static constexpr Duration kShortestWindow = Duration::microseconds(10);

  FailureDetector(ShardContext& context, size_t ports);

  // A path by a port of this shard, of the set that is its leaf's own, is looked at.
  void look(size_t set, lb::MemberIndex member) {
    if (judges_ != nullptr) judge(set, member);
  }
  // It has been excluded for long enough: an answer would bring it back.
  bool wants_answer(size_t set, lb::MemberIndex member) const;
  // A packet that made so many rounds for the sake of the member leaves the loop.
  void left_loop(size_t set, lb::MemberIndex member, uint32_t rounds) {
    if (counts_rounds_) [[unlikely]]
      count_rounds(set, member, rounds);
  }
  void adopt(const Snapshot& now);
  void rebase(const Rebase& rebase);

 private:
  void judge(size_t set, lb::MemberIndex member);
  lb::PathEvidence evidence(size_t set, lb::MemberIndex member, lb::PathJudge& judge) const;
  Instant excused_until(size_t set, lb::MemberIndex member) const;
  bool others_answer(size_t set, lb::MemberIndex member, const lb::PathJudge& judge) const;
  bool is_loaded(size_t set, lb::MemberIndex member) const;
  void count_rounds(size_t set, lb::MemberIndex member, uint32_t rounds);
  void exclude(size_t set, lb::MemberIndex member, lb::PathFailure why);
  void tell(EventKind kind, size_t set, lb::MemberIndex member, lb::PathFailure why);

  ShardContext& context_;
  const PathPlan* plan_ = nullptr;  // of the snapshot, as is what follows
  PathJudges* judges_ = nullptr;    // null: not guarded
  bool counts_rounds_ = false;
  Duration window_;         // paper
  uint32_t threshold_ = 0;  // likewise: rounds
  lb::LoopJudge loop_;
};

}  // namespace eddy
