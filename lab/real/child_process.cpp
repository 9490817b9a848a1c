#include "lab/real/child_process.h"

#include <fcntl.h>
#include <poll.h>
#include <sched.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <chrono>
#include <csignal>
#include <cstring>
#include <fstream>
#include <sstream>
#include <thread>
#include <utility>

namespace eddy::lab {
namespace {

constexpr int kCannotStart = 127;
constexpr int kBySignal = 128;
constexpr auto kStep = std::chrono::milliseconds(10);

struct Files {
  int in = -1;  // -1: as they are
  int out = -1;
  int error = -1;
};

[[noreturn]] void become(const std::vector<std::string>& words, Files files, bool own_network,
                         pid_t parent) {
  setpgid(0, 0);
  prctl(PR_SET_PDEATHSIG, SIGTERM);
  if (getppid() != parent) _exit(kCannotStart);  // it died before it could be watched
  sigset_t none;
  sigemptyset(&none);
  sigprocmask(SIG_SETMASK, &none, nullptr);
  for (const int number : {SIGINT, SIGTERM, SIGPIPE, SIGXFSZ}) std::signal(number, SIG_DFL);
  if (files.in >= 0) dup2(files.in, STDIN_FILENO);
  if (files.out >= 0) dup2(files.out, STDOUT_FILENO);
  if (files.error >= 0) dup2(files.error, STDERR_FILENO);
  if (own_network && unshare(CLONE_NEWNET) != 0) {
    dprintf(STDERR_FILENO, "no network namespace: %s\n", std::strerror(errno));
    _exit(kCannotStart);
  }
  std::vector<char*> arguments;
  arguments.reserve(words.size() + 1);
  for (const std::string& word : words) arguments.push_back(const_cast<char*>(word.c_str()));
  arguments.push_back(nullptr);
  execv(arguments.front(), arguments.data());
  dprintf(STDERR_FILENO, "%s: %s\n", arguments.front(), std::strerror(errno));
  _exit(kCannotStart);
}

int status_of(int status) {
  return WIFSIGNALED(status) ? kBySignal + WTERMSIG(status) : WEXITSTATUS(status);
}

}  // namespace

Result<ChildProcess> ChildProcess::start(const Start& start) {
  Files files{.in = open("/dev/null", O_RDONLY | O_CLOEXEC)};
  if (!start.log.empty()) {
    constexpr mode_t kMode = 0644;
    files.out = files.error =
        open(start.log.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, kMode);
    if (files.out < 0) {
      close(files.in);
      return Result<ChildProcess>::failure(start.log.string() + ": " + std::strerror(errno));
    }
  }
  const pid_t parent = getpid();
  const pid_t pid = fork();
  if (pid == 0) become(start.words, files, start.own_network, parent);
  const int error = errno;
  close(files.in);
  if (files.out >= 0) close(files.out);
  if (pid < 0)
    return Result<ChildProcess>::failure(start.words.front() + ": " + std::strerror(error));
  return ChildProcess(pid);
}

ChildProcess::ChildProcess(ChildProcess&& other) noexcept
    : pid_(std::exchange(other.pid_, -1)), status_(other.status_) {}

ChildProcess& ChildProcess::operator=(ChildProcess&& other) noexcept {
  std::swap(pid_, other.pid_);
  std::swap(status_, other.status_);
  return *this;
}

ChildProcess::~ChildProcess() {
  if (pid_ < 0 || ended()) return;
  signal(SIGKILL);
  wait(Duration::seconds(5));
}

void ChildProcess::signal(int number) const {
  if (pid_ > 0 && !status_) kill(pid_, number);
}

std::optional<int> ChildProcess::ended() {
  int status = 0;
  if (!status_ && pid_ > 0 && waitpid(pid_, &status, WNOHANG) == pid_) status_ = status_of(status);
  return status_;
}

std::optional<int> ChildProcess::wait(Duration time) {
  const auto until = std::chrono::steady_clock::now() + std::chrono::nanoseconds(time.ns());
  while (!ended() && std::chrono::steady_clock::now() < until) std::this_thread::sleep_for(kStep);
  return status_;
}

Result<std::string> output_of(const std::vector<std::string>& words, Duration time) {
  std::array<int, 2> ends{-1, -1};
  if (pipe2(ends.data(), O_CLOEXEC) != 0)
    return Result<std::string>::failure(words.front() + ": " + std::strerror(errno));
  const pid_t parent = getpid();
  const pid_t pid = fork();
  if (pid == 0) become(words, {.in = -1, .out = ends[1], .error = ends[1]}, false, parent);
  close(ends[1]);
  std::string text;
  const auto until = std::chrono::steady_clock::now() + std::chrono::nanoseconds(time.ns());
  for (bool open = pid > 0; open && std::chrono::steady_clock::now() < until;) {
    pollfd one{ends[0], POLLIN, 0};
    if (poll(&one, 1, static_cast<int>(kStep.count())) <= 0) continue;
    std::array<char, 65'536> part;
    const ssize_t count = read(ends[0], part.data(), part.size());
    open = count > 0;
    if (open) text.append(part.data(), static_cast<size_t>(count));
  }
  close(ends[0]);
  if (pid < 0) return Result<std::string>::failure(words.front() + ": cannot be started");
  int status = 0;
  pid_t gone = 0;
  while ((gone = waitpid(pid, &status, WNOHANG)) == 0 && std::chrono::steady_clock::now() < until)
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
  if (gone == 0) {
    kill(pid, SIGKILL);
    waitpid(pid, &status, 0);
  }
  if (status_of(status) == 0) return text;
  return Result<std::string>::failure(words.front() + ": " + text);
}

std::optional<uint64_t> process_start(pid_t pid) {
  std::ifstream file("/proc/" + std::to_string(pid) + "/stat");
  std::string line;
  if (!std::getline(file, line)) return {};
  std::istringstream fields(line.substr(line.rfind(')') + 1));
  constexpr int kStartTime = 20;  // behind the name in brackets; the first is the state
  std::string word;
  for (int i = 0; i < kStartTime; ++i) {
    fields >> word;
    if (i == 0 && (word == "Z" || word == "X")) return {};
  }
  return fields ? std::optional<uint64_t>(std::stoull(word)) : std::nullopt;
}

}  // namespace eddy::lab
