// What is advised, by numbers that can be checked by hand.
#include "pfc/advice.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>

namespace eddy::pfc {
namespace {

using namespace eddy::literals;
using testing::Contains;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

// One port at 40 Gb/s with a static XOFF of 256 KiB; a base RTT of 10 us is a BDP of 50 kB.
config::SwitchConfig one_port() {
  config::SwitchConfig config = config::default_switch("s");
  config::PortConfig port = config::default_port("p1");
  port.speed = 40_Gbps;
  port.role = config::PortRole::fabric;
  port.mtu = 1'104;
  config.ports = {port};
  config.idle = config::IdlePolicy::busy;
  config.poll_gap = 1_us;
  config.buffer.size = Bytes::mib(12);
  config.buffer.cell_bytes = 1;
  config::BufferProfile& lossless = config.buffer.profiles.at("lossless");
  lossless.mode = config::BufferMode::fixed;
  lossless.xoff = Bytes::kib(256);
  return config;
}
const FabricFacts kFacts{.base_rtt = 10_us, .windows = {}};

void mark(config::SwitchConfig& config, int64_t kmin, int64_t kmax) {
  config.buffer.wred["default"].kmin = Bytes(kmin);
  config.buffer.wred["default"].kmax = Bytes(kmax);
}

std::vector<std::string> said(const config::SwitchConfig& config, bool warning) {
  std::vector<std::string> texts;
  auto advice = advise(config, kFacts);
  EXPECT_TRUE(advice.ok());
  for (const Advice& each : *advice)
    if (each.warning == warning) texts.push_back(text_of(each));
  return texts;
}

TEST(Advice, MarkingAboveXoffIsWarnedOf) {
  config::SwitchConfig config = one_port();
  mark(config, 400'000, 1'600'000);
  EXPECT_THAT(said(config, true),
              ElementsAre("marking begins at 400kB, XOFF is at 256KiB: PFC will act before "
                          "DCQCN (p1)"));
}

TEST(Advice, MarkingAtXoffIsTooLateAndOneOctetBelowIsLessThanABdp) {
  config::SwitchConfig config = one_port();
  mark(config, 262'144, 1'000'000);
  EXPECT_THAT(said(config, true), ElementsAre(HasSubstr("PFC will act before DCQCN")));
  mark(config, 262'143, 1'000'000);
  EXPECT_THAT(said(config, true), ElementsAre(HasSubstr("less than a BDP (50kB) above")));
  mark(config, 262'144 - 50'000, 1'000'000);
  EXPECT_THAT(said(config, true), IsEmpty());
  EXPECT_THAT(said(config, false), Contains(HasSubstr("DCQCN acts first")));
}

// Two hosts at 40 Gb/s: two BDPs of 50 kB.
TEST(Advice, RoomToPutPacketsInOrderIsABdpOfEachHostPort) {
  config::SwitchConfig config = one_port();
  mark(config, 200'000, 800'000);
  for (const char* name : {"h1", "h2"}) {
    config.ports.push_back(config.ports[0]);
    config.ports.back().name = name;
    config.ports.back().role = config::PortRole::host;
  }
  config.buffer.stages = Bytes(60'000);
  EXPECT_THAT(said(config, true), IsEmpty()) << "nobody puts packets in order";
  config.resequence.enabled = true;
  EXPECT_THAT(said(config, true),
              ElementsAre("the last leaf has 60kB to put packets in order in, where a BDP of each "
                          "host port is 100kB"));
  config.buffer.stages = Bytes(100'000);
  EXPECT_THAT(said(config, true), IsEmpty());
}

TEST(Advice, WithoutMarksPfcIsAlone) {
  config::SwitchConfig config = one_port();
  config.buffer.wred["default"].ecn = false;
  EXPECT_THAT(said(config, true), ElementsAre(HasSubstr("never marked")));
}

TEST(Advice, WhatIsRecommendedIsNotWarnedOf) {
  for (const int64_t gbps : {1, 10, 40, 100, 400})
    for (const int64_t xoff_kib : {64, 256, 1'024}) {
      config::SwitchConfig config = one_port();
      config.ports[0].speed = BitRate::gbps(gbps);
      config.buffer.profiles.at("lossless").xoff = Bytes::kib(xoff_kib);
      auto found = recommend(config, kFacts);
      ASSERT_TRUE(found.ok());
      ASSERT_FALSE(found->empty());
      const Recommended& one = found->front();
      EXPECT_LE(one.kmin, one.kmax);
      EXPECT_LT(one.kmin, one.xoff) << gbps << " " << xoff_kib;
      mark(config, one.kmin.count(), one.kmax.count());
      config.buffer.profiles.at("lossless").headroom = one.headroom;
      if (one.bdp * 2 > one.xoff) continue;  // no marking is early and late enough
      EXPECT_THAT(said(config, true), IsEmpty()) << gbps << " " << xoff_kib;
    }
}

TEST(Advice, TheRecommendedNumbersAreThoseOfTheFormulas) {
  auto found = recommend(one_port(), kFacts);
  ASSERT_TRUE(found.ok());
  const Recommended& one = found->front();
  EXPECT_EQ(one.bdp, 50'000_B);
  EXPECT_EQ(one.xoff, Bytes::kib(256));
  EXPECT_EQ(one.kmin, 50'000_B);
  EXPECT_EQ(one.kmax, 200'000_B);
  // 2 us there and back at 40 Gb/s, and 118 quanta of 64 octets: 20,000 + 7,552.
  EXPECT_EQ(one.resume, 27'552_B);
}

TEST(Advice, TooLittleHeadroomLosesPacketsAndTooMuchIsWasted) {
  config::SwitchConfig config = one_port();
  mark(config, 50'000, 200'000);
  const Bytes needed = recommend(config, kFacts).value().front().headroom;
  config.buffer.profiles.at("lossless").headroom = needed - 1_B;
  EXPECT_THAT(said(config, true),
              ElementsAre(HasSubstr("packets of a lossless class can be lost")));
  config.buffer.profiles.at("lossless").headroom = needed;
  EXPECT_THAT(said(config, true), IsEmpty());
  config.buffer.profiles.at("lossless").headroom = needed * 2 + 1_B;
  EXPECT_THAT(said(config, true), IsEmpty());
  EXPECT_THAT(said(config, false), Contains(HasSubstr("half of it is never used")));
}

TEST(Advice, APauseThatEndsTooLowLeavesTheLineIdle) {
  config::SwitchConfig config = one_port();
  mark(config, 50'000, 200'000);
  config.buffer.profiles.at("lossless").xon_offset = Bytes::kib(256) - 27'552_B;
  EXPECT_THAT(said(config, true), IsEmpty());
  config.buffer.profiles.at("lossless").xon_offset += 1_B;
  EXPECT_THAT(said(config, true), ElementsAre(HasSubstr("it idles after each pause")));
}

TEST(Advice, ADynamicThresholdShrinksWithTheGroupsThatFill) {
  config::SwitchConfig config = one_port();
  config.buffer.profiles.at("lossless").mode = config::BufferMode::dynamic;
  config.buffer.profiles.at("lossless").dynamic_th = 0;
  for (int i = 2; i <= 16; ++i) {
    config.ports.push_back(config.ports.front());
    config.ports.back().name = "p" + std::to_string(i);
  }
  mark(config, 1'600'000, 3'200'000);
  EXPECT_THAT(said(config, true), IsEmpty());
  EXPECT_THAT(said(config, false), Contains(HasSubstr("the threshold is dynamic: where")));
}

TEST(Advice, PortsThatAreAlikeShareASentence) {
  config::SwitchConfig config = one_port();
  mark(config, 400'000, 1'600'000);
  for (int i = 2; i <= 6; ++i) {
    config.ports.push_back(config.ports.front());
    config.ports.back().name = "p" + std::to_string(i);
  }
  EXPECT_THAT(said(config, true), ElementsAre(HasSubstr("(p1, p2, p3, p4 and 2 more)")));
  EXPECT_EQ(recommend(config, kFacts).value().size(), 1u);
}

TEST(Advice, APredictionHasToComeBeforeItsPause) {
  config::SwitchConfig config = one_port();
  mark(config, 50'000, 200'000);
  config.rlb = config::rlb_preset(config::RlbPreset::standard);
  EXPECT_THAT(said(config, true), IsEmpty());
  config.rlb.predictor.horizon = 1_us;
  EXPECT_THAT(said(config, true), ElementsAre(HasSubstr("it comes too late")));
  config.rlb.predictor.horizon.reset();
  config.rlb.warning.life = config.rlb.warning.refresh;
  EXPECT_THAT(said(config, true), ElementsAre(HasSubstr("a warning is forgotten")));
}

// Lossless as class 3 is.
config::SwitchConfig isolating(std::optional<Bytes> threshold = {}) {
  config::SwitchConfig config = one_port();
  mark(config, 50'000, 200'000);
  config.isolation.enabled = true;
  config.isolation.threshold = threshold;
  config.ports[0].pg_profiles[4] = "lossless";
  return config;
}
std::vector<Advice> of_isolation(const config::SwitchConfig& config, std::optional<Bytes> incast) {
  auto advice = advise(config, {.base_rtt = 10_us, .windows = {}, .incast = incast});
  EXPECT_TRUE(advice.ok());
  std::erase_if(*advice,
                [](const Advice& each) { return each.subject != AdviceSubject::isolation; });
  return *advice;
}

TEST(Advice, IsolationPaysWhereAnIncastPassesXoff) {
  std::vector<Advice> all = of_isolation(isolating(), Bytes::kib(256) + 1_B);
  ASSERT_EQ(all.size(), 2u);
  EXPECT_FALSE(all[0].warning || all[1].warning);
  EXPECT_THAT(all[1].says, HasSubstr("isolation pays: an incast brings 262.1kB to one host, XOFF "
                                     "is at 256KiB"));
  EXPECT_THAT(all[1].because, HasSubstr("19 to 35 % lower with marking below XOFF"));
  all = of_isolation(isolating(), Bytes::kib(256));
  ASSERT_EQ(all.size(), 2u);
  EXPECT_FALSE(all[0].warning || all[1].warning);
  EXPECT_THAT(all[1].says, HasSubstr("isolation changes little: no incast brings more than XOFF"));
}

TEST(Advice, IsolationOfLongFlowsPaysWhereMarkingIsDeep) {
  config::SwitchConfig config = isolating();
  mark(config, 300'000, 1'200'000);
  for (const std::optional<Bytes> incast : {std::optional<Bytes>(), std::optional(0_B)}) {
    const std::vector<Advice> all = of_isolation(config, incast);
    ASSERT_EQ(all.size(), 2u);
    EXPECT_FALSE(all[0].warning || all[1].warning);
    EXPECT_THAT(all[1].says, HasSubstr("short flows do not wait in them behind long ones"));
  }
  config.isolation.long_flows = false;
  const std::vector<Advice> without = of_isolation(config, 0_B);
  ASSERT_EQ(without.size(), 2u);
  EXPECT_TRUE(without[0].warning);
  EXPECT_THAT(without[0].says, HasSubstr("isolation does not pay: no incast brings more"));
  EXPECT_THAT(without[0].because, HasSubstr("short flows share a class with long ones"));
}

TEST(Advice, OneSwitchKnowsNoIncastsAndSaysBoth) {
  const std::vector<Advice> all = of_isolation(isolating(), {});
  ASSERT_EQ(all.size(), 2u);
  EXPECT_FALSE(all[1].warning);
  EXPECT_THAT(all[1].says,
              HasSubstr("pays where many senders meet at one host, and changes little"));
  EXPECT_THAT(all[1].because, HasSubstr("web search alone"));
}

TEST(Advice, IsolationTakesTheHeadroomOfItsClassOnceMore) {
  const Bytes headroom = recommend(isolating(), kFacts).value().front().headroom;
  EXPECT_THAT(of_isolation(isolating(), Bytes::mib(1'024))[0].says,
              HasSubstr("takes " + readable(headroom) + " more of headroom on each fabric port"));
  const std::vector<Advice> off = of_isolation(one_port(), Bytes::mib(2));
  ASSERT_EQ(off.size(), 1u);
  EXPECT_FALSE(off[0].warning);
  EXPECT_THAT(off[0].says,
              HasSubstr("isolation would keep what PFC stops to packets to congested"));
  EXPECT_THAT(off[0].because, HasSubstr("doubles the headroom (" + readable(headroom) + ")"));
  for (const std::optional<Bytes> incast : {std::optional(0_B), std::optional<Bytes>()})
    EXPECT_THAT(of_isolation(one_port(), incast), IsEmpty());
}

TEST(Advice, AThresholdAtXoffTellsTooLate) {
  EXPECT_EQ(of_isolation(isolating(Bytes::kib(256) - 1_B), {}).size(), 2u);
  const std::vector<Advice> all = of_isolation(isolating(Bytes::kib(256)), {});
  ASSERT_EQ(all.size(), 3u);
  EXPECT_TRUE(all[0].warning);
  EXPECT_THAT(all[0].says, HasSubstr("before anybody is told"));
}

TEST(Advice, WithoutLosslessGroupsThereIsNothingToSay) {
  config::SwitchConfig config = one_port();
  config.ports[0].pg_profiles.fill("lossy");
  EXPECT_THAT(said(config, true), IsEmpty());
  EXPECT_THAT(said(config, false), IsEmpty());
  EXPECT_THAT(recommend(config, kFacts).value(), IsEmpty());
}

TEST(Advice, ABufferWithoutAPlanIsAProblem) {
  config::SwitchConfig config = one_port();
  config.buffer.size = Bytes::kib(8);
  EXPECT_FALSE(advise(config, kFacts).ok());
  EXPECT_FALSE(recommend(config, kFacts).ok());
}

TEST(Advice, ASwitchGuessesTheRoundTripByItsOwnCables) {
  config::SwitchConfig config = one_port();
  config.ports.push_back(config.ports.front());
  config.ports.back().role = config::PortRole::host;
  config.ports.back().cable_delay = 1_us;
  const Duration frame = LineRate(40_Gbps).time_of(Bytes(1'104 + 50));
  EXPECT_EQ(guessed_facts(config).base_rtt, (2_us + 1_us) * 4 + frame * 4);
}

}  // namespace
}  // namespace eddy::pfc
