// Which paths seem to have failed: the judges, as pure functions of what is seen and when.
//
// PathJudge, one for each path (mode guarded), looks at a path in windows of time. The path is
// suspicious in a window if it has not answered for long although several stamps asked, while
// another path to the same leaf did answer. It is also suspicious if nearly all packets that could
// have taken it were forced onto it, and it is slow although nothing is known to wait on it. While
// the path is warned of PFC, or paused, its silence means nothing and is not counted. After two
// suspicious windows in a row it is excluded, each time for twice as long as the last time. It
// comes back with the first answer after that, or at once where no other path answers any more.
// LoopJudge, one for each shard (mode paper), does what the paper prints: where packets come out of
// the loop with N_rc rounds behind them on average, the port that the most rounds were made for is
// suspicious; twice in a row, and it has failed. Owner: the shard that looks. Bounds: 48 octets for
// each path, 4 for each port. Cost: PathJudge makes a few compares at each look at the path;
// LoopJudge an addition for each packet that leaves the loop. Source: reference B.9; RLB paper,
// algorithm 2.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "config/rlb.h"
#include "lb/path_table.h"
#include "net/ids.h"
#include "net/rebase.h"
#include "net/units.h"

namespace eddy::lb {

// Of a path, at one look.
struct PathEvidence {
  Instant now;
  Duration patience;                             // no answer is missed before; of the path's length
  Duration own_queue;                            // that a stamp may still wait in
  Instant excused_until = Instant::long_past();  // warned or paused, so far; that: never was
  uint32_t weighed = 0;                          // as in PathUse, since the last look
  uint32_t forced = 0;                           // likewise
  uint8_t unanswered = 0;                        // stamps in a row
  bool answers = false;                          // lately, and nothing is missing
  bool others_answer = false;  // a path to the leaf that is in use did since silent_since(), or,
                               // of one that has failed, lately
  bool loaded = false;         // something waits on it, as far as is heard
};

// excused: stamps are missing, but PFC may have them; they are to be forgotten.
enum class PathVerdict : uint8_t { none, excused, suspicious, fails, returns };

class PathJudge {
 public:
  PathVerdict look(const config::FailureDetectorConfig& config, const PathEvidence& seen);
  PathFailure failure() const { return failure_; }
  // The end of the exclusion, if it has failed: sooner it is back only for want of another.
  Instant until() const { return until_; }
  // Nothing is held against it: where its stamps are answered and no packets weighed it, rest()
  // says the same as look(), sooner.
  bool rests() const { return failure_ == PathFailure::none && streak_ == 0; }
  void rest(Instant now) { silent_since_ = now; }
  Instant silent_since() const { return silent_since_; }
  void rebase(const Rebase& rebase);

 private:
  static constexpr uint8_t kConfirmed = 2;  // windows

  PathFailure suspicion(const config::FailureDetectorConfig& config,
                        const PathEvidence& seen) const;
  PathVerdict fail(const config::FailureDetectorConfig& config, Instant now, PathFailure why);
  PathVerdict look_at_failed(const config::FailureDetectorConfig& config, const PathEvidence& seen);

  Instant silent_since_;  // or later than that
  Instant window_began_;
  Instant until_;         // of the exclusion; or when it is forgiven
  Duration exclusion_;    // the last
  uint32_t weighed_ = 0;  // in this window
  uint32_t forced_ = 0;   // likewise
  uint8_t streak_ = 0;
  PathFailure failure_ = PathFailure::none;
};

class LoopJudge {
 public:
  explicit LoopJudge(size_t ports) : rounds_(ports) {}

  // A packet that waited for a path of the port leaves the loop. Returns a port that has failed.
  std::optional<PortId> left(Instant now, PortId port, uint32_t rounds, Duration window,
                             uint32_t threshold);
  void reset();
  void rebase(const Rebase& rebase) { rebase.shift(window_ends_); }

 private:
  std::optional<PortId> close(Instant now, Duration window, uint32_t threshold);

  std::vector<uint32_t> rounds_;  // by port, in this window
  Instant window_ends_;
  uint64_t all_rounds_ = 0;  // in this window
  uint32_t packets_ = 0;     // likewise
  PortId suspect_ = PortId::none();
};

}  // namespace eddy::lb
