// Whether a file is a shared object for the processor of this program, by its ELF header: the
// loader of the C library says "cannot open" of one that is not.
//
// Pure. Source: System V ABI, chapter 4.
#pragma once

#include <string>
#include <string_view>

namespace eddy::plugin {

// Empty, or what is wrong. `octets`: the file's.
std::string elf_problem(std::string_view octets);

}  // namespace eddy::plugin
