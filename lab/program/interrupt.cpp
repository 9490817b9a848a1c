#include "lab/program/interrupt.h"

#include <csignal>

namespace eddy::lab {

std::atomic<bool> interrupted{false};

void watch_signals(std::initializer_list<int> numbers) {
  for (const int number : numbers)
    std::signal(number, [](int) { interrupted.store(true, std::memory_order_relaxed); });
}

}  // namespace eddy::lab
