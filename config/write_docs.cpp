// Writes the schemas (config/*.schema.json), the tables of keys (docs/configuration.md,
// docs/experiments.md) and the index of schemes (docs/schemes/README.md) below the directory it is
// given.
#include <algorithm>
#include <filesystem>
#include <fstream>
#include <iostream>
#include <string>
#include <vector>

#include "config/document.h"
#include "config/experiment_load.h"
#include "config/scheme_index.h"

namespace {

bool write_text(const std::string& path, const std::string& text) {
  std::ofstream stream(path, std::ios::binary);
  stream << text;
  stream.close();
  if (!stream) std::cerr << path << ": cannot be written\n";
  return !stream.fail();
}

std::vector<std::string> sheets_in(const std::string& folder) {
  std::vector<std::string> sheets;
  for (const auto& entry : std::filesystem::directory_iterator(folder))
    if (entry.path().extension() == ".md" && entry.path().stem() != "README")
      sheets.push_back(entry.path().stem());
  std::ranges::sort(sheets);
  return sheets;
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 2) {
    std::cerr << "usage: eddy-config-docs DIRECTORY\n";
    return 2;
  }
  const std::string root = argv[1];
  using namespace eddy::config;
  bool written = write_text(root + "/config/eddyd.schema.json", json_schema());
  written &= write_text(root + "/docs/configuration.md", keys_as_markdown());
  written &= write_text(root + "/config/experiment.schema.json", experiment_schema());
  written &= write_text(root + "/docs/experiments.md", experiment_markdown());
  written &=
      write_text(root + "/docs/schemes/README.md", scheme_index(sheets_in(root + "/docs/schemes")));
  return written ? 0 : 1;
}
