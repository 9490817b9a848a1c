// golden_in_process CONFIG DIRECTORY TAIL SHARDS: one switch of the test fabric, driven by pcap
// files.
//
// Reads DIRECTORY/in_<port>.pcap, writes DIRECTORY/out_<port>.pcap and DIRECTORY/events.jsonl, as
// `eddyd --clock pcap` does. Time zero is that of the stamps (1970); all links come up then. Frames
// are merged by (time, port) and polled one by one, after all that is due by then. The run ends
// TAIL (10ms) after the last frame. The ports are dealt out to SHARDS shards in turn.
#include <algorithm>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>
#include <vector>

#include "config/load.h"
#include "net/assert.h"
#include "net/pcap.h"
#include "net/quantity.h"
#include "switch/control/report/event_record.h"
#include "tests/support/fabric.h"
#include "tests/support/topologies.h"

namespace eddy::test {
namespace {

namespace fs = std::filesystem;
using namespace eddy::literals;

constexpr size_t kPackets = 4'096;
constexpr size_t kDataRoom = 9'728;

struct TimedFrame {
  Instant at;
  PortId port;
  Frame frame;
};

Frame read_all(const fs::path& path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>()};
}

void write_all(const fs::path& path, const Frame& octets) {
  std::ofstream file(path, std::ios::binary);
  file.write(reinterpret_cast<const char*>(octets.data()),
             static_cast<std::streamsize>(octets.size()));
  ASSERT(file.good());
}

void read_port(const fs::path& path, PortId port, std::vector<TimedFrame>& frames) {
  const Frame file = read_all(path);
  PcapReader reader;
  ASSERT(reader.open(file) == CodecVerdict::ok);
  while (!reader.at_end()) {
    PcapRecord record;
    ASSERT(reader.next(record) == CodecVerdict::ok);
    frames.push_back({Instant() + Duration::nanoseconds(static_cast<int64_t>(record.stamp_ns)),
                      port, Frame(record.frame.begin(), record.frame.end())});
  }
}

std::vector<TimedFrame> read_ports(const config::SwitchConfig& config, const fs::path& directory) {
  std::vector<TimedFrame> frames;
  for (size_t port = 0; port < config.ports.size(); ++port)
    read_port(directory / ("in_" + config.ports[port].name + ".pcap"), PortId(port), frames);
  std::stable_sort(frames.begin(), frames.end(), [](const TimedFrame& a, const TimedFrame& b) {
    return a.at < b.at;
  });  // ports are in order
  return frames;
}

void write_port(const fs::path& path, const std::vector<Arrival>& sent) {
  Frame file(kPcapFileHeader);
  encode_pcap_header(file);
  for (const Arrival& arrival : sent) {
    Frame record(kPcapRecordHeader + arrival.frame.size());
    encode(PcapRecord{static_cast<uint64_t>(arrival.at.since_zero().ns()), arrival.wire_len,
                      arrival.frame},
           record);
    file.insert(file.end(), record.begin(), record.end());
  }
  write_all(path, file);
}

void run(const config::SwitchConfig& config, const fs::path& directory, Duration tail) {
  const std::vector<TimedFrame> frames = read_ports(config, directory);
  Fabric fabric(kPackets, kDataRoom);
  const size_t node = fabric.add_switch(config, static_cast<size_t>(config.workers));
  std::string records;
  fabric.after_event = [&] { records += control::take_event_records(fabric.at(node)); };
  for (size_t port = 0; port < config.ports.size(); ++port)
    fabric.set_link(node, PortId(port), true);
  for (const TimedFrame& frame : frames) {
    fabric.run_until(frame.at);
    fabric.inject(node, frame.port, frame.frame);
  }
  fabric.run_until(fabric.now() + tail);
  records += control::take_event_records(fabric.at(node));
  records += control::counter_records(fabric.at(node));
  write_all(directory / "events.jsonl", Frame(records.begin(), records.end()));
  for (size_t port = 0; port < config.ports.size(); ++port)
    write_port(directory / ("out_" + config.ports[port].name + ".pcap"),
               fabric.seen(node, PortId(port)));
}

}  // namespace
}  // namespace eddy::test

int main(int argc, char** argv) {
  if (argc != 5) {
    std::fputs("usage: golden_in_process CONFIG DIRECTORY TAIL SHARDS\n", stderr);
    return 2;
  }
  const auto loaded = eddy::config::load_file(argv[1], eddy::config::Purpose::object);
  if (!loaded.ok()) {
    for (const std::string& problem : loaded.problems())
      std::fprintf(stderr, "%s\n", problem.c_str());
    return 2;
  }
  eddy::config::SwitchConfig config = eddy::config::scaled(loaded.value().config);
  eddy::test::spread_over_workers(config, std::stoul(argv[4]));
  eddy::test::run(config, argv[2], eddy::parse_duration(argv[3]).value());
}
