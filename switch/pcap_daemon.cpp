#include "switch/pcap_daemon.h"

#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstring>
#include <fstream>
#include <iterator>
#include <memory>
#include <optional>
#include <vector>

#include "switch/control/report/event_record.h"
#include "switch/daemon.h"
#include "switch/dpdk/devargs.h"
#include "switch/dpdk/pcap_run.h"
#include "switch/dpdk/plan.h"
#include "system/free_memory.h"
#include "system/say.h"

namespace eddy {
namespace {

constexpr size_t kLongestFrame = 9'728;  // a jumbo frame; what is longer is reported as lost

Result<std::vector<uint8_t>> read_whole(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  if (!file) return Result<std::vector<uint8_t>>::failure(path + ": " + std::strerror(errno));
  return std::vector<uint8_t>(std::istreambuf_iterator<char>(file), {});
}

Problems write_whole(const std::string& path, const char* octets, size_t count) {
  std::ofstream file(path, std::ios::binary);
  file.write(octets, static_cast<std::streamsize>(count));
  file.close();
  if (file) return {};
  return {path + ": " + std::strerror(errno)};
}

struct Files {
  std::optional<std::string> input;
  std::optional<std::string> output;
};

Result<std::vector<Files>> files_of(const config::SwitchConfig& config) {
  Problems problems;
  std::vector<Files> out;
  for (const config::PortConfig& port : config.ports) {
    const DeviceArgs device = DeviceArgs::parse(port.device);
    if (device.driver() != "net_pcap")
      problems.push_back("port " + port.name + " (" + port.device +
                         "): --clock pcap needs net_pcap ports");
    Files files;
    if (const auto path = device.find("rx_pcap")) files.input = std::string(*path);
    if (const auto path = device.find("tx_pcap")) files.output = std::string(*path);
    out.push_back(files);
  }
  if (config.workers != 1) problems.push_back("--clock pcap needs workers: 1");
  if (!problems.empty()) return problems;
  return out;
}

Problems feed(PcapRun& run, const std::vector<Files>& files,
              std::vector<std::vector<uint8_t>>& captures) {
  Problems problems;
  for (size_t port = 0; port < files.size(); ++port) {
    if (!files[port].input) continue;
    auto capture = read_whole(*files[port].input);
    if (!capture) return capture.problems();
    captures.push_back(std::move(*capture));
    for (const std::string& problem : run.add_capture(PortId(port), captures.back()))
      problems.push_back(*files[port].input + ": " + problem);
  }
  return problems;
}

Problems save(const PcapRun& run, const std::vector<Files>& files) {
  for (size_t port = 0; port < files.size(); ++port) {
    if (!files[port].output) continue;
    const std::vector<uint8_t>& sent = run.sent(PortId(port));
    Problems problems =
        write_whole(*files[port].output, reinterpret_cast<const char*>(sent.data()), sent.size());
    if (!problems.empty()) return problems;
  }
  return {};
}

// Packets are in plain memory here, as many as the smallest of them fit into the buffer.
Problems check_memory(size_t packets) {
  const uint64_t needed = packets * HeapPackets::octets_of(kLongestFrame);
  const uint64_t there = free_memory();
  if (needed <= there) return {};
  return {"--clock pcap needs " + std::to_string(needed >> 20) + " MiB for the " +
          std::to_string(packets) + " packets that the buffer can hold, " +
          std::to_string(there >> 20) + " MiB are free; would fit: a larger buffer.cell or a " +
          "smaller buffer.size"};
}

Problems run_all(const PcapOptions& options, const std::vector<Files>& files) {
  const config::SwitchConfig config = config::scaled(options.config);
  const auto plan = plan_daemon(config);
  if (!plan) return plan.problems();
  const size_t packets = plan.value().pools.data_packets + plan.value().pools.control_packets;
  if (const Problems problems = check_memory(packets); !problems.empty()) return problems;
  auto made = Switch::create(config, {.shards = 1});
  if (!made) return made.problems();
  const std::unique_ptr<Switch> object = std::move(*made);
  PcapRun run(*object, packets, kLongestFrame);
  std::vector<std::vector<uint8_t>> captures;
  captures.reserve(files.size());
  Problems problems = feed(run, files, captures);
  std::string record;
  run.after_poll = [&] { record += control::take_event_records(*object); };
  if (problems.empty()) problems = run.run(options.drain_time);
  if (problems.empty()) problems = save(run, files);
  record += control::counter_records(*object);
  if (problems.empty() && !options.events_path.empty())
    problems = write_whole(options.events_path, record.data(), record.size());
  if (problems.empty() && run.lost() > 0)
    problems.push_back(std::to_string(run.lost()) + " frames of the captures found no packet of " +
                       std::to_string(kLongestFrame) + " octets");
  return problems;
}

int report(const Problems& problems, int code) {
  say("eddyd: ", problems);
  return problems.empty() ? kExitOk : code;
}

}  // namespace

int run_pcap(const PcapOptions& options) {
  const auto files = files_of(options.config);
  if (!files) return report(files.problems(), kExitBadConfig);
  return report(run_all(options, files.value()), kExitFailure);
}

}  // namespace eddy
