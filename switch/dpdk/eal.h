// Eal: brings DPDK up once a process, in the way this machine allows, and cleans up behind it.
//
// Hugepages are used when enough free ones are there, else plain memory; PCI is probed only when a
// port is a PCI device; the file prefix is `eddy-<switch>`, so that many switches share a
// machine and telemetry finds each. Memory without hugepages is reserved, not committed: only what
// is touched becomes resident. Thread: the one that becomes DPDK's main lcore. Units: MiB where
// named so. Source: docs/dpdk_notes.md, "Build" and "Memory".
#pragma once

#include <istream>
#include <memory>
#include <string>
#include <vector>

#include "config/config.h"
#include "net/result.h"
#include "net/units.h"
#include "system/run_folder.h"

namespace eddy {

struct EalRequest {
  std::string switch_name;
  int workers = 1;
  config::IdlePolicy idle = config::IdlePolicy::adaptive;
  bool pci = false;
  Bytes memory{0};                 // pools, rings and tables
  std::vector<std::string> extra;  // the user's own EAL arguments; they win
};

// What was found on this machine; gathered by find_machine(), given by tests.
struct Machine {
  std::vector<int> cpus;           // that this process may run on
  Bytes free_hugepages{0};         // of the default size
  bool may_use_hugepages = false;  // memfd with huge pages works here
  bool may_place_memory = true;  // on a NUMA node; EAL gives up where it places huge pages in vain
};
Machine find_machine();
// From what /proc/meminfo says. The default size is 2 MiB on x86; on AArch64 it depends on the size
// of the kernel's pages and may be 512 MiB.
Bytes free_hugepages_in(std::istream& meminfo);

struct EalCommandLine {
  std::vector<std::string> words;
  std::vector<std::string> notes;  // what people should know
  std::vector<std::string> warnings;
};
// What is wrong with file prefixes among the user's EAL arguments, each of which names a folder
// that is made and removed; empty: nothing.
Problems check_file_prefix(const std::vector<std::string>& extra);
// The one that counts: the last of the user's, else eddy-<switch>.
std::string file_prefix_of(const EalRequest& request);

// The EAL command line for a request, or why there is none.
Result<EalCommandLine> eal_command_line(const EalRequest& request, const Machine& machine);

// Everything behind "--" is EAL's, untouched; argc then ends before it.
std::vector<std::string> split_off_eal(int& argc, char** argv);

class Eal {
 public:
  // Once a process.
  static Result<std::unique_ptr<Eal>> start(const EalRequest& request);
  ~Eal();
  Eal(const Eal&) = delete;
  Eal& operator=(const Eal&) = delete;

  const std::vector<unsigned>& worker_lcores() const { return worker_lcores_; }
  const std::vector<std::string>& notes() const { return notes_; }
  const std::vector<std::string>& warnings() const { return warnings_; }
  const std::string& file_prefix() const { return file_prefix_; }

 private:
  Eal() = default;
  std::unique_ptr<RunFolder> folder_;
  std::string file_prefix_;
  std::vector<unsigned> worker_lcores_;
  std::vector<std::string> notes_;
  std::vector<std::string> warnings_;
};

}  // namespace eddy
