#include "switch/dpdk/eal.h"

#include <dlfcn.h>
#include <fcntl.h>
#include <rte_config.h>
#include <rte_eal.h>
#include <rte_errno.h>
#include <rte_lcore.h>
#include <rte_log.h>
#include <sched.h>
#include <sys/file.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdarg>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <string_view>
#include <utility>

#include "net/text/plain_name.h"
#include "system/log_lines.h"

namespace eddy {
namespace {

namespace fs = std::filesystem;

constexpr Bytes kEalSlack = Bytes::mib(32);     // EAL's own, drivers', telemetry's
constexpr Bytes kPlainSlack = Bytes::mib(192);  // address space only; untouched pages cost nothing
constexpr std::string_view kPrefix = "eddy-";

bool gives(const std::vector<std::string>& arguments,
           std::initializer_list<std::string_view> options) {
  return std::any_of(arguments.begin(), arguments.end(), [&](std::string_view argument) {
    return std::any_of(options.begin(), options.end(), [&](std::string_view option) {
      return argument == option ||
             (option.starts_with("--") && argument.starts_with(option) &&
              argument.size() > option.size() && argument[option.size()] == '=');
    });
  });
}

// The values of --file-prefix, which getopt_long() also takes when it is cut short ("--file=x").
std::vector<std::string> file_prefixes(const std::vector<std::string>& extra) {
  constexpr std::string_view kOption = "--file-prefix";
  constexpr size_t kShortest = std::string_view("--fi").size();  // --f might be --force-...
  std::vector<std::string> out;
  for (size_t i = 0; i < extra.size(); ++i) {
    const std::string_view word = extra[i];
    const size_t equals = word.find('=');
    const std::string_view option = word.substr(0, equals);
    if (option.size() < kShortest || !kOption.starts_with(option)) continue;
    if (equals != std::string_view::npos)
      out.emplace_back(word.substr(equals + 1));
    else
      out.emplace_back(i + 1 < extra.size() ? extra[i + 1] : "");
  }
  return out;
}

std::string mebibytes(Bytes size) {
  return std::to_string((size.count() + (1 << 20) - 1) >> 20);
}

bool huge_memory_works() {
  const int fd = memfd_create("eddy-hugepage-test", MFD_CLOEXEC | MFD_HUGETLB);
  if (fd >= 0) close(fd);
  return fd >= 0;
}

// Runtimes of containers tie these calls to CAP_SYS_NICE; a kernel without NUMA has none of them.
bool may_place_memory() {
  return syscall(SYS_get_mempolicy, nullptr, nullptr, 0, nullptr, 0) == 0 || errno != EPERM;
}

std::string list_of(const std::vector<int>& cpus) {
  std::string out;
  for (int cpu : cpus) out += (out.empty() ? "" : ",") + std::to_string(cpu);
  return out;
}

// Polling workers of policy `busy` get a CPU each, the last ones first, so that CPU 0 stays with
// the system; adaptive ones float over all. lcore 0, which is the control thread and those that it
// starts, floats over the CPUs on which nobody polls all the time, if there are any.
Result<std::string> lcores(const EalRequest& request, const Machine& machine,
                           EalCommandLine& line) {
  const std::string all = '(' + list_of(machine.cpus) + ')';
  const auto cpus = static_cast<int>(machine.cpus.size());
  const bool busy = request.idle == config::IdlePolicy::busy;
  if (busy && request.workers > cpus)
    return Result<std::string>::failure(
        std::to_string(request.workers) + " polling workers (idle: busy) but " +
        std::to_string(cpus) +
        " usable CPUs: two of them on one CPU starve each other; use at most " +
        std::to_string(cpus) + " workers or idle: adaptive");
  if (!busy && request.workers > cpus)
    line.notes.push_back(std::to_string(request.workers) + " workers share " +
                         std::to_string(cpus) + " CPUs; idle: adaptive lets them");
  const int polled = busy && request.workers < cpus ? request.workers : 0;
  std::string out = "0@(" + list_of({machine.cpus.begin(), machine.cpus.end() - polled}) + ')';
  for (int worker = 0; worker < request.workers; ++worker) {
    const std::string place =
        busy ? std::to_string(machine.cpus[static_cast<size_t>(cpus - 1 - worker)]) : all;
    out += ',' + std::to_string(worker + 1) + '@' + place;
  }
  return out;
}

void choose_memory(const EalRequest& request, const Machine& machine, EalCommandLine& line) {
  if (gives(request.extra, {"--no-huge", "--in-memory", "--huge-dir", "--legacy-mem"})) return;
  const bool own_size = gives(request.extra, {"-m", "--socket-mem"});
  const Bytes huge_need = request.memory + kEalSlack;
  const bool enough = machine.may_use_hugepages && machine.free_hugepages >= huge_need;
  if (enough && !machine.may_place_memory)
    line.warnings.push_back(
        "free hugepages are not used: without the capability CAP_SYS_NICE this container may not "
        "place them (eddyd --capabilities)");
  if (enough && machine.may_place_memory) {
    line.words.push_back("--in-memory");
    if (!own_size) line.words.insert(line.words.end(), {"-m", mebibytes(huge_need)});
    line.notes.push_back("memory: " + mebibytes(huge_need) + " MiB of hugepages");
    return;
  }
  line.words.insert(line.words.end(), {"--no-huge", "--no-shconf"});
  if (!own_size)
    line.words.insert(line.words.end(), {"-m", mebibytes(request.memory + kPlainSlack)});
  line.notes.push_back("memory: ordinary pages (" + mebibytes(machine.free_hugepages) + " of " +
                       mebibytes(huge_need) + " MiB of hugepages are free)");
}

// A switch of this name that runs is in the way; what one that was killed left behind is not.
Result<std::unique_ptr<RunFolder>> claim_folder(const EalRequest& request) {
  const fs::path base = dpdk_run_folder();
  if (base.empty())
    return Result<std::unique_ptr<RunFolder>>::failure(
        "XDG_RUNTIME_DIR is not set: DPDK has no folder for its files that is this user's alone");
  return RunFolder::claim(base / file_prefix_of(request), "a switch named " + request.switch_name);
}

// Two switches that start together must not both count the same free hugepages.
class StartLock {
 public:
  StartLock() {
    const fs::path base = dpdk_run_folder();
    if (base.empty()) return;
    std::error_code ignored;
    fs::create_directories(base, ignored);
    fd_ = open((base / "eddy.lock").c_str(), O_CREAT | O_RDWR | O_CLOEXEC | O_NOFOLLOW, 0600);
    if (fd_ >= 0) flock(fd_, LOCK_EX);
  }
  ~StartLock() {
    if (fd_ >= 0) close(fd_);
  }
  StartLock(const StartLock&) = delete;
  StartLock& operator=(const StartLock&) = delete;

 private:
  int fd_ = -1;
};

// DPDK's levels are those of syslog.
LogLevel level_of_dpdk() {
  const int level = rte_log_cur_msg_loglevel();
  if (level >= static_cast<int>(RTE_LOG_DEBUG)) return LogLevel::debug;
  if (level >= static_cast<int>(RTE_LOG_NOTICE)) return LogLevel::info;
  return level >= static_cast<int>(RTE_LOG_WARNING) ? LogLevel::warning : LogLevel::error;
}

// DPDK's log, from its first line on, where our own lines are objects. It stays the process's.
void open_log() {
  static std::FILE* const stream = json_stream(level_of_dpdk);
  rte_openlog_stream(stream);
  log_stdout_as_json();  // EAL prints its usage there
}

int print_warnings(int level, const char* format, va_list arguments) {
  constexpr int kWarning = 0;  // LIBBPF_WARN, LIBXDP_WARN
  return level == kWarning ? std::vfprintf(stderr, format, arguments) : 0;
}

// The libraries below net_af_xdp say on stderr what they try, a dozen lines a port. They are
// there only if DPDK has loaded that driver.
void quieten_bpf() {
  for (const auto& [library, setter] : {std::pair{"libbpf.so.1", "libbpf_set_print"},
                                        std::pair{"libxdp.so.1", "libxdp_set_print"}}) {
    void* const handle = dlopen(library, RTLD_LAZY | RTLD_NOLOAD);
    if (handle == nullptr) continue;
    using Printer = int (*)(int, const char*, va_list);
    if (void* const found = dlsym(handle, setter); found != nullptr)
      reinterpret_cast<Printer (*)(Printer)>(found)(print_warnings);
    dlclose(handle);
  }
}

}  // namespace

Machine find_machine() {
  Machine machine;
  cpu_set_t set;
  CPU_ZERO(&set);
  if (sched_getaffinity(0, sizeof(set), &set) == 0)
    for (int cpu = 0; cpu < CPU_SETSIZE; ++cpu)
      if (CPU_ISSET(cpu, &set)) machine.cpus.push_back(cpu);
  std::ifstream meminfo("/proc/meminfo");
  machine.free_hugepages = free_hugepages_in(meminfo);
  machine.may_use_hugepages = machine.free_hugepages > Bytes(0) && huge_memory_works();
  machine.may_place_memory = may_place_memory();
  return machine;
}

Bytes free_hugepages_in(std::istream& meminfo) {
  int64_t pages = 0;
  int64_t size_kib = 0;
  for (std::string line; std::getline(meminfo, line);) {
    std::istringstream words(line);
    std::string name;
    words >> name;
    if (name == "HugePages_Free:") words >> pages;
    if (name == "Hugepagesize:") words >> size_kib;
  }
  return Bytes(pages * size_kib * 1'024);
}

Problems check_file_prefix(const std::vector<std::string>& extra) {
  Problems problems;
  for (const std::string& prefix : file_prefixes(extra)) {
    const Problems found = check_plain_name("--file-prefix", prefix);
    problems.insert(problems.end(), found.begin(), found.end());
  }
  return problems;
}

std::string file_prefix_of(const EalRequest& request) {
  const std::vector<std::string> given = file_prefixes(request.extra);
  return given.empty() ? std::string(kPrefix) + request.switch_name : given.back();
}

Result<EalCommandLine> eal_command_line(const EalRequest& request, const Machine& machine) {
  EalCommandLine line;
  if (Problems problems = check_file_prefix(request.extra); !problems.empty()) return problems;
  if (Problems problems = check_plain_name("name", request.switch_name); !problems.empty())
    return problems;
  line.words.push_back("eddyd");
  choose_memory(request, machine, line);
  if (!request.pci && !gives(request.extra, {"-a", "--allow", "--no-pci"}))
    line.words.insert(line.words.end(), {"--no-pci", "--iova-mode=va"});
  line.words.push_back("--file-prefix=" + file_prefix_of(request));
  if (!gives(request.extra, {"-l", "-c", "--lcores"})) {
    auto placed = lcores(request, machine, line);
    if (!placed) return placed.problems();
    line.words.push_back("--lcores=" + *placed);
  }
  if (!gives(request.extra, {"--log-level"})) line.words.push_back("--log-level=*:error");
  line.words.insert(line.words.end(), request.extra.begin(), request.extra.end());
  return line;
}

std::vector<std::string> split_off_eal(int& argc, char** argv) {
  std::vector<std::string> eal;
  for (int i = 1; i < argc; ++i) {
    if (std::string_view(argv[i]) != "--") continue;
    eal.assign(argv + i + 1, argv + argc);
    argc = i;
  }
  return eal;
}

Result<std::unique_ptr<Eal>> Eal::start(const EalRequest& request) {
  using Started = Result<std::unique_ptr<Eal>>;
  std::unique_ptr<Eal> eal(new Eal);
  const StartLock lock;
  auto line = eal_command_line(request, find_machine());
  if (!line) return line.problems();
  auto folder = claim_folder(request);
  if (!folder) return folder.problems();
  eal->folder_ = std::move(*folder);
  unsetenv("RUNTIME_DIRECTORY");  // which DPDK would follow, away from dpdk_run_folder()
  eal->notes_ = line->notes;
  eal->warnings_ = line->warnings;
  if (logs_json()) open_log();
  std::vector<char*> argv;
  for (std::string& word : line->words) argv.push_back(word.data());
  if (rte_eal_init(static_cast<int>(argv.size()), argv.data()) < 0)
    return Started::failure("EAL did not start: " + std::string(rte_strerror(rte_errno)));
  if (!gives(request.extra, {"--log-level"})) quieten_bpf();
  eal->file_prefix_ = eal->folder_->path().filename();
  unsigned lcore = 0;
  RTE_LCORE_FOREACH_WORKER(lcore) eal->worker_lcores_.push_back(lcore);
  if (eal->worker_lcores_.size() < static_cast<size_t>(request.workers))
    return Started::failure(
        std::to_string(request.workers) + " workers need " + std::to_string(request.workers + 1) +
        " lcores (one is control's), got " + std::to_string(eal->worker_lcores_.size() + 1));
  return eal;
}

// No rte_eal_cleanup(): it unmaps memory that DPDK's interrupt thread still reads (net_memif never
// withdraws its listener), and the end of the process gives everything back anyway.
Eal::~Eal() = default;

}  // namespace eddy
