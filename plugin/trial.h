// A plugin's static constructors are run by another process first. What throws there, crashes, ends
// the process or never comes back would do so here, in the middle of the C library's loader.
//
// The other process is this program again, started with one word, so no memory of a running switch
// is copied, as fork() would. Programs that load plugins begin main() with
//   if (plugin::is_trial(argc, argv)) return plugin::run_trial();
// Control plane. Cost: a start of the program. Source: docs/adr/0028-plugins.md.
#pragma once

#include <chrono>
#include <string>

#include "plugin/sealed_copy.h"

namespace eddy::plugin {

inline constexpr std::chrono::seconds kTrialTime{10};

bool is_trial(int argc, const char* const* argv);
// Never returns to a caller that goes on: its value is main()'s.
int run_trial();

// Empty when the plugin can be loaded, else what is wrong with it.
std::string try_plugin(const SealedCopy& copy, std::chrono::milliseconds patience = kTrialTime);

}  // namespace eddy::plugin
