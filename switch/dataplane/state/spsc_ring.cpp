#include "switch/dataplane/state/spsc_ring.h"

#include "net/assert.h"

namespace eddy::detail {

ReservedMemory make_spsc_ring(unsigned element_size, unsigned capacity) {
  const ssize_t size = rte_ring_get_memsize_elem(element_size, capacity);
  ASSERT(size > 0);
  ReservedMemory memory(static_cast<size_t>(size));
  ASSERT(rte_ring_init(static_cast<rte_ring*>(memory.data()), "spsc", capacity,
                       RING_F_SP_ENQ | RING_F_SC_DEQ) == 0);
  return memory;
}

}  // namespace eddy::detail
