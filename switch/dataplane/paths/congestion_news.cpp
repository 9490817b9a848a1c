#include "switch/dataplane/paths/congestion_news.h"

#include <algorithm>

#include "net/hash.h"
#include "net/protocols.h"

namespace eddy {
namespace {

constexpr int64_t kCimOctets = 60 + 4 + 20;  // on the line

uint32_t saturated_ns(Duration time) {
  return static_cast<uint32_t>(std::clamp<int64_t>(time.ns(), 0, UINT32_MAX));
}

uint32_t stamp_of(Instant at) {
  return static_cast<uint32_t>(at.since_zero().ns());
}

}  // namespace

CongestionNews::CongestionNews(ShardContext& context, const Services& services, size_t ports)
    : context_(context),
      services_(services),
      ports_(ports),
      timers_(2, context.due_of(Timers::isolation)) {}

Duration CongestionNews::longest_life() const {
  return std::max(kLongestLife, plan().config->life * kTrust);
}

void CongestionNews::cim(Packet* packet) {
  const PortId port = packet->ingress_port;
  if (!may_hear(port)) {
    context_.count(port, PortCounter::isolation_storm_packets);
    context_.count(port, PortCounter::consumed_packets);
    return context_.free(packet);
  }
  Cim message;
  const ConstOctets payload{packet->data() + packet->l2_len, packet->data_len() - packet->l2_len};
  if (decode(payload, message) != CodecVerdict::ok)
    return services_.buffer.drop(packet, DropReason::control_malformed);
  context_.count(port, PortCounter::isolation_rx_packets);
  const HotHostNews news{.heard_at = context_.now, .message = message, .port = port};
  hear(news);
  context_.count(port, PortCounter::consumed_packets);
  context_.free(packet);
}

// What another shard heard, or says of a long flow.
void CongestionNews::take(const HotHostNews& news) {
  const Cim& message = news.message;
  if (message.origin != context_.snapshot->config.id) return hear(news);
  if (plan().enabled && context_.isolated != nullptr)
    isolate_flow(news.port, message.tag, news.heard_at + Duration::nanoseconds(message.expiry_ns));
}

// A burst has one port's frames.
bool CongestionNews::may_hear(PortId port) {
  if (reading_.at != context_.now || reading_.port != port) reading_ = {context_.now, port, 0};
  return reading_.count++ < kMostHeard;
}

void CongestionNews::hear(const HotHostNews& news) {
  const bool own = context_.owns(news.port);  // else its shard counts, and passes on
  const config::SwitchConfig& self = context_.snapshot->config;
  const Cim& message = news.message;
  const auto count = [&](PortCounter which) {
    if (own) context_.count(news.port, which);
  };
  if (!plan().known || context_.isolated == nullptr)
    return count(PortCounter::isolation_ignored_packets);
  if (message.origin == self.id) return count(PortCounter::isolation_forged_packets);
  if (own) tell_other_shards(news);
  hear_hello(news.port, news.heard_at);
  if (message.kind == CimKind::hello) return;
  if (message.priority != plan().classes.priority)
    return count(PortCounter::isolation_ignored_packets);
  hear_host(news);
}

// Whatever a peer says shows that it isolates.
void CongestionNews::hear_hello(PortId port, Instant at) {
  Instant& spoke_at = peers()[port.index()].spoke_at;
  const bool new_to_us = spoke_at == Instant::long_past();
  spoke_at = std::max(spoke_at, at);
  if (!new_to_us) return;
  refresh_speaking();
  if (context_.owns(port)) say_hello(port);
}

void CongestionNews::hear_host(const HotHostNews& news) {
  const Cim& message = news.message;
  const bool own = context_.owns(news.port);
  const bool hot = message.kind == CimKind::hot;
  IsolatedHosts& table = *context_.isolated;
  IsolatedHost* host = table.find(message.tag);
  const bool same = host != nullptr && host->origin == message.origin &&
                    news.heard_at - host->heard_at < longest_life();
  if (same && static_cast<int32_t>(message.sequence - host->sequence) <= 0) {
    if (own) context_.count(news.port, PortCounter::isolation_stale_packets);
    return;
  }
  if (own && message.hops_left != 0) relay(news.port, message);
  if (host == nullptr && hot && plan().enabled) {
    host = table.insert(message.tag);
    if (host == nullptr && own) context_.count(news.port, PortCounter::isolation_placeless_hosts);
  }
  if (host == nullptr || (!hot && host->origin != message.origin)) return;
  const bool begins = hot && plan().enabled && !host->hot(context_.now);
  host->origin = message.origin;
  host->sequence = message.sequence;
  host->heard_at = news.heard_at;
  const Duration life = std::min(Duration::nanoseconds(message.expiry_ns), longest_life());
  host->hot_until = hot && plan().enabled ? news.heard_at + life : Instant::long_past();
  HostDescription& description = table.describe(*host);
  description.queue_bytes = message.queue_bytes;
  description.leaf = message.leaf;
  if (begins) {
    description.hot_since = news.heard_at;
    host->crossed_ns = message.crossed_ns;
    host->noticed = false;
  }
  if (begins && own && context_.snapshot->config.path_service.common_clock)
    rare_[0].heard_after.add(Duration::nanoseconds(stamp_of(context_.now) - message.crossed_ns));
  follow_table();
}

// One that finds a mailbox full is lost; the next refresh brings it again.
void CongestionNews::tell_other_shards(const HotHostNews& news) {
  const CommonState& common = context_.common;
  for (size_t to = 0; to < common.shards; ++to)
    if (to != context_.id.index())
      (void)context_.tell(ShardId(to), {.kind = Message::Kind::hot_host, .what = news});
}

void CongestionNews::relay(PortId from, const Cim& message) {
  if (is_repeated(message)) return;
  Cim onward = message;
  onward.hops_left = static_cast<uint8_t>(std::min(message.hops_left, kMostHops) - 1);
  for (size_t i = 0; i < ports_; ++i) {
    const PortId to(i);
    if (to == from || context_.settings(to).role == config::PortRole::host) continue;
    if (!take_budget(to))
      context_.count(to, PortCounter::isolation_over_budget);
    else if (services_.messages.send(to, kEtherTypeCim, onward))
      context_.count(to, PortCounter::isolation_relayed_packets);
  }
}

bool CongestionNews::is_repeated(const Cim& message) {
  const uint64_t host = uint64_t{message.tag} << 16 | message.origin.index();
  Heard& heard = rare_[0].heard[hash_pair(host, 0) % kHeard];
  const bool known = heard.host == host && context_.now - heard.at < longest_life();
  if (known && static_cast<int32_t>(message.sequence - heard.sequence) <= 0) return true;
  heard = {host, message.sequence, context_.now};
  return false;
}

// A bucket that holds kRelayBurst messages and fills at a share of the port's line.
bool CongestionNews::take_budget(PortId port) {
  const Duration gap = context_.plans(port).line.time_of(Bytes(kCimOctets)) * kRelayShare;
  Instant& used_to = peers()[port.index()].budget_used_to;
  const Instant next = std::max(used_to, context_.now - gap * kRelayBurst) + gap;
  if (next > context_.now) return false;
  used_to = next;
  return true;
}

void CongestionNews::send_owed() {
  while (const auto port = services_.egress.hot_ports().pop_due(context_.now)) tell_of(*port);
}

// Those through a fabric port that still crowd it, or did not long ago. Others have no need to
// hear: what goes by isolated stays so at the switches that follow, and those before see their own.
void CongestionNews::isolate_long_flows(PortId port) {
  const Duration life = plan().config->life;
  bool left = false;
  for (LongFlows::Flow& flow : services_.egress.long_flows().of(port)) {
    if (!flow.is_long) continue;
    const Instant until = flow.seen + life;
    if (!plan().enabled || until <= context_.now) {
      flow = {};
      continue;
    }
    isolate_flow(port, flow.tag, until);
    const Cim message{.kind = CimKind::hot,
                      .origin = context_.snapshot->config.id,
                      .tag = flow.tag,
                      .expiry_ns = saturated_ns(until - context_.now)};
    tell_other_shards({.heard_at = context_.now, .message = message, .port = port});
    left = true;
  }
  if (left) services_.egress.hot_ports().look_again(port, context_.now + plan().config->refresh);
}

// It may be known already, from its last leaf or by what came isolated.
void CongestionNews::isolate_flow(PortId port, uint32_t tag, Instant until) {
  const bool own = context_.owns(port);
  IsolatedHosts& table = *context_.isolated;
  IsolatedHost* const flow = table.insert(tag);
  if (flow == nullptr) {
    if (own) context_.count(port, PortCounter::isolation_placeless_hosts);
    return;
  }
  if (!flow->hot(context_.now)) {
    if (own) context_.count(port, PortCounter::isolation_long_flows);
    if (flow->origin.is_none()) flow->origin = context_.snapshot->config.id;
    flow->noticed = true;  // nobody has been told when
    table.describe(*flow).hot_since = context_.now;
  }
  flow->hot_until = std::max(flow->hot_until, until);
  follow_table();
}

// Of those who fill its queue: who does so now, and who does no more.
void CongestionNews::tell_of(PortId port) {
  if (context_.settings(port).role == config::PortRole::fabric) return isolate_long_flows(port);
  HotPorts::Culprits& culprits = services_.egress.hot_ports().of(port);
  const size_t queue = plan().classes.normal.queue.index();
  const int64_t level = context_.signals(port).queued_bytes[queue].load(std::memory_order_relaxed);
  const config::PortConfig& config = context_.snapshot->config.ports[port.index()];
  const bool cold = !plan().enabled || level < plan().cold_of(config);
  const Instant seen = std::ranges::max(culprits, {}, &HotPorts::Culprit::seen).seen;
  bool told = std::ranges::any_of(culprits, &HotPorts::Culprit::told);
  const bool crowded = !told && !may_tell_of(port, level);
  bool left = false;
  for (HotPorts::Culprit& culprit : culprits) {
    if (culprit.tag == 0) continue;
    const bool over = cold || seen - culprit.seen > plan().config->life;
    if (!over && !crowded)
      tell(port, culprit, CimKind::hot, level);
    else if (!over)
      context_.count(port, PortCounter::isolation_crowded_hosts);
    else if (culprit.told)
      tell(port, culprit, CimKind::cold, level);
    if (over)
      culprit = {};
    else
      left = true;
  }
  told_ports_ -= told ? 1 : 0;
  told_ports_ += std::ranges::any_of(culprits, &HotPorts::Culprit::told) ? 1 : 0;
  if (left) services_.egress.hot_ports().look_again(port, context_.now + plan().config->refresh);
}

// Where most of a leaf's hosts are congested it takes more to be apart from the others.
bool CongestionNews::may_tell_of(PortId port, int64_t level) const {
  const auto hot = static_cast<int64_t>(told_ports_ * 100);
  const auto most = static_cast<int64_t>(plan().host_ports) * plan().config->most_hot;
  if (hot < most) return true;
  const config::PortConfig& config = context_.snapshot->config.ports[port.index()];
  return level > plan().threshold_of(config) * config::IsolationConfig::kRaised;
}

void CongestionNews::tell(PortId port, HotPorts::Culprit& culprit, CimKind kind, int64_t level) {
  const config::SwitchConfig& self = context_.snapshot->config;
  const bool hot = kind == CimKind::hot;
  if (hot != culprit.told) context_.event(EventKind::host_hot, port, hot ? culprit.tag : 0);
  if (hot && !culprit.told) context_.count(port, PortCounter::isolation_hot_hosts);
  culprit.told = hot;
  const Cim message{.kind = kind,
                    .hops_left = static_cast<uint8_t>(plan().config->relays),
                    .priority = plan().classes.priority,
                    .origin = self.id,
                    .leaf = self.leaf,
                    .tag = culprit.tag,
                    .sequence = ++sequence_,
                    .expiry_ns = saturated_ns(plan().config->life),
                    .crossed_ns = stamp_of(culprit.since),
                    .queue_bytes = static_cast<uint32_t>(level)};
  send_everywhere(message, PortCounter::isolation_tx_packets);
}

void CongestionNews::send_everywhere(const Cim& message, PortCounter counter) {
  for (size_t i = 0; i < ports_; ++i) {
    const PortId to(i);
    if (context_.settings(to).role == config::PortRole::fabric &&
        services_.messages.send(to, kEtherTypeCim, message))
      context_.count(to, counter);
  }
}

void CongestionNews::say_hello(PortId port) {
  const config::SwitchConfig& self = context_.snapshot->config;
  const Cim message{.kind = CimKind::hello,
                    .priority = plan().classes.priority,
                    .origin = self.id,
                    .leaf = self.leaf};
  if (services_.messages.send(port, kEtherTypeCim, message))
    context_.count(port, PortCounter::isolation_hello_packets);
}

// Who is at the other end then has yet to say so.
void CongestionNews::link_changed(PortId port, bool up) {
  if (!plan().known || context_.settings(port).role == config::PortRole::host) return;
  if (up) return say_hello(port);
  peers()[port.index()].spoke_at = Instant::long_past();
  refresh_speaking();
}

void CongestionNews::forget(PortId port) {
  if (speaking_ != nullptr)
    peers()[port.index()] = Peer{Instant::long_past(), Instant::long_past()};
}

// To the peers of the shard's own ports; and who has long said nothing is none that isolates.
void CongestionNews::say_hello() {
  bool changed = false;
  for (size_t i = 0; i < ports_; ++i) {
    const PortId port(i);
    if (context_.settings(port).role == config::PortRole::host) continue;
    if (context_.owns(port)) say_hello(port);
    Instant& spoke_at = peers()[i].spoke_at;
    if (context_.now - spoke_at < hello_interval() * kHellosMissed) continue;
    changed |= spoke_at != Instant::long_past();
    spoke_at = Instant::long_past();
  }
  if (changed) refresh_speaking();
  timers_.set(kHello, context_.now + hello_interval());
}

void CongestionNews::refresh_speaking() {
  const std::vector<lb::PathSet>& sets = context_.snapshot->path_sets;
  for (size_t i = 0; i < sets.size(); ++i) {
    bool all = sets[i].count != 0;
    for (size_t member = 0; member < sets[i].count; ++member)
      all &= peers()[sets[i].members[member].port.index()].spoke_at != Instant::long_past();
    (*speaking_)[i] = all ? 1 : 0;
  }
}

void CongestionNews::on_timers() {
  while (const auto due = timers_.pop_due(context_.now)) {
    if (*due == kSweep)
      sweep();
    else
      say_hello();
  }
}

// Forgets hosts that are not hot, and to which nothing is on its way in the isolated class.
void CongestionNews::sweep() {
  context_.isolated->forget_if(
      [this](uint32_t /*tag*/, const IsolatedHost& host) { return is_done(host); });
  follow_table();
}

bool CongestionNews::is_done(const IsolatedHost& host) const {
  if (host.hot(context_.now)) return false;
  if (host.isolated_at == Instant::long_past()) return true;
  if (context_.now - host.isolated_at < std::max(plan().config->stay, plan().settles)) return false;
  const size_t queue = plan().classes.isolated.queue.index();
  for (size_t i = 0; i < ports_; ++i)
    if (context_.signals(PortId(i)).queued_bytes[queue].load(std::memory_order_relaxed) != 0)
      return false;
  return true;
}

// Packets are looked at while hosts are known.
void CongestionNews::follow_table() {
  const bool active = context_.isolated->count() != 0;
  context_.isolating = plan().groups(active);
  if (active && !timers_.pending(kSweep)) timers_.set(kSweep, context_.now + plan().config->stay);
}

void CongestionNews::adopt(const Snapshot& now) {
  if (!now.isolation.known) return;
  if (speaking_ == nullptr) forget_peers();  // isolation is known from now on
  speaking_ = now.schemes[context_.id.index()].speaking.get();
  refresh_speaking();
  follow_table();
  if (!timers_.pending(kHello)) timers_.set(kHello, context_.now);
}

void CongestionNews::forget_peers() {
  std::ranges::fill(peers(), Peer{Instant::long_past(), Instant::long_past()});
}

void CongestionNews::rebase(const Rebase& rebase) {
  rebase.shift(reading_.at);
  timers_.rebase(rebase);
  if (speaking_ == nullptr) return;
  for (Peer& peer : peers()) {
    rebase.shift(peer.budget_used_to);
    rebase.shift(peer.spoke_at);
  }
  for (Heard& heard : rare_[0].heard) rebase.shift(heard.at);
  if (context_.isolated != nullptr) context_.isolated->rebase(rebase);
}

}  // namespace eddy
