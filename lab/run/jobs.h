// run_jobs: commands as child processes, at most so many at a time.
//
// A child writes lines to the file whose number is its last argument (report_option + number); what
// it says on stderr is kept for when it fails, its last kKeptErrors octets. A child that dies takes
// no other with it. SIGINT and SIGTERM are passed on to the children, which then end by themselves;
// a second one kills them. They do not outlive this process. One caller at a time, one thread: it
// owns the signals while it runs. Cost: two pipes a child.
#pragma once

#include <functional>
#include <string>
#include <string_view>
#include <vector>

namespace eddy::lab {

struct JobEnd {
  int exit_code = 0;  // -1: by a signal, or it could not be started
  std::string how;    // "exit code 3", "killed by signal 9 (Killed)"
  std::string errors;
};

struct JobEvents {
  std::function<void(size_t job)> started;
  std::function<void(size_t job, std::string_view line)> reported;
  std::function<void(size_t job, const JobEnd& end)> ended;
};

inline constexpr size_t kKeptErrors = 16'384;

struct JobOptions {
  size_t at_once = 1;
  std::string report_option = "--report-fd=";
};
// `commands`: arguments of each job, the program first. False: it was interrupted, and jobs that
// had not been started were not.
bool run_jobs(const std::vector<std::vector<std::string>>& commands, const JobOptions& options,
              const JobEvents& events);

}  // namespace eddy::lab
