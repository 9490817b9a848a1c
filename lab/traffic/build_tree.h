// The source tree that the running program was built in, TREE/build/PRESET/bin/PROGRAM: where the
// experiments and workloads that come with it are, whatever the current folder is. Control plane.
#pragma once

#include <filesystem>

namespace eddy::lab {

// Empty when that cannot be told.
inline std::filesystem::path build_tree() {
  std::error_code error;
  const auto program = std::filesystem::read_symlink("/proc/self/exe", error);
  if (error) return {};
  return program.parent_path().parent_path().parent_path().parent_path();
}

}  // namespace eddy::lab
