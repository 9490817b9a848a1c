// What was built: for --version and for results.
#pragma once

#include <string>

namespace eddy {

// Of git, 40 hexadecimal digits, with "-dirty" where the tree had changes; "unknown": no git.
std::string build_commit();

// "0.1.0".
std::string build_version();

// "eddyd 0.1.0 (commit 0123456789ab)".
std::string version_line(const std::string& program);

}  // namespace eddy
