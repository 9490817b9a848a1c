// The terminal and its signals, for programs that draw on a screen of their own.
//
// Both give back what they took however the program ends, but for SIGKILL. Thread: one at a time.
#pragma once

#include <signal.h>
#include <termios.h>

#include <string_view>

#include "switch/control/top/top_screen.h"

namespace eddy::control {

// To standard output, whole.
void send_to_terminal(std::string_view text);
ScreenSize screen_size();

// The terminal as we want it, for as long as it lives: another screen without a cursor, and keys
// come one by one, unseen, where standard input is a terminal, too.
class Terminal {
 public:
  Terminal();
  ~Terminal() { leave(); }
  Terminal(const Terminal&) = delete;
  Terminal& operator=(const Terminal&) = delete;

  void enter() const;
  void leave() const;
  bool has_keys() const { return has_keys_; }

 private:
  bool has_keys_ = false;
  termios before_{};
};

// Signals that end or stop the program, and that of another size, as a file; blocked otherwise.
class Signals {
 public:
  Signals();
  ~Signals();
  Signals(const Signals&) = delete;
  Signals& operator=(const Signals&) = delete;

  int fd() const { return fd_; }
  int next() const;  // 0: none

 private:
  int fd_ = -1;
  sigset_t before_{};
};

// What every such program does on a signal of Signals; true: it is to end.
bool handle_signal(int signal, const Terminal* terminal);

}  // namespace eddy::control
