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

}  // namespace

WorldCounts World::counts() const {
  WorldCounts counts = whole_->counts();
  if (windows_ != nullptr) windows_->add_counts(counts, now());
  counts.events += start_instants_;
  for (const SwitchNode& node : nodes_.switches) counts.ties += node.io->ties();
  return counts;
}

size_t World::frames_in_flight() const {
  size_t frames = 0;
  for (const Line& line : nodes_.lines) frames += line.entered - line.delivered - line.lost;
  return frames;
}

size_t World::frames_in_intakes() const {
  size_t frames = 0;
  for (const Intake* intake : nodes_.intakes) frames += intake->held();
  return frames;
}

uint64_t World::digest() const {
  Fnv64 digest;
  for (const FlowRecord& record : book_.records()) {
    digest.add(static_cast<uint64_t>(record.sender_done.ps()));
    digest.add(static_cast<uint64_t>(record.receiver_done.ps()));
  }
  for (const HostNode& host : nodes_.hosts) {
    for (size_t i = 0; i < static_cast<size_t>(host::NicCounter::kCount); ++i)
      digest.add(host.nic->counter(static_cast<host::NicCounter>(i)));
    for (const uint64_t bucket : host.nic->ood_histogram()) digest.add(bucket);
  }
  for (const SwitchNode& node : nodes_.switches)
    for (size_t port = 0; port < node.object->port_count(); ++port)
      add_port(digest, node.object->counters(ShardId(0))[PortId(port)]);
  for (const Line& line : nodes_.lines) {
    digest.add(line.delivered);
    digest.add(line.lost);
  }
  return digest.value();
}

}  // namespace eddy::lab
