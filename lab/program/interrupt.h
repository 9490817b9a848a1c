// Signals that end a command in good order: noted when they come, read where its loops turn.
#pragma once

#include <atomic>
#include <initializer_list>

namespace eddy::lab {

// True after one of the signals that are watched came. Lives as long as the process.
extern std::atomic<bool> interrupted;

// Their default action, which ends the process at once, is no longer taken.
void watch_signals(std::initializer_list<int> numbers);

}  // namespace eddy::lab
