// RunFolder: the folder in which DPDK keeps the files of one process, held as long as that runs.
//
// It stands in dpdk_run_folder() and bears the process's file prefix. Who claims it holds the lock
// of a file in it, so a second process of the same prefix is refused before it touches anything,
// and what one that was killed left behind is removed. Owner: one; any thread. Cost: a few system
// calls.
#pragma once

#include <filesystem>
#include <memory>
#include <string>

#include "net/result.h"

namespace eddy {

// /var/run/dpdk for root, $XDG_RUNTIME_DIR/dpdk for others; empty when the latter is not set: there
// is no folder then that nobody else could have made before us. $RUNTIME_DIRECTORY counts nowhere:
// a service manager sets it for one process, and others, eddyctl among them, would look elsewhere.
std::filesystem::path dpdk_run_folder();

class RunFolder {
 public:
  // Makes what is missing of `folder`, all with mode 0700; `who` names the process in the refusal
  // of a second one, "a switch named leaf1". The folder is empty then, but for the lock.
  static Result<std::unique_ptr<RunFolder>> claim(const std::filesystem::path& folder,
                                                  const std::string& who);
  ~RunFolder();  // removes the folder
  RunFolder(const RunFolder&) = delete;
  RunFolder& operator=(const RunFolder&) = delete;

  const std::filesystem::path& path() const { return path_; }

 private:
  RunFolder(std::filesystem::path path, int lock) : path_(std::move(path)), lock_(lock) {}

  const std::filesystem::path path_;
  const int lock_;
};

}  // namespace eddy
