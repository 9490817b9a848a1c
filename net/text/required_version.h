// check_required_version(): whether this build's version is one that a configuration was made for.
//
// Versions are MAJOR.MINOR or MAJOR.MINOR.PATCH. The meaning of files and of the control socket is
// kept within one MAJOR.MINOR; PATCH is not compared. Control plane only.
#pragma once

#include <string_view>

#include "net/result.h"

namespace eddy {

// Empty: it is. One line otherwise, with both versions.
Problems check_required_version(std::string_view own, std::string_view required);

}  // namespace eddy
