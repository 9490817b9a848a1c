// The cost of path selection alone: bursts of 32 packets through one selector, nothing around it.
//
//   lb_bench SCHEME FLOWS PACKETS [MEMBERS] [parameter=value ...]
//
// prints TSC cycles a packet (median of the bursts). Baseline: scheme ecmp of the same run.
// Instructions a packet: the difference of two runs, PACKETS and twice as many, divided by PACKETS:
//   valgrind --tool=callgrind --toggle-collect='*SelectorOf*select*' lb_bench letflow 10000 64000
#include <rte_cycles.h>

#include <algorithm>
#include <array>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <vector>

#include "net/random.h"
#include "tests/support/paths.h"

namespace eddy::lb {
namespace {

constexpr size_t kSets = 16;

struct Arguments {
  std::string scheme;
  uint32_t flows = 0;
  size_t packets = 0;
  size_t members = 4;
  ParameterMap parameters;
};

// One burst after another of packets of random flows; packets are made outside the measured part.
std::vector<uint64_t> cycles_of_bursts(Selector& selector, const test::Paths& paths,
                                       const Arguments& arguments) {
  RandomStream random(1, 0, 0);
  std::array<Packet, kBurst> packets{};
  std::array<Packet*, kBurst> burst;
  std::array<uint16_t, kBurst> set_of;
  std::vector<uint64_t> cycles;
  Instant now;
  for (size_t done = 0; done < arguments.packets; done += kBurst) {
    for (size_t i = 0; i < kBurst; ++i) {
      const uint32_t flow = random.below(arguments.flows);
      packets[i] = test::make_packet(flow);
      burst[i] = &packets[i];
      set_of[i] = static_cast<uint16_t>(flow % kSets);
    }
    now = now + Duration::nanoseconds(640);
    const uint64_t start = rte_rdtsc_precise();
    selector.select(paths.view(now), burst, set_of);
    cycles.push_back(rte_rdtsc_precise() - start);
  }
  return cycles;
}

int run(const Arguments& arguments) {
  test::Paths paths(std::vector<PathSet>(kSets, test::make_set(arguments.members)));
  const auto selector = test::make(arguments.scheme, paths, arguments.parameters);
  if (selector == nullptr) {
    for (const std::string& problem : check_parameters(arguments.scheme, arguments.parameters))
      std::fprintf(stderr, "lb_bench: %s\n", problem.c_str());
    return 2;
  }
  std::vector<uint64_t> cycles = cycles_of_bursts(*selector, paths, arguments);
  const auto middle = cycles.begin() + static_cast<ptrdiff_t>(cycles.size() / 2);
  std::nth_element(cycles.begin(), middle, cycles.end());
  std::printf("select.%s.%u %.1f cycles/packet\n", arguments.scheme.c_str(), arguments.flows,
              static_cast<double>(*middle) / kBurst);
  return 0;
}

}  // namespace
}  // namespace eddy::lb

int main(int argc, char** argv) {
  eddy::lb::Arguments arguments;
  if (argc >= 4) {
    arguments.scheme = argv[1];
    arguments.flows = static_cast<uint32_t>(std::strtoul(argv[2], nullptr, 10));
    arguments.packets = std::strtoul(argv[3], nullptr, 10);
  }
  for (int i = 4; i < argc; ++i) {
    const std::string text = argv[i];
    const size_t equals = text.find('=');
    if (equals == std::string::npos)
      arguments.members = std::strtoul(argv[i], nullptr, 10);
    else
      arguments.parameters[text.substr(0, equals)] = text.substr(equals + 1);
  }
  if (arguments.flows == 0 || arguments.members < 1 || arguments.members > eddy::kMaxPaths) {
    std::fprintf(stderr, "usage: lb_bench SCHEME FLOWS PACKETS [MEMBERS] [name=value ...]\n");
    return 2;
  }
  return eddy::lb::run(arguments);
}
