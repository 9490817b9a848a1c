// The checker sees each kind of violation, says where and when, and stops the run.
#include "lab/check/fabric_checker.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <tuple>

#include "tests/unit/lab/check/checked_fabric.h"

namespace eddy::test {
namespace {

using config::FaultType;
using testing::AllOf;
using testing::ElementsAre;
using testing::HasSubstr;

lab::CheckRules strict() {
  return lab::CheckRules::of(plain_experiment(1, 1, 1));
}

TEST(Checker, PassesARunAndLooksAtEverySwitchThatTookPart) {
  CheckedFabric fabric(plain_experiment(2, 2, 2), {flow_of(0, 2, 100_KiB), flow_of(3, 1, 100_KiB)});
  fabric.complete();
  EXPECT_GT(fabric.checker->checks(), 100u);
}

TEST(Checker, FindsAPacketThatNobodyHolds) {
  CheckedFabric fabric(plain_experiment(2, 1, 1), {flow_of(0, 1, 100_KiB)});
  fabric.world->run_until(Instant() + 10_us);
  ASSERT_NE(fabric.world->pool().get(), nullptr);
  EXPECT_FALSE(fabric.world->run_to_completion(Instant() + 1_s));
  EXPECT_TRUE(fabric.world->stopped());
  EXPECT_THAT(fabric.checker->problems(),
              ElementsAre(AllOf(HasSubstr(" packets: in use "), HasSubstr("again: this test"))));
}

TEST(Checker, FindsALineThatMiscounts) {
  CheckedFabric fabric(plain_experiment(2, 1, 1), {flow_of(0, 1, 100_KiB)});
  fabric.world->run_until(Instant() + 10_us);
  ++fabric.world->lost()[fabric.world->line_of_host(0)];
  EXPECT_FALSE(fabric.world->run_to_completion(Instant() + 1_s));
  EXPECT_THAT(fabric.checker->problems(),
              ElementsAre(AllOf(HasSubstr("leaf1.host1: line "), HasSubstr("entered"))));
}

TEST(Checker, FindsAFrameThatNeverEnteredItsLine) {
  CheckedFabric fabric(plain_experiment(2, 1, 1), {flow_of(0, 1, 100_KiB)});
  Packet* packet = fabric.world->pool().get();
  fabric.checker->on_frame(fabric.world->line_of_host(0), lab::Watcher::Step::delivered, *packet);
  fabric.world->pool().put(packet);
  EXPECT_THAT(fabric.checker->problems(), ElementsAre(HasSubstr("that had not entered it")));
}

// What cannot be read belongs to no queue pair, and has no order.
TEST(Checker, BrokenFramesMayOvertakeEachOther) {
  CheckedFabric fabric(plain_experiment(1, 1, 2), {});
  using Step = lab::Watcher::Step;
  const auto step = [&fabric](uint32_t index, Step which, const Packet* packet) {
    ++(which == Step::entered ? fabric.world->entered(index) : fabric.world->delivered(index));
    fabric.checker->on_frame(index, which, *packet);
  };
  const uint32_t up = fabric.world->line_of_host(0);
  const uint32_t down = fabric.world->line_of(0, PortId(1));
  Packet* const packets[] = {fabric.world->pool().get(), fabric.world->pool().get()};
  for (const uint32_t line : {up, down}) {
    for (const size_t i : {0u, 1u}) step(line, Step::entered, packets[i]);
    for (const size_t i : {1u, 0u}) step(line, Step::delivered, packets[i]);
  }
  EXPECT_THAT(fabric.checker->problems(), ElementsAre());
  for (Packet* packet : packets) fabric.world->pool().put(packet);
}

// A switch probes its paths as soon as it is made, which is before anyone can watch.
TEST(Checker, TakesOverWhatIsUnderWay) {
  CheckedFabric fabric(plain_experiment(2, 1, 1), {flow_of(0, 1, 100_KiB)});
  fabric.world->run_until(Instant() + 10_us);
  ASSERT_GT(fabric.world->frames_in_flight(), 0u);
  fabric.checker.reset();
  fabric.checker = std::make_unique<lab::Checker>(*fabric.world, fabric.topology, strict(), "late");
  fabric.complete();
}

// Senders of every kind: what they send again is no excuse.
class CheckerOfSenders : public testing::TestWithParam<std::tuple<std::string, std::string>> {
 protected:
  static config::Experiment experiment(int leaves, int spines, int hosts) {
    config::Experiment made = plain_experiment(leaves, spines, hosts);
    std::tie(made.host.recovery, made.host.congestion_control) = GetParam();
    return made;
  }
};

TEST_P(CheckerOfSenders, FindsALosslessDrop) {
  config::Experiment experiment = CheckerOfSenders::experiment(1, 1, 4);
  experiment.host.window = false;
  experiment.host.bdp = 1_MiB;  // what IRN has in flight at most
  experiment.host.law_parameters["dctcp.initial_window"] = (1_MiB).count();
  experiment.switches.buffer = config::default_switch("").buffer;
  experiment.faults = {{.type = FaultType::pfc_loss, .hosts = {"all"}, .probability = 1}};
  const std::vector<lab::Flow> flows = {flow_of(0, 3, 1_MiB), flow_of(1, 3, 1_MiB),
                                        flow_of(2, 3, 1_MiB)};
  CheckedFabric fabric(experiment, flows, strict());
  EXPECT_FALSE(fabric.world->run_to_completion(Instant() + 1_s));
  EXPECT_THAT(fabric.checker->problems(),
              ElementsAre(AllOf(HasSubstr(" leaf1: port host"),
                                HasSubstr("1 packets lost in a lossless group"))));
  // With PFC nothing is lost, and all is well.
  experiment.faults.clear();
  CheckedFabric(experiment, flows, strict()).complete();
}

TEST_P(CheckerOfSenders, FindsAPacketThatWasOvertaken) {
  config::Experiment experiment = CheckerOfSenders::experiment(2, 2, 2);
  experiment.load_balancer.scheme = "spray";
  experiment.faults = {{.type = FaultType::slow_link, .links = {"leaf1-spine1"}, .rate = 1_Gbps}};
  CheckedFabric fabric(experiment, {flow_of(0, 2, 100_KiB)}, strict());
  EXPECT_FALSE(fabric.world->run_to_completion(Instant() + 1_s));
  EXPECT_THAT(fabric.checker->problems(),
              ElementsAre(AllOf(HasSubstr(" leaf2.host1: data packet "), HasSubstr(" after "))));
}

// On one path what is lost is sent again behind what is under way: later packets of another PSN
// order, and none of them overtaken.
TEST_P(CheckerOfSenders, TakesWhatIsSentAgainForInOrder) {
  config::Experiment experiment = CheckerOfSenders::experiment(2, 1, 2);
  experiment.faults = {
      {.type = FaultType::random_drop, .links = {"leaf1-spine1"}, .probability = 0.02}};
  CheckedFabric fabric(experiment, {flow_of(0, 2, 300_KiB)}, strict());
  fabric.complete();
  EXPECT_GT(fabric.lost_on_lines(), 0u);
  EXPECT_GT(fabric.world->receive_outcome(0).out_of_order_packets, 0u);
}

// The ICRC tells the receiver, but on its way nothing tells that a source port is not what it was.
TEST_P(CheckerOfSenders, LetsADamagedPacketTakeAnotherPath) {
  config::Experiment experiment = CheckerOfSenders::experiment(2, 4, 2);
  experiment.host.icrc_check = true;
  experiment.host.mtu = 256;
  experiment.faults = {
      {.type = FaultType::slow_link, .links = {"leaf1-spine1", "leaf1-spine2"}, .rate = 1_Gbps},
      {.type = FaultType::corruption, .hosts = {"leaf1.host1"}, .probability = 0.1}};
  CheckedFabric fabric(experiment, {flow_of(0, 2, 100_KiB), flow_of(0, 3, 100_KiB)}, strict());
  fabric.complete();
  EXPECT_GT(fabric.frames(1), 100u);
}

INSTANTIATE_TEST_SUITE_P(All, CheckerOfSenders,
                         testing::Combine(testing::Values("go_back_n", "irn"),
                                          testing::Values("none", "dcqcn", "dctcp")));

// Nothing but the watchdog, which is off, ends such a storm.
config::Experiment with_storm(Duration duration, Duration period) {
  config::Experiment experiment = plain_experiment(2, 1, 1);
  experiment.switches.watchdog.enabled = false;
  experiment.faults = {{.type = FaultType::pause_storm,
                        .hosts = {"leaf2.host1"},
                        .duration = duration,
                        .period = period}};
  return experiment;
}
lab::CheckRules with_watchdog(Duration detection, Duration late) {
  lab::CheckRules rules = strict();
  rules.watchdog = {.detection = detection, .late = late};
  return rules;
}
// Of 65,535 quanta.
Duration longest_pause() {
  return LineRate(plain_experiment(2, 1, 1).topology.host_rate).time_of_quanta(65'535);
}

TEST(Checker, FindsAPausedQueueThatTheWatchdogForgot) {
  CheckedFabric fabric(with_storm(1_s, 200_us), {flow_of(0, 1, 100_KiB)},
                       with_watchdog(1_ms, 1_ms));
  EXPECT_FALSE(fabric.world->run_to_completion(Instant() + 1_s));
  EXPECT_THAT(fabric.checker->problems(),
              ElementsAre(AllOf(HasSubstr(" leaf2: port host1, queue 3: paused for"),
                                HasSubstr("watchdog does not act"))));
  EXPECT_GE(fabric.world->now(), Instant() + 2_ms);
  EXPECT_LE(fabric.world->now(), Instant() + 2_ms + 200_us);
}

// The queue is paused for longer than detection takes, but nothing renews the pause any more.
TEST(Checker, LeavesAPauseToItsEndWhenItsFramesStop) {
  const Duration end = longest_pause();
  CheckedFabric fabric(with_storm(end / 4, end / 10), {flow_of(0, 1, 100_KiB)},
                       with_watchdog(end / 4, end / 4));
  fabric.complete();
  EXPECT_GT(fabric.world->now(), Instant() + end);
}

// Each frame comes when the pause of the one before is nearly over. The flow fills no buffer.
TEST(Checker, TakesPauseFramesThatAreFarApartForNoStorm) {
  const Duration end = longest_pause();
  CheckedFabric fabric(with_storm(end * 5, end * 3 / 4), {flow_of(0, 1, 20_KiB)},
                       with_watchdog(end / 2, end / 2));
  fabric.complete();
  EXPECT_GT(fabric.world->now(), Instant() + end * 5);
}

TEST(Checker, FindsAStormThatComesBack) {
  const Duration end = longest_pause();
  config::Experiment experiment = with_storm(end / 8, end / 16);
  config::FaultConfig again = experiment.faults.front();
  again.start = end * 3 / 4;
  again.duration = 1_s;
  experiment.faults.push_back(again);
  CheckedFabric fabric(experiment, {flow_of(0, 1, 100_KiB)}, with_watchdog(end / 4, end / 8));
  EXPECT_FALSE(fabric.world->run_to_completion(Instant() + 1_s));
  EXPECT_THAT(fabric.checker->problems(), ElementsAre(HasSubstr("watchdog does not act")));
  EXPECT_GT(fabric.world->now(), Instant() + end * 7 / 8);
  EXPECT_LT(fabric.world->now(), Instant() + end);
}

// By a rule under which its quanta are over at half time.
TEST(Checker, FindsAPauseThatDoesNotEnd) {
  CheckedFabric fabric(with_storm(1_us, 1_ms), {flow_of(0, 1, 100_KiB)},
                       with_watchdog(1_ms, Duration{} - longest_pause() / 2));
  EXPECT_FALSE(fabric.world->run_to_completion(Instant() + 1_s));
  EXPECT_THAT(fabric.checker->problems(),
              ElementsAre(AllOf(HasSubstr(" leaf2: port host1, queue 3: paused for"),
                                HasSubstr(" after its last pause frame"))));
}

// Both ways to leaf 2 are slow, so that both spines warn leaf 1, and its packets wait a round.
config::Experiment with_waiting() {
  config::Experiment experiment = plain_experiment(2, 2, 4);
  experiment.switches.rlb = config::rlb_preset(config::RlbPreset::standard);
  experiment.switches.rlb.all_warned = config::AllWarned::wait_once;
  experiment.switches.rlb.guard.mode = config::GuardMode::follow;
  experiment.faults = {
      {.type = FaultType::slow_link, .links = {"leaf2-spine1", "leaf2-spine2"}, .rate = 5_Gbps}};
  return experiment;
}
std::vector<lab::Flow> across() {
  std::vector<lab::Flow> flows;
  for (uint32_t host = 0; host < 4; ++host) flows.push_back(flow_of(host, 4 + host, 1_MiB));
  return flows;
}

TEST(Checker, FindsALoopAboveItsCaps) {
  const config::Experiment experiment = with_waiting();
  CheckedFabric sound(experiment, across());
  sound.complete();
  const lab::CheckRules rules = lab::CheckRules::of(experiment);
  ASSERT_TRUE(rules.loop.has_value());
  EXPECT_EQ(rules.loop->rounds, 8);
  EXPECT_EQ(rules.loop->port_octets, 65'536);
  const auto found = [&](auto tighten) {
    lab::CheckRules tight = rules;
    tighten(*tight.loop);
    CheckedFabric fabric(experiment, across(), tight);
    EXPECT_FALSE(fabric.world->run_to_completion(Instant() + 1_s));
    return fabric.checker->problems();
  };
  EXPECT_THAT(found([](auto& loop) { loop.rounds = 0; }),
              ElementsAre(HasSubstr("leaf1: loop: rounds of a packet 1, 0 at most")));
  EXPECT_THAT(found([](auto& loop) { loop.port_octets = 1'000; }),
              ElementsAre(HasSubstr("leaf1: loop: octets held of one port ")));
  EXPECT_THAT(
      found([](auto& loop) { loop.octets = 1'000; }),
      ElementsAre(AllOf(HasSubstr("leaf1: loop: octets held "), HasSubstr("1000 at most"))));
}

TEST(CheckRules, TheLoopIsExemptWhereRlbIsReconfigured) {
  config::Experiment experiment = with_waiting();
  experiment.faults = {{.type = FaultType::reconfigure, .set = {{"rlb.guard.mode", "off"}}}};
  const lab::CheckRules rules = lab::CheckRules::of(experiment);
  EXPECT_FALSE(rules.loop.has_value());
  EXPECT_THAT(rules.exempt, testing::Contains("loop: faults.0 changes rlb"));
}

// A class changes only behind what is before it, and has its headroom whether isolation is on or
// not.
TEST(CheckRules, KeepTheirPromisesWhereIsolationIsReloaded) {
  config::Experiment experiment = plain_experiment(2, 2, 2);
  experiment.faults = {{.type = FaultType::reconfigure, .set = {{"isolation.enabled", "false"}}}};
  lab::CheckRules rules = lab::CheckRules::of(experiment);
  EXPECT_TRUE(rules.in_order);
  EXPECT_TRUE(rules.lossless);
  experiment.faults[0].set = {{"isolation.enabled", "false"}, {"load_balancer.scheme", "wcmp"}};
  rules = lab::CheckRules::of(experiment);
  EXPECT_FALSE(rules.in_order);
  EXPECT_TRUE(rules.lossless);
}

TEST(CheckRules, PromiseNoOrderWhereHostsChangePorts) {
  config::Experiment experiment = plain_experiment(2, 2, 2);
  experiment.host.entropy = "flowbender";
  const lab::CheckRules rules = lab::CheckRules::of(experiment);
  EXPECT_FALSE(rules.in_order);
  EXPECT_TRUE(rules.lossless);
  EXPECT_THAT(rules.exempt,
              ElementsAre("order: host.entropy: flowbender sends a flow another way"));
}

TEST(CheckRules, SayWhatAnExperimentDoesNotPromiseAndWhy) {
  config::Experiment experiment = plain_experiment(2, 2, 2);
  EXPECT_TRUE(strict().lossless);
  EXPECT_TRUE(strict().in_order);
  ASSERT_TRUE(strict().watchdog.has_value());
  EXPECT_EQ(strict().watchdog->detection, 200_ms);
  EXPECT_GE(strict().watchdog->late, 400_ms);
  EXPECT_THAT(strict().exempt, ElementsAre());

  experiment.load_balancer.scheme = "drill";
  experiment.switches.allow_overcommit = true;
  experiment.host.pfc_honour = false;
  experiment.run.poll_model = config::PollModel::busy_poll;
  experiment.faults = {{.type = FaultType::random_drop},
                       {.type = FaultType::pfc_loss},
                       {.type = FaultType::switch_stall},
                       {.type = FaultType::reconfigure, .set = {{"load_balancer.scheme", "ecmp"}}},
                       {.type = FaultType::reconfigure, .set = {{"buffer.size", "1MiB"}}}};
  const lab::CheckRules rules = lab::CheckRules::of(experiment);
  EXPECT_FALSE(rules.lossless);
  EXPECT_FALSE(rules.in_order);
  EXPECT_FALSE(rules.watchdog.has_value());
  EXPECT_THAT(
      rules.exempt,
      ElementsAre("lossless: switches.allow_overcommit",
                  "lossless: switches.poll_gap is below run.poll_period and run.poll_jitter",
                  "lossless: host.pfc_honour: false", "order: drill does not promise it",
                  "lossless: faults.1: pauses are lost or late",
                  "lossless: faults.2: pauses cannot be sent in time",
                  "order: faults.3 moves flows",
                  "lossless: faults.4: the headroom may no longer fit",
                  "order: faults.4 moves flows", "watchdog: a switch stalls or is reconfigured"));
}

struct Broken {
  const char* name;
  void (*change)(config::Experiment& experiment);
  bool lossless;
  bool in_order;
  const char* exempt;
};
void PrintTo(const Broken& broken, std::ostream* out) {
  *out << broken.name;
}
class BrokenPromises : public testing::TestWithParam<Broken> {};
TEST_P(BrokenPromises, AreNamed) {
  config::Experiment experiment = plain_experiment(2, 2, 2);
  GetParam().change(experiment);
  const lab::CheckRules rules = lab::CheckRules::of(experiment);
  EXPECT_EQ(rules.lossless, GetParam().lossless);
  EXPECT_EQ(rules.in_order, GetParam().in_order);
  EXPECT_THAT(rules.exempt, ElementsAre(GetParam().exempt));
}

using E = config::Experiment;
// clang-format off
const Broken kBroken[] = {
    {"NoPfc", [](E& e) { e.switches.pfc = false; }, false, true, "lossless: PFC is not sent and obeyed everywhere"},
    {"PfcNotSent", [](E& e) { e.switches.pfc_port.tx = false; }, false, true, "lossless: PFC is not sent and obeyed everywhere"},
    {"PfcClamped", [](E& e) { e.switches.pfc_port.rx = config::PfcRx::clamp; }, false, true, "lossless: PFC is not sent and obeyed everywhere"},
    {"Headroom", [](E& e) {
       config::BufferProfile& profile = e.switches.buffer.profiles["lossless"];
       profile.lossless = true;
       profile.headroom = Bytes(10'000);
     }, false, true, "lossless: switches.buffer.profiles.lossless.headroom is not by formula"},
    {"WatchdogForwards", [](E& e) { e.switches.watchdog.action = config::WatchdogAction::forward; }, false, true, "lossless: switches.watchdog.action: forward sends against pauses"},
    {"Gaps", [](E& e) { e.load_balancer.scheme = "letflow"; }, true, false, "order: letflow moves flows in gaps"},
    {"Lines", [](E& e) {
       e.load_balancer.scheme = "flowcut";
       e.faults = {{.type = FaultType::slow_link, .hosts = {"leaf1.host1"}}, {.type = FaultType::slow_link, .links = {"leaf1-spine1"}}};
     }, true, false, "order: faults.1 has the scheme begin anew, with another rate"},
    {"Storm", [](E& e) { e.faults = {{.type = FaultType::pause_storm}}; }, false, true, "lossless: faults.0: a spoofed pause cuts a true one short"},
};
// clang-format on
INSTANTIATE_TEST_SUITE_P(All, BrokenPromises, testing::ValuesIn(kBroken));

}  // namespace
}  // namespace eddy::test
