#include "lab/results/sweep_folder.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/file.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <charconv>
#include <cstring>
#include <string>
#include <string_view>

namespace eddy::lab {
namespace {

namespace fs = std::filesystem;

constexpr std::string_view kLock = ".sweep.lock";

std::string cannot(const fs::path& path, std::string_view why) {
  return fmt::format("{}: cannot be written: {}", path.string(), why);
}

// Who has written itself into the file of a lock; empty: nobody that can be read.
std::string holder_of(int file) {
  std::array<char, 24> text{};
  const ssize_t length = pread(file, text.data(), text.size(), 0);
  long process = 0;
  if (length > 0) std::from_chars(text.data(), text.data() + length, process);
  return process > 0 ? fmt::format(", process {},", process) : "";
}

// The open file, or the problem.
Result<int> lock(const fs::path& folder, const std::string& name, int kind) {
  constexpr mode_t kMode = 0644;
  const fs::path path = folder / name;
  const int file = open(path.c_str(), O_CREAT | O_RDWR | O_CLOEXEC, kMode);
  if (file < 0) return Result<int>::failure(cannot(folder, std::strerror(errno)));
  if (flock(file, kind | LOCK_NB) == 0) {
    const std::string us = std::to_string(getpid()) + "\n";
    if (kind == LOCK_EX && ftruncate(file, 0) == 0) [[maybe_unused]]
      const ssize_t ignored = pwrite(file, us.data(), us.size(), 0);
    return file;
  }
  const bool is_held = errno == EWOULDBLOCK;
  const std::string text =
      is_held ? fmt::format(
                    "{}: another sweep{} is writing there; wait for its end, or give "
                    "another --out",
                    folder.string(), holder_of(file))
              : cannot(folder, std::strerror(errno));
  close(file);
  return Result<int>::failure(text);
}

}  // namespace

Problems make_folder(const fs::path& folder) {
  std::error_code error;
  fs::create_directories(folder, error);
  if (error) return {cannot(folder, error.message())};
  if (!fs::is_directory(folder, error)) return {cannot(folder, std::strerror(ENOTDIR))};
  if (access(folder.c_str(), W_OK | X_OK) != 0) return {cannot(folder, std::strerror(errno))};
  return {};
}

Problems check_writable(const fs::path& file) {
  std::error_code error;
  if (fs::is_directory(file, error)) return {cannot(file, std::strerror(EISDIR))};
  const fs::path folder = file.has_parent_path() ? file.parent_path() : ".";
  if (!fs::is_directory(folder, error)) return {cannot(file, "there is no folder for it")};
  if (access(folder.c_str(), W_OK | X_OK) != 0) return {cannot(file, std::strerror(errno))};
  return {};
}

Result<std::unique_ptr<SweepFolder>> SweepFolder::claim(const fs::path& folder, const Rank& rank) {
  if (Problems problems = make_folder(folder); !problems.empty()) return problems;
  std::unique_ptr<SweepFolder> claimed(new SweepFolder);
  const bool shared = rank.count > 1;
  const Result<int> all = lock(folder, std::string(kLock), shared ? LOCK_SH : LOCK_EX);
  if (!all) return all.problems();
  claimed->locks_.push_back(all.value());
  if (!shared) return claimed;
  const Result<int> part = lock(folder, fmt::format("{}{}", kLock, rank.index), LOCK_EX);
  if (!part) return part.problems();
  claimed->locks_.push_back(part.value());
  return claimed;
}

SweepFolder::~SweepFolder() {
  for (const int file : locks_) close(file);
}

}  // namespace eddy::lab
