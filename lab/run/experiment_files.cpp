#include "lab/run/experiment_files.h"

#include <fmt/format.h>

#include <map>

#include "system/data_folders.h"

namespace eddy::lab {

namespace fs = std::filesystem;

std::vector<fs::path> all_experiments() {
  std::map<std::string, fs::path> files;  // by ID; the first folder that has one counts
  for (const fs::path& data : data_folders()) {
    std::error_code error;
    for (const auto& entry : fs::directory_iterator(data / "experiments", error))
      if (entry.path().extension() == ".yaml")
        files.emplace(entry.path().stem().string(), entry.path());
  }
  std::vector<fs::path> out;
  for (const auto& [id, file] : files) out.push_back(file);
  return out;
}

Result<fs::path> experiment_file(const std::string& argument) {
  if (argument.find_first_of("./") != std::string::npos) return fs::path(argument);
  std::string known;
  for (const fs::path& file : all_experiments()) {
    if (file.stem() == argument) return file;
    known += (known.empty() ? "" : ", ") + file.stem().string();
  }
  std::string looked;
  for (const fs::path& data : data_folders())
    looked += (looked.empty() ? "" : ", ") + (data / "experiments").string();
  return Result<fs::path>::failure(
      fmt::format("no experiment \"{}\", looked in {}; {}", argument, looked,
                  known.empty() ? "a file is named with its ending, such as ./mine.yaml"
                                : "there are: " + known));
}

}  // namespace eddy::lab
