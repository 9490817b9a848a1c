// Writes config/eddyd.schema.json and docs/configuration.md below the directory it is given.
#include <fstream>
#include <iostream>
#include <string>

#include "config/document.h"

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
  const bool schema = write_text(root + "/config/eddyd.schema.json", eddy::config::json_schema());
  const bool table = write_text(root + "/docs/configuration.md", eddy::config::keys_as_markdown());
  return schema && table ? 0 : 1;
}
