#include "switch/dpdk/poll_turns.h"

#include <linux/membarrier.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "switch/dpdk/resting.h"

namespace eddy {

bool PollTurns::fence_all_threads() {
  static const bool registered =
      syscall(SYS_membarrier, MEMBARRIER_CMD_REGISTER_PRIVATE_EXPEDITED, 0, 0) == 0;
  return registered && syscall(SYS_membarrier, MEMBARRIER_CMD_PRIVATE_EXPEDITED, 0, 0) == 0;
}

void PollTurns::wait() const {
  const bool fenced = fence_all_threads();
  const uint64_t last = mark(fenced);
  while (!reached(last)) sleep_for(Duration::microseconds(20));
}

}  // namespace eddy
