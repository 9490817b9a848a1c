// `eddyctl top --fabric` and `top --all`: the links and switches of a folder on one screen, as text
// once, or as JSON. Returns an exit code.
#pragma once

#include "switch/control/ctl/arguments.h"

namespace eddy::control {

int top_of_all(const Arguments& arguments);

}  // namespace eddy::control
