#include "lab/run/jobs.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <poll.h>
#include <sys/prctl.h>
#include <sys/signalfd.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <csignal>
#include <cstring>

namespace eddy::lab {
namespace {

constexpr int kCannotStart = 127;

// SIGINT and SIGTERM are read from a file while it lives.
class SignalWatch {
 public:
  SignalWatch() {
    sigset_t both;
    sigemptyset(&both);
    sigaddset(&both, SIGINT);
    sigaddset(&both, SIGTERM);
    sigprocmask(SIG_BLOCK, &both, &old_mask_);
    file_ = signalfd(-1, &both, SFD_NONBLOCK | SFD_CLOEXEC);
  }
  ~SignalWatch() {
    close(file_);
    restore_mask();
  }
  SignalWatch(const SignalWatch&) = delete;
  SignalWatch& operator=(const SignalWatch&) = delete;

  int file() const { return file_; }
  // How many came since it was last asked.
  int take() const {
    signalfd_siginfo info;
    int count = 0;
    while (read(file_, &info, sizeof info) == static_cast<ssize_t>(sizeof info)) ++count;
    return count;
  }
  void restore_mask() const { sigprocmask(SIG_SETMASK, &old_mask_, nullptr); }

 private:
  int file_ = -1;
  sigset_t old_mask_{};
};

struct Child {
  size_t job = 0;
  pid_t pid = -1;
  int reports = -1;  // -1: at its end
  int errors = -1;
  std::string partial;  // a line that has not ended
  std::string said;
};

void close_one(int& file) {
  if (file >= 0) close(file);
  file = -1;
}

class Runner {
 public:
  Runner(const std::vector<std::vector<std::string>>& commands, const JobOptions& options,
         const JobEvents& events)
      : commands_(commands), options_(options), events_(events) {}

  bool run() {
    while (!children_.empty() || (next_ < commands_.size() && signals_seen_ == 0)) {
      while (signals_seen_ == 0 && next_ < commands_.size() && children_.size() < options_.at_once)
        start(next_++);
      if (!children_.empty()) wait();
      reap();
    }
    return signals_seen_ == 0;
  }

 private:
  void start(size_t job) {
    std::array<int, 2> reports{-1, -1};
    std::array<int, 2> errors{-1, -1};
    if (pipe2(reports.data(), O_CLOEXEC) != 0 || pipe2(errors.data(), O_CLOEXEC) != 0)
      return fail(job, reports, errors);
    std::vector<std::string> words = commands_[job];
    words.push_back(options_.report_option + std::to_string(reports[1]));
    const pid_t parent = getpid();
    const pid_t pid = fork();
    if (pid < 0) return fail(job, reports, errors);
    if (pid == 0) become(words, {reports[1], errors[1]}, parent);
    close_one(reports[1]);
    close_one(errors[1]);
    children_.push_back({.job = job, .pid = pid, .reports = reports[0], .errors = errors[0]});
    if (events_.started) events_.started(job);
  }

  void fail(size_t job, std::array<int, 2>& reports, std::array<int, 2>& errors) {
    const std::string why = std::strerror(errno);
    for (int& file : reports) close_one(file);
    for (int& file : errors) close_one(file);
    if (events_.ended) events_.ended(job, {-1, "cannot be started: " + why, ""});
  }

  struct Ends {
    int reports;
    int errors;
  };
  [[noreturn]] void become(std::vector<std::string>& words, Ends ends, pid_t parent) const {
    prctl(PR_SET_PDEATHSIG, SIGTERM);
    if (getppid() != parent) _exit(kCannotStart);  // it died before it could be watched
    signals_.restore_mask();
    fcntl(ends.reports, F_SETFD, 0);
    dup2(ends.errors, STDERR_FILENO);
    const int nothing = open("/dev/null", O_RDWR);
    dup2(nothing, STDIN_FILENO);
    dup2(nothing, STDOUT_FILENO);
    std::vector<char*> arguments;
    arguments.reserve(words.size() + 1);
    for (std::string& word : words) arguments.push_back(word.data());
    arguments.push_back(nullptr);
    execv(arguments.front(), arguments.data());
    _exit(kCannotStart);
  }

  void wait() {
    std::vector<pollfd> files;
    for (const Child& child : children_) {
      files.push_back({child.reports, POLLIN, 0});
      files.push_back({child.errors, POLLIN, 0});
    }
    files.push_back({signals_.file(), POLLIN, 0});
    if (poll(files.data(), files.size(), -1) < 0) return;
    for (int count = signals_.take(); count > 0; --count) pass_on();
    for (size_t i = 0; i < children_.size(); ++i) {
      if (files[2 * i].revents != 0) read_reports(children_[i]);
      if (files[2 * i + 1].revents != 0) read_errors(children_[i]);
    }
  }

  static std::string_view read_some(int& file, std::array<char, 4096>& buffer) {
    const ssize_t count = read(file, buffer.data(), buffer.size());
    if (count > 0) return {buffer.data(), static_cast<size_t>(count)};
    if (count == 0 || errno != EINTR) close_one(file);
    return {};
  }
  void read_reports(Child& child) const {
    std::array<char, 4096> buffer;
    child.partial += read_some(child.reports, buffer);
    for (size_t end; (end = child.partial.find('\n')) != std::string::npos;) {
      if (events_.reported) events_.reported(child.job, child.partial.substr(0, end));
      child.partial.erase(0, end + 1);
    }
  }
  static void read_errors(Child& child) {
    std::array<char, 4096> buffer;
    child.said += read_some(child.errors, buffer);
    if (child.said.size() > kKeptErrors) child.said.erase(0, child.said.size() - kKeptErrors);
  }

  // A terminal's Ctrl-C has reached the children already; once more changes nothing.
  void pass_on() {
    const int signal = signals_seen_++ == 0 ? SIGTERM : SIGKILL;
    for (const Child& child : children_) kill(child.pid, signal);
  }

  // Children whose pipes have both ended.
  void reap() {
    for (size_t i = 0; i < children_.size();) {
      if (children_[i].reports >= 0 || children_[i].errors >= 0) {
        ++i;
        continue;
      }
      const Child child = std::move(children_[i]);
      children_.erase(children_.begin() + static_cast<ptrdiff_t>(i));
      int status = 0;
      while (waitpid(child.pid, &status, 0) < 0 && errno == EINTR) {
      }
      if (events_.ended) events_.ended(child.job, end_of(status, child.said));
    }
  }

  static JobEnd end_of(int status, const std::string& said) {
    if (WIFSIGNALED(status))
      return {
          -1,
          fmt::format("killed by signal {} ({})", WTERMSIG(status), strsignal(WTERMSIG(status))),
          said};
    return {WEXITSTATUS(status), fmt::format("exit code {}", WEXITSTATUS(status)), said};
  }

  const std::vector<std::vector<std::string>>& commands_;
  const JobOptions& options_;
  const JobEvents& events_;
  SignalWatch signals_;
  std::vector<Child> children_;
  size_t next_ = 0;
  int signals_seen_ = 0;
};

}  // namespace

bool run_jobs(const std::vector<std::vector<std::string>>& commands, const JobOptions& options,
              const JobEvents& events) {
  return Runner(commands, options, events).run();
}

}  // namespace eddy::lab
