// CaptureFile: where a capture is written: a file, or standard output.
//
// Whatever reads standard output may stall or go: a write waits, and ends when the process is told
// to. A file that cannot grow any more is cut back to the last whole write, so that it can be read.
// Thread: one.
#pragma once

#include <cstdint>
#include <functional>
#include <span>
#include <string>

#include "net/result.h"
#include "system/descriptor.h"

namespace eddy::control {

class CaptureFile {
 public:
  // `stopped`: nobody wants to wait any longer.
  explicit CaptureFile(std::function<bool()> stopped) : stopped_(std::move(stopped)) {}

  // "-": standard output. A file that is there is written anew; a regular one is its owner's alone
  // from then on. Whoever opens one ignores SIGXFSZ, so that a limit of its size is a problem like
  // a full disk.
  [[nodiscard]] Problems open(const std::string& path);
  // All of it, or one problem.
  [[nodiscard]] Problems write(std::span<const uint8_t> octets);
  // Whoever reads a pipe is gone, though nothing is written.
  bool reader_is_gone() const;

 private:
  Problems failed(int error);

  std::function<bool()> stopped_;
  std::string name_;
  Descriptor own_;
  int file_ = -1;
  int64_t whole_ = 0;  // octets of whole writes
};

}  // namespace eddy::control
