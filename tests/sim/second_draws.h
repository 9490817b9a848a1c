// What the second generator of random labs draws on top of the first.
//
// Every group of draws has a stream of its own, so that a new one shifts no other.
#pragma once

#include <string_view>

#include "tests/sim/lab.h"

namespace eddy::test {

void draw_more(Lab& lab);
// The lab's scheme is this one, with pinned paths if it wants them, unless it does not cover the
// lab's topology.
void take_scheme(Lab& lab, std::string_view scheme);

}  // namespace eddy::test
