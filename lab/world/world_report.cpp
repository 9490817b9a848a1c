// What a World tells of itself.
#include "lab/world/world.h"
#include "net/fnv.h"

namespace eddy::lab {
namespace {

// Counters that are zero do not count, so a new one changes no digest of a world without it.
template <class Array>
void add_all(Fnv64& digest, const Array& counters, std::span<const CounterInfo> infos) {
  for (size_t i = 0; i < infos.size(); ++i) {
    if (counters.read(i) == 0) continue;
    digest.add(infos[i].name);
    digest.add(counters.read(i));
  }
}

void add_port(Fnv64& digest, const PortCounters& port) {
  add_all(digest, port.port, port_counter_infos());
  for (size_t i = 0; i < kPriorities; ++i) {
    digest.add(i);
    add_all(digest, port.queue[i], queue_counter_infos());
    add_all(digest, port.pg[i], pg_counter_infos());
    add_all(digest, port.pfc[i], pfc_counter_infos());
  }
  add_all(digest, port.drops, drop_reason_infos());
}

// The same for those of a NIC that came later.
void add_nic_counter(Fnv64& digest, size_t which, uint64_t count) {
  const bool later = which > static_cast<size_t>(host::NicCounter::invalid_ack_packets);
  if (later && count == 0) return;
  digest.add(count);
}

}  // namespace

WorldCounts World::counts() const {
  WorldCounts counts = whole_->counts();
  if (windows_ != nullptr) windows_->add_counts(counts, now());
  counts.events += start_instants_;
  for (const SwitchNode& node : nodes_.switches)
    if (node.io != nullptr) counts.ties += node.io->ties();
  if (told_ != nullptr) {
    counts.events += told_->counts.events;
    counts.packet_hops += told_->counts.packet_hops;
    counts.ties += told_->counts.ties;
    counts.polls += told_->counts.polls;
    counts.host_turns += told_->counts.host_turns;
    counts.blank_missing += told_->counts.blank_missing;
  }
  return counts;
}

size_t World::frames_in_flight() const {
  size_t frames = 0;
  for (const LineEnd& end : nodes_.ends) frames += end.entered - end.delivered;
  for (const uint64_t lost : nodes_.lost) frames -= lost;
  return frames;
}

size_t World::frames_in_intakes() const {
  size_t frames = 0;
  for (const Intake* intake : nodes_.intakes) frames += intake->held();
  return frames;
}

const Counters& World::counters_of(size_t switch_index) const {
  static const Counters none(0);
  if (const auto& object = nodes_.switches[switch_index].object; object != nullptr)
    return object->counters(ShardId(0));
  return told_ == nullptr ? none : *told_->switches[switch_index];
}

FabricFacts World::facts() const {
  FabricFacts facts;
  if (told_ != nullptr) facts = told_->sums;
  for (const HostNode& host : nodes_.hosts)
    if (host.nic != nullptr) facts.nics.add(*host.nic, nodes_.options.host.priority, now());
  for (size_t i = 0; i < nodes_.switches.size(); ++i) {
    const SwitchNode& node = nodes_.switches[i];
    if (node.object == nullptr) continue;
    for (size_t step = 0; step < facts.waits.size(); ++step) {
      facts.waits[step] += node.object->waits(ShardId(0)).count(step);
      facts.heard[step] += node.object->heard(ShardId(0)).count(step);
      facts.isolated[step] += node.object->isolated(ShardId(0)).count(step);
    }
    for (size_t port = 0; port < node.object->port_count(); ++port)
      for (size_t k = 0; k < kPriorities; ++k) {
        const bool pausing = node.object->pg_status(PortId(port), PriorityGroupId(k)).pausing;
        const bool to_host = !nodes_.is_switch(nodes_.lines[line_of(i, PortId(port))].to);
        facts.pausing += pausing ? 1 : 0;
        facts.pausing_hosts += pausing && to_host ? 1 : 0;
        facts.in_force += node.object->uncounted_pause(PortId(port), Priority(k), now());
      }
  }
  return facts;
}

void World::add_host(Fnv64& digest, size_t index) const {
  if (const auto& nic = nodes_.hosts[index].nic; nic != nullptr) {
    for (size_t i = 0; i < static_cast<size_t>(host::NicCounter::kCount); ++i)
      add_nic_counter(digest, i, nic->counter(static_cast<host::NicCounter>(i)));
    for (const uint64_t bucket : nic->ood_histogram()) digest.add(bucket);
    return;
  }
  if (told_ == nullptr) return;
  const ToldFacts::Host& host = told_->hosts[index];
  for (size_t i = 0; i < host.counters.size(); ++i) add_nic_counter(digest, i, host.counters[i]);
  auto next = host.ood.begin();
  for (size_t i = 0; i < host::Nic::kOodBuckets; ++i) {
    const bool is_next = next != host.ood.end() && next->first == i;
    digest.add(is_next ? (next++)->second : uint64_t{0});
  }
}

uint64_t World::digest() const {
  Fnv64 digest;
  for (const FlowRecord& record : book_.records()) {
    digest.add(static_cast<uint64_t>(record.sender_done.ps()));
    digest.add(static_cast<uint64_t>(record.receiver_done.ps()));
  }
  for (size_t host = 0; host < nodes_.hosts.size(); ++host) add_host(digest, host);
  for (size_t i = 0; i < nodes_.switches.size(); ++i) {
    const Counters& counters = counters_of(i);
    for (size_t port = 0; port < counters.port_count(); ++port)
      add_port(digest, counters[PortId(port)]);
  }
  for (uint32_t line = 0; line < nodes_.lines.size(); ++line) {
    digest.add(nodes_.delivered(line));
    digest.add(nodes_.lost[line]);
  }
  return digest.value();
}

}  // namespace eddy::lab
