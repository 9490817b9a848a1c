// What the fourth generator of random labs draws: all that keeps traffic off congested ports at
// once.
#pragma once

#include <cstdint>

#include "tests/sim/lab.h"
#include "tests/sim/third_draws.h"

namespace eddy::test {

// `first`: as of the third.
Lab make_fourth_lab(uint64_t seed, MakeFirstLab first);

}  // namespace eddy::test
