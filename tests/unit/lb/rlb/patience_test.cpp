// A patient order guard: a flow waits until its packets on a slower path have arrived, and takes
// the quicker one in order.
#include <gtest/gtest.h>

#include <optional>
#include <utility>

#include "lb/flow_slots.h"
#include "lb/waiting.h"
#include "tests/support/paths.h"

namespace eddy::lb {
namespace {

using namespace eddy::literals;

class Room final : public WaitingRoom {
 public:
  Duration round(Instant) const override { return 1_us; }
  uint32_t rounds_left(const Packet&, Instant) override { return 0; }
  bool lets_drain(const Packet&) const override { return open; }
  void enter(Packet*, const Trip& trip) override { entered = trip; }
  Company join(Packet*) override { return {}; }

  bool open = true;
  std::optional<Trip> entered;
};

config::RlbConfig patient(Duration patience = 200_us) {
  config::RlbConfig rlb{.preset = config::RlbPreset::standard};
  rlb.guard.patience = patience;
  return rlb;
}

// One flow of letflow over two paths, whose flowlet was over 100 us ago and whose next one draws
// the other path.
struct Rig {
  explicit Rig(const config::RlbConfig& with = patient()) : rlb(with) {
    home = send().value();
    do now = now + 150_us;  // each time another draw
    while (drawn() == home && send() == home);
    other = static_cast<MemberIndex>(1 - home);
    paths.measure(0, home, 90_us, now);
    paths.measure(0, other, 10_us, now);
  }
  static test::Paths one_leaf() {
    PathSet set = test::make_set(2);
    set.leaf = LeafId(5);
    return test::Paths({set});
  }
  PathView view(WaitingRoom* loop) {
    return paths.view_with(now, {.warnings = &table,
                                 .paths = &paths.measured(),
                                 .slots = selector->flow_slots().get(),
                                 .loop = loop});
  }
  // nullopt: it waits.
  std::optional<MemberIndex> send() {
    const PathView at = view(&room);
    const MemberIndex member = test::select_one(*selector, at, packet);
    note(at);
    return at.away() != 0 ? std::nullopt : std::optional(member);
  }
  std::optional<MemberIndex> again(Trip& trip, bool with_room = true) {
    const PathView at = view(with_room ? &room : nullptr);
    const MemberIndex member = selector->again(at, packet, 0, trip);
    note(at);
    return member == kWait ? std::nullopt : std::optional(member);
  }
  void note(const PathView& at) {
    drains += at.guarded(GuardEvent::drains);
    overdue += at.guarded(GuardEvent::overdue);
    moved += at.guarded(GuardEvent::moved);
  }
  MemberIndex drawn() {
    Packet copy = packet;
    const PathView at = view(&room);
    return selector->preview(at, copy, 0).wanted;
  }
  Trip wait_begins() {
    EXPECT_EQ(send(), std::nullopt);
    return std::exchange(room.entered, std::nullopt).value_or(Trip{});
  }

  config::RlbConfig rlb;
  test::Paths paths = one_leaf();
  WarningTable table{paths.sets(), 2};
  Room room;
  std::unique_ptr<Selector> selector = test::make("letflow", paths, {}, {.rlb_config = &rlb});
  Instant now = Instant::at(1_ms);
  Packet packet = test::make_packet(1);
  MemberIndex home = 0;
  MemberIndex other = 0;
  uint32_t drains = 0;
  uint32_t overdue = 0;
  uint32_t moved = 0;
};

TEST(Patience, AFlowWaitsForASlowPathToDrainAndTakesTheQuickOne) {
  Rig rig;
  Trip trip = rig.wait_begins();
  EXPECT_TRUE(trip.drains);
  EXPECT_EQ(trip.member, rig.other);
  EXPECT_EQ(trip.rounds, 0) << "it is no round of the loop";
  trip.drained = 50_us;
  EXPECT_EQ(rig.again(trip), std::nullopt);
  rig.paths.drained(0, rig.home, rig.now);
  EXPECT_EQ(rig.again(trip), rig.other);
  EXPECT_EQ(rig.drains, 1u);
  EXPECT_EQ(rig.moved, 1u);
  EXPECT_EQ(rig.overdue, 0u);
}

// After its time, or at once where it has to leave.
TEST(Patience, EndsAndTheFlowKeepsItsPath) {
  for (const bool must_leave : {false, true}) {
    Rig rig;
    Trip trip = rig.wait_begins();
    trip.drained = must_leave ? 10_us : 200_us;
    EXPECT_EQ(rig.again(trip, /*with_room=*/!must_leave), rig.home);
    EXPECT_EQ(rig.overdue, 1u);
    EXPECT_EQ(rig.moved, 0u);
  }
}

TEST(Patience, NobodyWaitsForAPathThatIsHardlyQuicker) {
  Rig rig;
  rig.paths.measure(0, rig.home, 14_us, rig.now);  // 4 us are a quarter of the base round trip
  EXPECT_EQ(rig.send(), rig.home);
  EXPECT_EQ(rig.drains, 0u);
}

TEST(Patience, NobodyWaitsWhereDelaysAreNotKnownOrThereIsNoRoom) {
  Rig unknown;
  unknown.paths.measured().at(0, unknown.other).forget();
  EXPECT_EQ(unknown.send(), unknown.home);
  Rig full;
  full.room.open = false;
  EXPECT_EQ(full.send(), full.home);
  EXPECT_EQ(unknown.drains + full.drains, 0u);
}

TEST(Patience, IsForStrictGuardsOfAllChangesThatAreAskedForIt) {
  config::RlbConfig moves = patient();
  moves.guard.scope = config::GuardScope::moves;
  for (const config::RlbConfig& rlb : {patient(Duration{}), moves}) {
    Rig rig(rlb);
    EXPECT_NE(rig.send(), std::nullopt);
    EXPECT_EQ(rig.drains, 0u);
  }
}

}  // namespace
}  // namespace eddy::lb
