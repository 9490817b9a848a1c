#include "tests/support/fabric.h"

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <utility>

#include "net/assert.h"
#include "net/pause_frame.h"
#include "switch/dataplane/object/shard.h"
#include "switch/dataplane/state/io.h"

namespace eddy::test {
namespace {

struct Line {  // where a port leads
  enum class Kind : uint8_t { nowhere, node, host };
  Kind kind = Kind::nowhere;
  size_t node = 0;
  PortId port;
  FabricHost* host = nullptr;
  Duration delay;
  uint16_t transmit_limit = 65535;
};

}  // namespace

// What one shard of a node exchanges with the fabric.
class NodeIo final : public Io {
 public:
  NodeIo(Fabric& fabric, size_t node) : fabric_(fabric), node_(node) {}

  Received receive(std::span<Packet*> out) override;
  const News& news() override {
    completed_now_.swap(completed_);
    completed_.clear();
    links_now_.swap(links_);
    links_.clear();
    news_ = {.completions = completed_now_, .link_changes = links_now_};
    return news_;
  }
  uint16_t transmit(PortId port, std::span<Packet* const> packets, Instant done) override;
  Packet* allocate() override { return fabric_.pool_.get(); }
  void free(std::span<Packet* const> packets) override {
    for (Packet* packet : packets) fabric_.pool_.put(packet);
  }

  std::vector<std::pair<PortId, Packet*>> arrived_;
  std::vector<PortId> completed_, completed_now_;
  std::vector<LinkChange> links_, links_now_;

 private:
  Fabric& fabric_;
  size_t node_;
};

struct Fabric::Node {
  std::unique_ptr<Switch> object;
  std::vector<NodeIo> io;     // by shard
  std::vector<size_t> owner;  // shard of each port
  std::vector<Line> lines;
  std::vector<std::vector<Arrival>> seen;
  std::vector<Instant> wake_at;  // by shard: deadline already scheduled
  uint64_t polls = 0;
  Duration clock_ahead;  // of the fabric's
  bool rebased = false;  // an odd number of times

  Instant clock(Instant at) const { return at + clock_ahead; }
  Instant of_fabric(Instant at) const { return at == Instant::never() ? at : at - clock_ahead; }
};

Received NodeIo::receive(std::span<Packet*> out) {
  Received received;
  while (!arrived_.empty() && received.count < out.size()) {
    const auto& [port, packet] = arrived_.front();
    if (received.count != 0 && port != received.port) break;
    received.port = port;
    out[received.count++] = packet;
    arrived_.erase(arrived_.begin());
  }
  return received;
}

uint16_t NodeIo::transmit(PortId port, std::span<Packet* const> packets, Instant done) {
  Fabric::Node& node = *fabric_.nodes_[node_];
  const auto taken = static_cast<uint16_t>(
      std::min<size_t>(packets.size(), node.lines[port.index()].transmit_limit));
  for (size_t i = 0; i < taken; ++i) {
    fabric_.leave(node, port, packets[i], node.of_fabric(packets[i]->sent_at));
  }
  const size_t shard = node.owner[port.index()];
  if (taken == packets.size())
    fabric_.schedule(node.of_fabric(done), [this, &node, port, shard] {
      completed_.push_back(port);
      fabric_.poll_shard(node, shard);
    });
  return taken;
}

Fabric::Fabric(size_t packets, size_t data_room) : pool_(packets, data_room) {
  if (const char* every = std::getenv("EDDY_REBASE_EVERY"); every != nullptr)
    rebase_every = std::strtoull(every, nullptr, 10);
}
Fabric::~Fabric() = default;

size_t Fabric::add_switch(const config::SwitchConfig& config, size_t shards,
                          std::shared_ptr<const RouteTable> routes, StageMaker stage) {
  auto made = Switch::create(config, {.shards = shards,
                                      .shared_routes = std::move(routes),
                                      .sites = FaultProbe(sites),
                                      .stage = std::move(stage)});
  if (!made)
    for (const std::string& problem : made.problems())
      std::fprintf(stderr, "%s\n", problem.c_str());
  ASSERT(made.ok());
  auto node = std::make_unique<Node>();
  node->object = std::move(*made);
  for (size_t i = 0; i < shards; ++i) node->io.emplace_back(*this, nodes_.size());
  for (const config::PortConfig& port : config.ports)
    node->owner.push_back(static_cast<size_t>(port.worker));
  node->lines.resize(config.ports.size());
  node->seen.resize(config.ports.size());
  node->wake_at.assign(shards, Instant::never());
  nodes_.push_back(std::move(node));
  return nodes_.size() - 1;
}

void Fabric::connect(size_t node_a, PortId port_a, size_t node_b, PortId port_b, Duration delay) {
  nodes_[node_a]->lines[port_a.index()] = {Line::Kind::node, node_b, port_b, nullptr, delay};
  nodes_[node_b]->lines[port_b.index()] = {Line::Kind::node, node_a, port_a, nullptr, delay};
  set_link(node_a, port_a, true);
  set_link(node_b, port_b, true);
}

FabricHost& Fabric::attach_host(size_t node, PortId port, Duration delay) {
  hosts_.push_back(std::make_unique<FabricHost>());
  FabricHost& host = *hosts_.back();
  host.node_ = node;
  host.port_ = port;
  host.speed = nodes_[node]->object->config().ports[port.index()].speed;
  nodes_[node]->lines[port.index()] = {Line::Kind::host, 0, {}, &host, delay};
  set_link(node, port, true);
  return host;
}

void Fabric::set_link(size_t node, PortId port, bool up) {
  Node& at = *nodes_[node];
  at.io[at.owner[port.index()]].links_.push_back({port, up});
  poll_shard(at, at.owner[port.index()]);
}

void Fabric::hand_over(size_t node, PortId port, ShardId to) {
  nodes_[node]->owner[port.index()] = to.index();
}

void Fabric::limit_transmit(size_t node, PortId port, uint16_t frames) {
  nodes_[node]->lines[port.index()].transmit_limit = frames;
}

void Fabric::inject(size_t node, PortId port, const Frame& frame, size_t wire_len) {
  Packet* packet = pool_.get(frame, wire_len);
  ASSERT(packet != nullptr);
  deliver(node, port, packet);
}

void Fabric::deliver(size_t node, PortId port, Packet* packet) {
  Node& at = *nodes_[node];
  const size_t shard = at.owner[port.index()];
  at.io[shard].arrived_.emplace_back(port, packet);
  poll_shard(at, shard);
}

// The frame's last bit leaves at `done`; it arrives a propagation delay later.
void Fabric::leave(Node& node, PortId port, Packet* packet, Instant done) {
  const Line& line = node.lines[port.index()];
  switch (line.kind) {
    case Line::Kind::nowhere:
      node.seen[port.index()].push_back(
          {done, Frame(packet->data(), packet->data() + packet->data_len()), packet->wire_len});
      pool_.put(packet);
      return;
    case Line::Kind::node:
      return schedule(done + line.delay,
                      [this, packet, line] { deliver(line.node, line.port, packet); });
    case Line::Kind::host:
      return schedule(done + line.delay,
                      [this, packet, line] { host_receives(*line.host, packet); });
  }
}

void Fabric::host_receives(FabricHost& host, Packet* packet) {
  PauseFrame pause;
  const bool is_pause = decode({packet->data(), packet->data_len()}, pause) == CodecVerdict::ok;
  if (is_pause) {
    const LineRate line(host.speed);
    for (size_t i = 0; i < kPriorities && host.obeys_pfc; ++i)
      if ((pause.enabled >> i & 1) != 0)
        host.pause_until_[i] = now_ + line.time_of_quanta(pause.quanta[i]);
    host_sends(host);
  } else {
    ++host.received_count;
    host.received_bytes += packet->wire_len;
  }
  if (host.keep_frames)
    host.received.push_back(
        {now_, Frame(packet->data(), packet->data() + packet->data_len()), packet->wire_len});
  pool_.put(packet);
}

void Fabric::kick(FabricHost& host) {
  host_sends(host);
}

void Fabric::host_sends(FabricHost& host) {
  if (!host.has_pending_) {
    if (host.source) {
      host.has_pending_ = host.source(host.pending_);
    } else if (host.next_ < host.to_send.size()) {
      host.pending_ = host.to_send[host.next_++];
      host.has_pending_ = true;
    }
  }
  if (!host.has_pending_ || host.wake_scheduled_) return;
  const Instant start =
      std::max({now_, host.free_at_, host.pause_until_[host.pending_.priority.index()]});
  if (start > now_) {
    host.wake_scheduled_ = true;
    // A pause may be withdrawn early: then host_receives looks again at once.
    const bool paused = start == host.pause_until_[host.pending_.priority.index()];
    if (paused) host.wake_scheduled_ = false;
    return schedule(start, [this, &host, paused] {
      if (!paused) host.wake_scheduled_ = false;
      host_sends(host);
    });
  }
  Packet* packet = pool_.get(host.pending_.frame, host.pending_.wire_len);
  ASSERT(packet != nullptr);
  host.has_pending_ = false;
  ++host.sent_count;
  const Duration time = LineRate(host.speed).time_of(Bytes(packet->wire_len + host.line_overhead));
  host.free_at_ = now_ + time;
  const Duration delay = nodes_[host.node_]->lines[host.port_.index()].delay;
  schedule(host.free_at_ + delay,
           [this, &host, packet] { deliver(host.node_, host.port_, packet); });
  host.wake_scheduled_ = true;
  schedule(host.free_at_, [this, &host] {
    host.wake_scheduled_ = false;
    host_sends(host);
  });
}

void Fabric::schedule(Instant at, std::function<void()> action) {
  events_.push({std::max(at, now_), order_++, std::move(action)});
}

void Fabric::poll_shard(Node& node, size_t shard) {
  node.object->shard(ShardId(shard)).poll(node.io[shard], node.clock(now_));
  ++node.polls;
  if (rebase_every != 0 && node.polls % rebase_every == 0)
    move_clock(node, Rebase(std::exchange(node.rebased, !node.rebased) ? Rebase::Way::back
                                                                       : Rebase::Way::forward));
  settle(node);
}

// What is in mailboxes comes along.
void Fabric::move_clock(Node& node, const Rebase& rebase) {
  node.object->rebase(rebase);
  node.clock_ahead -= rebase.back();
}

void Fabric::age(Duration step, int steps) {
  for (; steps > 0; --steps)
    for (size_t i = 0; i < nodes_.size(); ++i) {
      nodes_[i]->clock_ahead += step;
      poll(i);
      if (nodes_[i]->clock(now_) >= Rebase::kDue) move_clock(*nodes_[i], Rebase());
    }
}

void Fabric::poll(size_t node) {
  for (size_t shard = 0; shard < nodes_[node]->io.size(); ++shard) poll_shard(*nodes_[node], shard);
}

void Fabric::settle(Node& node) {
  poll_those_with_mail(node);
  for (size_t shard = 0; shard < node.io.size(); ++shard) {
    const Instant deadline = node.of_fabric(node.object->shard(ShardId(shard)).next_deadline());
    if (node.wake_at[shard] <= deadline) continue;
    node.wake_at[shard] = deadline;
    schedule(deadline, [this, &node, shard, deadline] {
      if (node.wake_at[shard] != deadline) return;
      node.wake_at[shard] = Instant::never();
      poll_shard(node, shard);
    });
  }
  if (check_balance) check(node);
}

void Fabric::poll_those_with_mail(Node& node) {
  constexpr int kRounds = 1000;  // more means that a shard asks for the present forever
  for (int round = 0;; ++round) {
    bool any = false;
    for (size_t shard = 0; shard < node.io.size(); ++shard) {
      Shard& there = node.object->shard(ShardId(shard));
      if (there.next_deadline() > node.clock(now_)) continue;
      there.poll(node.io[shard], node.clock(now_));
      ++node.polls;
      any = true;
    }
    if (!any) return;
    ASSERT(round < kRounds);
  }
}

void Fabric::check(const Node& node) const {
  const Balance balance = node.object->balance();
  if (balance.holds()) return;
  std::fprintf(
      stderr, "rx %lu + originated %lu != tx %lu + consumed %lu + dropped %lu + held %lu\n",
      balance.rx, balance.originated, balance.tx, balance.consumed, balance.dropped, balance.held);
  ASSERT(balance.holds());
}

void Fabric::step() {
  Event event = events_.top();
  events_.pop();
  now_ = event.at;
  event.action();
  if (after_event) after_event();
}

void Fabric::run_until(Instant end) {
  while (!events_.empty() && events_.top().at <= end) step();
  now_ = std::max(now_, end);
}

Instant Fabric::run_to_quiet(Instant limit) {
  while (!events_.empty() && events_.top().at <= limit) step();
  return now_;
}

Switch& Fabric::at(size_t node) {
  return *nodes_[node]->object;
}
std::vector<Arrival>& Fabric::seen(size_t node, PortId port) {
  return nodes_[node]->seen[port.index()];
}
uint64_t Fabric::polls(size_t node) const {
  return nodes_[node]->polls;
}

}  // namespace eddy::test
