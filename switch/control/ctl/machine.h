// What a report of a fault says of the machine and of the process of a switch: versions, CPUs,
// memory, hugepages, limits. No environment and no command line, which may hold secrets, and of the
// kernel's command line the words that concern CPUs and memory. Thread: any. Cost: reading files of
// /proc and /sys.
#pragma once

#include <string>

namespace eddy::control {

// Files of /proc and /sys under their names, each as the kernel has it.
std::string machine_text();
// The same of a process and its threads; what cannot be read is said.
std::string process_text(int process);

}  // namespace eddy::control
