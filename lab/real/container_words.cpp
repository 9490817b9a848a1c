#include "lab/real/container_words.h"

#include <fmt/format.h>
#include <unistd.h>

#include <array>
#include <charconv>
#include <sstream>
#include <string_view>

#include "net/version.h"

namespace eddy::lab {
namespace {

namespace fs = std::filesystem;
using Words = std::vector<std::string>;

// Threads of DPDK and of the process: a switch of 32 ports has a dozen.
constexpr const char* kMostProcesses = "256";
constexpr const char* kDpdkInside = "/run/dpdk";
// Where a process finds workloads by name: config/workloads below its current folder.
constexpr const char* kWorkInside = "/experiment";

// Mounts are written as CSV.
std::string csv_field(const std::string& text) {
  if (text.find_first_of(",\"") == std::string::npos) return text;
  std::string quoted = "\"";
  for (const char c : text) quoted += c == '"' ? "\"\"" : std::string(1, c);
  return quoted + '"';
}

std::string mount(const fs::path& source, const fs::path& target, bool writable) {
  return "type=bind," + csv_field("source=" + source.string()) + "," +
         csv_field("target=" + target.string()) + (writable ? "" : ",readonly");
}

void add(Words& words, const Words& more) {
  words.insert(words.end(), more.begin(), more.end());
}

void add_identity(Words& words, const ContainerPlace& place, const RealNode& node) {
  add(words, {"--name", container_name(place.fabric, node.name), "--hostname", node.name});
  add(words, {"--label", "org.eddy.fabric=" + place.fabric, "--label", "org.eddy.node=" + node.name,
              "--label", "org.eddy.by=" + owner_label()});
  add(words, {"--env", "EDDY_SWITCH=" + node.name});
}

// Ports are memif, which needs no capability.
void add_confinement(Words& words, const ContainerPlace& place, const RealNode& node) {
  add(words, {"--network", "none", "--cap-drop", "ALL", "--security-opt", "no-new-privileges",
              "--read-only", "--pids-limit", kMostProcesses});
  add(words, {"--user", fmt::format("{}:{}", place.user.user, place.user.group)});
  // Root without it may not read another user's files, which are those of an experiment under sudo.
  if (place.user.is_root && !node.writes.empty()) add(words, {"--cap-add", "DAC_OVERRIDE"});
}

void add_mounts(Words& words, const ContainerPlace& place, const RealNode& node) {
  add(words, {"--mount", mount(place.folder, kFolderInside, true)});
  add(words, {"--mount", mount(place.folder / kDpdkFolder, kDpdkInside, true)});
  // Where DPDK has its files, and SQLite what it cannot hold in memory.
  add(words, {"--env", "XDG_RUNTIME_DIR=/run", "--env", std::string("TMPDIR=") + kFolderInside});
  for (const fs::path& each : node.reads) add(words, {"--mount", mount(each, each, false)});
  for (const fs::path& each : node.writes) add(words, {"--mount", mount(each, each, true)});
  const fs::path workloads = fs::path(kWorkInside) / "config" / "workloads";
  for (const fs::path& each : node.workloads)
    add(words, {"--mount", mount(each, workloads / each.filename(), false)});
  if (!node.workloads.empty()) add(words, {"--workdir", kWorkInside});
}

std::string last_line(const std::string& said) {
  std::istringstream stream(said);
  std::string last;
  for (std::string line; std::getline(stream, line);)
    if (line.find_first_not_of(" \t\r") != std::string::npos && !line.starts_with("See '"))
      last = line;
  return last.empty() ? "it said nothing" : last;
}

// Without the names of those who pass it on.
std::string error_of(const Engine& engine, const std::string& said) {
  std::string line = last_line(said);
  for (const std::string& who :
       {engine.client.string() + ": ", std::string("docker: "), std::string("Error: "),
        std::string("Error response from daemon: ")})
    if (line.starts_with(who)) line.erase(0, who.size());
  return line;
}

bool has(const std::string& text, std::string_view part) {
  return text.find(part) != std::string::npos;
}

std::string where(const Engine& engine) {
  return engine.kind.host.empty() ? "" : " at " + engine.kind.host;
}

struct Version {
  int major = 0;
  int minor = 0;
  auto operator<=>(const Version&) const = default;
};

Version oldest(const Engine& engine) {
  return engine.kind.word == "docker" ? Version{20, 10} : Version{4, 0};
}

// 0.0: it is none.
Version parse_version(std::string_view text) {
  Version version;
  const char* const end = text.data() + text.size();
  const auto [dot, error] = std::from_chars(text.data(), end, version.major);
  if (error != std::errc() || dot == end || *dot != '.') return {};
  std::from_chars(dot + 1, end, version.minor);
  return version;
}

}  // namespace

Words client_words(const Engine& engine) {
  Words words = {engine.client};
  if (!engine.kind.host.empty()) add(words, {"--host", engine.kind.host});
  return words;
}

std::string owner_label() {
  return fmt::format("eddylab:{}", geteuid());
}

std::string container_name(const std::string& fabric, const std::string& node) {
  return "eddy-" + fabric + "-" + node;
}

std::string image_of(const std::string& program, const std::string& tag) {
  return (program == "eddyd" ? "eddy:" : "eddy-host:") + tag;
}

Words run_words(const Engine& engine, const ContainerPlace& place, const RealNode& node) {
  Words words = client_words(engine);
  // What it says comes to us, so the engine need not keep it; and we look after it ourselves.
  add(words, {"run", "--rm", "--pull=never", "--log-driver", "none", "--no-healthcheck"});
  add_identity(words, place, node);
  add_confinement(words, place, node);
  add_mounts(words, place, node);
  add(words, {"--entrypoint", "/usr/bin/" + node.program, image_of(node.program, build_version())});
  add(words, node.arguments);
  return words;
}

Words list_words(const Engine& engine, const std::string& fabric) {
  Words words = client_words(engine);
  const std::string filter =
      fabric.empty() ? "label=org.eddy.by=" + owner_label() : "name=" + container_name(fabric, "");
  // podman 4 has no .Label.
  const char* const label = engine.kind.word == "podman" ? "index .Labels" : ".Label";
  add(words, {"ps", "--all", "--no-trunc", "--filter", filter, "--format",
              fmt::format(R"({{{{.ID}}}}|{{{{.Names}}}}|{{{{{0} "org.eddy.fabric"}}}}|)"
                          R"({{{{{0} "org.eddy.by"}}}})",
                          label)});
  return words;
}

std::vector<FoundContainer> listed(const std::string& said) {
  std::vector<FoundContainer> found;
  std::istringstream stream(said);
  for (std::string line; std::getline(stream, line);) {
    std::array<std::string, 4> fields;
    std::istringstream parts(line);
    size_t count = 0;
    while (count < fields.size() && std::getline(parts, fields[count], '|')) ++count;
    // The client may have said something else in between; a last empty field is no field.
    if (count >= 2 && fields[0].find(' ') == std::string::npos)
      found.push_back({fields[0], fields[1], fields[2], fields[3]});
  }
  return found;
}

std::string engine_trouble(const Engine& engine, const std::string& said) {
  const std::string& word = engine.kind.word;
  if (has(said, "ermission denied") && has(said, "daemon socket"))
    return word + ": no permission to use its daemon" + where(engine) +
           ": be root, or in the group docker";
  if (has(said, "Cannot connect to the Docker daemon") || has(said, "connection refused"))
    return word + ": no daemon answers" + where(engine) +
           ": start it, or name another one in DOCKER_HOST";
  if (has(said, "is too old") || has(said, "is too new"))
    return word + ": client and daemon do not fit: " + error_of(engine, said);
  if (has(said, "Emulate Docker CLI using podman"))
    return word + " is podman here: --containers=podman takes it";
  return word + ": " + error_of(engine, said);
}

std::string version_trouble(const Engine& engine, const std::string& said) {
  const Version least = oldest(engine);
  if (parse_version(last_line(said)) >= least) return {};  // warnings come first
  return fmt::format("{}: version {} of {} is too old: {}.{} or newer is needed", engine.kind.word,
                     last_line(said), engine.client.string(), least.major, least.minor);
}

std::string host_trouble(const Engine& engine) {
  const std::string& host = engine.kind.host;
  if (host.empty() || host.starts_with("unix://")) return {};
  return engine.kind.word + ": its daemon at " + host +
         " may be on another machine, and a fabric needs this one: DOCKER_HOST has to begin with "
         "unix://";
}

}  // namespace eddy::lab
