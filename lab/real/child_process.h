// ChildProcess: a process of ours that writes to a log and does not outlive us.
//
// It is in a process group of its own, so that Ctrl-C reaches the parent alone, gets SIGTERM when
// the parent dies, and may have a network namespace of its own, which goes away with it. Owner and
// thread: the one that started it, which lives as long as the process is wanted.
#pragma once

#include <sys/types.h>

#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "net/result.h"
#include "net/units.h"

namespace eddy::lab {

class ChildProcess {
 public:
  struct Start {
    std::vector<std::string> words;  // the program first, a path
    std::filesystem::path log;       // empty: our own standard output and error
    bool own_network = false;        // needs root
  };
  static Result<ChildProcess> start(const Start& start);
  ~ChildProcess();  // kills it
  ChildProcess(ChildProcess&& other) noexcept;
  ChildProcess& operator=(ChildProcess&& other) noexcept;
  ChildProcess(const ChildProcess&) = delete;
  ChildProcess& operator=(const ChildProcess&) = delete;

  pid_t pid() const { return pid_; }
  void signal(int number) const;
  // The exit status, 128 + N after signal N; nullopt: it still runs.
  std::optional<int> ended();
  std::optional<int> wait(Duration time);

 private:
  explicit ChildProcess(pid_t pid) : pid_(pid) {}
  pid_t pid_ = -1;
  std::optional<int> status_;
};

// What a command prints, within `time`.
Result<std::string> output_of(const std::vector<std::string>& words, Duration time);

// The kernel's start time of a process, which tells it from a later one of the same pid; nullopt:
// there is none, or it has ended and nobody has asked how.
std::optional<uint64_t> process_start(pid_t pid);

}  // namespace eddy::lab
