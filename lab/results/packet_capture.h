// PacketCapture: packets of a run as pcapng, as `eddyctl capture` writes those of a real switch: at
// a port of a switch, or at both ends of a link.
//
// The tap is the switch object's own (switch/dataplane/object/capture.h). Interfaces are named
// "leaf1:spine1"; stamps count from the run's beginning, without time_dilation, and so does the
// span. Packets are in the order of their stamps. Recording changes nothing in the run. Owner: one
// run, which it must outlive; a watcher of its world. Bounds: what ends at one instant fits into a
// ring of 1 MiB a switch, or close() says how much was lost. Cost: a copy a packet and direction at
// the switches that are captured.
#pragma once

#include <filesystem>
#include <fstream>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "lab/run/run.h"
#include "lab/world/world.h"
#include "net/capture/capture_order.h"
#include "net/capture/capture_section.h"
#include "net/result.h"
#include "net/units.h"

namespace eddy::lab {

inline constexpr std::string_view kCaptureFile = "capture.pcapng";

// "leaf1-spine2", "leaf1.host1" or "leaf1:spine2", then, if not all of the run is wanted,
// "@FROM-TO".
struct CaptureSpec {
  std::string what;
  Duration from{};
  Duration to = Duration::max();
};
Result<CaptureSpec> parse_capture(std::string_view text);

class PacketCapture final : public Watcher {
 public:
  // A problem says what could be captured.
  static Result<std::unique_ptr<PacketCapture>> create(const CaptureSpec& spec,
                                                       const Topology& topology,
                                                       int64_t time_dilation);

  // Creates the file; before the run.
  Problems open(const std::filesystem::path& folder);
  // Before it watches that world.
  void attach(World& world);
  // The file is whole, or a problem; the world may be gone.
  Problems close();

  void on_frame(uint32_t, Step, const Packet&) override {}
  void on_turn(uint32_t) override { read_all(); }
  void on_instant() override { read_all(); }

 private:
  // A switch, of which some ports are captured.
  struct Tap {
    size_t switch_index = 0;
    size_t first_port = 0;  // number of its first port as an interface
    CaptureRingState state;
    CaptureRingTail tail;
    std::vector<uint8_t> octets;
    CaptureReader reader;
    CaptureOrder order;
  };
  // Waits until nothing earlier can come.
  struct Waiting {
    CaptureRecord head;
    std::vector<uint8_t> frame;
  };
  PacketCapture(const CaptureSpec& spec, int64_t time_dilation)
      : spec_(spec), time_dilation_(time_dilation) {}
  void add(const Topology& topology, const Topology::End& end);
  void read_all();
  void keep(const Tap& tap, const CapturedPacket& packet);
  void write_up_to(uint64_t stamp_ns);
  void flush();

  CaptureSpec spec_;
  int64_t time_dilation_;
  World* world_ = nullptr;
  std::vector<std::unique_ptr<Tap>> taps_;
  CaptureSection::Names names_;
  std::optional<CaptureSection> section_;
  std::multimap<uint64_t, Waiting> waiting_;  // by stamp
  std::vector<uint8_t> out_;
  std::filesystem::path path_;
  std::ofstream stream_;
  uint64_t last_ns_ = 0;
};

}  // namespace eddy::lab
