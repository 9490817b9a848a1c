// ReloadWatch: who wants to know of reloads, whoever asked for them. Called by control's threads.
#pragma once

#include <functional>
#include <string>

namespace eddy::control {

struct ReloadWatch {
  std::function<void()> begins = [] {};
  std::function<void(const std::string& outcome)> ends = [](const std::string&) {};
};

}  // namespace eddy::control
