#include "lb/dre.h"

#include <gtest/gtest.h>

#include "config/config.h"

namespace eddy::lb {
namespace {

using namespace literals;

constexpr uint32_t kPacket = 1'000;
constexpr int kPacketsAPeriod = 100;  // 40 Gb/s for 20 us

// Sends `periods` periods of line rate from period `first` on; the time of the last packet.
Instant send_line_rate(const Dre& dre, PortSignals& port, int first, int periods) {
  Instant now;
  for (int period = first; period < first + periods; ++period)
    for (int i = 0; i < kPacketsAPeriod; ++i) {
      now = Instant::at(20_us * period + 200_ns * i);
      dre.add(port, kPacket, now);
    }
  return now;
}

// Golden vector I-2: 800,000 before and 700,000 after a decay. Whole octets settle within 4.
TEST(Dre, SteadyStateAt40G) {
  const Dre dre({});
  PortSignals port;
  const Bytes full = dre.capacity(40_Gbps);
  EXPECT_EQ(full, 800'000_B);
  const Instant last = send_line_rate(dre, port, 0, 200);
  EXPECT_NEAR(static_cast<double>(dre.octets(port, last)), 800'000, 4);
  EXPECT_NEAR(dre.utilisation(port, full, last), Dre::kFullScale, 1);
  EXPECT_EQ(dre.level(port, full, last), 7);
  const Instant decayed = Instant::at(20_us * 200);
  EXPECT_NEAR(static_cast<double>(dre.octets(port, decayed)), 700'000, 4);
  EXPECT_NEAR(dre.utilisation(port, full, decayed), 0.875 * Dre::kFullScale, 1);
}

TEST(Dre, FullLineReadsTheTopLevelBeforeAndAfterDecay) {
  const Dre dre({});
  PortSignals port;
  const Bytes full = dre.capacity(40_Gbps);
  port.dre_bytes = 800'000;
  EXPECT_EQ(dre.utilisation(port, full, Instant{}), Dre::kFullScale);
  EXPECT_EQ(dre.level(port, full, Instant{}), 7);
  const Instant decayed = Instant::at(20_us);
  EXPECT_EQ(dre.octets(port, decayed), 700'000u);
  EXPECT_EQ(dre.utilisation(port, full, decayed), Dre::kFullScale / 8 * 7);
  EXPECT_EQ(dre.level(port, full, decayed), 7);
}

TEST(Dre, ClampsBeforeQuantising) {
  const Dre dre({});
  PortSignals port;
  port.dre_bytes = uint64_t{1} << 50;
  EXPECT_EQ(dre.utilisation(port, 800'000_B, Instant{}), Dre::kFullScale);
  EXPECT_EQ(dre.level(port, 800'000_B, Instant{}), 7);
}

TEST(Dre, LazyDecayEqualsDecayEachPeriod) {
  const Dre dre({});
  PortSignals lazy, eager;
  lazy.dre_bytes = eager.dre_bytes = 10'000'000;
  for (int period = 1; period <= 40; ++period) dre.add(eager, 0, Instant::at(20_us * period));
  const Instant end = Instant::at(20_us * 40 + 19_us);
  EXPECT_NEAR(static_cast<double>(dre.octets(lazy, end)),
              static_cast<double>(dre.octets(eager, end)), 4);
  EXPECT_GT(dre.octets(lazy, end), 0u);
}

TEST(Dre, NothingIsLeftAfterALongRest) {
  const Dre dre({});
  PortSignals port;
  port.dre_bytes = 1'000'000'000;
  EXPECT_EQ(dre.octets(port, Instant::at(20_us * 64)), 0u);
  EXPECT_EQ(dre.octets(port, Instant::at(3'600_s)), 0u);
  dre.add(port, kPacket, Instant::at(3'600_s));
  EXPECT_EQ(dre.octets(port, Instant::at(3'600_s)), kPacket);
}

TEST(Dre, StartsAnewWhenItsPeriodChanges) {
  const Dre fast({});
  const Dre slow(Dre::of({.period = 1_ms, .alpha = 0.5, .q = 4}));
  PortSignals port;
  const Instant now = Instant::at(10_s + 300_us);
  fast.add(port, 800'000, now);
  slow.restart(port, now);
  EXPECT_EQ(slow.octets(port, now), 0u);
  slow.add(port, 8'000, now);
  EXPECT_EQ(slow.octets(port, Instant::at(10_s + 1_ms - 1_ps)), 8'000u);
  EXPECT_EQ(slow.octets(port, Instant::at(10_s + 1_ms)), 4'000u);
  EXPECT_EQ(slow.level(port, 8'000_B, now), 15);
}

// Of a port that sent a while ago, and of one that rests for longer than a clock tells.
TEST(Dre, PeriodsBeginAsBeforeWhenTheClockGoesBack) {
  const Dre dre({.period = 7_us});
  const Rebase rebase;
  for (const Duration rest : {1_ms, 100'000_s, 4'000'000_s}) {
    PortSignals port;
    const Instant first = Rebase::kDue - rest, second = Rebase::kDue + 10_us;
    dre.add(port, kPacket, first);
    dre.rebase(port, rebase);
    dre.add(port, kPacket, rebase(second));
    PortSignals steady;
    dre.add(steady, kPacket, first);
    dre.add(steady, kPacket, second);
    for (const Duration later : {1_us, 3_us, 6_us, 7_us, 13_us})
      EXPECT_EQ(dre.octets(port, rebase(second + later)), dre.octets(steady, second + later))
          << rest.ps() << " " << later.ps();
  }
}

TEST(Dre, OfTheDefaultConfigurationIsTheDefault) {
  const Dre dre(Dre::of({}));
  PortSignals port;
  dre.add(port, 800'000, Instant{});
  EXPECT_EQ(dre.capacity(40_Gbps), Dre({}).capacity(40_Gbps));
  EXPECT_EQ(dre.octets(port, Instant::at(20_us)), 700'000u);
  EXPECT_EQ(dre.level(port, dre.capacity(40_Gbps), Instant{}), 7);
}

TEST(Dre, DecaysOnTheBoundaryOnly) {
  const Dre dre({});
  PortSignals port;
  dre.add(port, 8'000, Instant{});
  EXPECT_EQ(dre.octets(port, Instant::at(20_us - 1_ps)), 8'000u);
  EXPECT_EQ(dre.octets(port, Instant::at(20_us)), 7'000u);
  EXPECT_EQ(dre.octets(port, Instant::at(40_us)), 6'125u);
}

// alpha = 0.2 reads 6 just after a decay (reference A.7).
TEST(Dre, OtherParameters) {
  const Dre dre({.period = 50_us, .alpha_numerator = 1, .alpha_denominator = 5, .level_bits = 3});
  PortSignals port;
  const Bytes full = dre.capacity(40_Gbps);
  EXPECT_EQ(full, 1'250'000_B);
  port.dre_bytes = 1'250'000;
  EXPECT_EQ(dre.level(port, full, Instant{}), 7);
  EXPECT_EQ(dre.octets(port, Instant::at(50_us)), 1'000'000u);
  EXPECT_EQ(dre.level(port, full, Instant::at(50_us)), 6);
}

}  // namespace
}  // namespace eddy::lb
