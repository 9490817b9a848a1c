#include "switch/dataplane/object/switch.h"

#include <algorithm>
#include <utility>

#include "net/assert.h"
#include "switch/dataplane/object/shard_impl.h"
#include "switch/dataplane/state/shard_context.h"
#include "switch/dataplane/state/snapshot.h"

namespace eddy {
namespace {

template <class T>
T read(const std::atomic<T>& value) {
  return value.load(std::memory_order_relaxed);
}

Watermark read(const pfc::Watermarks& marks) {
  return {marks.read(pfc::WatermarkKind::user), marks.read(pfc::WatermarkKind::persistent)};
}

// Each shard has seen its own highest of what all hold together.
void raise(Watermark& to, const Watermark& seen) {
  to.user = std::max(to.user, seen.user);
  to.persistent = std::max(to.persistent, seen.persistent);
}

// What a place may not do from one configuration to the next; which worker looks after an empty one
// may change.
Problems problems_of_place(const config::PortConfig& before, const config::PortConfig& now) {
  const bool leaves = !before.absent() && now.name != before.name;
  if (leaves && !now.absent())
    return {"ports: " + before.name + " became " + now.name + " at once"};
  if (leaves && before.admin_up)
    return {"ports: " + before.name + " goes, and its admin_up is true"};
  if (before.worker != now.worker && !(before.absent() && now.absent()))
    return {"ports." + (now.absent() ? before.name : now.name) + ".worker changed"};
  return {};
}

// Keys that only a restart can change, as far as the object itself depends on them.
Problems restart_needed(const config::SwitchConfig& before, const config::SwitchConfig& now) {
  if (before.ports.size() != now.ports.size()) return {"ports: the number of places changed"};
  Problems problems;
  for (size_t i = 0; i < before.ports.size(); ++i)
    for (std::string& problem : problems_of_place(before.ports[i], now.ports[i]))
      problems.push_back(std::move(problem));
  return problems;
}

// What is new begins its epochs when it would have if it had been there from the start.
void catch_up(Snapshot& next, const Snapshot& before, int32_t epoch) {
  const Rebase rebase(epoch < 0 ? Rebase::Way::forward : Rebase::Way::back);
  for (int32_t i = 0; i != epoch; i += rebase.epochs()) {
    if (next.paths != nullptr && next.paths != before.paths) next.paths->rebase(rebase);
    for (size_t shard = 0; shard < next.schemes.size(); ++shard) {
      const auto& selector = next.schemes[shard].selector;
      if (selector != before.schemes[shard].selector) selector->rebase(rebase);
    }
  }
}

}  // namespace

struct Switch::State {
  State(SwitchOptions given, size_t ports)
      : options(std::move(given)), common(options.shards, ports, options.sites) {}

  struct Retired {
    std::unique_ptr<Snapshot> snapshot;
    uint64_t token;  // of rte_rcu_qsbr: free when all shards have passed it
  };

  SwitchOptions options;
  CommonState common;
  std::vector<std::unique_ptr<ShardImpl>> shards;
  std::unique_ptr<Snapshot> snapshot;
  std::vector<Retired> retired;
  int32_t epoch = 0;  // rebases
};

Switch::Switch(std::unique_ptr<State> state) : state_(std::move(state)) {}
Switch::~Switch() = default;

Result<std::unique_ptr<Switch>> Switch::create(const config::SwitchConfig& config,
                                               const SwitchOptions& options) {
  if (options.shards < 1 || options.shards > kMaxShards)
    return Problems{"workers: " + std::to_string(options.shards) + " is not in 1..16"};
  if (config.ports.size() > kMaxPorts)
    return Problems{"ports: " + std::to_string(config.ports.size()) + " is more than 256"};
  auto snapshot = Snapshot::build(config, options, nullptr);
  if (!snapshot) return snapshot.problems();
  const size_t ports = config.ports.size();
  auto state = std::make_unique<State>(options, ports);
  state->snapshot = std::move(*snapshot);
  state->snapshot->generation = 1;
  state->common.changes.publish(*state->snapshot);
  for (size_t i = 0; i < options.shards; ++i)
    state->shards.push_back(std::make_unique<ShardImpl>(state->common, ShardId(i), ports));
  return std::unique_ptr<Switch>(new Switch(std::move(state)));
}

size_t Switch::shard_count() const {
  return state_->shards.size();
}
Shard& Switch::shard(ShardId id) {
  return *state_->shards[id.index()];
}

Result<uint64_t> Switch::reconfigure(const config::SwitchConfig& config) {
  Problems problems = restart_needed(state_->snapshot->config, config);
  if (!problems.empty()) return problems;
  auto next = Snapshot::build(config, state_->options, state_->snapshot.get());
  if (!next) return next.problems();
  (*next)->generation = state_->snapshot->generation + 1;
  catch_up(**next, *state_->snapshot, state_->epoch);
  state_->common.changes.publish(**next);
  const uint64_t token = rte_rcu_qsbr_start(state_->common.readers.get());
  state_->common.changes.pass_grace(token);
  state_->retired.push_back({std::exchange(state_->snapshot, std::move(*next)), token});
  return state_->snapshot->generation;
}

size_t Switch::reclaim() {
  rte_rcu_qsbr* readers = state_->common.readers.get();
  std::erase_if(state_->retired, [readers](const State::Retired& retired) {
    return rte_rcu_qsbr_check(readers, retired.token, /*wait=*/false) == 1;
  });
  return state_->retired.size();
}

bool Switch::post(ShardId shard, Command& command) {
  command.done.store(false, std::memory_order_relaxed);
  CommonState& common = state_->common;
  if (!common.mail(common.control(), shard)
           .send({.kind = Message::Kind::command, .command = &command}))
    return false;
  common.changes.post_command(shard);
  return true;
}

// Shards may obey different snapshots, with one table of paths or two; and the newest may be obeyed
// by none of them.
void Switch::rebase(const Rebase& rebase) {
  state_->epoch += rebase.epochs();
  state_->common.rebase(rebase);
  std::vector<lb::PathTable*> tables{state_->snapshot->paths.get()};
  for (size_t i = 0; i < state_->shards.size(); ++i) {
    ShardImpl& shard = *state_->shards[i];
    shard.rebase(rebase);
    tables.push_back(shard.paths());
    lb::Selector* newest = state_->snapshot->schemes[i].selector.get();
    if (newest != shard.selector()) newest->rebase(rebase);
  }
  std::ranges::sort(tables);
  tables.erase(std::unique(tables.begin(), tables.end()), tables.end());
  for (lb::PathTable* table : tables)
    if (table != nullptr) table->rebase(rebase);
}

Duration Switch::uncounted_pause(PortId port, Priority priority, Instant now) const {
  const ShardId owner = state_->snapshot->ports[port.index()].owner;
  return state_->shards[owner.index()]->uncounted_pause(port, priority, now);
}

size_t Switch::port_count() const {
  return state_->common.signals.size();
}
const config::SwitchConfig& Switch::config() const {
  return state_->snapshot->config;
}

const Counters& Switch::counters(ShardId shard) const {
  return std::as_const(*state_->shards[shard.index()]).counters();
}
const DelayHistogram& Switch::waits(ShardId shard) const {
  return state_->shards[shard.index()]->waits();
}
const DelayHistogram& Switch::heard(ShardId shard) const {
  return state_->shards[shard.index()]->heard();
}
const DelayHistogram& Switch::isolated(ShardId shard) const {
  return state_->shards[shard.index()]->isolated();
}
EventRing& Switch::events(ShardId shard) {
  return state_->shards[shard.index()]->events();
}
const lb::PortSignals& Switch::signals(PortId port) const {
  return state_->common.signals[port.index()];
}

const lb::PathTable* Switch::paths() const {
  return state_->snapshot->paths.get();
}
std::span<const lb::PathSet> Switch::path_sets() const {
  return state_->snapshot->path_sets;
}

PgStatus Switch::pg_status(PortId port, PriorityGroupId pg) const {
  const pfc::PgBuffer& buffer = state_->common.pg(port, pg);
  const PortSettings& settings = state_->snapshot->ports[port.index()];
  const int64_t shared_free =
      std::max<int64_t>(buffer_status().shared_size - buffer_status().shared_used, 0);
  return {.used = read(buffer.used),
          .headroom = read(buffer.headroom_used),
          .xoff = settings.classes->pgs[pg.index()].threshold(shared_free),
          .shared_watermark = read(buffer.shared_watermarks),
          .headroom_watermark = read(buffer.headroom_watermarks),
          .pausing = buffer.pausing()};
}

QueueStatus Switch::queue_status(PortId port, QueueId queue) const {
  const lb::PortSignals& signals = state_->common.signals[port.index()];
  const EgressQueue& gauge = state_->common.queue(port, queue);
  const LastStorm& last = state_->common.last_storm(port, queue);
  return {.used = signals.queued_bytes[queue.index()].load(std::memory_order_relaxed),
          .watermark = read(gauge.watermarks),
          .paused = signals.paused(queue),
          .storm = gauge.storm.load(std::memory_order_relaxed),
          .last_storm = {.tx = read(last.tx),
                         .tx_dropped = read(last.tx_dropped),
                         .rx = read(last.rx),
                         .rx_dropped = read(last.rx_dropped)}};
}

bool Switch::holds_of(PortId port, QueueId queue, PortId from, PriorityGroupId pg) const {
  const auto is_of_group = [from, pg](const Packet& packet) {
    return Charge::of(packet).to_group() && packet.ingress_port == from && packet.pg == pg;
  };
  const Packet* packet = state_->common.queue(port, queue).fifo.head();
  while (packet != nullptr && !is_of_group(*packet)) packet = packet->next;
  return packet != nullptr;
}

MacAddress Switch::peer_mac(PortId port) const {
  return state_->common.peer_macs[port.index()].read();
}

BufferStatus Switch::buffer_status() const {
  const Snapshot& snapshot = *state_->snapshot;
  BufferStatus status{.size = snapshot.config.buffer.size.count(),
                      .reserved = snapshot.set_aside.count(),
                      .shared_size = snapshot.shared_size.count(),
                      .stages_size = snapshot.stages_size.count()};
  for (const pfc::PoolUse& use : state_->common.pool_use) {
    status.shared_used += read(use.shared);
    status.headroom_used += read(use.headroom);
    raise(status.shared_watermark, read(use.shared_watermarks));
    raise(status.headroom_watermark, read(use.headroom_watermarks));
  }
  for (const StageUse& use : state_->common.stage_use) {
    status.stages_used += read(use.octets);
    raise(status.stages_watermark, read(use.watermarks));
  }
  return status;
}

LoopUse Switch::loop_use(ShardId shard) const {
  return state_->shards[shard.index()]->loop_use();
}

Balance Switch::balance() const {
  Balance balance;
  for (const auto& shard : state_->shards) {
    const Counters& counters = std::as_const(*shard).counters();
    for (size_t port = 0; port < counters.port_count(); ++port) {
      const PortCounters at = counters[PortId(port)];
      balance.rx += at.port.read(PortCounter::rx_packets);
      balance.originated += at.port.read(PortCounter::originated_packets);
      balance.tx += at.port.read(PortCounter::tx_packets);
      balance.consumed += at.port.read(PortCounter::consumed_packets);
      for (size_t reason = 0; reason < kDropReasons; ++reason)
        balance.dropped += at.drops.read(reason);
    }
    balance.held += shard->held();
  }
  for (const auto& lane : state_->common.lanes)
    if (lane != nullptr) balance.held += lane->packets();
  return balance;
}

}  // namespace eddy
