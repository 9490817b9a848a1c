#include "pfc/headroom.h"

#include <algorithm>
#include <iterator>

#include "pfc/buffer_pool.h"

namespace eddy::pfc {
namespace {

constexpr int64_t kHeaderTagShim = 14 + 4 + 32;
constexpr int64_t kShortestFrame = 60;  // without FCS
constexpr int64_t kRounding = 1'024;
constexpr int64_t kQuantumOctets = 64;

struct Response {
  int64_t gbps;
  int64_t quanta;
};
// 802.3 annex 31B and its amendments, as reference C.4 lists them.
constexpr Response kResponses[] = {{0, 0},    {10, 67},   {25, 80},   {40, 118},
                                   {50, 147}, {100, 394}, {200, 453}, {400, 905}};
constexpr int64_t kLeastResponse = 2;  // 802.3's figure for 1 Gb/s

int64_t divided_up(__int128 n, __int128 by) {
  return static_cast<int64_t>((n + by - 1) / by);
}

}  // namespace

Bytes headroom_for(const HeadroomInput& input) {
  const Bytes line = bytes_in(input.cable_delay * 2, input.rate) + peer_response(input.rate) +
                     input.own_frame + kPauseFrameOnLine +
                     bytes_in(input.internal_latency + input.poll_gap, input.rate);
  return worst_charge(line, input.cell_bytes, input.line_overhead) +
         Bytes(round_to_cells(input.peer_frame.count(), input.cell_bytes));
}

Bytes peer_response(BitRate rate) {
  constexpr int64_t kGiga = 1'000'000'000;
  const auto above = std::find_if(std::begin(kResponses), std::end(kResponses),
                                  [&](const Response& r) { return rate.bps() <= r.gbps * kGiga; });
  if (above == std::end(kResponses)) return Bytes(std::rbegin(kResponses)->quanta * kQuantumOctets);
  if (above == std::begin(kResponses)) return Bytes(kLeastResponse * kQuantumOctets);
  const Response& below = *(above - 1);
  const __int128 rise = __int128{above->quanta - below.quanta} * (rate.bps() - below.gbps * kGiga);
  const int64_t quanta = below.quanta + divided_up(rise, (above->gbps - below.gbps) * kGiga);
  return Bytes(std::max(quanta, kLeastResponse) * kQuantumOctets);
}

// The worst frames are the shortest, and the shortest that need one cell more than it does.
Bytes worst_charge(Bytes line, int cell_bytes, int line_overhead) {
  const int64_t first = round_to_cells(kShortestFrame, cell_bytes);
  const int64_t shortest =
      divided_up(__int128{line.count()} * first, kShortestFrame + line_overhead);
  const int64_t next =
      divided_up(__int128{line.count()} * (first + cell_bytes), first + 1 + line_overhead);
  return Bytes(std::max({line.count(), shortest, next}));
}

Bytes longest_frame(int mtu) {
  return Bytes(mtu + kHeaderTagShim);
}

Bytes auto_headroom(const config::PortConfig& port, Duration poll_gap, int cell_bytes) {
  const Bytes frame = longest_frame(port.mtu);
  HeadroomInput input;
  input.rate = port.speed;
  input.cable_delay = port.cable_delay;
  input.own_frame = frame + Bytes(port.line_overhead);
  input.peer_frame = frame;
  input.poll_gap = poll_gap;
  input.cell_bytes = cell_bytes;
  input.line_overhead = port.line_overhead;
  const Bytes crossing(round_to_cells(frame.count(), cell_bytes));
  return (headroom_for(input) + crossing).rounded_up(kRounding);
}

}  // namespace eddy::pfc
