// The cost of parse_frame alone, frames in the cache.
//
//   parse_bench [SAMPLE [BURSTS]]
//
// prints, for every sample frame of the tests of net/ or for one, TSC cycles a packet (median of
// bursts of 32, less the same loop around nothing). The baseline beside it is the general parser,
// without the inline short way. Instructions a packet: run one sample under callgrind and divide
// the inclusive counts of the two parse_burst by 32 x BURSTS (callgrind_annotate --inclusive=yes).
#include <rte_cycles.h>

#include <algorithm>
#include <array>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <vector>

#include "net/parse.h"
#include "tests/unit/net/samples.h"

namespace eddy {
namespace {

constexpr size_t kDefaultBursts = 20'000;

struct Burst {
  std::vector<test::Frame> frames;
  std::array<ParsedFrame, kBurst> parsed;
  std::array<ParseVerdict, kBurst> verdicts;

  explicit Burst(const test::Frame& frame) : frames(kBurst, frame) {}
};

template <class Parser>
[[gnu::noinline]] void parse_burst(Burst& burst, Parser parser) {
  for (size_t i = 0; i < kBurst; ++i) {
    const test::Frame& frame = burst.frames[i];
    const auto length = static_cast<uint32_t>(frame.size());
    burst.verdicts[i] = parser(frame.data(), length, length, burst.parsed[i]);
  }
}

template <class Parser>
double median_cycles(const test::Frame& frame, size_t bursts, Parser parser) {
  Burst burst(frame);
  std::vector<uint64_t> cycles(bursts);
  for (uint64_t& each : cycles) {
    const uint64_t start = rte_rdtsc_precise();
    parse_burst(burst, parser);
    each = rte_rdtsc_precise() - start;
  }
  std::nth_element(cycles.begin(), cycles.begin() + static_cast<long>(bursts / 2), cycles.end());
  return static_cast<double>(cycles[bursts / 2]) / kBurst;
}

void measure(const test::Sample& sample, size_t bursts) {
  const auto nothing = [](const uint8_t*, uint32_t, uint32_t, ParsedFrame&) {
    return ParseVerdict::ok;
  };
  const auto parser = [](const uint8_t* data, uint32_t data_len, uint32_t wire_len,
                         ParsedFrame& out) { return parse_frame(data, data_len, wire_len, out); };
  const double loop = median_cycles(sample.frame, bursts, nothing);
  const double cycles = median_cycles(sample.frame, bursts, parser) - loop;
  const double general = median_cycles(sample.frame, bursts, detail::parse_frame_slowly) - loop;
  std::printf("%-20s %4zu octets  %6.1f cycles, general %6.1f\n", sample.name.c_str(),
              sample.frame.size(), cycles, general);
}

}  // namespace
}  // namespace eddy

int main(int argc, char** argv) {
  const std::string wanted = argc > 1 ? argv[1] : "";
  const size_t bursts = argc > 2 ? std::strtoul(argv[2], nullptr, 10) : eddy::kDefaultBursts;
  for (const eddy::test::Sample& sample : eddy::test::samples())
    if (wanted.empty() || wanted == sample.name) eddy::measure(sample, bursts);
  return 0;
}
