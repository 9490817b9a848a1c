#include "switch/dataplane/shard_context.h"

#include <cstdlib>

#include "net/assert.h"

namespace eddy {

void CommonState::FreeAligned::operator()(void* memory) const {
  std::free(memory);
}

CommonState::CommonState(size_t shard_count, size_t port_count)
    : shards(shard_count),
      signals(port_count),
      pg_buffers(port_count * kPriorities),
      pool_use(shard_count),
      queue_gauges(port_count * kPriorities) {
  for (size_t i = 0; i < (shards + 1) * shards; ++i)
    mailboxes.push_back(std::make_unique<Mailbox>());
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

}  // namespace eddy
