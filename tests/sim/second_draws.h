// What the second generator of random labs draws on top of the first.
//
// Every group of draws has a stream of its own, so that a new one shifts no other.
#pragma once

#include <cstdint>
#include <span>
#include <string_view>

#include "lb/parameters.h"
#include "tests/sim/lab.h"

namespace eddy::test {

void draw_more(Lab& lab);
// The same of a lab that has its scheme; other laws of hosts in every `laws_in`-th.
void draw_beside_scheme(Lab& lab, uint32_t laws_in);
// Of its scheme, that labs draw. Parameters belong to a scheme: where a fault brings another one
// they would be refused, and there are none.
std::span<const lb::ParameterInfo> parameters_of(const Lab& lab);
// The lab's scheme is this one, with pinned paths if it wants them, unless it does not cover the
// lab's topology.
void take_scheme(Lab& lab, std::string_view scheme);

}  // namespace eddy::test
