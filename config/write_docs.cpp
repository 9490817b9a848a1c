// Writes the schemas (config/*.schema.json) and the tables of keys (docs/configuration.md,
// docs/experiments.md) below the directory it is given.
#include <fstream>
#include <iostream>
#include <string>

#include "config/document.h"
#include "config/experiment_load.h"

namespace {

bool write_text(const std::string& path, const std::string& text) {
  std::ofstream stream(path, std::ios::binary);
  stream << text;
  stream.close();
  if (!stream) std::cerr << path << ": cannot be written\n";
  return !stream.fail();
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
  return written ? 0 : 1;
}
