#include "net/version.h"

#include "net/eddy_commit.h"

namespace eddy {

std::string build_commit() {
  return kEddyCommit;
}

std::string build_version() {
  return EDDY_VERSION;
}

std::string version_line(const std::string& program) {
  constexpr size_t kShort = 12;
  const std::string commit = build_commit();
  const bool dirty = commit.ends_with("-dirty");
  return program + " " EDDY_VERSION " (commit " + commit.substr(0, kShort) +
         (dirty ? " with changes)" : ")");
}

}  // namespace eddy
