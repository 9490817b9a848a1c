// Where the files that come with the programs are: folders that have `experiments` and `workloads`.
//
// In this order: $EDDY_DATA, `config` of the current folder, then of the tree that the program was
// built in (TREE/build/PRESET/bin/PROGRAM), PREFIX/share/eddy of a program that is in PREFIX/bin,
// /usr/share/eddy. Who needs a file takes the first that is there, and says where it looked.
// Control plane; cost: one system call.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

namespace eddy {

// Of the running program and its environment.
std::vector<std::filesystem::path> data_folders();

// Of the program `program`, empty where that is unknown; `named` is what $EDDY_DATA says.
std::vector<std::filesystem::path> data_folders(const std::filesystem::path& program,
                                                const std::string& named);

}  // namespace eddy
