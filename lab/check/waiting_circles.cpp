#include "lab/check/waiting_circles.h"

#include <algorithm>

#include "lab/fabric/circle.h"

namespace eddy::lab {

WaitingCircles::WaitingCircles(World& world, const Topology& topology, Duration stands)
    : world_(world), topology_(topology), stands_(stands) {
  for (uint32_t node = 0; node < world.switch_count(); ++node) {
    const config::SwitchConfig& config = topology.switches[node];
    auto pair = pfc::class_pair_of(config);
    pairs_.push_back(config.isolation.enabled && pair ? std::optional(*pair) : std::nullopt);
    for (size_t port = 0; port < config.ports.size(); ++port) {
      if (world.lines()[world.line_of(node, PortId(port))].to >= world.switch_count()) continue;
      for (size_t queue = 0; queue < kPriorities; ++queue)
        queues_.push_back({.node = node, .port = PortId(port), .id = QueueId(queue)});
    }
  }
  for (Queue& queue : queues_) queue.since = Instant::never();
}

std::string WaitingCircles::look() {
  if (world_.now() < next_look_) return {};
  next_look_ = world_.now() + kEvery;
  for (Queue& queue : queues_) look_at(queue);
  const std::vector<size_t> stand = standing();
  if (stand.size() < 2) return {};
  std::vector<std::vector<uint32_t>> edges;
  for (const size_t i : stand) edges.push_back(awaited_by(queues_[i], stand));
  std::string circle;
  for (const uint32_t i : circle_in(edges))
    circle += (circle.empty() ? "" : " > ") + name_of(queues_[stand[i]]);
  return circle;
}

void WaitingCircles::look_at(Queue& queue) {
  Switch& object = world_.switch_at(queue.node);
  const QueueStatus status = object.queue_status(queue.port, queue.id);
  const PortCounters counters = object.counters(ShardId(0))[queue.port];
  const uint64_t sent = counters.queue[queue.id.index()].read(QueueCounter::queue_tx_packets);
  const QueueId gate = gate_of(queue);
  const bool held = !gate.is_none() && object.queue_status(queue.port, gate).paused;
  const bool stands =
      (status.paused || held) && status.used != 0 && !status.storm && sent == queue.sent;
  queue.sent = sent;
  if (!stands)
    queue.since = Instant::never();
  else if (queue.since == Instant::never())
    queue.since = world_.now();
}

QueueId WaitingCircles::gate_of(const Queue& queue) const {
  const auto& pair = pairs_[queue.node];
  return pair && pair->isolated.queue == queue.id ? pair->normal.queue : QueueId::none();
}

std::vector<size_t> WaitingCircles::standing() const {
  std::vector<size_t> out;
  for (size_t i = 0; i < queues_.size(); ++i)
    if (queues_[i].since != Instant::never() && world_.now() - queues_[i].since >= stands_)
      out.push_back(i);
  return out;
}

std::vector<uint32_t> WaitingCircles::awaited_by(const Queue& queue,
                                                 const std::vector<size_t>& among) const {
  const Line& line = world_.lines()[world_.line_of(queue.node, queue.port)];
  const std::vector<PriorityGroupId> pausers = pausers_of(queue, line);
  std::vector<uint32_t> out;
  for (uint32_t i = 0; i < among.size(); ++i) {
    const Queue& other = queues_[among[i]];
    const bool is_gate =
        other.node == queue.node && other.port == queue.port && other.id == gate_of(queue);
    const bool holds =
        other.node == line.to && std::ranges::any_of(pausers, [&](auto pg) {
          return world_.switch_at(line.to).holds_of(other.port, other.id, line.to_port, pg);
        });
    if (is_gate || holds) out.push_back(i);
  }
  return out;
}

std::vector<PriorityGroupId> WaitingCircles::pausers_of(const Queue& queue,
                                                        const Line& line) const {
  std::vector<PriorityGroupId> out;
  if (!world_.switch_at(queue.node).queue_status(queue.port, queue.id).paused) return out;
  const auto& theirs = topology_.switches[line.to].ports[line.to_port.index()].maps;
  const auto& ours = topology_.switches[queue.node].ports[queue.port.index()].maps;
  for (size_t i = 0; i < kPriorities; ++i) {
    const PriorityGroupId pg(i);
    const bool stops = ours.pfc_to_queue[theirs.pg_to_pfc[i].index()] == queue.id;
    if (stops && world_.switch_at(line.to).pg_status(line.to_port, pg).pausing) out.push_back(pg);
  }
  return out;
}

std::string WaitingCircles::name_of(const Queue& queue) const {
  const config::SwitchConfig& of = topology_.switches[queue.node];
  return of.name + " to " + of.ports[queue.port.index()].name + ", queue " +
         std::to_string(queue.id.index());
}

}  // namespace eddy::lab
