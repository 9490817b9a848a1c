// Archive: a new .tar.gz file, or one on standard output, written entry by entry.
//
// The format is ustar (POSIX 1003.1), compressed as gzip. The file must not exist, is its owner's
// alone, and vanishes again unless finish() has succeeded. Thread: one. Bounds: names of entries
// have at most 255 octets, of which each part between slashes is at most 100.
#pragma once

#include <string>
#include <string_view>

#include "net/result.h"

struct gzFile_s;

namespace eddy::control {

// One block of ustar: what stands before a file of `size` octets.
std::string ustar_header(const std::string& name, size_t size, int64_t modified_at_s);

class Archive {
 public:
  // "-": standard output.
  explicit Archive(std::string path) : path_(std::move(path)) {}
  ~Archive();
  Archive(const Archive&) = delete;
  Archive& operator=(const Archive&) = delete;

  // Each a problem, or empty.
  Problems open();
  Problems add(const std::string& name, std::string_view content);
  Problems finish();

 private:
  Problems write(std::string_view octets);
  Problems failed(int error) const;

  const std::string path_;
  gzFile_s* file_ = nullptr;
  bool made_ = false;  // the file is there and not complete
};

}  // namespace eddy::control
