#include "switch/dataplane/paths/failure_detector.h"

#include <algorithm>

#include "lb/members.h"
#include "switch/dataplane/state/shard_context.h"

namespace eddy {

FailureDetector::FailureDetector(ShardContext& context, size_t ports)
    : context_(context), loop_(ports) {}

void FailureDetector::adopt(const Snapshot& now) {
  plan_ = &now.path_plan;
  judges_ = now.schemes[context_.id.index()].judges.get();
  const config::RecirculationConfig& loop = now.config.rlb.recirculation;
  counts_rounds_ = now.paths != nullptr && plan_->detector.mode == config::DetectorMode::paper;
  window_ = std::max(loop.latency, kShortestWindow);
  threshold_ = static_cast<uint32_t>(std::max<int64_t>(loop.most_rounds, 1));
  loop_.reset();
}

bool FailureDetector::wants_answer(size_t set, lb::MemberIndex member) const {
  if (judges_ == nullptr) return false;
  const lb::PathJudge& judge = judges_->at(set, member);
  return judge.failure() != lb::PathFailure::none && judge.until() <= context_.now;
}

void FailureDetector::judge(size_t set, lb::MemberIndex member) {
  lb::PathJudge& judge = judges_->at(set, member);
  lb::PathRecord& record = context_.paths->at(set, member);
  const lb::PathUse& use = context_.paths->use(set, member);
  // Most paths, most times: nothing is held against the path, and nothing has happened on it.
  if (judge.rests() && record.suspicion.load(std::memory_order_relaxed) == 0 &&
      use.weighed.load(std::memory_order_relaxed) == 0)
    return judge.rest(context_.now);
  const PortId port = context_.path_sets[set].members[member].port;
  const lb::PathFailure before = judge.failure();
  switch (judge.look(plan_->detector, evidence(set, member, judge))) {
    case lb::PathVerdict::none:
      return;
    case lb::PathVerdict::excused:
      if (record.suspicion.load(std::memory_order_relaxed) == 0) return;
      record.trust();
      return context_.count(port, PortCounter::path_silences_excused);
    case lb::PathVerdict::suspicious:
      return context_.count(port, PortCounter::path_suspicious_windows);
    case lb::PathVerdict::fails:
      context_.count(port, PortCounter::path_suspicious_windows);
      return exclude(set, member, judge.failure());
    case lb::PathVerdict::returns:
      context_.paths->set_failed(set, member, lb::PathFailure::none);
      context_.count(port, PortCounter::paths_returned);
      return tell(EventKind::path_returned, set, member, before);
  }
}

lb::PathEvidence FailureDetector::evidence(size_t set, lb::MemberIndex member,
                                           lb::PathJudge& judge) const {
  const PortId port = context_.path_sets[set].members[member].port;
  const lb::PathRecord& record = context_.paths->at(set, member);
  lb::PathUse& use = context_.paths->use(set, member);
  const uint64_t queued = context_.signals(port).backlog_from(plan_->measured.queue);
  const uint8_t unanswered = record.suspicion.load(std::memory_order_relaxed);
  return {.now = context_.now,
          .patience = plan_->base_rtt * PathPlan::kPatience,
          .own_queue = context_.plans(port).line.time_of(Bytes(static_cast<int64_t>(queued))),
          .excused_until = excused_until(set, member),
          .weighed = use.weighed.exchange(0, std::memory_order_relaxed),
          .forced = use.forced.exchange(0, std::memory_order_relaxed),
          .unanswered = unanswered,
          .answers = record.known() && unanswered == 0,
          .others_answer = others_answer(set, member, judge),
          .loaded = is_loaded(set, member)};
}

// While PFC stops the path here or is said to stop it further on, while the scheduler does not
// serve its queue, and while the port is down, no answer tells nothing.
Instant FailureDetector::excused_until(size_t set, lb::MemberIndex member) const {
  const PortId port = context_.path_sets[set].members[member].port;
  const lb::PortSignals& signals = context_.signals(port);
  const QueueId queue = plan_->measured.queue;
  const EgressQueue& own = context_.queue(port, queue.index());
  const bool starves = !own.fifo.empty() && context_.now - own.progress_at > plan_->detector.window;
  if (signals.paused(queue) || starves || signals.up.load(std::memory_order_relaxed) == 0)
    return context_.now;
  return context_.warnings == nullptr ? Instant::long_past()
                                      : context_.warnings->warned_until(set, member);
}

bool FailureDetector::others_answer(size_t set, lb::MemberIndex member,
                                    const lb::PathJudge& judge) const {
  const lb::PathSet& to = context_.path_sets[set];
  const lb::MemberMask failed = context_.paths->failed(set) | lb::bit_of(member);
  const bool has_failed = judge.failure() != lb::PathFailure::none;
  for (lb::MemberIndex i = 0; i < to.count; ++i) {
    const lb::PathRecord& record = context_.paths->at(set, i);
    const lb::PortSignals& signals = context_.signals(to.members[i].port);
    if (lb::contains(failed, i) || signals.up.load(std::memory_order_relaxed) == 0) continue;
    if (!record.known()) continue;
    const Duration age = record.age(context_.paths->record_time(context_.now));
    if (has_failed || age < context_.now - judge.silent_since()) return true;
  }
  return false;
}

// By what is heard of the path, or because packets wait here.
bool FailureDetector::is_loaded(size_t set, lb::MemberIndex member) const {
  constexpr uint8_t kHalf = UINT8_MAX / 2;
  constexpr uint16_t kSome = UINT16_MAX / 50;
  const PortId port = context_.path_sets[set].members[member].port;
  const lb::PathRecord& record = context_.paths->at(set, member);
  const uint64_t queued = context_.signals(port).backlog_from(plan_->measured.queue);
  const LineRate& line = context_.plans(port).line;
  return record.congestion.load(std::memory_order_relaxed) > kHalf ||
         record.marked.load(std::memory_order_relaxed) > kSome ||
         line.time_of(Bytes(static_cast<int64_t>(queued))) > plan_->base_rtt;
}

void FailureDetector::count_rounds(size_t set, lb::MemberIndex member, uint32_t rounds) {
  const PortId waited_for = context_.path_sets[set].members[member].port;
  const auto failed = loop_.left(context_.now, waited_for, rounds, window_, threshold_);
  if (!failed) return;
  for (size_t i = 0; i < context_.path_sets.size(); ++i)
    for (lb::MemberIndex m = 0; m < context_.path_sets[i].count; ++m)
      if (context_.path_sets[i].members[m].port == *failed) exclude(i, m, lb::PathFailure::rounds);
}

void FailureDetector::exclude(size_t set, lb::MemberIndex member, lb::PathFailure why) {
  const lb::MemberMask others = context_.live[set] & ~lb::bit_of(member);
  const lb::MemberMask failed = context_.paths->failed(set);
  if (why == lb::PathFailure::rounds && ((others & ~failed) == 0 || lb::contains(failed, member)))
    return;
  const PortId port = context_.path_sets[set].members[member].port;
  context_.paths->set_failed(set, member, why);
  context_.count(port, PortCounter::paths_failed);
  tell(EventKind::path_failed, set, member, why);
}

void FailureDetector::rebase(const Rebase& rebase) {
  loop_.rebase(rebase);
  if (judges_ != nullptr) judges_->rebase(rebase);
}

// Shards, this one too, see it when they next look whether a link has changed.
void FailureDetector::tell(EventKind kind, size_t set, lb::MemberIndex member,
                           lb::PathFailure why) {
  const lb::PathMember& path = context_.path_sets[set].members[member];
  context_.event(kind, path.port,
                 PathEvent{plan_->leaf_of_set[set], path.path, static_cast<uint8_t>(why)}.packed());
  context_.common.changes.change_links();
}

}  // namespace eddy
