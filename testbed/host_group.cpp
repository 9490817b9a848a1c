#include "testbed/host_group.h"

#include <algorithm>

#include "lab/run/flow_results.h"
#include "lab/traffic/wire_cost.h"
#include "switch/dataplane/state/snapshot.h"

namespace eddy::testbed {

HostGroup::HostGroup(const HostGroupOptions& options, std::span<HostWire* const> wires)
    : book_(options.flows, options.experiment.host.queue_pairs,
            {.waits = options.waits, .word = lab::longest_delay(options.topology)}) {
  const lab::Topology& topology = options.topology;
  const auto needs = book_.needs(topology.hosts.size());
  std::vector<host::Nic*> nics;
  std::vector<IpAddress> addresses;
  for (size_t i = 0; i < topology.hosts.size(); ++i) {
    const lab::Topology::Host& host = topology.hosts[i];
    const host::NicOptions nic{
        .config = options.experiment.host,
        .mac = host.mac,
        .gateway = port_mac(topology.switches[host.switch_index], host.port.index()),
        .address = host.address,
        .speed = host.rate,
        .line_overhead = topology.line_overhead,
        .senders = needs[i].senders,
        .receivers = needs[i].receivers,
        .seed = options.seed,
        .host = static_cast<uint32_t>(i)};
    ports_.push_back(std::make_unique<HostPort>(
        HostPortOptions{
            .nic = nic,
            .delay = host.delay,
            .catch_up = options.catch_up,
            .in_flight = frames_in_flight(host, topology.line_overhead, options.catch_up),
            .announce = options.announce},
        *wires[i]));
    nics.push_back(&ports_.back()->nic());
    addresses.push_back(host.address);
  }
  const Bytes packet =
      lab::header_octets(options.experiment, topology) + Bytes(options.experiment.host.mtu);
  book_.open(nics, addresses, [&](uint32_t source, uint32_t destination) {
    return options.paths.base_rtt(source, destination, packet);
  });
}

HostPort::Turn HostGroup::poll(Instant now) {
  book_.start_due(
      now, [this](uint32_t host, uint32_t qpn, Instant at) { ports_[host]->start(qpn, at); });
  HostPort::Turn turn;
  size_t announced = 0;
  for (size_t i = 0; i < ports_.size(); ++i) {
    const HostPort::Turn one = ports_[i]->poll(now);
    turn.received += one.received;
    turn.transmitted += one.transmitted;
    announced += ports_[i]->announced() ? 1 : 0;
    finish(i, now);
  }
  progress_.announced.store(announced, std::memory_order_relaxed);
  publish(turn);
  return turn;
}

// What has ended at a host, and what begins there because of it.
void HostGroup::finish(size_t host, Instant now) {
  host::Nic& nic = ports_[host]->nic();
  for (const host::Completion& completion : nic.completions()) {
    book_.finish(completion);
    if (book_.any_wait()) book_.arrive(completion, ready_, item_news_);
  }
  nic.clear_completions();
  if (book_.awaits_departure(host)) book_.depart(host, ready_);
  for (const uint32_t flow : ready_)
    book_.start_late(flow, now, [this](uint32_t at, uint32_t qpn, Instant start) {
      ports_[at]->start(qpn, start);
    });
  started_late_ += ready_.size();
  ready_.clear();
  if (!item_news_.item_ended) return;
  book_.hear(item_news_.ends);
  item_news_ = {};
}

void HostGroup::publish(const HostPort::Turn& turn) {
  const auto add = [](std::atomic<uint64_t>& sum, size_t more) {
    sum.store(sum.load(std::memory_order_relaxed) + more, std::memory_order_relaxed);
  };
  if (turn.received != 0) add(progress_.received, turn.received);
  if (turn.transmitted != 0) add(progress_.transmitted, turn.transmitted);
  progress_.flows_started.store(book_.started() + started_late_, std::memory_order_relaxed);
  progress_.flows_ended.store(book_.ended(), std::memory_order_relaxed);
}

Instant HostGroup::next_deadline() const {
  Instant next = book_.next_start();
  for (const auto& port : ports_) next = std::min(next, port->next_deadline());
  return next;
}

std::vector<const host::Nic*> HostGroup::nics() const {
  std::vector<const host::Nic*> nics;
  for (const auto& port : ports_) nics.push_back(&port->nic());
  return nics;
}

size_t frames_in_flight(const lab::Topology::Host& host, int line_overhead, Duration catch_up) {
  const int64_t smallest = 60 + line_overhead;
  constexpr int64_t kBursts = 2 * HostWire::kBurst;
  const Bytes octets = bytes_in(host.delay + catch_up, host.rate);
  return static_cast<size_t>(octets.count() / smallest + kBursts);
}

}  // namespace eddy::testbed
