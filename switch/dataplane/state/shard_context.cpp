#include "switch/dataplane/state/shard_context.h"

#include <cstdlib>

#include "net/assert.h"
#include "net/protocols.h"

namespace eddy {

void CommonState::FreeAligned::operator()(void* memory) const {
  std::free(memory);
}

CommonState::CommonState(size_t shard_count, size_t port_count, FaultProbe fault_sites)
    : shards(shard_count),
      signals(port_count),
      pg_buffers(port_count * kPriorities),
      pool_use(shard_count),
      stage_use(shard_count),
      queues(port_count * kPriorities),
      last_storms(port_count * kPriorities),
      peer_macs(port_count),
      feeds(port_count),
      given(shard_count),
      sites(fault_sites) {
  for (size_t from = 0; from <= shards; ++from)
    for (size_t to = 0; to < shards; ++to)
      mailboxes.push_back(from == to ? nullptr : std::make_unique<Mailbox>());
  for (size_t from = 0; from < shards; ++from) {
    for (size_t to = 0; to < shards; ++to) {
      lanes.push_back(from == to ? nullptr : std::make_unique<PacketLane>());
      credit_lanes.push_back(from == to ? nullptr : std::make_unique<CreditLane>());
    }
  }
  const auto readers_count = static_cast<uint32_t>(shards);
  const size_t size = rte_rcu_qsbr_get_memsize(readers_count);
  const size_t lines = (size + RTE_CACHE_LINE_SIZE - 1) / RTE_CACHE_LINE_SIZE;
  readers.reset(static_cast<rte_rcu_qsbr*>(
      std::aligned_alloc(RTE_CACHE_LINE_SIZE, lines * RTE_CACHE_LINE_SIZE)));
  ASSERT(readers != nullptr && rte_rcu_qsbr_init(readers.get(), readers_count) == 0);
  for (unsigned i = 0; i < readers_count; ++i) {
    ASSERT(rte_rcu_qsbr_thread_register(readers.get(), i) == 0);
    rte_rcu_qsbr_thread_online(readers.get(), i);
  }
}

void CommonState::rebase(const Rebase& rebase) {
  for (EgressQueue& queue : queues) rebase.shift(queue.progress_at);
  for (GivenTo& shard : given) rebase.shift(shard.at_ps);
  for (const std::unique_ptr<Mailbox>& mailbox : mailboxes) {
    if (mailbox == nullptr) continue;
    mailbox->for_each([&rebase](Message& message) {
      if (message.kind == Message::Kind::warning) rebase.shift(message.what.warning.expiry);
      if (message.kind == Message::Kind::path) rebase.shift(message.what.path.heard_at);
      if (message.kind == Message::Kind::hot_host) rebase.shift(message.what.hot.heard_at);
    });
  }
}

ShardContext::ShardContext(CommonState& common_state, ShardId self, size_t ports)
    : common(common_state),
      id(self),
      sole(common_state.shards == 1),
      signals_(common_state.signals.data()),
      pgs_(common_state.pg_buffers.data()),
      queues_(common_state.queues.data()),
      counters(ports),
      events(kEventCapacity) {}

void ShardContext::obey(const Snapshot* latest) {
  snapshot = latest;
  ports_ = latest->ports.data();
  routes = latest->routes.get();
  next_hops = latest->next_hops.data();
  dre = &latest->dre;
  const ShardScheme& scheme = latest->schemes[id.index()];
  live = scheme.live->data();
  selector = scheme.selector.get();
  warnings = scheme.warnings.get();
  feeds = warnings != nullptr ? &common.feeds : nullptr;
  isolated = scheme.isolated.get();
  isolating = latest->isolation.groups(isolated != nullptr && isolated->count() != 0);
  paths = latest->paths.get();
  const config::RlbConfig& rlb = latest->config.rlb;
  aids = {.warnings = warnings,
          .paths = paths,
          .flows = scheme.flows.get(),
          .slots = scheme.slots.get(),
          .loop = rlb.enabled() && rlb.recirculation.enabled ? loop : nullptr};
  path_sets = latest->path_sets;
  dressing = latest->path_plan.dresses();
  counts_by_burst = !sole || dressing || warnings != nullptr || latest->isolation.known ||
                    !latest->blind_to_queues;
  shim_reserve = dressing ? latest->path_plan.shim_octets : 0;
  ++way_changes;
}

}  // namespace eddy
