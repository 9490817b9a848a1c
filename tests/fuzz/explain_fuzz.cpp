// One input, the description of a packet for `explain`. All that is wrong with it is said in lines,
// or it becomes a frame that the parser takes and that has what was said.
#include <algorithm>
#include <string_view>

#include "config/load.h"
#include "net/assert.h"
#include "net/capture/capture_record.h"
#include "net/text/printable.h"
#include "switch/explain/description.h"

namespace {

using namespace eddy;

constexpr const char* kSwitch = R"(
switch: {name: leaf1, id: 1, leaf: 1}
ports:
  h1: {device: net_null0, speed: 1Gbps, addresses: [10.0.1.1/24, "fd00::1/64"]}
  spine1: {device: net_null1, role: fabric, speed: 1Gbps}
)";

const config::SwitchConfig& example() {
  static const auto loaded = config::load_text("f.yaml", kSwitch);
  return loaded.value().config;
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  const auto read = explain::read_description(text, example());
  if (!read.ok()) {
    ASSERT(!read.problems().empty());
    for (const std::string& problem : read.problems()) ASSERT(!problem.empty());
    return 0;
  }
  const explain::Description& said = read.value();
  ASSERT(said.port.index() < example().ports.size());
  ASSERT(said.source.is_v4() == said.destination.is_v4());
  ASSERT(said.dscp < 64 && said.ecn < 4 && said.pcp < 8 && said.vlan < 4'096);
  const std::vector<uint8_t> frame = explain::frame_of(said, example());
  ASSERT(frame.size() >= 14 && frame.size() <= said.length);
  ASSERT(said.length <= kCaptureMostSnap);
  return 0;
}
