// Counts the instructions of a piece of work, without hardware counters: a child process does it,
// one single step after the other.
//
// The number is exact and does not depend on the machine's speed; it includes a constant of some
// thousand for stopping. Cost: about 2 us an instruction. Linux only.
#pragma once

#include <signal.h>
#include <sys/ptrace.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdint>
#include <optional>

namespace eddy::test {

// None when this process may not trace. What `work` changes stays in the child.
template <class Work>
std::optional<uint64_t> instructions_of(Work&& work) {
  const pid_t child = fork();
  if (child < 0) return std::nullopt;
  if (child == 0) {
    if (ptrace(PTRACE_TRACEME, 0, nullptr, nullptr) != 0) _exit(1);
    raise(SIGSTOP);
    work();
    raise(SIGSTOP);
    _exit(0);
  }
  int status = 0;
  waitpid(child, &status, 0);
  if (!WIFSTOPPED(status)) return std::nullopt;
  uint64_t steps = 0;
  do {
    ++steps;
    if (ptrace(PTRACE_SINGLESTEP, child, nullptr, nullptr) != 0) break;
    waitpid(child, &status, 0);
  } while (WIFSTOPPED(status) && WSTOPSIG(status) != SIGSTOP);
  ptrace(PTRACE_CONT, child, nullptr, SIGKILL);
  waitpid(child, &status, 0);
  return steps;
}

}  // namespace eddy::test
