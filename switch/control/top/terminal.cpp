#include "switch/control/top/terminal.h"

#include <sys/ioctl.h>
#include <sys/signalfd.h>
#include <unistd.h>

#include <cerrno>

namespace eddy::control {
namespace {

constexpr std::string_view kEnter = "\033[?1049h\033[?25l";  // other screen, no cursor
constexpr std::string_view kLeave = "\033[?25h\033[?1049l";

}  // namespace

void send_to_terminal(std::string_view text) {
  while (!text.empty()) {
    const ssize_t sent = write(STDOUT_FILENO, text.data(), text.size());
    if (sent < 0 && errno != EINTR) return;
    if (sent > 0) text.remove_prefix(static_cast<size_t>(sent));
  }
}

ScreenSize screen_size() {
  winsize size{};
  if (ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) != 0 || size.ws_row == 0 || size.ws_col == 0)
    return {};
  return {.rows = size.ws_row, .columns = size.ws_col};
}

Terminal::Terminal() {
  has_keys_ = tcgetattr(STDIN_FILENO, &before_) == 0;
  enter();
}

void Terminal::enter() const {
  termios ours = before_;
  ours.c_lflag &= ~static_cast<tcflag_t>(ICANON | ECHO);
  if (has_keys_) tcsetattr(STDIN_FILENO, TCSANOW, &ours);
  send_to_terminal(kEnter);
}

void Terminal::leave() const {
  send_to_terminal(kLeave);
  if (has_keys_) tcsetattr(STDIN_FILENO, TCSANOW, &before_);
}

Signals::Signals() {
  sigset_t set;
  sigemptyset(&set);
  for (const int signal : {SIGINT, SIGTERM, SIGHUP, SIGWINCH, SIGTSTP}) sigaddset(&set, signal);
  sigprocmask(SIG_BLOCK, &set, &before_);
  fd_ = signalfd(-1, &set, SFD_NONBLOCK | SFD_CLOEXEC);
}

Signals::~Signals() {
  close(fd_);
  sigprocmask(SIG_SETMASK, &before_, nullptr);
}

int Signals::next() const {
  signalfd_siginfo info{};
  return read(fd_, &info, sizeof(info)) == static_cast<ssize_t>(sizeof(info))
             ? static_cast<int>(info.ssi_signo)
             : 0;
}

bool handle_signal(int signal, const Terminal* terminal) {
  if (signal == SIGWINCH) return false;  // it is drawn anew in any case
  if (signal != SIGTSTP) return true;
  if (terminal != nullptr) terminal->leave();
  raise(SIGSTOP);
  if (terminal != nullptr) terminal->enter();
  return false;
}

}  // namespace eddy::control
