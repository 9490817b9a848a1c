#include "plugin/guarded_selector.h"

#include <utility>

namespace eddy::plugin {

GuardedSelector::GuardedSelector(std::unique_ptr<lb::Selector> inner, const lb::SelectorInit& init,
                                 config::SchemeTrouble& trouble)
    : inner_(std::move(inner)),
      ecmp_(init.sets, {.buckets = lb::kEcmpBuckets,
                        .share = lb::BucketShare::equal,
                        .seed = lb::seed_of(init.seed, init.switch_id)}),
      guard_(trouble) {
  if (lb::PathAgent* agent = inner_->agent()) agent_.emplace(guard_, *agent);
  for (const lb::StagePlace place : {lb::StagePlace::from_hosts, lb::StagePlace::to_hosts})
    if (lb::FlowStage* stage = inner_->stage(place))
      stages_[static_cast<size_t>(place)].emplace(*stage, guard_);
}

void GuardedSelector::expect(std::span<Packet* const> burst) {
  (void)guard_.survives([&] { inner_->expect(burst); });
}

void GuardedSelector::select(const lb::PathView& view, std::span<Packet* const> burst,
                             std::span<const uint16_t> set_of) {
  if (guard_.survives([&] { inner_->select(view, burst, set_of); })) [[likely]]
    return;
  const uint64_t away = view.away();  // in the loop already, so not here any more
  uint32_t packets = 0;
  for (size_t i = 0; i < burst.size(); ++i) {
    if ((away >> i & 1) != 0) continue;
    (void)by_ecmp(view, *burst[i], set_of[i]);
    ++packets;
  }
  report(view, packets);
}

lb::MemberIndex GuardedSelector::again(const lb::PathView& view, Packet& packet, uint16_t set,
                                       lb::Trip& trip) {
  lb::MemberIndex member = 0;
  if (guard_.survives([&] { member = inner_->again(view, packet, set, trip); })) return member;
  report(view, 1);
  return by_ecmp(view, packet, set);
}

void GuardedSelector::follow(const lb::PathView& view, Packet& packet, uint16_t set,
                             lb::MemberIndex member) {
  if (guard_.survives([&] { inner_->follow(view, packet, set, member); })) return;
  report(view, 1);
  take(view, packet, set, member);  // as those of its flow did
}

lb::FlowTableUse GuardedSelector::flow_table(Instant now, size_t from, size_t count) {
  lb::FlowTableUse use;
  (void)guard_.survives([&] { use = inner_->flow_table(now, from, count); });
  return use;
}

lb::PathKnowledge GuardedSelector::knowledge(Instant now, uint16_t set, lb::MemberIndex member) {
  lb::PathKnowledge known;
  (void)guard_.survives([&] { known = inner_->knowledge(now, set, member); });
  return known;
}

lb::Preview GuardedSelector::preview(const lb::PathView& view, Packet& packet, uint16_t set) {
  lb::Preview preview;
  if (guard_.survives([&] { preview = inner_->preview(view, packet, set); })) return preview;
  const lb::MemberIndex member = ecmp_.pick(set, packet.balance_hash, view.live(set));
  return {
      .by = lb::Preview::By::ecmp, .member = member, .wanted = member, .reason = lb::Reason::hash};
}

void GuardedSelector::rebase(const Rebase& rebase) {
  (void)guard_.survives([&] { inner_->rebase(rebase); });
}

Instant GuardedSelector::Agent::next_deadline() const {
  Instant due = Instant::never();
  (void)guard_.survives([&] { due = inner_.next_deadline(); });
  return guard_.failed() ? Instant::never() : due;
}

void GuardedSelector::Agent::on_timers(lb::Voice& voice) {
  (void)guard_.survives([&] { inner_.on_timers(voice); });
}

void GuardedSelector::Agent::dress(lb::Voice& voice, std::span<lb::Dressing> burst) {
  if (guard_.failed() || guard_.survives([&] { inner_.dress(voice, burst); })) return;
  for (lb::Dressing& each : burst) each.fields = {};  // all of the burst or none
}

// With reports of its own it is asked in full: these would be out of our sight.
bool GuardedSelector::Agent::dress_briefly(lb::Voice& voice, std::span<Packet* const> burst,
                                           std::span<const uint16_t> sets,
                                           std::span<uint32_t> briefs) {
  bool said = false;
  const auto ask = [&] {
    said = inner_.reports() == nullptr && inner_.dress_briefly(voice, burst, sets, briefs);
  };
  return !guard_.failed() && guard_.survives(ask) && said;
}

void GuardedSelector::Agent::arrived(lb::Voice& voice, std::span<const lb::Arrival> burst) {
  (void)guard_.survives([&] { inner_.arrived(voice, burst); });
}

void GuardedSelector::Agent::on_feedback(lb::Voice& voice, std::span<const lb::Feedback> burst) {
  (void)guard_.survives([&] { inner_.on_feedback(voice, burst); });
}

void GuardedSelector::Agent::on_frames(lb::Voice& voice, std::span<lb::HeardFrame> burst) {
  (void)guard_.survives([&] { inner_.on_frames(voice, burst); });
}

void GuardedSelector::Agent::on_replies(lb::Voice& voice, std::span<const lb::Reply> burst) {
  (void)guard_.survives([&] { inner_.on_replies(voice, burst); });
}

lb::MemberIndex GuardedSelector::by_ecmp(const lb::PathView& view, Packet& packet, uint16_t set) {
  const lb::MemberIndex member = ecmp_.pick(set, packet.balance_hash, view.live(set));
  take(view, packet, set, member);
  return member;
}

void GuardedSelector::take(const lb::PathView& view, Packet& packet, uint16_t set,
                           lb::MemberIndex member) {
  const lb::PathMember& chosen = view.set(set).members[member];
  packet.member = member;
  packet.egress_port = chosen.port;
  packet.path = chosen.path;
}

// With the first packets after the failure: flow_table() and rebase() have no view.
void GuardedSelector::report(const lb::PathView& view, uint32_t packets) {
  view.report_fallback(packets, !said_);
  said_ = true;
}

}  // namespace eddy::plugin
