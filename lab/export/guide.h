// What an exported folder says of itself: the first lines of its files, and README.md with the
// commands that start it, look around in it and end it. Pure functions.
#pragma once

#include <cstdint>
#include <string>

#include "lab/export/fabric_export.h"

namespace eddy::lab {

enum class Target : uint8_t { compose, clab, k8s };

// A comment in YAML.
std::string heading(const FabricExport& fabric);
std::string guide(const FabricExport& fabric, Target target);

}  // namespace eddy::lab
