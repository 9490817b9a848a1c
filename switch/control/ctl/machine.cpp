#include "switch/control/ctl/machine.h"

#include <sys/utsname.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <map>
#include <sstream>
#include <string_view>
#include <vector>

namespace eddy::control {
namespace {

namespace fs = std::filesystem;

constexpr std::array kFiles = {"/etc/os-release",
                               "/proc/loadavg",
                               "/proc/uptime",
                               "/proc/meminfo",
                               "/proc/self/cgroup",
                               "/sys/fs/cgroup/cpu.max",
                               "/sys/fs/cgroup/cpuset.cpus.effective",
                               "/sys/fs/cgroup/memory.max",
                               "/sys/devices/system/cpu/online",
                               "/sys/devices/system/cpu/isolated",
                               "/sys/devices/system/cpu/nohz_full",
                               "/sys/devices/system/cpu/smt/active",
                               "/sys/devices/system/node/online",
                               "/proc/sys/kernel/sched_rt_runtime_us",
                               "/proc/cpuinfo"};
constexpr std::array kKernelWords = {"isolcpus",
                                     "nohz_full",
                                     "rcu_nocbs",
                                     "default_hugepagesz",
                                     "hugepagesz",
                                     "hugepages",
                                     "iommu",
                                     "intel_iommu",
                                     "amd_iommu",
                                     "mitigations",
                                     "processor.max_cstate",
                                     "intel_idle.max_cstate",
                                     "idle",
                                     "nosmt",
                                     "transparent_hugepage"};
constexpr std::array kProcessFiles = {"status", "limits", "cgroup", "schedstat"};

std::string content_of(const fs::path& path) {
  errno = 0;
  std::ifstream stream(path, std::ios::binary);
  std::ostringstream text;
  text << stream.rdbuf();
  if (!stream.is_open()) return std::string("cannot be read: ") + std::strerror(errno) + "\n";
  return text.str();
}

std::string section(const std::string& title, const std::string& text) {
  return "== " + title + "\n" + text + (text.empty() || text.back() == '\n' ? "" : "\n") + "\n";
}

std::string kernel_text() {
  utsname name{};
  uname(&name);
  return std::string(name.sysname) + " " + name.release + " " + name.version + " " + name.machine;
}

// Of the kernel's command line what concerns CPUs and memory.
std::string kernel_words() {
  std::istringstream words(content_of("/proc/cmdline"));
  std::string text;
  for (std::string word; words >> word;)
    if (std::ranges::any_of(kKernelWords, [&](std::string_view known) {
          return word.substr(0, word.find('=')) == known;
        }))
      text += word + "\n";
  return text;
}

std::string hugepages_text() {
  std::string text;
  std::error_code ignored;
  for (const auto& size : fs::directory_iterator("/sys/kernel/mm/hugepages", ignored))
    for (const char* file : {"nr_hugepages", "free_hugepages", "resv_hugepages"})
      text += size.path().filename().string() + "/" + file + " " + content_of(size.path() / file);
  return text;
}

// Lines "Name: value" of a file, those whose names are given.
std::string lines_of(const fs::path& path, std::span<const std::string_view> names) {
  std::istringstream lines(content_of(path));
  std::string text;
  for (std::string line; std::getline(lines, line);)
    if (std::ranges::find(names, std::string_view(line).substr(0, line.find(':'))) != names.end())
      text += "  " + line + "\n";
  return text;
}

std::string threads_text(const fs::path& process) {
  constexpr std::array<std::string_view, 5> kNames = {"Name", "State", "Cpus_allowed_list",
                                                      "voluntary_ctxt_switches",
                                                      "nonvoluntary_ctxt_switches"};
  std::map<std::string, std::string> threads;
  std::error_code ignored;
  for (const auto& task : fs::directory_iterator(process / "task", ignored))
    threads[task.path().filename()] =
        lines_of(task.path() / "status", kNames) +
        "  ns on CPU, ns waiting for it, turns: " + content_of(task.path() / "schedstat");
  std::string text;
  for (const auto& [thread, lines] : threads) text += "thread " + thread + "\n" + lines;
  return text;
}

}  // namespace

std::string machine_text() {
  std::string text = section("kernel", kernel_text());
  text += section("of its command line", kernel_words());
  text += section("/sys/kernel/mm/hugepages", hugepages_text());
  for (const char* file : kFiles) text += section(file, content_of(file));
  return text;
}

std::string process_text(int process) {
  const fs::path folder = fs::path("/proc") / std::to_string(process);
  std::string text;
  for (const char* file : kProcessFiles)
    text += section((folder / file).string(), content_of(folder / file));
  return text + section("threads", threads_text(folder));
}

}  // namespace eddy::control
