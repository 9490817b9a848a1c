#include "switch/dataplane/object/shard_impl.h"

#include <rte_prefetch.h>

#include <algorithm>
#include <array>
#include <utility>

#include "net/assert.h"
#include "switch/dataplane/object/flow_scan.h"
#include "switch/dataplane/object/isolated_scan.h"
#include "switch/dataplane/paths/path_rows.h"

namespace eddy {

namespace {
constexpr size_t kFew = 4;  // messages taken at once: a poll mostly finds one, if any
}  // namespace

ShardImpl::ShardImpl(CommonState& common, ShardId id, size_t ports)
    : context_(common, id, ports),
      pause_sender_(ports, context_.due_of(Timers::pause_sender)),
      predictor_(ports, context_.due_of(Timers::predictor)),
      buffer_(context_, pause_sender_, predictor_, ports),
      egress_(context_, buffer_, ports),
      icmp_(context_, buffer_, ports),
      peers_(context_, buffer_, egress_, ports),
      peer_messages_(context_, egress_, peers_),
      warnings_(context_, {buffer_, peers_, peer_messages_, predictor_}, ports),
      news_(context_, {buffer_, egress_, peer_messages_}, ports),
      failures_(context_, ports),
      frames_(context_, {buffer_, egress_, peers_}),
      paths_(context_, frames_, failures_),
      agents_(context_, {buffer_, frames_, paths_, failures_}, ports),
      shims_(context_, paths_, agents_),
      stages_(context_, buffer_),
      adjacency_(context_, buffer_, {egress_, icmp_, peers_, shims_, stages_}, ports),
      lanes_(context_),
      departures_(context_, {adjacency_, egress_, peers_, shims_, lanes_}, ports),
      recirculation_(context_, {buffer_, predictor_, failures_}, ports),
      isolation_(context_, news_),
      forwarder_(context_, buffer_,
                 {adjacency_, icmp_, shims_, stages_, departures_, lanes_, isolation_}),
      pause_(context_, buffer_, egress_, pause_sender_, warnings_, ports),
      ingress_(context_, buffer_,
               {pause_, adjacency_, peers_, forwarder_, departures_, warnings_, news_, agents_}),
      links_up_(ports),
      since_(ports),
      explains_(make_explains()),
      tap_(make_tap(context_)) {
  icmp_.connect(forwarder_);
  recirculation_.connect(forwarder_);
  context_.loop = &recirculation_;
}

PollStats ShardImpl::poll(Io& io, Instant now) {
  ASSERT(now >= context_.now);
  context_.io = world(io);
  context_.now = now;
  context_.stats = {};
  const News& news = io.news();
  egress_.begin_poll(goes_by_clock(news), news.ports_apart);
  const bool changed = others_have_changed();
  if (changed) [[unlikely]]
    follow_control();
  buffer_.begin_poll();
  paths_.begin_poll(/*all_given=*/context_.sole || lanes_.send_kept());
  if (!context_.sole) read_other_shards();
  if (changed) [[unlikely]]
    read_commands();
  if (changed || !context_.sole || !news.link_changes.empty()) [[unlikely]]
    follow_links(news.link_changes);
  if (next_timer_ <= now) [[unlikely]]
    on_timers();
  for (const PortId port : news.completions) egress_.line_free(port);
  if (news.packets) {
    ingress_.run();
    departures_.close();
  }
  forwarder_.forward_originated();
  send();
  end_poll();
  return context_.stats;
}

// Here, so that no caller's compiler guesses that it is this one.
Shard::Lone Shard::poll_alone(Io& /*io*/, Instant /*now*/, LoneNews /*news*/) {
  return Lone::refused;
}

// A poll that finds nothing due, nothing changed and nothing owed has the news to see to, and what
// comes of them.
Shard::Lone ShardImpl::poll_alone(Io& io, Instant now, LoneNews news) {
  ASSERT(now >= context_.now);
  if (next_timer_ <= now || !is_plain() ||
      context_.common.changes.count.load(std::memory_order_acquire) != changes_seen_) [[unlikely]]
    return Lone::refused;
  context_.io = world(io);
  context_.now = now;
  egress_.begin_poll(news.lines_by_clock, /*ports_apart=*/false);
  buffer_.begin_poll();
  if (news.packet == nullptr) {
    egress_.line_free_alone(news.port);
  } else {
    ingress_.run_alone(news.port, news.packet);
    departures_.close();
    forwarder_.forward_originated();
    send();
  }
  if (!has_more_to_do()) [[likely]]
    return Lone::quiet;
  end_poll();
  return Lone::done;
}

// What end_poll() is for.
inline bool ShardImpl::has_more_to_do() const {
  return context_.timers.moved() || context_.has_freed() || agents_.may_have_new_deadlines();
}

inline void ShardImpl::end_poll() {
  if (context_.timers.moved()) [[unlikely]]
    follow_pauses();
  context_.flush_freed();
  if (draining_ != nullptr) [[unlikely]]
    finish_drain();
  agents_.follow_timers();
  if (context_.timers.moved()) [[unlikely]]
    follow_timers();
  check_timers();
}

[[gnu::noinline]] void ShardImpl::follow_pauses() {
  if (buffer_.took_pause()) egress_.report_lines();  // what leaves them may resume the sender
  if (owes()) send();                                // XON for what has just left
}

// What is owed to peers is as good as a timer: the board is not settled before it is sent.
[[gnu::noinline]] void ShardImpl::follow_timers() {
  next_timer_ = context_.timers.earliest();
  if (owes())
    egress_.report_lines();  // every poll tries anew
  else
    context_.timers.settle();
}

// A board that has not moved hides nothing. A release does without: asking all parts in every poll
// is what the board spares.
inline void ShardImpl::check_timers() const {
  if (!kHasFaultSites) return;
  ASSERT(next_timer_ == context_.timers.earliest());
  ASSERT(context_.timers.moved() || !owes());
}

// First those from hosts, as some may go to hosts of this leaf.
void ShardImpl::send_passed() {
  forwarder_.forward_passed();
  adjacency_.deliver_passed();
}

// No pause or warning is owed before a timer has moved or become due.
inline void ShardImpl::send() {
  if (context_.timers.moved()) [[unlikely]]
    send_owed();
  egress_.service();
  buffer_.flush();
}

[[gnu::noinline]] void ShardImpl::send_owed() {
  agents_.tell_waits();
  pause_.send_frames();
  warnings_.send_frames();
  news_.send_frames();
}

Instant ShardImpl::next_deadline() const {
  const Changes& changes = context_.common.changes;
  if (changes.count.load(std::memory_order_relaxed) != changes_seen_ && control_waits())
      [[unlikely]]
    return context_.now;
  if ((!context_.sole && others_wait()) || (context_.timers.moved() && predictor_.owes()))
    return context_.now;
  return std::max(next_timer_, context_.now);
}

// What one poll has seen of a change the next one need not look for.
inline bool ShardImpl::others_have_changed() {
  const uint32_t count = context_.common.changes.count.load(std::memory_order_acquire);
  if (count == changes_seen_) return false;
  changes_seen_ = count;
  return true;
}

// Between polls the shard looks into no snapshot, so this is where it lets go of the last one: of
// that which was in force before a grace period that it can see has begun.
[[gnu::noinline]] void ShardImpl::follow_control() {
  const Changes& changes = context_.common.changes;
  const uint64_t grace = changes.grace.load(std::memory_order_acquire);
  if (grace != grace_passed_) [[unlikely]] {
    grace_passed_ = grace;
    rte_rcu_qsbr_quiescent(context_.common.readers.get(),
                           static_cast<unsigned>(context_.id.index()));
  }
  if (changes.newest.load(std::memory_order_acquire) != adopted_) [[unlikely]]
    adopt_snapshot();
}

// The last snapshot may be gone and its memory be this one's: only generations tell them apart.
void ShardImpl::adopt_snapshot() {
  const Snapshot* latest = context_.common.changes.snapshot.load(std::memory_order_acquire);
  context_.obey(latest);
  if (capturing_) capture_choices();
  adopted_ = latest->generation;
  next_timer_ = context_.now;  // of what this poll sets, some may be due at once
  follow_places();
  buffer_.adopt(*latest);
  egress_.adopt(*latest);
  warnings_.adopt(*latest);
  news_.adopt(*latest);
  failures_.adopt(*latest);
  paths_.adopt(*latest);
  agents_.adopt(*latest);
  shims_.adopt(*latest);
  pause_.adopt(*latest);
  peers_.adopt(*latest);
  adjacency_.adopt(*latest);
  for (size_t port = 0; port < latest->ports.size(); ++port)
    if (context_.owns(PortId(port))) settle_port(PortId(port));
  forwarder_.refresh_live();
  recirculation_.adopt(*latest);
  stages_.adopt(*latest);
  send_passed();
  context_.event(EventKind::snapshot_adopted, PortId::none(), latest->generation);
}

// What control has posted is counted, so that its mailbox need not be looked into.
[[gnu::noinline]] void ShardImpl::read_commands() {
  CommonState& common = context_.common;
  const uint16_t posted =
      common.changes.commands[context_.id.index()].load(std::memory_order_acquire);
  if (posted == commands_read_) return;
  commands_read_ = posted;
  read(common.mail(common.control(), context_.id));
}

// Apart, as is all that few polls do, because of the registers and the stack that it takes.
[[gnu::noinline]] void ShardImpl::read_other_shards() {
  CommonState& common = context_.common;
  for (size_t from = 0; from < common.shards; ++from) {
    if (from == context_.id.index()) continue;
    read(common.mail(from, context_.id));
    take_credits(common.credits(ShardId(from), context_.id));
    take_packets(common.lane(ShardId(from), context_.id));
  }
}

void ShardImpl::read(Mailbox& mail) {
  while (!mail.empty()) {
    next_timer_ = context_.now;  // of what this poll sets, some may be due at once
    std::array<Message, kFew> messages;
    const size_t count = mail.receive(messages);
    context_.stats.messages += static_cast<uint32_t>(count);
    for (size_t i = 0; i < count; ++i) take_message(messages[i]);
    agents_.tell();
  }
}

inline void ShardImpl::take_credits(CreditLane& lane) {
  context_.stats.messages += static_cast<uint32_t>(
      lane.take([this](const Credit& credit) { buffer_.take_credit(credit); }));
}

// The lines of a packet are in another core's cache, where it wrote them: its own and its mbuf's
// are asked for a row ahead of their use. The frame is written for the line; a NIC reads it by
// itself, and a world that copies it asks for it.
void ShardImpl::take_packets(PacketLane& lane) {
  lane.take([this](const LaneRow& row, std::span<Packet* const> packets) {
    ++context_.stats.messages;
    for (Packet* packet : packets) {
      rte_prefetch0(packet->mbuf());
      rte_prefetch0(packet);
    }
    if (row.ready != 0)
      departures_.put_ready(row, packets);
    else
      take_apart(packets);
  });
  departures_.close();
}

// Packets that are to be rewritten here. Their frames mostly begin where their buffers were fresh.
void ShardImpl::take_apart(std::span<Packet* const> packets) {
  Departures::Burst all;
  for (Packet* packet : packets) {
    rte_prefetch0(reinterpret_cast<const uint8_t*>(packet + 1) + RTE_PKTMBUF_HEADROOM);
    all.octets += packet->wire_len;
    all.flags = static_cast<uint16_t>(all.flags | packet->flags);
  }
  departures_.settle();
  shims_.dress(packets, ShimDresser::From::other_shard);
  const auto deliver = [this](Packet* packet) { adjacency_.deliver(packet); };
  if (context_.fires(FaultSite::burst_apart)) [[unlikely]]
    std::for_each(packets.begin(), packets.end(), deliver);
  else
    departures_.put(packets, all, deliver);
  adjacency_.end_burst();
}

void ShardImpl::take_message(const Message& message) {
  switch (message.kind) {
    case Message::Kind::warning:
      return warnings_.take(message.what.warning);
    case Message::Kind::path:
      return agents_.take(message.what.path);
    case Message::Kind::agent:
      return agents_.take(message.what.agent);
    case Message::Kind::hot_host:
      return news_.take(message.what.hot);
    case Message::Kind::wake:
      return;
    case Message::Kind::frame:
      return peer_messages_.place(message.frame);
    case Message::Kind::command:
      return carry_out(*message.command);
  }
}

void ShardImpl::carry_out(Command& command) {
  switch (command.kind) {
    case Command::Kind::set_port_tx:
      egress_.set_tx_enabled(command.port, command.on);
      break;
    case Command::Kind::clear_watermarks:
      clear_watermarks(command.port, command.watermarks);
      break;
    case Command::Kind::dump_neighbors:
      command.row_count = adjacency_.dump(command.rows);
      break;
    case Command::Kind::dump_paths:
      command.row_count = dump_paths(context_, command.path_rows);
      break;
    case Command::Kind::scan_flows:
      scan_flows(context_, command.flows);
      break;
    case Command::Kind::scan_isolated:
      scan_isolated(context_, egress_.hot_ports(), command.isolated);
      break;
    case Command::Kind::capture:
      capture(command.capture);
      break;
    case Command::Kind::explain:
      explain(*command.explanation);
      break;
    case Command::Kind::drain:
      egress_.report_lines();  // the last of them ends it
      pause_.resume_all();
      recirculation_.release_all();
      stages_.release_all();
      send_passed();
      command.next = std::exchange(draining_, &command);
      return;
  }
  command.done.store(true, std::memory_order_release);
}

// Of one port, or of all that are ours and the pools.
void ShardImpl::clear_watermarks(PortId only, const WatermarkScope& scope) {
  for (size_t i = 0; i < context_.snapshot->ports.size(); ++i) {
    const PortId port(i);
    if (!context_.owns(port) || (!only.is_none() && only != port)) continue;
    if (scope.has(WatermarkOf::queue)) egress_.clear_watermarks(port, scope.kind);
    buffer_.clear_watermarks(port, scope);
  }
  if (!only.is_none()) return;
  if (scope.has(WatermarkOf::pool)) buffer_.pool().clear_shared_watermark(scope.kind);
  if (scope.has(WatermarkOf::headroom_pool)) buffer_.pool().clear_headroom_watermark(scope.kind);
  if (scope.has(WatermarkOf::stages)) buffer_.clear_stage_watermark(scope.kind);
}

[[gnu::noinline]] void ShardImpl::finish_drain() {
  if (held() != 0) return;
  while (draining_ != nullptr) {  // whoever asked may free it as soon as it is done
    Command& command = *std::exchange(draining_, draining_->next);
    command.done.store(true, std::memory_order_release);
  }
}

// For which the poll looks when something has changed, and, for what other shards tell, after their
// mail. What comes up later in a poll waits for the next.
[[gnu::noinline]] void ShardImpl::follow_links(std::span<const LinkChange> changes) {
  for (const LinkChange& change : changes) change_link(change);
  const uint32_t generation = context_.common.changes.links.load(std::memory_order_acquire);
  if (generation == links_seen_) return;
  links_seen_ = generation;
  ++context_.way_changes;  // the peer of another shard's port may be another
  forwarder_.refresh_live();
  recirculation_.release_all();
}

void ShardImpl::change_link(const LinkChange& change) {
  links_up_[change.port.index()] = change.up;
  next_timer_ = context_.now;  // of what this poll sets, some may be due at once
  settle_port(change.port);
}

void ShardImpl::settle_port(PortId port) {
  const bool up = links_up_[port.index()] && context_.settings(port).admin_up;
  if (egress_.up(port) != up) set_port_up(port, up);
}

void ShardImpl::set_port_up(PortId port, bool up) {
  egress_.set_up(port, up);
  pause_.link_changed(port, up);
  peers_.link_changed(port, up);
  adjacency_.link_changed(port, up);
  news_.link_changed(port, up);
  context_.event(up ? EventKind::link_up : EventKind::link_down, port);
}

void ShardImpl::follow_places() {
  for (size_t i = 0; i < since_.size(); ++i) {
    const uint64_t before = std::exchange(since_[i], context_.plans(PortId(i)).since);
    if (before != 0 && before != since_[i]) forget_port(PortId(i));
  }
}

// Control has seen that it is down and holds nothing; one that control has not asked is taken down.
void ShardImpl::forget_port(PortId port) {
  if (egress_.up(port)) set_port_up(port, false);
  news_.forget(port);
  adjacency_.forget(port);
  if (!context_.owns(port)) return;
  pause_sender_.forget_asked(port);
  peers_.forget(port);
  egress_.forget(port);
  buffer_.clear_watermarks(port, {});
  buffer_.clear_watermarks(port, {.kind = pfc::WatermarkKind::persistent});
}

// Mostly one part has something due: the code of the others stays out of the caches. Each is asked
// in its turn, as one before it may have set its deadline.
[[gnu::noinline]] void ShardImpl::on_timers() {
  context_.timers.touch();
  if (context_.is_due(Timers::egress)) egress_.on_timers();
  if (context_.is_due(Timers::pause_receiver) || context_.is_due(Timers::watchdog))
    pause_.on_timers();
  if (context_.is_due(Timers::predictor) || context_.is_due(Timers::warnings))
    warnings_.on_timers();
  if (context_.is_due(Timers::isolation)) news_.on_timers();
  if (context_.is_due(Timers::paths)) paths_.on_timers();
  if (context_.is_due(Timers::agents) || agents_.may_have_new_deadlines()) agents_.on_timers();
  follow_links({});  // and paths
  if (context_.is_due(Timers::peers)) peers_.on_timers();
  if (context_.is_due(Timers::neighbors)) adjacency_.on_timers();
  if (stages_.any()) stages_.on_timers();
  send_passed();
  // Last: what comes back goes before what is fresh.
  if (context_.is_due(Timers::recirculation)) recirculation_.on_timers();
}

// FlowPaths and PathEchoes keep what a rebase does not change.
void ShardImpl::rebase(const Rebase& rebase) {
  rebase.shift(context_.now);
  context_.epoch += rebase.epochs();
  rebase.shift(next_timer_);
  pause_sender_.rebase(rebase);
  predictor_.rebase(rebase);
  buffer_.rebase(rebase);
  egress_.rebase(rebase);
  icmp_.rebase(rebase);
  peers_.rebase(rebase);
  warnings_.rebase(rebase);
  news_.rebase(rebase);
  isolation_.rebase(rebase);
  failures_.rebase(rebase);
  paths_.rebase(rebase);
  stages_.rebase(rebase);
  adjacency_.rebase(rebase);
  recirculation_.rebase(rebase);
  pause_.rebase(rebase);
  if (capturing_) rebase_tap(rebase);
  if (context_.selector != nullptr) context_.selector->rebase(rebase);
  agents_.rebase(rebase);  // after the selector, whose agent has the deadlines that it reads
}

bool ShardImpl::control_waits() const {
  const Changes& changes = context_.common.changes;
  return changes.commands[context_.id.index()].load(std::memory_order_relaxed) != commands_read_ ||
         changes.newest.load(std::memory_order_relaxed) != adopted_;
}

// By mail, or for what their lanes had no room for.
bool ShardImpl::others_wait() const {
  CommonState& common = context_.common;
  for (size_t from = 0; from < common.shards; ++from) {
    if (from == context_.id.index()) continue;
    if (!common.mail(from, context_.id).empty() ||
        !common.credits(ShardId(from), context_.id).empty() ||
        !common.lane(ShardId(from), context_.id).empty())
      return true;
  }
  return buffer_.credits_wait() || lanes_.keeps();
}

uint64_t ShardImpl::held() const {
  return egress_.held() + adjacency_.held() + lanes_.held() + forwarder_.held() +
         recirculation_.held() + stages_.held();
}

}  // namespace eddy
