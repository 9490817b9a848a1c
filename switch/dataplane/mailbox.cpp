#include "switch/dataplane/mailbox.h"

#include <cstdlib>

#include "net/assert.h"

namespace eddy {

void Mailbox::FreeAligned::operator()(void* memory) const {
  std::free(memory);
}

Mailbox::Mailbox() {
  const ssize_t size = rte_ring_get_memsize_elem(sizeof(Message), kCapacity);
  ASSERT(size > 0);
  const size_t lines = (static_cast<size_t>(size) + RTE_CACHE_LINE_SIZE - 1) / RTE_CACHE_LINE_SIZE;
  memory_.reset(std::aligned_alloc(RTE_CACHE_LINE_SIZE, lines * RTE_CACHE_LINE_SIZE));
  ASSERT(memory_ != nullptr);
  ring_ = static_cast<rte_ring*>(memory_.get());
  ASSERT(rte_ring_init(ring_, "mailbox", kCapacity, RING_F_SP_ENQ | RING_F_SC_DEQ) == 0);
}

}  // namespace eddy
