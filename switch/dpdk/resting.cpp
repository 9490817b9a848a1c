#include "switch/dpdk/resting.h"

#include <sched.h>
#include <sys/prctl.h>

#include <ctime>

namespace eddy {

void allow_short_sleeps() {
  prctl(PR_SET_TIMERSLACK, 1UL);  // ns
}

void sleep_for(Duration time) {
  const timespec t{time.ns() / 1'000'000'000, time.ns() % 1'000'000'000};
  nanosleep(&t, nullptr);
}

bool carry_out(const IdleStep& step) {
  switch (step.kind) {
    case IdleStep::Kind::poll:
      return false;
    case IdleStep::Kind::yield:
      sched_yield();
      return false;
    case IdleStep::Kind::sleep:
      sleep_for(step.sleep);
      return true;
  }
  __builtin_unreachable();
}

}  // namespace eddy
