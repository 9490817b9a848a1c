#include "plugin/trial.h"

#include <fcntl.h>
#include <poll.h>
#include <spawn.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <csignal>
#include <cstring>
#include <exception>
#include <string_view>

#include "plugin/shared_object.h"

namespace eddy::plugin {
namespace {

constexpr const char* kWord = "--try-plugin";
constexpr int kCopy = 3;  // the descriptor that the other process has it by
constexpr size_t kLongestAnswer = 2'000;
constexpr char kGood = '+';
constexpr char kBad = '-';

using Clock = std::chrono::steady_clock;

[[noreturn]] void answer(char verdict, std::string_view text) {
  std::string line(1, verdict);
  line += text.substr(0, kLongestAnswer);
  [[maybe_unused]] const ssize_t put = ::write(STDOUT_FILENO, line.data(), line.size());
  ::_exit(0);  // not through the plugin's destructors
}

// Exceptions that find no handler come here.
[[noreturn]] void answer_thrown() {
  const std::exception_ptr thrown = std::current_exception();
  if (!thrown) answer(kBad, "loading it ends the process (std::terminate)");
  try {
    std::rethrow_exception(thrown);
  } catch (const std::exception& error) {
    answer(kBad, std::string("loading it throws: ") + error.what());
  } catch (...) {
    answer(kBad, "loading it throws something that is no std::exception");
  }
}

// A process of this program, its answer on a pipe.
class Child {
 public:
  explicit Child(const SealedCopy& copy) { start(copy); }
  ~Child() {
    if (pid_ > 0) (void)end();
  }
  Child(const Child&) = delete;
  Child& operator=(const Child&) = delete;

  int error() const { return error_; }
  // What it said until it was silent for good; `late`: it is not yet.
  std::string read(Clock::time_point until, bool& late) const;
  // Kills it unless it has ended; its status.
  int end() {
    ::kill(pid_, SIGKILL);
    return wait();
  }
  int wait() {
    int status = 0;
    while (::waitpid(pid_, &status, 0) < 0 && errno == EINTR) {
    }
    pid_ = -1;
    return status;
  }

 private:
  void start(const SealedCopy& copy);

  Descriptor answers_;
  pid_t pid_ = -1;
  int error_ = 0;
};

void Child::start(const SealedCopy& copy) {
  int ends[2];
  if (::pipe2(ends, O_CLOEXEC) != 0) {
    error_ = errno;
    return;
  }
  answers_ = Descriptor(ends[0]);
  const Descriptor theirs(ends[1]);
  posix_spawn_file_actions_t files;
  posix_spawnattr_t attributes;
  posix_spawn_file_actions_init(&files);
  posix_spawnattr_init(&attributes);
  posix_spawn_file_actions_adddup2(&files, theirs.get(), STDOUT_FILENO);
  posix_spawn_file_actions_adddup2(&files, copy.memory.get(), kCopy);
  posix_spawn_file_actions_addopen(&files, STDIN_FILENO, "/dev/null", O_RDONLY, 0);
  posix_spawn_file_actions_addopen(&files, STDERR_FILENO, "/dev/null", O_WRONLY, 0);
  sigset_t none;
  sigemptyset(&none);
  posix_spawnattr_setsigmask(&attributes, &none);
  posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETSIGMASK);
  std::string program = "eddy";
  std::string word = kWord;
  char* words[] = {program.data(), word.data(), nullptr};
  error_ = ::posix_spawn(&pid_, "/proc/self/exe", &files, &attributes, words, environ);
  if (error_ != 0) pid_ = -1;
  posix_spawn_file_actions_destroy(&files);
  posix_spawnattr_destroy(&attributes);
}

std::string Child::read(Clock::time_point until, bool& late) const {
  std::string said;
  std::array<char, 512> part{};
  for (;;) {
    const auto left =
        std::chrono::duration_cast<std::chrono::milliseconds>(until - Clock::now()).count();
    pollfd watched{answers_.get(), POLLIN, 0};
    const int ready = left <= 0 ? 0 : ::poll(&watched, 1, static_cast<int>(left));
    if (ready < 0 && errno == EINTR) continue;
    late = ready <= 0;
    if (late) return said;
    const ssize_t got = ::read(answers_.get(), part.data(), part.size());
    if (got < 0 && errno == EINTR) continue;
    if (got <= 0 || said.size() > kLongestAnswer) return said;
    said.append(part.data(), static_cast<size_t>(got));
  }
}

std::string end_of(int status) {
  if (WIFSIGNALED(status))
    return "signal " + std::to_string(WTERMSIG(status)) + ", " + ::strsignal(WTERMSIG(status));
  return "exit code " + std::to_string(WEXITSTATUS(status));
}

}  // namespace

bool is_trial(int argc, const char* const* argv) {
  return argc == 2 && std::string_view(argv[1]) == kWord;
}

int run_trial() {
  const rlimit none{0, 0};
  ::setrlimit(RLIMIT_CORE, &none);
  std::set_terminate(answer_thrown);
  const auto opened = SharedObject::open("/proc/self/fd/" + std::to_string(kCopy));
  if (!opened) answer(kBad, opened.problems().front());
  answer(kGood, "");
}

std::string try_plugin(const SealedCopy& copy, std::chrono::milliseconds patience) {
  Child child(copy);
  if (child.error() != 0)
    return std::string("it cannot be tried in a process of its own: ") +
           std::strerror(child.error());
  bool late = false;
  const std::string said = child.read(Clock::now() + patience, late);
  if (late) {
    (void)child.end();
    return "loading it takes more than " + std::to_string(patience.count()) + " ms";
  }
  const int status = child.wait();
  if (said.starts_with(kGood)) return {};
  if (said.starts_with(kBad)) return said.substr(1);
  return "loading it ends the process (" + end_of(status) + ")";
}

}  // namespace eddy::plugin
