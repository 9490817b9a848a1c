#include "switch/control/ctl/capture_file.h"

#include <fcntl.h>
#include <poll.h>
#include <sys/stat.h>

#include <algorithm>
#include <cerrno>
#include <cstring>

namespace eddy::control {
namespace {

constexpr int kLookMs = 100;               // how late a write that waits hears that it is to stop
constexpr size_t kAtOnce = 1024 * 1024;    // of a file
constexpr size_t kPipeAtOnce = 64 * 1024;  // a pipe's usual room
constexpr mode_t kOwnersAlone = 0600;

bool is_regular(int file) {
  struct stat status {};
  return ::fstat(file, &status) == 0 && S_ISREG(status.st_mode);
}

}  // namespace

Problems CaptureFile::open(const std::string& path) {
  if (path == "-") {
    name_ = "standard output";
    file_ = STDOUT_FILENO;
    return {};
  }
  name_ = path;
  own_ = Descriptor(::open(path.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, kOwnersAlone));
  file_ = own_.get();
  if (file_ < 0) return {path + ": " + std::strerror(errno)};
  // One that was there may have been readable by others; where there are no modes, there are none.
  if (is_regular(file_)) ::fchmod(file_, kOwnersAlone);
  return {};
}

Problems CaptureFile::write(std::span<const uint8_t> octets) {
  const size_t most = is_regular(file_) ? kAtOnce : kPipeAtOnce;
  const auto all = static_cast<int64_t>(octets.size());
  while (!octets.empty()) {
    pollfd room{file_, POLLOUT, 0};
    if (::poll(&room, 1, kLookMs) == 0) {
      if (stopped_()) return {name_ + ": nobody reads it; what was left is not written"};
      continue;
    }
    const ssize_t done = ::write(file_, octets.data(), std::min(octets.size(), most));
    if (done >= 0) {
      octets = octets.subspan(static_cast<size_t>(done));
      continue;
    }
    if (errno == EINTR && stopped_())
      return {name_ + ": nobody reads it; what was left is not written"};
    if (errno != EINTR && errno != EAGAIN) return failed(errno);
  }
  whole_ += all;
  return {};
}

Problems CaptureFile::failed(int error) {
  if (error == EPIPE) return {name_ + ": its reader has closed it"};
  const bool cut = is_regular(file_) && ::ftruncate(file_, whole_) == 0;
  return {name_ + ": " + std::strerror(error) +
          (cut ? "; what it holds up to there can be read" : "")};
}

bool CaptureFile::reader_is_gone() const {
  pollfd pipe{file_, 0, 0};
  return ::poll(&pipe, 1, 0) > 0 && (pipe.revents & POLLERR) != 0;
}

}  // namespace eddy::control
