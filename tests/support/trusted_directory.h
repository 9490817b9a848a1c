// TrustedDirectory: a folder of a test's own that others cannot write to, nor to any above it, as
// /tmp is not. Below the build tree where that is such a place, else in one of the machine's.
#pragma once

#include <sys/stat.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <string>

#include "system/trusted_file.h"

namespace eddy::test {

class TrustedDirectory {
 public:
  TrustedDirectory() {
    namespace fs = std::filesystem;
    std::error_code error;
    const fs::path bin = fs::read_symlink("/proc/self/exe", error).parent_path();
    const char* home = std::getenv("HOME");
    for (const fs::path& base : {bin.parent_path(), fs::path(home == nullptr ? "/" : home),
                                 fs::path("/var/lib"), fs::path("/run")})
      if (path_.empty()) try_in(base);
  }
  ~TrustedDirectory() {
    std::error_code error;
    if (!path_.empty()) std::filesystem::remove_all(path_, error);
  }
  TrustedDirectory(const TrustedDirectory&) = delete;
  TrustedDirectory& operator=(const TrustedDirectory&) = delete;

  // Empty: this machine has no such place.
  const std::filesystem::path& path() const { return path_; }
  std::filesystem::path operator/(const std::string& name) const { return path_ / name; }

 private:
  void try_in(const std::filesystem::path& base) {
    std::string name = (base / "eddy-test-XXXXXX").string();
    if (::mkdtemp(name.data()) == nullptr) return;
    path_ = name;
    const std::filesystem::path probe = path_ / "probe";
    std::ofstream(probe) << "x";
    ::chmod(probe.c_str(), 0644);
    if (open_trusted(probe, ::geteuid()).ok()) return;
    std::filesystem::remove_all(path_);
    path_.clear();
  }

  std::filesystem::path path_;
};

}  // namespace eddy::test
