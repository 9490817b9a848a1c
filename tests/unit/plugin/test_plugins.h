// The plugins of tests/plugins, copied to where they may be loaded from.
#pragma once

#include <sys/stat.h>
#include <unistd.h>

#include <filesystem>
#include <string>

#include "tests/support/trusted_directory.h"

namespace eddy::plugin::test {

inline std::filesystem::path built(const std::string& name) {
  const auto program = std::filesystem::read_symlink("/proc/self/exe");
  return program.parent_path().parent_path() / "plugins" / (name + ".so");
}

class TestPlugins {
 public:
  bool usable() const { return !folder_.path().empty(); }
  const std::filesystem::path& folder() const { return folder_.path(); }
  // Its path there.
  std::filesystem::path put(const std::string& name, const std::string& as = "") const {
    const std::filesystem::path to = folder_ / ((as.empty() ? name : as) + ".so");
    std::filesystem::copy_file(built(name), to, std::filesystem::copy_options::overwrite_existing);
    ::chmod(to.c_str(), 0755);
    return to;
  }

 private:
  eddy::test::TrustedDirectory folder_;
};

}  // namespace eddy::plugin::test
