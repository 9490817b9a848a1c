#include "lab/run/experiment_files.h"

#include <fmt/format.h>

#include <algorithm>

#include "lab/traffic/build_tree.h"

namespace eddy::lab {
namespace {

namespace fs = std::filesystem;

const fs::path kFolder = fs::path("config") / "experiments";

}  // namespace

std::vector<fs::path> all_experiments() {
  for (const fs::path& folder : {kFolder, build_tree() / kFolder}) {
    std::vector<fs::path> files;
    std::error_code error;
    for (const auto& entry : fs::directory_iterator(folder, error))
      if (entry.path().extension() == ".yaml") files.push_back(entry.path());
    std::ranges::sort(files);
    if (!files.empty()) return files;
  }
  return {};
}

Result<fs::path> experiment_file(const std::string& argument) {
  if (argument.find_first_of("./") != std::string::npos) return fs::path(argument);
  std::string known;
  for (const fs::path& file : all_experiments()) {
    if (file.stem() == argument) return file;
    known += (known.empty() ? "" : ", ") + file.stem().string();
  }
  return Result<fs::path>::failure(
      fmt::format("no experiment \"{}\" in {}; {}", argument, kFolder.string(),
                  known.empty() ? "a file is named with its ending, such as ./mine.yaml"
                                : "there are: " + known));
}

}  // namespace eddy::lab
