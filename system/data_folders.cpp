#include "system/data_folders.h"

#include <algorithm>
#include <cstdlib>

namespace eddy {

namespace fs = std::filesystem;

std::vector<fs::path> data_folders(const fs::path& program, const std::string& named) {
  std::vector<fs::path> folders;
  const auto add = [&](const fs::path& folder) {
    if (std::ranges::find(folders, folder) == folders.end()) folders.push_back(folder);
  };
  if (!named.empty()) add(named);
  add("config");
  const fs::path bin = program.parent_path();
  // A program of /usr/bin is not to look in /config.
  const fs::path builds = bin.parent_path().parent_path();
  if (builds.filename() == "build") add(builds.parent_path() / "config");
  if (bin.filename() == "bin") add(bin.parent_path() / "share" / "eddy");
  add("/usr/share/eddy");
  return folders;
}

std::vector<fs::path> data_folders() {
  std::error_code error;
  const char* named = std::getenv("EDDY_DATA");
  return data_folders(fs::read_symlink("/proc/self/exe", error), named == nullptr ? "" : named);
}

}  // namespace eddy
