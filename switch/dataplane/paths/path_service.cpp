#include "switch/dataplane/paths/path_service.h"

#include <algorithm>
#include <bit>
#include <utility>

#include "lb/members.h"
#include "net/byte_order.h"
#include "switch/dataplane/state/shim_layout.h"

namespace eddy {
namespace {

uint32_t wire_ns(Duration time) {
  return static_cast<uint32_t>(std::min<int64_t>(time.ns(), INT32_MAX));
}
int64_t whole_ns(Instant at) {
  return at.ps() / 1'000;
}
uint8_t add_saturating(uint8_t value) {
  return value == UINT8_MAX ? value : static_cast<uint8_t>(value + 1);
}

}  // namespace

void PathService::adopt(const Snapshot& now) {
  plan_ = &now.path_plan;
  echoes_ = now.schemes[context_.id.index()].echoes.get();
  sample_ns_ = wire_ns(plan_->sample);
  measured_queue_ = plan_->measured.queue;
  due_every_ns_ = 0;
  note_time(/*all_given=*/false);  // begin_poll() knows
  plan_stamps();
  if (measured_ != now.paths.get()) start_measuring();
  measured_ = now.paths.get();
  if (next_set_ >= now.path_sets.size()) next_set_ = 0;
  follow_timers();
}

// Nothing was asked of the paths yet, and nothing is missing. Leaves that start together begin with
// different sets, so that their probes do not meet at one leaf.
void PathService::start_measuring() {
  next_set_ = context_.snapshot->leaf.index() % std::max<size_t>(context_.path_sets.size(), 1);
  next_look_ = context_.now;
  if (context_.paths == nullptr) return;
  for (size_t set = 0; set < context_.path_sets.size(); ++set)
    for (lb::MemberIndex i = 0; i < context_.path_sets[set].count; ++i) {
      if (!context_.owns(context_.path_sets[set].members[i].port)) continue;
      lb::PathRecord& record = context_.paths->at(set, i);
      record.requested_ns.store(now_ns_ - sample_ns_ / 2, std::memory_order_relaxed);
      context_.paths->take_echo(set, i, context_.now, /*proves=*/false);
    }
}

// What other shards selected in polls before their last one is in their lanes, which this poll
// reads next.
[[gnu::noinline]] void PathService::note_time(bool all_given) {
  now_whole_ns_ = whole_ns(context_.now);
  now_ns_ = static_cast<uint32_t>(now_whole_ns_);
  if (due_every_ns_ != 0 && now_ns_ - due_since_ns_ >= due_every_ns_) make_due();
  given_before_ = context_.now;
  isolated_waits_ = context_.isolating != 0 && waits_isolated();
  if (context_.sole) return;
  asked_ = false;
  std::vector<GivenTo>& given = context_.common.given;
  if (all_given)
    given[context_.id.index()].at_ps.store(context_.now.ps(), std::memory_order_release);
  for (const GivenTo& shard : given)
    given_before_ =
        std::min(given_before_,
                 Instant::at(Duration::picoseconds(shard.at_ps.load(std::memory_order_acquire))));
}

// At any port: who asks does not say which it is about.
bool PathService::waits_isolated() const {
  const pfc::ClassPair& classes = context_.snapshot->isolation.classes;
  if ((context_.isolating >> classes.normal.pg.index() & 1) == 0) return false;
  for (size_t i = 0; i < context_.snapshot->config.ports.size(); ++i)
    if (context_.signals(PortId(i)).queued_bytes[classes.isolated.queue.index()].load(
            std::memory_order_relaxed) != 0)
      return true;
  return false;
}

// What was due may be due, whatever the last plan said: a path's record knows when it was stamped.
void PathService::plan_stamps() {
  next_due_set_ = 0;
  due_since_ns_ = now_ns_;
  if (echoes_ == nullptr || echoes_->sets() == 0) return;
  for (size_t set = 0; set < echoes_->sets(); ++set) echoes_->set_stamps_due(set);
  if (sample_ns_ == 0) return;
  due_every_ns_ = std::max(sample_ns_ / static_cast<uint32_t>(echoes_->sets()), uint32_t{1});
}

// One set after the other, each once a sample time: stamps of all would come in one burst.
void PathService::make_due() {
  const uint32_t turns = (now_ns_ - due_since_ns_) / due_every_ns_;
  due_since_ns_ += turns * due_every_ns_;
  for (size_t i = std::min<size_t>(turns, echoes_->sets()); i != 0; --i) {
    echoes_->set_stamps_due(next_due_set_);
    if (++next_due_set_ == echoes_->sets()) next_due_set_ = 0;
  }
}

void PathService::wake_others() {
  if (std::exchange(asked_, true)) return;
  CommonState& common = context_.common;
  for (size_t to = 0; to < common.shards; ++to)
    if (to != context_.id.index()) (void)context_.tell(ShardId(to), {.kind = Message::Kind::wake});
}

// A stamp that proves nothing is put off for as long as one is good for.
[[gnu::noinline]] bool PathService::may_stamp_late(const lb::PathRecord& record) {
  wake_others();
  return now_ns_ - record.requested_ns.load(std::memory_order_relaxed) >= 2 * sample_ns_;
}

[[gnu::noinline]] void PathService::suspect(PortId port, lb::PathRecord& record) {
  record.suspect();
  context_.count(port, PortCounter::path_unanswered);
}

PathService::Telling PathService::tell(size_t set) {
  const auto index = static_cast<uint8_t>(std::countr_zero(echoes_->waiting(set)));
  echoes_->done(set, index);
  if (echoes_->waiting(set) == 0) {
    echoes_->due().cancel(static_cast<Deadlines::Id>(set));
    follow_timers();
  }
  Telling told = tell_of(echoes_->at(set, index));
  told.place = index;
  return told;
}

// What was counted with it stays told: marks that are told of twice would be worse than some that
// are lost.
void PathService::put_back(size_t set, uint8_t place) {
  if (echoes_->waiting(set) == 0) {
    const uint32_t waited = now_ns_ - echoes_->at(set, place).since_ns;
    const Duration left = plan_->echo - Duration::nanoseconds(waited);
    echoes_->due().set(static_cast<Deadlines::Id>(set), context_.now + std::max(left, Duration{}));
    follow_timers();
  }
  echoes_->wait(set, place);
}

PathService::Telling PathService::report(size_t set, uint8_t place) {
  Telling told = tell_of(echoes_->at(set, place));
  told.flags = kShimFeedback;
  return told;
}

PathService::Telling PathService::tell_of(HeardPath& heard) {
  const uint32_t held = std::min(now_ns_ - heard.arrived_ns, kDeviated - 1);
  return {.echoed_ns = heard.stamp_ns,
          .hold_ns = heard.kept_way ? held : held | kDeviated,
          .path = heard.path,
          .flags = kShimRttEcho | kShimFeedback,
          .congestion = heard.congestion,
          .packets = std::exchange(heard.packets, uint8_t{0}),
          .marked = std::exchange(heard.marked, uint8_t{0})};
}

std::optional<PathService::Noted> PathService::note(PortId port, const Shim& shim, bool ect,
                                                    bool ce) {
  const uint16_t set = plan_->set_of(shim.source_leaf);
  if (set == PathPlan::kNoSet) {
    context_.count(port, PortCounter::path_reports_unknown);
    return std::nullopt;
  }
  const PathEchoes::Place place = echoes_->place(set, shim.path);
  if (place.evicted) context_.count(port, PortCounter::path_reports_evicted);
  HeardPath& heard = place.heard;
  heard.port = port;
  heard.congestion = shim.congestion;
  if (ect && heard.packets != UINT8_MAX) {
    heard.packets = add_saturating(heard.packets);
    if (ce) heard.marked = add_saturating(heard.marked);
  }
  const Noted noted{set, place.index, place.fresh};
  if ((shim.flags & kShimRttRequest) == 0) return noted;
  heard.stamp_ns = shim.sent_ns;
  heard.arrived_ns = now_ns_;
  heard.kept_way = (shim.flags & kShimPinned) != 0;
  heard.probe = shim.kind == ShimKind::probe;
  wait(set, place);
  return noted;
}

// A stamp waits for its echo from when the first of its path did.
void PathService::wait(size_t set, const PathEchoes::Place& place) {
  if ((echoes_->waiting(set) >> place.index & 1) != 0) return;
  place.heard.since_ns = now_ns_;
  if (echoes_->waiting(set) == 0) {
    echoes_->due().set(static_cast<Deadlines::Id>(set), context_.now + plan_->echo);
    follow_timers();
  }
  echoes_->wait(set, place.index);
}

// Of a shim on the wire, heard now.
inline PathReport PathService::report_in(const uint8_t* shim) const {
  return {.heard_at = context_.now,
          .stamp_ns = load_be32(shim + shim_at::kEchoed),
          .hold_ns = load_be32(shim + shim_at::kHold),
          .sent_ns = load_be32(shim + shim_at::kSent),
          .leaf = LeafId(load_be16(shim + shim_at::kSource)),
          .path = PathId(load_be16(shim + shim_at::kReportPath)),
          .flags = shim[shim_at::kFlags],
          .congestion = shim[shim_at::kReportLoad],
          .packets = shim[shim_at::kPackets],
          .marked = shim[shim_at::kMarked]};
}

void PathService::hear(PortId port, const uint8_t* shim) {
  if ((shim[shim_at::kFlags] & (kShimRttEcho | kShimFeedback)) == 0) return;
  const PathReport report = report_in(shim);
  const uint16_t set = plan_->set_of(report.leaf);
  const auto member = set == PathPlan::kNoSet ? std::nullopt : member_of(set, report.path);
  if (!member || context_.paths == nullptr) [[unlikely]]
    return context_.count(port, PortCounter::path_reports_unknown);
  const PortId out = context_.path_sets[set].members[*member].port;
  if (!context_.owns(out)) [[unlikely]]
    return hand_to_owner(out, shim);
  apply({set, *member}, out, report);
}

[[gnu::noinline]] void PathService::hand_to_owner(PortId out, const uint8_t* shim) {
  const Message mail{.kind = Message::Kind::path, .what = report_in(shim)};
  (void)context_.tell(context_.settings(out).owner, mail);
}

void PathService::take(const PathReport& report) {
  const uint16_t set = plan_->set_of(report.leaf);
  if (set == PathPlan::kNoSet || context_.paths == nullptr) return;
  const auto member = member_of(set, report.path);
  if (!member) return;
  const PortId port = context_.path_sets[set].members[*member].port;
  if (context_.owns(port)) apply({set, *member}, port, report);
}

inline std::optional<lb::MemberIndex> PathService::member_of(size_t set, PathId path) const {
  const lb::PathSet& to = context_.path_sets[set];
  const size_t first = path.index() >> 8;
  if (first < to.count && to.members[first].path == path) return static_cast<uint8_t>(first);
  for (lb::MemberIndex i = 0; i < to.count; ++i)
    if (to.members[i].path == path) return i;
  return std::nullopt;
}

[[gnu::always_inline]] inline void PathService::apply(lb::PathKey path, PortId port,
                                                      const PathReport& report) {
  const lb::PathTable::Place place = context_.paths->place(path.set, path.member);
  if ((report.flags & kShimRttEcho) != 0 && !take_echo(path, port, place, report)) return;
  if ((report.flags & kShimFeedback) == 0) return;
  lb::PathRecord& record = context_.paths->at(place);
  if ((wanted_ & lb::kFeedbackLoad) == 0)
    record.take_congestion(report.congestion, context_.paths->record_time(report.heard_at));
  else
    pass_on({lb::kFeedbackLoad, path, report.congestion, report.heard_at});
  record.take_marks(report.packets, report.marked, plan_->smoothing);
  if ((wanted_ & lb::kFeedbackMarks) != 0)
    pass_on(
        {lb::kFeedbackMarks, path, uint32_t{report.packets} << 8 | report.marked, report.heard_at});
}

// Of a report that found no room, which a burst cannot fill, the next one says the same.
void PathService::pass_on(const lb::Feedback& told) {
  if (feedback_count_ < kMostFeedback) feedback_[feedback_count_++] = told;
}

// False: not to be believed, and counted.
[[gnu::always_inline]] inline bool PathService::take_echo(lb::PathKey path, PortId port,
                                                          const lb::PathTable::Place& place,
                                                          const PathReport& report) {
  lb::PathTable& paths = *context_.paths;
  lb::PathRecord& record = paths.at(place);
  const int64_t heard_at_ns = whole_ns(report.heard_at);
  const auto heard_ns = static_cast<uint32_t>(heard_at_ns);
  const uint32_t age = heard_ns - report.stamp_ns;
  const uint32_t hold = report.hold_ns & ~kDeviated;
  const uint32_t one_way = report.sent_ns - hold - report.stamp_ns;
  const Instant stamp = at_ns(heard_at_ns - age);
  const uint32_t asked_ago = heard_ns - record.requested_ns.load(std::memory_order_relaxed);
  const bool asked = age <= kLongestDelay && static_cast<int32_t>(age - asked_ago) >= 0;
  const bool stale = !asked || stamp <= record.echoed();
  if (stale || hold > age || (plan_->one_way && one_way > age - hold)) {
    context_.count(port,
                   stale ? PortCounter::path_reports_stale : PortCounter::path_reports_impossible);
    return false;
  }
  const uint32_t delay = plan_->one_way ? one_way : age - hold;
  const bool proves = (report.hold_ns & kDeviated) == 0;
  paths.take_answer(place, {.stamp = stamp,
                            .delay = Duration::nanoseconds(delay),
                            .now = paths.record_time(report.heard_at),
                            .smoothing = plan_->smoothing,
                            .proves = proves});
  paths.use(place).measured();
  if (!proves && plan_->swept) sweep(path, port);
  context_.count(port, PortCounter::path_samples);
  if ((wanted_ & lb::kFeedbackDelay) != 0)
    pass_on({lb::kFeedbackDelay, path, delay, report.heard_at});
  return true;
}

void PathService::on_timers() {
  if (echoes_ == nullptr) return;
  while (const auto set = echoes_->due().pop_due(context_.now)) flush(*set);
  if (next_look_ <= context_.now) look_around();
  follow_timers();
}

// At one set after the other, each once a probe time. Where other shards rest they are woken first.
void PathService::look_around() {
  const bool ready = keeps_up();
  if (!ready && !std::exchange(woke_, true)) {
    wake_others();
    next_look_ = context_.now + plan_->proof_lag / 2;
    return;
  }
  woke_ = false;
  const auto sets = static_cast<int64_t>(std::max<size_t>(context_.path_sets.size(), 1));
  if (next_set_ < context_.path_sets.size()) look_after(next_set_);
  if (++next_set_ >= context_.path_sets.size()) next_set_ = 0;
  next_look_ = context_.now + std::max(plan_->look_round() / sets, Duration::nanoseconds(1));
}

void PathService::rebase(const Rebase& rebase) {
  rebase.shift(given_before_);
  rebase.shift(next_look_);
  if (echoes_ != nullptr) echoes_->due().rebase(rebase);
  follow_timers();
}

void PathService::follow_timers() {
  context_.due_of(Timers::paths)
      .set(echoes_ == nullptr ? Instant::never() : std::min(echoes_->due().next(), next_look_));
}

// Echoes that have waited long enough go by themselves.
void PathService::flush(size_t set) {
  const uint32_t longest = wire_ns(plan_->echo);
  uint32_t oldest = 0;
  for (uint64_t left = echoes_->waiting(set); left != 0; left &= left - 1) {
    const auto index = static_cast<uint8_t>(std::countr_zero(left));
    HeardPath& heard = echoes_->at(set, index);
    const uint32_t waited = now_ns_ - heard.since_ns;
    if (waited + 1 < longest) {  // stamps are whole nanoseconds, deadlines are not
      oldest = std::max(oldest, waited);
      continue;
    }
    send_feedback(set, heard);
    echoes_->done(set, index);
  }
  if (echoes_->waiting(set) != 0)
    echoes_->due().set(static_cast<Deadlines::Id>(set),
                       context_.now + Duration::nanoseconds(longest - oldest));
}

// By the path on which the port is.
Shim PathService::answer_by(PortId port, size_t set, ShimKind kind) const {
  const lb::PathSet& to = context_.path_sets[set];
  const lb::PathMember* const end = to.members.begin() + to.count;
  const lb::PathMember* const by = std::find_if(
      to.members.begin(), end, [&](const lb::PathMember& member) { return member.port == port; });
  return {.kind = kind,
          .source_leaf = context_.snapshot->leaf,
          .destination_leaf = plan_->leaf_of_set[set],
          .path = by == end ? PathId::none() : by->path,
          .traffic_class = ControlFrames::kTrafficClass,
          .sent_ns = now_ns_};
}

void PathService::send_feedback(size_t set, HeardPath& heard) {
  const Telling told = tell_of(heard);
  Shim shim = answer_by(heard.port, set, heard.probe ? ShimKind::probe_reply : ShimKind::feedback);
  shim.flags = told.flags;
  shim.feedback_path = told.path;
  shim.feedback_congestion = told.congestion;
  shim.echoed_ns = told.echoed_ns;
  shim.hold_ns = told.hold_ns;
  shim.feedback_packets = told.packets;
  shim.feedback_marked = told.marked;
  if (!frames_.send(heard.port, {.shim = shim})) return;
  context_.count(heard.port, PortCounter::path_feedback_frames);
}

void PathService::answer(PortId port, const Shim& sweep) {
  const uint16_t set = plan_->set_of(sweep.source_leaf);
  if (set == PathPlan::kNoSet) return context_.count(port, PortCounter::path_reports_unknown);
  if ((sweep.flags & kShimPinned) == 0) return;
  Shim shim = answer_by(port, set, ShimKind::swept);
  shim.feedback_path = sweep.path;
  shim.echoed_ns = sweep.sent_ns;
  if (frames_.send(port, {.shim = shim})) context_.count(port, PortCounter::path_feedback_frames);
}

// Behind what has been given to the path in polls before this one. One that has been on its way for
// long stands behind a pause, and others would stand behind it.
void PathService::sweep(lb::PathKey path, PortId port) {
  lb::PathSweep& last = context_.paths->sweep(path.set, path.member);
  if (last.waits() && now_ns_ - last.asked_ns < wire_ns(plan_->base_rtt * PathPlan::kPatience))
    return;
  const Shim shim{.kind = ShimKind::sweep,
                  .flags = kShimPinned,
                  .source_leaf = context_.snapshot->leaf,
                  .destination_leaf = plan_->leaf_of_set[path.set],
                  .path = context_.path_sets[path.set].members[path.member].path,
                  .traffic_class = plan_->swept->traffic_class,
                  .sent_ns = now_ns_};
  if (!frames_.send_behind(port, {.shim = shim}, *plan_->swept)) return;
  last.asked_ns = now_ns_;
  context_.count(port, PortCounter::path_sweeps);
}

// By the only shard, as with several none is sent.
void PathService::hear_swept(PortId port, const Shim& shim) {
  const uint16_t set = plan_->set_of(shim.source_leaf);
  const auto member = set == PathPlan::kNoSet ? std::nullopt : member_of(set, shim.feedback_path);
  if (!member || context_.paths == nullptr)
    return context_.count(port, PortCounter::path_reports_unknown);
  const PortId out = context_.path_sets[set].members[*member].port;
  if (!plan_->swept) return context_.count(out, PortCounter::path_reports_stale);
  const lb::PathSweep& last = context_.paths->sweep(set, *member);
  const uint32_t age = now_ns_ - shim.echoed_ns;
  const Instant stamp = at_ns(now_whole_ns_ - age);
  const bool asked = age <= kLongestDelay && now_ns_ - last.asked_ns <= age;
  if (!asked || !last.waits() || stamp <= last.swept())
    return context_.count(out, PortCounter::path_reports_stale);
  context_.paths->take_sweep(set, *member, stamp);
  context_.count(out, PortCounter::path_swept);
}

// Forgets what is out of date, and has judged what is left.
void PathService::look_after(size_t set) {
  const lb::PathSet& to = context_.path_sets[set];
  if (plan_->set_of(to.leaf) != set) return;  // another set's paths
  for (lb::MemberIndex i = 0; i < to.count; ++i) {
    if (!context_.owns(to.members[i].port)) continue;
    lb::PathRecord& record = context_.paths->at(set, i);
    const Instant record_time = context_.paths->record_time(context_.now);
    const Duration age = record.age(record_time);
    if (record.known() && age > plan_->base_rtt * lb::PathTable::kStaleAfter) record.forget();
    record.forget_old_congestion(record_time);
    failures_.look(set, i);
  }
}

bool PathService::probe(size_t set, lb::MemberIndex member) {
  const lb::PathMember& path = context_.path_sets[set].members[member];
  Shim shim{.kind = ShimKind::probe,
            .source_leaf = context_.snapshot->leaf,
            .destination_leaf = plan_->leaf_of_set[set],
            .path = path.path,
            .traffic_class = plan_->measured.traffic_class,
            .sent_ns = now_ns_};
  shim.flags = proves() ? kShimPinned | kShimRttRequest : kShimRttRequest;
  if (!frames_.send_behind(path.port, {.shim = shim}, plan_->measured)) return false;
  request(path.port, context_.paths->at(set, member));
  context_.count(path.port, PortCounter::path_probes);
  return true;
}

}  // namespace eddy
