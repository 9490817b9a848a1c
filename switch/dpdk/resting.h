// Resting: does what an Idler decides, and how long a thread that polls may sleep at least.
//
// Thread: the polling one; sleep_for() anyone's. Cost: a system call, only where something is to be
// waited for. Source: docs/dpdk_notes.md, "Sharing cores".
#pragma once

#include "net/units.h"
#include "switch/dpdk/idle.h"

namespace eddy {

// Before a thread's first rest: sleeps end when they should, not the kernel's usual 50 us later.
void allow_short_sleeps();
void sleep_for(Duration time);
// True: it slept.
bool carry_out(const IdleStep& step);

}  // namespace eddy
