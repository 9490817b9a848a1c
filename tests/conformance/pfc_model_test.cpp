// The buffer, the pauses it causes and the peer that obeys them, against a model too plain to be
// wrong: three counters a priority group, moved by the words of reference C.2 and C.3.
#include <gtest/gtest.h>

#include <algorithm>
#include <deque>
#include <vector>

#include "config/config.h"
#include "net/random.h"
#include "pfc/buffer_pool.h"
#include "pfc/pause_receiver.h"
#include "pfc/pause_sender.h"

namespace eddy::pfc {
namespace {

using namespace eddy::literals;

constexpr size_t kPorts = 4;
constexpr int64_t kShared = 200'000;

struct ModelPg {
  config::BufferProfile profile;
  int64_t reserved = 0, shared = 0, headroom = 0;  // octets in each region
  bool pausing = false;
  int64_t was_here = 0;  // XOFF when it paused, if something was unread
  int64_t total() const { return reserved + shared + headroom; }
};

struct Model {
  std::array<ModelPg, kPorts * kPriorities> pgs;

  int64_t free() const {
    int64_t used = 0;
    for (const ModelPg& pg : pgs) used += pg.shared;
    return kShared - used;
  }
  int64_t xoff(const config::BufferProfile& p) const {
    if (p.mode == config::BufferMode::fixed) return p.xoff.count();
    const int64_t alpha = int64_t{1} << std::abs(p.dynamic_th);
    return p.reserved.count() + (p.dynamic_th < 0 ? free() / alpha : free() * alpha);
  }
  Admission admit(ModelPg& pg, int64_t charge, int64_t backlog) {
    const config::BufferProfile& p = pg.profile;
    const int64_t to_reserved = std::min(charge, p.reserved.count() - pg.reserved);
    const int64_t to_shared = charge - to_reserved;
    const int64_t shared_to = pg.pausing ? std::max(xoff(p), pg.was_here) : xoff(p);
    const bool below = (p.lossless ? pg.total() : pg.total() + charge) <= shared_to;
    if (to_shared == 0 || (below && to_shared <= free())) {
      pg.reserved += to_reserved;
      pg.shared += to_shared;
    } else if (!p.lossless) {
      return {AdmitVerdict::shared_full, false};
    } else if (pg.headroom + charge > p.headroom->count()) {
      return {AdmitVerdict::headroom_full, pause(pg, backlog)};
    } else {
      pg.headroom += charge;
    }
    const bool above = p.lossless && (pg.total() + backlog > xoff(p) || pg.headroom > 0);
    return {AdmitVerdict::accepted, above && pause(pg, backlog)};
  }
  bool pause(ModelPg& pg, int64_t backlog) {
    const bool edge = !pg.pausing;
    if (edge) pg.was_here = backlog != 0 ? xoff(pg.profile) : 0;
    pg.pausing = true;
    return edge;
  }
  bool release(ModelPg& pg, int64_t charge, int64_t backlog) {
    for (int64_t* region : {&pg.headroom, &pg.shared, &pg.reserved}) {
      const int64_t part = std::min(charge, *region);
      *region -= part;
      charge -= part;
    }
    return look(pg, backlog);
  }
  bool look(ModelPg& pg, int64_t backlog) {
    const int64_t xon = std::max<int64_t>(xoff(pg.profile) - pg.profile.xon_offset.count(), 0);
    const int64_t all = pg.total() + backlog;
    const bool edge = pg.pausing && pg.headroom == 0 && (all <= xon || all == 0);
    pg.pausing = pg.pausing && !edge;
    return edge;
  }
};

// Static and dynamic, lossless and lossy, with and without reserved octets and hysteresis.
config::BufferProfile random_profile(RandomStream& random) {
  config::BufferProfile profile;
  profile.lossless = random.below(3) != 0;
  profile.mode = random.below(2) != 0 ? config::BufferMode::dynamic : config::BufferMode::fixed;
  profile.reserved = Bytes(random.below(2) * random.below(4'000));
  profile.xoff = profile.reserved + Bytes(1'000 + random.below(30'000));
  profile.dynamic_th = static_cast<int>(random.below(7)) - 4;
  profile.xon_offset = Bytes(random.below(3) * 2'000);
  profile.headroom = Bytes(random.below(20'000));
  return profile;
}

struct Held {
  size_t pg;
  int64_t charge;
};

void expect_same(const BufferPool& pool, const PgBuffer& pg, const PgLimits& limits,
                 const Model& model, const ModelPg& expected) {
  EXPECT_EQ(pg.used.load(), expected.total());
  EXPECT_EQ(pg.headroom_used.load(), expected.headroom);
  EXPECT_EQ(pg.pausing(), expected.pausing);
  EXPECT_EQ(BufferPool::waits(pg), expected.pausing && expected.total() == 0);
  EXPECT_EQ(pool.threshold(limits), model.xoff(expected.profile));
  EXPECT_EQ(pool.free_shared(), model.free());
  EXPECT_GE(pool.free_shared(), 0);
}

class BufferModel : public testing::TestWithParam<int> {};

TEST_P(BufferModel, AgreesUnderRandomOperations) {
  const uint64_t seed = 20'260'000 + static_cast<uint64_t>(GetParam());
  SCOPED_TRACE(testing::Message() << "seed " << seed << ", cells of " << GetParam());
  RandomStream random(seed, 0, 0);
  std::array<PoolUse, 1> use;
  BufferPool pool(use, ShardId(0), Bytes(kShared));
  std::array<PgBuffer, kPorts * kPriorities> pgs;
  std::array<PgLimits, kPorts * kPriorities> limits;
  Model model;
  for (size_t i = 0; i < pgs.size(); ++i) {
    model.pgs[i].profile = random_profile(random);
    limits[i] = PgLimits::of(model.pgs[i].profile, *model.pgs[i].profile.headroom);
  }
  std::vector<Held> held;
  std::array<int, 3> verdicts{};
  int xoffs = 0, xons = 0, looks = 0;
  for (int step = 0; step < 100'000; ++step) {
    // Long phases of mostly arrivals or mostly departures take the pool to both its ends.
    const bool arrives = random.below(16) < (step / 2'000 % 2 == 0 ? 11u : 5u);
    const bool unread = random.below(arrives ? 8 : 2) == 0;
    const int64_t backlog = unread ? random.below(arrives ? 5'000 : 60'000) : 0;
    if (arrives) {
      const size_t i = random.below(static_cast<uint32_t>(pgs.size()));
      const int64_t charge =
          round_to_cells(random.below(3) == 0 ? 60 + random.below(4'100) : 60, GetParam());
      const Admission expected = model.admit(model.pgs[i], charge, backlog);
      const Admission got = pool.admit(pgs[i], limits[i], charge, backlog);
      ASSERT_EQ(got.verdict, expected.verdict) << "step " << step;
      ASSERT_EQ(got.xoff_edge, expected.xoff_edge) << "step " << step;
      ++verdicts[static_cast<size_t>(got.verdict)];
      xoffs += got.xoff_edge;
      if (got.verdict == AdmitVerdict::accepted) held.push_back({i, charge});
    } else if (!held.empty()) {
      std::swap(held[random.below(static_cast<uint32_t>(held.size()))], held.back());
      const Held out = held.back();
      held.pop_back();
      const bool expected = model.release(model.pgs[out.pg], out.charge, backlog);
      ASSERT_EQ(pool.release(pgs[out.pg], limits[out.pg], out.charge, backlog), expected)
          << "step " << step;
      xons += expected;
    }
    if (step % 4'000 == 1'999) {  // all leaves, and groups that were paused wait
      for (const Held& out : held) {
        const bool expected = model.release(model.pgs[out.pg], out.charge, 60'000);
        ASSERT_EQ(pool.release(pgs[out.pg], limits[out.pg], out.charge, 60'000), expected);
        xons += expected;
      }
      held.clear();
    }
    const size_t i = random.below(static_cast<uint32_t>(pgs.size()));
    if (BufferPool::waits(pgs[i]) && random.below(2) == 0) {
      const bool expected = model.look(model.pgs[i], backlog);
      ASSERT_EQ(pool.look_again(pgs[i], limits[i], backlog), expected) << "step " << step;
      xons += expected;
      ++looks;
    }
    expect_same(pool, pgs[i], limits[i], model, model.pgs[i]);
    ASSERT_FALSE(HasFailure()) << "step " << step;
  }
  for (const int count : verdicts) EXPECT_GT(count, 100);  // every way was walked
  EXPECT_GT(xoffs, 100);
  EXPECT_GT(looks, 100);
  for (const Held& out : held) xons += pool.release(pgs[out.pg], limits[out.pg], out.charge);
  for (size_t i = 0; i < pgs.size(); ++i)
    xons += BufferPool::waits(pgs[i]) && pool.look_again(pgs[i], limits[i], 0);
  EXPECT_EQ(xons, xoffs);  // as many resumes as pauses
  for (const PgBuffer& pg : pgs) EXPECT_EQ(pg.used.load() + pg.headroom_used.load(), 0);
  EXPECT_EQ(use[0].shared.load(), 0);
  EXPECT_EQ(use[0].headroom.load(), 0);
}

INSTANTIATE_TEST_SUITE_P(Cells, BufferModel, testing::Values(1, 208, 256));

// Peers that stop `kInFlight` octets after the XOFF at the latest lose nothing, however full lossy
// traffic has made the pool. Headroom holds these octets and one frame (auto_headroom).
TEST(PfcModel, NothingIsLostWhilePeersObey) {
  const uint64_t seed = 77;
  SCOPED_TRACE(testing::Message() << "seed " << seed);
  RandomStream random(seed, 0, 0);
  constexpr int64_t kFrame = 1'536;
  constexpr int64_t kInFlight = 20'000;
  std::array<PoolUse, 1> use;
  BufferPool pool(use, ShardId(0), Bytes(kShared));
  std::array<PgBuffer, kPriorities> pgs;
  std::array<PgLimits, kPriorities> limits;
  std::array<int64_t, kPriorities> after_xoff{};
  std::array<std::deque<int64_t>, kPriorities> held;
  for (size_t i = 0; i < pgs.size(); ++i) {
    config::BufferProfile profile = random_profile(random);
    profile.lossless = i != 0;  // PG 0 takes all it can get
    profile.mode = i % 2 == 0 ? config::BufferMode::dynamic : config::BufferMode::fixed;
    if (i == 0) profile.dynamic_th = 4;
    limits[i] = PgLimits::of(profile, Bytes(kInFlight + kFrame));
  }
  int in_headroom = 0;
  int64_t least_free = kShared;
  for (int step = 0; step < 200'000; ++step) {
    const size_t i = random.below(kPriorities);
    if (random.below(16) < (step / 5'000 % 2 == 0 ? 11u : 5u)) {
      const int64_t charge = round_to_cells(60 + random.below(2) * random.below(1'440), 256);
      if (after_xoff[i] + charge > kInFlight) continue;
      const Admission admission = pool.admit(pgs[i], limits[i], charge);
      ASSERT_NE(admission.verdict, AdmitVerdict::headroom_full) << "PG " << i << " step " << step;
      if (admission.verdict != AdmitVerdict::accepted) continue;
      held[i].push_back(charge);
      if (pgs[i].pausing() && !admission.xoff_edge) after_xoff[i] += charge;
    } else if (!held[i].empty()) {
      if (pool.release(pgs[i], limits[i], held[i].front())) after_xoff[i] = 0;
      held[i].pop_front();
    }
    in_headroom += pgs[i].headroom_used.load() > kInFlight / 2;
    least_free = std::min(least_free, pool.free_shared());
    ASSERT_TRUE(pgs[i].pausing() || pgs[i].headroom_used.load() == 0);
  }
  EXPECT_GT(in_headroom, 1'000);
  EXPECT_LT(least_free, kFrame);
}

// What the sender says, a receiver hears: however often frames cannot be sent, the peer ends up
// paused exactly where priority groups are above XOFF, and never runs out of a standing pause.
TEST(PfcModel, ThePeerIsPausedWhereTheBufferSaysSo) {
  const uint64_t seed = 4'711;
  SCOPED_TRACE(testing::Message() << "seed " << seed);
  RandomStream random(seed, 0, 0);
  config::PortConfig config = config::default_port("p");
  config.pfc.quanta = 400;  // 204.8 us at 1 Gb/s: refreshed every 100 us
  PauseSender sender(kPorts);
  PauseReceiver peers(kPorts);
  std::array<uint8_t, kPorts> wanted{};
  for (size_t i = 0; i < kPorts; ++i) {
    sender.configure(PortId(i), PauseTxPlan::of(config));
    (void)peers.configure(PortId(i), PauseRxPlan::of(config, 0xFF), Instant());
  }
  Instant now;
  bool congested = false;  // no packet for a pause frame
  int refreshes = 0;
  const auto poll = [&] {
    peers.expire(now, [](const PauseChange&) {});
    sender.flush(now, [&](const OwedPause& frame) {
      if (congested) return false;
      const uint8_t before = peers.paused_priorities(frame.port);
      refreshes += (before & frame.xoff()) != 0;
      (void)peers.on_pfc(frame.port, frame.enable, frame.times, now);
      return true;
    });
  };
  for (int step = 0; step < 30'000; ++step) {
    const Instant until = now + Duration::nanoseconds(random.below(20'000));
    while (sender.next_deadline() <= until) {
      now = std::max(now, sender.next_deadline());
      poll();
    }
    now = until;
    congested = random.below(8) == 0;
    const size_t port = random.below(kPorts);
    const size_t pg = random.below(kPriorities);
    const uint8_t bit = static_cast<uint8_t>(1u << pg);
    if (random.below(4) == 0) {
      wanted[port] = static_cast<uint8_t>(wanted[port] ^ bit);
      sender.mark(PortId(port), PriorityGroupId(pg), (wanted[port] & bit) != 0);
    }
    poll();
    if (congested) continue;
    for (size_t i = 0; i < kPorts; ++i)
      ASSERT_EQ(peers.paused_priorities(PortId(i)), wanted[i]) << "port " << i << " step " << step;
  }
  EXPECT_GT(refreshes, 1'000);
}

}  // namespace
}  // namespace eddy::pfc
