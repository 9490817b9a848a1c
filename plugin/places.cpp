#include "plugin/places.h"

#include <cstdlib>
#include <vector>

namespace eddy::plugin {

namespace fs = std::filesystem;

Surroundings surroundings() {
  std::error_code error;
  const char* data = std::getenv("EDDY_DATA");
  return {fs::read_symlink("/proc/self/exe", error), data == nullptr ? "" : data};
}

Result<Place> place_of(const std::string& plugin, const fs::path& folder,
                       const Surroundings& around) {
  std::error_code error;
  // Not normalized beyond that: `..` behind a symbolic link is another folder than it looks.
  const auto absolute = [&](const fs::path& path) {
    fs::path out;
    for (const fs::path& part : fs::absolute(path, error))
      if (part != ".") out /= part;
    return out;
  };
  if (plugin.find('/') != std::string::npos) return Place{absolute(folder / plugin)};

  std::vector<fs::path> folders;
  if (!around.data.empty()) folders.push_back(fs::path(around.data) / "schemes");
  folders.push_back(folder);
  const size_t own = folders.size();
  const fs::path bin = around.program.parent_path();
  if (bin.filename() == "bin")
    folders.push_back(bin.parent_path() / EDDY_LIBRARY_FOLDER / "eddy" / "schemes");
  std::string looked;
  for (size_t i = 0; i < folders.size(); ++i) {
    const fs::path file = absolute(folders[i] / plugin);
    if (fs::exists(file, error)) return Place{file, i >= own};
    looked += (looked.empty() ? "" : ", ") + file.parent_path().string();
  }
  return Result<Place>::failure("there is no " + plugin + " in " + looked +
                                "; a file elsewhere is named by its path");
}

}  // namespace eddy::plugin
