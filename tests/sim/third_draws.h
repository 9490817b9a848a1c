// What the third generator of random labs draws: each scheme as often as any other, on a topology
// that it covers.
#pragma once

#include <cstdint>

#include "tests/sim/lab.h"

namespace eddy::test {

// Of the first generator: labs of one seed and attempt after another, until one is the lab's.
using MakeFirstLab = Lab (*)(uint64_t seed);
Lab make_third_lab(uint64_t seed, MakeFirstLab first);
// Every switch of the fabric has two classes and the buffer for it.
bool can_isolate(const config::Experiment& experiment);

}  // namespace eddy::test
