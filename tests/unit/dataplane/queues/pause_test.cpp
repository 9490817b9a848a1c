// Pauses sent: XOFF at exactly the packet that the formula names, XON once and at the hysteresis.
// Pauses obeyed: one priority alone, for its quanta, within the port's budget.
#include <gtest/gtest.h>

#include "tests/support/one_switch.h"

namespace eddy::test {
namespace {

constexpr uint16_t kLong = kLongestPause;
// A frame of 1,000 octets at 10 Gb/s with 24 octets of overhead.
constexpr Duration kFrameTime = 800_ps * 1024;

config::SwitchConfig with_profile(size_t hosts, const config::BufferProfile& lossless,
                                  int cell_bytes = 1) {
  config::SwitchConfig config = hosts_switch(hosts);
  config.buffer.profiles["lossless"] = lossless;
  config.buffer.cell_bytes = cell_bytes;
  return config;
}

config::BufferProfile fixed_profile(Bytes xoff) {
  return {.lossless = true, .mode = config::BufferMode::fixed, .xoff = xoff, .xon_offset = 4_KiB};
}

// Packets of `wire_len` that arrive at once until XOFF is sent.
int packets_until_xoff(OneSwitch& rig, size_t wire_len) {
  for (int n = 1; n <= 10'000; ++n) {
    rig.send(0, 1, kLosslessDscp, wire_len);
    if (count(rig.object(), 0, kLossless, PfcCounter::pfc_tx_xoff) != 0) return n;
  }
  return 0;
}

struct XoffCase {
  config::BufferMode mode;
  int dynamic_th;
  Bytes reserved;
  int cell_bytes;
  size_t wire_len;
};
class XoffPoint : public testing::TestWithParam<XoffCase> {};

TEST_P(XoffPoint, IsThePacketThatTheFormulaNames) {
  const XoffCase& given = GetParam();
  config::BufferProfile profile = fixed_profile(30'000_B);
  profile.mode = given.mode;
  profile.dynamic_th = given.dynamic_th;
  profile.reserved = given.reserved;
  config::SwitchConfig config = with_profile(2, profile, given.cell_bytes);
  config.buffer.size = 600_KiB;
  OneSwitch rig(config);
  const int64_t shared = rig.object().buffer_status().shared_size;
  const auto charge = static_cast<int64_t>(
      (given.wire_len + static_cast<size_t>(given.cell_bytes) - 1) /
      static_cast<size_t>(given.cell_bytes) * static_cast<size_t>(given.cell_bytes));
  int expected = 0;
  for (int64_t used = 0, threshold = INT64_MAX; used <= threshold; ++expected) {
    used += charge;
    const int64_t free_shared = shared - std::max<int64_t>(used - given.reserved.count(), 0);
    const int64_t scaled =
        given.dynamic_th >= 0 ? free_shared << given.dynamic_th : free_shared >> -given.dynamic_th;
    threshold = given.mode == config::BufferMode::fixed ? 30'000 : given.reserved.count() + scaled;
  }
  EXPECT_EQ(packets_until_xoff(rig, given.wire_len), expected);
  EXPECT_TRUE(rig.object().pg_status(PortId(0), PriorityGroupId(3)).pausing);
}
INSTANTIATE_TEST_SUITE_P(Thresholds, XoffPoint,
                         testing::Values(XoffCase{config::BufferMode::fixed, 0, 0_B, 1, 1000},
                                         XoffCase{config::BufferMode::fixed, 0, 2_KiB, 1, 1500},
                                         XoffCase{config::BufferMode::fixed, 0, 0_B, 256, 1000},
                                         XoffCase{config::BufferMode::fixed, 0, 0_B, 256, 64},
                                         XoffCase{config::BufferMode::fixed, 0, 0_B, 256, 4096},
                                         XoffCase{config::BufferMode::dynamic, -3, 0_B, 1, 1000},
                                         XoffCase{config::BufferMode::dynamic, -2, 4_KiB, 256, 700},
                                         XoffCase{config::BufferMode::dynamic, 0, 0_B, 1, 4096},
                                         XoffCase{config::BufferMode::dynamic, 1, 0_B, 1, 1000}));

TEST(PauseSent, XoffLeavesInThePollOfThatPacketAndXonOnceAtTheHysteresis) {
  OneSwitch rig(with_profile(2, fixed_profile(10'000_B)));
  for (int i = 0; i < 10; ++i) rig.send(0, 1, kLosslessDscp);
  EXPECT_TRUE(pauses_in(rig.seen(0)).empty()) << "used is at the threshold, not above";
  rig.send(0, 1, kLosslessDscp);
  rig.run_for(1_ms);

  const auto pauses = pauses_in(rig.seen(0));
  ASSERT_EQ(pauses.size(), 2u);
  const Duration pause_time = 800_ps * (60 + 24);
  EXPECT_EQ(pauses[0].at, Instant::at(pause_time));
  EXPECT_EQ(pauses[0].pause.enabled, bit(kLossless));
  EXPECT_EQ(pauses[0].pause.quanta[3], kLong);
  EXPECT_EQ(pauses[0].pause.source, port_mac(rig.config, 0));
  // 11,000 octets are held; the first that leave them at or below 10,000 - 4,096 are six packets.
  EXPECT_EQ(pauses[1].at, Instant::at(kFrameTime * 6 + pause_time));
  EXPECT_EQ(pauses[1].pause.enabled, bit(kLossless));
  EXPECT_EQ(pauses[1].pause.quanta[3], 0);
  EXPECT_EQ(leftovers(rig.object()), "");
}

TEST(PauseSent, IsRefreshedInTimeWhileThePriorityGroupStaysAbove) {
  config::SwitchConfig config = with_profile(2, fixed_profile(10'000_B));
  config.ports[0].pfc.refresh_limit = 50_us;
  OneSwitch rig(config);
  rig.inject(1, pause_frame(bit(kLossless), kLong));  // the egress stands still for 3.355 ms
  for (int i = 0; i < 12; ++i) rig.send(0, 1, kLosslessDscp);
  rig.fabric.run_until(Instant::at(1_ms));
  const auto pauses = pauses_in(rig.seen(0));
  ASSERT_EQ(pauses.size(), 21u);
  for (size_t i = 1; i < pauses.size(); ++i) EXPECT_EQ(pauses[i].at - pauses[i - 1].at, 50_us);
}

TEST(PauseSent, SeveralPrioritiesOfOnePollShareAFrame) {
  OneSwitch rig(with_profile(2, fixed_profile(10'000_B)));
  rig.inject(1, pause_frame(1 << 3 | 1 << 4, kLong));
  for (int i = 0; i < 11; ++i) {
    rig.send(0, 1, kLosslessDscp);
    rig.send(0, 1, kOtherLosslessDscp);
  }
  rig.run_for(10_us);
  rig.seen(0).clear();
  rig.fabric.set_link(rig.node, PortId(0), false);
  rig.fabric.set_link(rig.node, PortId(0), true);  // the new peer is to be told of both
  rig.run_for(10_us);
  const auto pauses = pauses_in(rig.seen(0));
  ASSERT_EQ(pauses.size(), 1u);
  EXPECT_EQ(pauses[0].pause.enabled, 1 << 3 | 1 << 4);
  EXPECT_EQ(count(rig.object(), 0, Priority(3), PfcCounter::pfc_tx_xoff), 2u);
  EXPECT_EQ(count(rig.object(), 0, Priority(4), PfcCounter::pfc_tx_xoff), 2u);
}

TEST(PauseSent, NotWhereItIsTurnedOff) {
  config::SwitchConfig config = with_profile(2, fixed_profile(10'000_B));
  config.ports[0].pfc.tx = false;
  OneSwitch rig(config);
  for (int i = 0; i < 20; ++i) rig.send(0, 1, kLosslessDscp);
  rig.run_for(1_ms);
  EXPECT_TRUE(pauses_in(rig.seen(0)).empty());
}

TEST(PauseObeyed, OnePriorityAloneAndForItsQuanta) {
  OneSwitch rig(hosts_switch(2));
  rig.inject(1, pause_frame(bit(kLossless), 1000));
  rig.send(0, 1, kLosslessDscp);
  rig.send(0, 1, kOtherLosslessDscp);
  rig.send(0, 1, kLossyDscp);
  const Duration paused = 51'200_ps * 1000;
  rig.fabric.run_until(Instant::at(paused) - 1_ps);
  EXPECT_EQ(rig.seen(1).size(), 2u);
  EXPECT_TRUE(rig.object().queue_status(PortId(1), QueueId(3)).paused);
  EXPECT_FALSE(rig.object().queue_status(PortId(1), QueueId(4)).paused);
  const auto uncounted = [&](Instant now) {
    return rig.object().uncounted_pause(PortId(1), kLossless, now);
  };
  EXPECT_EQ(count(rig.object(), 1, kLossless, PfcCounter::pfc_rx_paused_ps), 0u);
  EXPECT_EQ(uncounted(Instant::at(30_us)), 30_us) << "in force, and counted when it ends";
  EXPECT_EQ(rig.object().uncounted_pause(PortId(1), Priority(4), Instant::at(30_us)), 0_us);
  rig.run_for(1_ms);
  EXPECT_EQ(uncounted(Instant::at(1_ms)), 0_us);
  ASSERT_EQ(rig.seen(1).size(), 3u);
  EXPECT_EQ(rig.seen(1)[2].at, Instant::at(paused + kFrameTime));
  EXPECT_EQ(count(rig.object(), 1, kLossless, PfcCounter::pfc_rx_xoff), 1u);
  EXPECT_EQ(count(rig.object(), 1, kLossless, PfcCounter::pfc_rx_paused_ps),
            static_cast<uint64_t>(paused.ps()));
}

TEST(PauseObeyed, XonFreesAtOnceAndTheFrameOnTheLineIsFinished) {
  OneSwitch rig(hosts_switch(2));
  rig.send(0, 1, kLosslessDscp);
  rig.send(0, 1, kLosslessDscp);
  rig.inject(1, pause_frame(bit(kLossless), kLong));
  rig.fabric.run_until(Instant::at(100_us));
  EXPECT_EQ(rig.seen(1).size(), 1u) << "the first was on the line";
  rig.inject(1, pause_frame(bit(kLossless), 0));
  rig.fabric.run_until(Instant::at(200_us));
  ASSERT_EQ(rig.seen(1).size(), 2u);
  EXPECT_EQ(rig.seen(1)[1].at, Instant::at(100_us + kFrameTime));
  EXPECT_EQ(count(rig.object(), 1, kLossless, PfcCounter::pfc_rx_xon), 1u);
}

// Packets that port 1 sends after `frame`, by queue 1, 3 and 4.
std::array<size_t, 3> sent_under(const config::PfcPortConfig& pfc, const Frame& frame) {
  config::SwitchConfig config = hosts_switch(2);
  config.ports[1].pfc = pfc;
  OneSwitch rig(config);
  rig.inject(1, frame);
  std::array<size_t, 3> sent{};
  const std::array<uint8_t, 3> dscps = {0, kLosslessDscp, kOtherLosslessDscp};  // queue 1, 3, 4
  for (size_t i = 0; i < dscps.size(); ++i) {
    const size_t before = rig.seen(1).size();
    rig.send(0, 1, dscps[i]);
    rig.run_for(100_us);
    sent[i] = rig.seen(1).size() - before;
  }
  return sent;
}
using Sent = std::array<size_t, 3>;

TEST(PauseObeyed, SymmetricHeedsLosslessPrioritiesOnlyAsymmetricAll) {
  config::PfcPortConfig pfc;
  EXPECT_EQ(sent_under(pfc, pause_frame(0xff, kLong)), (Sent{1, 0, 0}));
  pfc.asymmetric = true;
  EXPECT_EQ(sent_under(pfc, pause_frame(0xff, kLong)), (Sent{0, 0, 0}));
}

// SONiC's pfc_enable: a pause of a priority that it names is obeyed, whatever the profile of the
// group; of another it is not.
TEST(PauseObeyed, EnableNamesThePrioritiesWhateverTheProfile) {
  config::PfcPortConfig pfc;
  pfc.enable = "1,4";
  EXPECT_EQ(sent_under(pfc, pause_frame(0xff, kLong)), (Sent{0, 1, 0}));
  pfc.enable = "none";
  EXPECT_EQ(sent_under(pfc, pause_frame(0xff, kLong)), (Sent{1, 1, 1}));
  pfc.asymmetric = true;
  EXPECT_EQ(sent_under(pfc, pause_frame(0xff, kLong)), (Sent{0, 0, 0}));
}

TEST(PauseSent, OfPrioritiesThatEnableNamesWhoseGroupsAreLossless) {
  config::SwitchConfig config = with_profile(2, fixed_profile(10'000_B));
  config.ports[0].pfc.enable = "0,4";
  OneSwitch rig(config);
  for (const uint8_t dscp : {kLossyDscp, kLosslessDscp, kOtherLosslessDscp})
    for (int i = 0; i < 20; ++i) rig.send(0, 1, dscp);
  EXPECT_EQ(count(rig.object(), 0, Priority(0), PfcCounter::pfc_tx_xoff), 0u);
  EXPECT_EQ(count(rig.object(), 0, Priority(3), PfcCounter::pfc_tx_xoff), 0u);
  EXPECT_EQ(count(rig.object(), 0, Priority(4), PfcCounter::pfc_tx_xoff), 1u);
  config.ports[0].pfc.enable.reset();
  ASSERT_TRUE(rig.object().reconfigure(config).ok());
  rig.fabric.poll(rig.node);
  EXPECT_EQ(count(rig.object(), 0, Priority(3), PfcCounter::pfc_tx_xoff), 1u) << "enabled late";
}

// 802.1Q: a port speaks either PFC or PAUSE.
TEST(PauseObeyed, PauseOfAllTrafficIsCountedAndNothingElse) {
  Frame frame(64);
  frame.resize(encode(PauseFrame::all_priorities(host_mac(1, 2), kLong), frame));
  EXPECT_EQ(sent_under({}, frame), (Sent{1, 1, 1}));
  OneSwitch rig(hosts_switch(1));
  rig.inject(0, frame);
  EXPECT_EQ(count(rig.object(), 0, PortCounter::pause_rx_packets), 1u);
  EXPECT_EQ(count(rig.object(), 0, kLossless, PfcCounter::pfc_rx_xoff), 0u);
}

TEST(PauseObeyed, AHostThatIsHonouredBeyondItsBudgetIsAnEventAtOnce) {
  config::SwitchConfig config = hosts_switch(2);
  config.ports[1].pfc.pause_budget = 1_ms;
  config.ports[1].pfc.budget_window = 10_ms;
  OneSwitch rig(config);
  rig.inject(1, pause_frame(bit(kLossless), kLong));
  rig.run_for(2_ms);
  const auto events = only(take_events(rig.object()), EventKind::pfc_budget_exceeded);
  ASSERT_EQ(events.size(), 1u);
  EXPECT_EQ(events[0].at, Instant::at(1_ms));
  EXPECT_EQ(events[0].port, PortId(1));
  EXPECT_EQ(count(rig.object(), 1, PortCounter::pfc_budget_exceeded), 1u);
}

TEST(PauseObeyed, IgnoreCountsButSends) {
  config::PfcPortConfig pfc;
  pfc.rx = config::PfcRx::ignore;
  EXPECT_EQ(sent_under(pfc, pause_frame(0xff, kLong)), (Sent{1, 1, 1}));
}

TEST(PauseObeyed, ClampEndsAPauseThatTakesMoreThanItsBudget) {
  config::SwitchConfig config = hosts_switch(2);
  config.ports[1].pfc.rx = config::PfcRx::clamp;
  config.ports[1].pfc.pause_budget = 1_ms;
  config.ports[1].pfc.budget_window = 10_ms;
  OneSwitch rig(config);
  rig.inject(1, pause_frame(bit(kLossless), kLong));
  rig.send(0, 1, kLosslessDscp);
  rig.fabric.run_until(Instant::at(2_ms));
  ASSERT_EQ(rig.seen(1).size(), 1u);
  EXPECT_EQ(rig.seen(1)[0].at, Instant::at(1_ms + kFrameTime));
  EXPECT_EQ(count(rig.object(), 1, PortCounter::pfc_budget_exceeded), 1u);
  rig.inject(1, pause_frame(bit(kLossless), kLong));  // the budget is used up: refused
  rig.send(0, 1, kLosslessDscp);
  rig.fabric.run_until(Instant::at(3_ms));
  EXPECT_EQ(rig.seen(1).size(), 2u);
  EXPECT_EQ(count(rig.object(), 1, PortCounter::pfc_budget_exceeded), 2u);
  rig.fabric.run_until(Instant::at(11_ms));
  rig.inject(1, pause_frame(bit(kLossless), 1000));  // a new window
  rig.send(0, 1, kLosslessDscp);
  rig.fabric.run_until(Instant::at(11_ms + 51_us));
  EXPECT_EQ(rig.seen(1).size(), 2u);
  EXPECT_EQ(only(take_events(rig.object()), EventKind::pfc_budget_exceeded).size(), 2u);
}

TEST(PauseObeyed, NotWithALinkThatWentDown) {
  OneSwitch rig(hosts_switch(2));
  rig.inject(1, pause_frame(bit(kLossless), kLong));
  rig.fabric.set_link(rig.node, PortId(1), false);
  rig.fabric.set_link(rig.node, PortId(1), true);
  rig.send(0, 1, kLosslessDscp);
  rig.run_for(10_us);
  EXPECT_EQ(rig.seen(1).size(), 1u);
}

TEST(PauseSent, AgainToAPeerThatCameBackBeforeThePriorityGroupEmptied) {
  OneSwitch rig(with_profile(2, fixed_profile(10'000_B)));
  rig.inject(1, pause_frame(bit(kLossless), kLong));
  for (int i = 0; i < 12; ++i) rig.send(0, 1, kLosslessDscp);
  rig.fabric.set_link(rig.node, PortId(0), false);
  rig.run_for(10_us);
  rig.seen(0).clear();
  rig.fabric.set_link(rig.node, PortId(0), true);
  rig.run_for(10_us);
  ASSERT_EQ(pauses_in(rig.seen(0)).size(), 1u);
  EXPECT_EQ(pauses_in(rig.seen(0))[0].pause.quanta[3], kLong);
}

}  // namespace
}  // namespace eddy::test
