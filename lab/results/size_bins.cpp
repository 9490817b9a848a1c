#include "lab/results/size_bins.h"

#include <array>
#include <limits>

namespace eddy::lab {
namespace {

constexpr int64_t kDecade = 10;

// "100 B", "10 kB", "1 MB": decades are round.
std::string decade_name(int64_t octets) {
  static constexpr std::array<const char*, 5> kUnits = {" B", " kB", " MB", " GB", " TB"};
  constexpr int64_t kThousand = 1'000;
  size_t unit = 0;
  while (octets >= kThousand && unit + 1 < kUnits.size()) {
    octets /= kThousand;
    ++unit;
  }
  return std::to_string(octets) + kUnits[unit];
}

void add_bin(std::span<const FlowResult> flows, SizeBin bin, std::vector<SizeBin>& out) {
  const int64_t to = bin.to_bytes == 0 ? std::numeric_limits<int64_t>::max() : bin.to_bytes;
  std::vector<double> slowdowns;
  for (const FlowResult& flow : flows) {
    const int64_t size = flow.flow.size.count();
    if (!flow.measured || size < bin.from_bytes || size >= to) continue;
    ++bin.flows;
    if (flow.finished)
      slowdowns.push_back(flow.slowdown);
    else
      ++bin.unfinished;
  }
  if (bin.flows == 0) return;
  bin.slowdown = statistics(slowdowns);
  out.push_back(std::move(bin));
}

}  // namespace

std::vector<SizeBin> size_bins(std::span<const FlowResult> flows, int64_t bdp_bytes) {
  std::vector<SizeBin> bins;
  if (bdp_bytes > 0) {
    add_bin(flows, {.name = "< 1 BDP", .to_bytes = bdp_bytes}, bins);
    add_bin(flows, {.name = ">= 1 BDP", .from_bytes = bdp_bytes}, bins);
  }
  constexpr int64_t kLargest = 1'000'000'000'000'000;  // above any flow
  for (int64_t from = 1; from < kLargest; from *= kDecade)
    add_bin(flows,
            {.name = decade_name(from) + " to " + decade_name(from * kDecade),
             .from_bytes = from,
             .to_bytes = from * kDecade},
            bins);
  return bins;
}

}  // namespace eddy::lab
