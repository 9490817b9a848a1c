// A scheme chooses for a whole burst what it would choose packet by packet. It is asked packet by
// packet behind a probe, which has no select_burst().
#include <gtest/gtest.h>

#include <algorithm>

#include "lab/conformance/made.h"
#include "lab/conformance/world.h"
#include "lb/schemes/probes.h"

namespace eddy::conformance {
namespace {

using namespace literals;

struct Setup {
  std::string_view scheme;
  lb::ParameterMap parameters;
};

std::ostream& operator<<(std::ostream& out, const Setup& setup) {
  out << setup.scheme;
  for (const auto& [name, value] : setup.parameters) out << ", " << name << " " << value;
  return out;
}

// Bursts of all lengths, with queues, control frames and pauses that a run of the suite has not.
class Traffic {
 public:
  explicit Traffic(World& world) : world_(world) {}

  size_t next_length() { return 1 + random_.below(kBurst); }
  void fill(Burst& burst) {
    world_.next(burst);
    if (random_.below(16) == 0) world_.wait(Duration::microseconds(random_.below(20'000)));
    if (random_.below(64) == 0) world_.wait(Duration::seconds(random_.below(300)));
    for (size_t i = 0; i < burst.size(); ++i) {
      Packet& packet = burst.packet(i);
      packet.wire_len = 64 + random_.below(9'000);
      if (random_.below(4) == 0) packet.queue = QueueId(random_.below(kPriorities));
      if (random_.below(16) == 0) packet.set(kPacketRoceControl);
      world_.paths().queue(random_.below(94), random_.below(4) * 1'000, random_.below(kPriorities));
    }
  }

 private:
  World& world_;
  RandomStream random_{kSeed, 1, 0};
};

class Bursts : public testing::TestWithParam<Setup> {};

TEST_P(Bursts, GoWhereTheirPacketsGoOneByOne) {
  const auto scheme =
      std::ranges::find(lb::probed_schemes(), GetParam().scheme, &lb::SchemeInfo::name);
  ASSERT_NE(scheme, lb::probed_schemes().end());
  Problems problems;
  const Variant variant{.parameters = GetParam().parameters};
  const Maker maker{*scheme, variant, problems};
  World world({});
  lb::ProbeLog log;
  const auto by_burst = maker.bare(world.paths());
  const auto one_by_one = maker.probed(world.paths(), &lb::SchemeProbes::around_scheme, log);
  ASSERT_TRUE(by_burst && one_by_one) << problems.front();
  Traffic traffic(world);
  for (int round = 0; round < 1'500; ++round) {
    Burst burst(traffic.next_length());
    traffic.fill(burst);
    Burst same(burst.size());
    same = burst;
    const lb::PathView view = world.view();
    const lb::PathView view_of_same = world.view();
    burst.select(*by_burst, view);
    same.select(*one_by_one, view_of_same);
    ASSERT_EQ(view.ties(), view_of_same.ties()) << "in round " << round;
    for (size_t i = 0; i < burst.size(); ++i) {
      std::string octets, of_same;
      append_octets(octets, burst.packet(i));
      append_octets(of_same, same.packet(i));
      ASSERT_EQ(octets, of_same) << "packet " << i << " of round " << round;
    }
    log.commits.clear();
  }
}

INSTANTIATE_TEST_SUITE_P(
    Schemes, Bursts,
    testing::Values(Setup{"ecmp", {}}, Setup{"wcmp", {}}, Setup{"spray", {}}, Setup{"letflow", {}},
                    Setup{"letflow", {{"phase", "swept"}}}, Setup{"presto", {}},
                    Setup{"adaptive", {}}, Setup{"adaptive", {{"granularity", "packet"}}},
                    Setup{"drill", {}}, Setup{"drill", {{"queue", "waiting"}}},
                    Setup{"drill", {{"d", "3"}}}, Setup{"drill", {{"m", "2"}}},
                    Setup{"drill", {{"m", "0"}}}, Setup{"drill", {{"pfc_aware", "true"}}},
                    Setup{"drill", {{"memory", "destination_host"}}}, Setup{"conga", {}},
                    Setup{"conga", {{"mode", "exact"}}}, Setup{"conga", {{"hold", "0s"}}},
                    Setup{"conga", {{"paused_is_full", "true"}}}, Setup{"hermes", {}},
                    Setup{"hermes", {{"size", "0B"}, {"rest", "0s"}}}));

}  // namespace
}  // namespace eddy::conformance
