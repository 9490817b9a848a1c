// SealedCopy: the contents of a file in memory that nobody can change any more, this program
// included, with a path to load it by.
//
// What was checked and hashed is what is loaded, whatever becomes of the file; a compiler that
// writes over it does not change code that runs. Owner: one. Cost: the file's size in memory.
#pragma once

#include <string>

#include "net/result.h"
#include "system/descriptor.h"

namespace eddy::plugin {

inline constexpr size_t kLargestFile = size_t{64} << 20;

struct SealedCopy {
  Descriptor memory;
  std::string sha256;  // of the contents, in hexadecimal

  std::string path() const { return "/proc/self/fd/" + std::to_string(memory.get()); }
};

// All of `file` from its beginning; refused without being copied where it is no shared object for
// this machine, or larger than kLargestFile.
Result<SealedCopy> seal(const Descriptor& file);

}  // namespace eddy::plugin
