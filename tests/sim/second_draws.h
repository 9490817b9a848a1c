// What the second generator of random labs draws on top of the first.
//
// Every group of draws has a stream of its own, so that a new one shifts no other.
#pragma once

#include "tests/sim/lab.h"

namespace eddy::test {

void draw_more(Lab& lab);

}  // namespace eddy::test
