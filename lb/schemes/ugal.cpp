// UGAL-L: each flowlet, or packet, takes a shortest path of the dragonfly, unless what waits there
// says that a detour is quicker.
//
// Of the shortest paths one is drawn, of detours `samples`, of which the one counts that has least
// waiting at its first link; of equals the first. The shortest path is taken where its octets times
// its links are at most those of the detour and `bias`. Octets are those of this switch's own ports
// alone: what waits beyond is seen when it has come back as a pause. Paths of which the links are
// not said count as one link, detours as two. Source: reference A.16.
#include <algorithm>

#include "lb/schemes/detours.h"

namespace eddy::lb {
namespace {

using namespace literals;

class LessWaiting {
 public:
  struct Parameters {
    DetourGranularity granularity = DetourGranularity::flowlet;
    Duration gap = kDetourGap;
    int64_t flows = kDetourFlows;
    int64_t samples = 1;
    Bytes bias = 3'200_B;
  };

  LessWaiting(const SelectorInit&, const Parameters& parameters)
      : samples_(static_cast<int>(parameters.samples)),
        bias_(static_cast<uint64_t>(parameters.bias.count())) {}

  MemberIndex choose(const PathView& view, const Packet& packet, uint16_t set, const Ways& ways,
                     uint64_t word) const {
    const auto look_at = [&](MemberIndex member) {
      const PathMember& path = view.set(set).members[member];
      return Look{member, path, view.port(path.port).backlog_from(packet.queue)};
    };
    const Look direct = look_at(random_of(ways.shortest, static_cast<uint32_t>(word >> 32)));
    Look detour = look_at(random_of(ways.detours, static_cast<uint32_t>(word)));
    bool tied = false;
    for (int i = 1; i < samples_; ++i) {
      word = mix64(word);
      const Look other = look_at(random_of(ways.detours, static_cast<uint32_t>(word)));
      if (other.member == detour.member) continue;
      tied = other.waiting == detour.waiting || (tied && other.waiting > detour.waiting);
      if (other.waiting < detour.waiting) detour = other;
    }
    if (direct.waiting * direct.hops() <= detour.waiting * detour.hops() + bias_)
      return direct.member;
    view.report_tie(tied);
    return detour.member;
  }

 private:
  struct Look {
    MemberIndex member;
    PathMember path;
    uint64_t waiting;  // octets
    uint64_t hops() const {
      if (path.hops != 0) return path.hops;
      return path.detour ? 2 : 1;
    }
  };

  int samples_;
  uint64_t bias_;
};

class Ugal : public DetourScheme<LessWaiting> {
 public:
  static constexpr std::string_view kSummary =
      "dragonflies: each flowlet or packet takes a shortest path, or a detour that has less "
      "waiting";
  static constexpr auto parameters() {
    constexpr auto kCommon = detour_parameters<Parameters>();
    return std::array{
        kCommon[0], kCommon[1], kCommon[2],
        ranged<&Parameters::samples>("samples", 1, 2,
                                     {"detours that are drawn, of which the one counts that has "
                                      "less waiting",
                                      "reference A.16"}),
        ranged<&Parameters::bias>("bias", 0_B, 1_MiB,
                                  {"octets times links by which a detour has to be better",
                                   "reference A.16: 50 flits of 64 B"})};
  }
  using DetourScheme::DetourScheme;
};

}  // namespace

EDDY_SCHEME(ugal, Ugal)

}  // namespace eddy::lb
