#include "lab/real/programs.h"

#include <unistd.h>

#include <cstdlib>
#include <sstream>

namespace eddy::lab {

namespace fs = std::filesystem;

fs::path program_beside(const std::string& name) {
  std::error_code error;
  return fs::read_symlink("/proc/self/exe", error).parent_path() / name;
}

fs::path on_path(const std::string& name) {
  const char* const path = std::getenv("PATH");
  std::istringstream folders(path != nullptr ? path : "");
  for (std::string folder; std::getline(folders, folder, ':');) {
    const fs::path file = fs::path(folder) / name;
    std::error_code error;
    if (file.is_absolute() && fs::is_regular_file(file, error) && access(file.c_str(), X_OK) == 0)
      return file;
  }
  return {};
}

}  // namespace eddy::lab
