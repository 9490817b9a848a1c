// write_folder(): a folder of files, whole or not at all.
//
// The files are written beside the folder and put in its place at the end, so that one that is
// there is complete. Problems, one line each: the folder exists and is not empty, its parent does
// not, it cannot be written, the disk is full; then nothing is left behind. Control plane only.
#pragma once

#include <filesystem>
#include <functional>
#include <vector>

#include "lab/export/fabric_export.h"
#include "net/result.h"

namespace eddy::lab {

// `check` looks at the files before they are put in place, where there is one; what it finds is
// why nothing is.
using FolderCheck = std::function<Problems(const std::filesystem::path& staged)>;
[[nodiscard]] Problems write_folder(const std::filesystem::path& folder,
                                    const std::vector<OutFile>& files,
                                    const FolderCheck& check = {});

}  // namespace eddy::lab
