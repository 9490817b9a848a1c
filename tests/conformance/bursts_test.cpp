// A scheme chooses for a whole burst what it would choose packet by packet. It is asked packet by
// packet behind a probe, which has no select_burst().
#include <gtest/gtest.h>

#include <algorithm>
#include <iterator>
#include <vector>

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

// Bursts of all lengths, with queues, control frames and pauses that a run of the suite has not. Of
// half of the bursts all packets are for one queue, and none is a control frame.
class Traffic {
 public:
  explicit Traffic(World& world) : world_(world) {}

  size_t next_length() { return 1 + random_.below(kBurst); }
  void fill(Burst& burst) {
    world_.next(burst);
    if (random_.below(16) == 0) world_.wait(Duration::microseconds(random_.below(20'000)));
    if (random_.below(64) == 0) world_.wait(Duration::seconds(random_.below(300)));
    const bool alike = random_.below(2) == 0;
    for (size_t i = 0; i < burst.size(); ++i) {
      Packet& packet = burst.packet(i);
      packet.wire_len = 64 + random_.below(9'000);
      if (!alike && random_.below(4) == 0) packet.queue = QueueId(random_.below(kPriorities));
      if (!alike && random_.below(16) == 0) packet.set(kPacketRoceControl);
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

// Bursts of many that go otherwise where queues hold something else.
int bursts_moved_by_queues(const lb::SchemeInfo& scheme) {
  Problems problems;
  const Variant variant;
  const Maker maker{scheme, variant, problems};
  World world({}), other({});
  const auto selector = maker.bare(world.paths());
  const auto same_selector = maker.bare(other.paths());
  if (!selector || !same_selector) {
    ADD_FAILURE() << problems.front();
    return 0;
  }
  Traffic traffic(world), same_traffic(other);
  RandomStream random{kSeed, 2, 0};
  int moved = 0;
  for (int round = 0; round < 1'500; ++round) {
    Burst burst(traffic.next_length()), same(same_traffic.next_length());
    traffic.fill(burst);
    same_traffic.fill(same);
    for (size_t port = 0; port < 94; ++port)
      other.paths().queue(port, random.below(100'000), random.below(kPriorities));
    burst.select(*selector, world.view());
    same.select(*same_selector, other.view());
    std::string octets, of_same;
    for (size_t i = 0; i < burst.size(); ++i) {
      append_octets(octets, burst.packet(i));
      append_octets(of_same, same.packet(i));
    }
    moved += octets != of_same ? 1 : 0;
  }
  return moved;
}

// What a scheme says of itself lets a switch count all that a poll brings to its queues at once.
class BlindToQueues : public testing::TestWithParam<lb::SchemeInfo> {
 public:
  static std::vector<lb::SchemeInfo> all() {
    std::vector<lb::SchemeInfo> blind;
    std::ranges::copy_if(lb::probed_schemes(), std::back_inserter(blind),
                         &lb::SchemeInfo::blind_to_queues);
    return blind;
  }
};

TEST_P(BlindToQueues, ChoosesTheSameWhateverTheyHold) {
  EXPECT_EQ(bursts_moved_by_queues(GetParam()), 0);
}

TEST(SeesQueues, IsAnySchemeThatChoosesByThem) {
  for (const lb::SchemeInfo& scheme : lb::probed_schemes()) {
    if (scheme.name != "drill" && scheme.name != "adaptive") continue;
    EXPECT_FALSE(scheme.blind_to_queues) << scheme.name;
    EXPECT_GT(bursts_moved_by_queues(scheme), 100) << scheme.name;
  }
}

// Takes a few packets in, and keeps none.
class Room final : public lb::WaitingRoom {
 public:
  Duration round(Instant) const override { return 1_us; }
  uint32_t rounds_left(const Packet& packet, Instant) override {
    return static_cast<uint32_t>(packet.order_hash >> 32 & 1);
  }
  bool lets_drain(const Packet& packet) const override {
    return (packet.order_hash >> 33 & 1) != 0;
  }
  void enter(Packet* packet, const lb::Trip& trip) override {
    if (occupants_ == kPlaces) occupants_ = 0;
    count_in(*packet);
    append_octets(seen, *packet);
    seen += std::to_string(trip.allowance.ps()) + ' ' + std::to_string(trip.member) + ' ' +
            std::to_string(trip.other) + '\n';
  }
  Company join(Packet* packet) override {
    append_octets(seen, *packet);
    return {.waits = packet->order_hash % 3 == 0};
  }
  void empty() { occupants_ = 0; }
  std::string seen;

 private:
  static constexpr uint32_t kPlaces = 3;
};

// The same with RLB around a scheme whose flowlets it guards by the burst: inside it, a probe has
// no select_guarded().
class GuardedBursts : public testing::TestWithParam<RlbCase> {
 protected:
  struct Side {
    World world;
    std::shared_ptr<lb::Selector> selector;
    Room room;
  };
  void compare(bool warned, bool alike = false);
  static std::string told_by(const lb::PathView& view) {
    std::string told = std::to_string(view.away());
    for (size_t i = 0; i < lb::kDecisions; ++i)
      told += ' ' + std::to_string(view.decisions(static_cast<lb::Decision>(i)));
    for (size_t i = 0; i < lb::kGuardEvents; ++i)
      told += ' ' + std::to_string(view.guarded(static_cast<lb::GuardEvent>(i)));
    return told;
  }
  uint64_t seen(lb::GuardEvent event) const { return guarded_[static_cast<size_t>(event)]; }

  std::array<uint64_t, lb::kGuardEvents> guarded_{};
};

// `warned`: with packets in the loop; else there are none where a burst begins, and the first one
// that waits is in its middle. `alike`: sets have as many members, which a scheme may know.
void GuardedBursts::compare(bool warned, bool alike) {
  const auto scheme = std::ranges::find(lb::probed_schemes(), "letflow", &lb::SchemeInfo::name);
  ASSERT_NE(scheme, lb::probed_schemes().end());
  Problems problems;
  const Variant variant{.parameters = {{"entries", "256"}}, .rlb = &GetParam()};
  const Maker maker{*scheme, variant, problems};
  lb::ProbeLog log;
  lb::test::Paths paths = alike ? six_alike_sets() : six_sets();
  const auto make_side = [&](std::shared_ptr<lb::Selector> selector) {
    const World::Plan plan{.warned = warned, .watched = true, .alike = alike};
    return Side{World(plan, selector->flow_slots()), selector, {}};
  };
  Side by_burst = make_side(maker.usual(paths));
  Side one_by_one = make_side(maker.probed(paths, &lb::SchemeProbes::inside_rlb, log));
  Traffic traffic(by_burst.world), same_traffic(one_by_one.world);
  for (int round = 0; round < 3'000; ++round) {
    Burst burst(traffic.next_length()), same(same_traffic.next_length());
    traffic.fill(burst);
    same_traffic.fill(same);
    lb::WaitingRoom* const rooms[] = {&by_burst.room, &one_by_one.room};
    const bool loops = round % 4 != 0;
    const lb::PathView view = by_burst.world.view(loops ? rooms[0] : nullptr);
    const lb::PathView view_of_same = one_by_one.world.view(loops ? rooms[1] : nullptr);
    burst.select(*by_burst.selector, view);
    same.select(*one_by_one.selector, view_of_same);
    ASSERT_EQ(told_by(view), told_by(view_of_same)) << "in round " << round;
    ASSERT_EQ(by_burst.room.seen, one_by_one.room.seen) << "in round " << round;
    for (size_t i = 0; i < burst.size(); ++i) {
      std::string octets, of_same;
      append_octets(octets, burst.packet(i));
      append_octets(of_same, same.packet(i));
      ASSERT_EQ(octets, of_same) << "packet " << i << " of round " << round;
    }
    for (size_t i = 0; i < guarded_.size(); ++i)
      guarded_[i] += view.guarded(static_cast<lb::GuardEvent>(i));
    for (Side* side : {&by_burst, &one_by_one})
      if (!warned) side->room.empty();
    by_burst.room.seen.clear();
    one_by_one.room.seen.clear();
    log.commits.clear();
  }
  EXPECT_GT(seen(lb::GuardEvent::moved), 100u);
  const config::GuardConfig& guard = GetParam().config.guard;
  const bool waits = guard.is_patient() && guard.age > guard.pause * 2;  // else it is free first
  EXPECT_EQ(seen(lb::GuardEvent::drains) > 50u, waits);
}

TEST_P(GuardedBursts, GoWhereTheirPacketsGoOneByOne) {
  compare(/*warned=*/true);
  EXPECT_GT(seen(lb::GuardEvent::stayed), 100u);
}

TEST_P(GuardedBursts, GoSoWhereNothingIsWarned) {
  compare(/*warned=*/false);
  EXPECT_GT(seen(lb::GuardEvent::stayed), 20u) << "fewer, as no path is left for a warning";
}

TEST_P(GuardedBursts, GoSoWhereSetsHaveAsManyMembers) {
  compare(/*warned=*/true, /*alike=*/true);
  EXPECT_GT(seen(lb::GuardEvent::stayed), 100u);
}

TEST_P(GuardedBursts, GoSoWhereSetsHaveAsManyMembersAndNothingIsWarned) {
  compare(/*warned=*/false, /*alike=*/true);
}

RlbCase guarded_case(std::string_view name, void (*change)(config::RlbConfig&)) {
  RlbCase made{name, config::rlb_preset(config::RlbPreset::standard)};
  change(made.config);
  return made;
}

INSTANTIATE_TEST_SUITE_P(
    Rlb, GuardedBursts,
    testing::Values(
        guarded_case("Standard", [](config::RlbConfig&) {}),
        guarded_case("Mild", [](config::RlbConfig& rlb) { rlb.reaction = 0.3; }),
        guarded_case("Credit", [](config::RlbConfig& rlb) { rlb.reroute_credit = true; }),
        guarded_case("Impatient", [](config::RlbConfig& rlb) { rlb.guard.patience = 0_us; }),
        guarded_case("NextBest",
                     [](config::RlbConfig& rlb) {
                       rlb.placement = config::Placement::alternative;
                     }),
        guarded_case("Suspends",
                     [](config::RlbConfig& rlb) { rlb.suspend = config::Suspend::most; }),
        guarded_case("Young", [](config::RlbConfig& rlb) { rlb.guard.age = 60_us; }),
        guarded_case("Waits",
                     [](config::RlbConfig& rlb) {
                       rlb.all_warned = config::AllWarned::wait_once;
                       rlb.recirculation.cumulative = false;
                     })),
    [](const auto& info) { return std::string(info.param.name); });

INSTANTIATE_TEST_SUITE_P(Schemes, BlindToQueues, testing::ValuesIn(BlindToQueues::all()),
                         [](const auto& info) { return std::string(info.param.name); });

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
