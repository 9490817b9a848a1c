// Where programs are. Control plane only; cost: a few system calls.
#pragma once

#include <filesystem>
#include <string>

namespace eddy::lab {

// A program beside this one.
std::filesystem::path program_beside(const std::string& name);

// The program of that name in the folders of $PATH; empty: there is none.
std::filesystem::path on_path(const std::string& name);

}  // namespace eddy::lab
