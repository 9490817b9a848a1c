// write_samples DIRECTORY: the valid frames of the tests of net/, one file each, as a seed corpus.
#include <cstdio>
#include <filesystem>
#include <fstream>

#include "tests/unit/net/samples.h"

int main(int argc, char** argv) {
  if (argc != 2) {
    std::fprintf(stderr, "usage: write_samples DIRECTORY\n");
    return 2;
  }
  const std::filesystem::path directory = argv[1];
  std::filesystem::create_directories(directory);
  for (const auto& [name, frame, kind] : eddy::test::samples()) {
    std::ofstream file(directory / name, std::ios::binary);
    file.write(reinterpret_cast<const char*>(frame.data()),
               static_cast<std::streamsize>(frame.size()));
    if (!file) return 1;
  }
  return 0;
}
