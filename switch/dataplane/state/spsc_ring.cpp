#include "switch/dataplane/state/spsc_ring.h"

#include <cstdlib>

#include "net/assert.h"

namespace eddy::detail {

void FreeAligned::operator()(void* memory) const {
  std::free(memory);
}

RingMemory make_spsc_ring(unsigned element_size, unsigned capacity) {
  const ssize_t size = rte_ring_get_memsize_elem(element_size, capacity);
  ASSERT(size > 0);
  const size_t lines = (static_cast<size_t>(size) + RTE_CACHE_LINE_SIZE - 1) / RTE_CACHE_LINE_SIZE;
  RingMemory ring(
      static_cast<rte_ring*>(std::aligned_alloc(RTE_CACHE_LINE_SIZE, lines * RTE_CACHE_LINE_SIZE)));
  ASSERT(ring != nullptr);
  ASSERT(rte_ring_init(ring.get(), "spsc", capacity, RING_F_SP_ENQ | RING_F_SC_DEQ) == 0);
  return ring;
}

}  // namespace eddy::detail
