// A random configuration that is valid for a switch object and sets every member of it.
#pragma once

#include <cstdint>

#include "config/config.h"

namespace eddy::config {

SwitchConfig random_config(uint64_t seed);

}  // namespace eddy::config
