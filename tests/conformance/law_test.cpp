// What every law of hosts must do, in every combination of a rate control, a recovery, an entropy
// and a pacing: all that was sent arrives once and in order through loss, doubling, reordering,
// marks and pauses; it ends; the same seed makes the same frames; nothing is allocated.
#include <gtest/gtest.h>

#include "host/registry.h"
#include "tests/conformance/host_pipe.h"

namespace eddy::test {
namespace {

using namespace eddy::literals;
using host::NicCounter;

struct Combination {
  std::string_view rate_control;
  std::string_view recovery;
  std::string_view entropy;
  std::string_view pacing;
};
std::string text_of(const Combination& laws) {
  return std::string(laws.rate_control) + "_" + std::string(laws.recovery) + "_" +
         std::string(laws.entropy) + "_" + std::string(laws.pacing);
}
void PrintTo(const Combination& laws, std::ostream* out) {
  *out << text_of(laws);
}

std::vector<Combination> all_combinations() {
  std::vector<Combination> all;
  for (const host::RateControlInfo& rate : host::rate_controls())
    for (const host::RecoveryInfo& recovery : host::recoveries())
      for (const host::EntropyInfo& entropy : host::entropies())
        for (const host::PacingInfo& pacing : host::pacings())
          all.push_back({rate.name, recovery.name, entropy.name, pacing.name});
  return all;
}

class HostLaws : public testing::TestWithParam<Combination> {
 protected:
  static PipeScenario scenario(const PipeFaults& faults) {
    PipeScenario out;
    out.name = text_of(GetParam());
    out.config.congestion_control = GetParam().rate_control;
    out.config.recovery = GetParam().recovery;
    out.config.entropy = GetParam().entropy;
    out.config.pacing = GetParam().pacing;
    out.config.rto = 200_us;
    out.config.nak_timer = 20_us;
    out.config.reorder_timeout = 30_us;
    // Timeouts of a law's own are as short.
    for (const host::LawInfo* law : host::all_laws())
      for (const ParameterInfo& parameter : law->parameters)
        if (parameter.name == "rto")
          out.config.law_parameters[host::parameter_key(law->name, "rto")] = (200_us).ps();
    out.config.law_parameters["hf2t.timeout"] = (20_us).ps();
    out.faults = faults;
    return out;
  }
  static constexpr PipeFaults kHostile = {
      .lost = 20, .doubled = 10, .delayed = 50, .marked = 50, .paused = 5};
};

TEST_P(HostLaws, AllArrivesOnceAndInOrderThroughEveryTrouble) {
  for (uint64_t seed = 1; seed <= 3; ++seed) {
    SCOPED_TRACE(seed);
    HostPipe pipe(scenario(kHostile), seed);
    pipe.run();
    pipe.expect_all_done();
    EXPECT_EQ(pipe.allocated(), 0u);
    EXPECT_GT(pipe.counter(NicCounter::retransmitted_packets), 0u);
    EXPECT_GT(pipe.counter(NicCounter::rx_pfc_packets), 0u);
    EXPECT_LT(pipe.steps(), 100'000u) << "somebody is woken for nothing";
  }
}

TEST_P(HostLaws, AllArrivesWithHalfOfEverythingLost) {
  PipeScenario half = scenario({.lost = 500});
  HostPipe pipe(half, 4);
  pipe.run();
  pipe.expect_all_done();
}

TEST_P(HostLaws, AcksOfManyAndNoWindowDoAsWell) {
  PipeScenario many = scenario(kHostile);
  many.config.ack_every = 8;
  many.config.rto = 1_ms;  // time for eight slow packets
  many.config.window = false;
  HostPipe pipe(many, 5);
  pipe.run();
  pipe.expect_all_done();
}

TEST_P(HostLaws, WithoutTroubleNothingIsSentTwice) {
  HostPipe pipe(scenario({}), 6);
  pipe.run();
  pipe.expect_all_done();
  EXPECT_EQ(pipe.counter(NicCounter::retransmitted_packets), 0u);
  EXPECT_EQ(pipe.counter(NicCounter::timeouts), 0u);
  EXPECT_EQ(pipe.counter(NicCounter::tx_nak_packets), 0u);
  EXPECT_LT(pipe.now(), Instant::at(400_us));
}

TEST_P(HostLaws, TheSameSeedMakesTheSameFrames) {
  uint64_t digests[3];
  for (const uint64_t i : {0, 1, 2}) {
    HostPipe pipe(scenario(kHostile), i == 2 ? 8 : 7);
    pipe.run();
    digests[i] = pipe.digest();
  }
  EXPECT_EQ(digests[0], digests[1]);
  EXPECT_NE(digests[0], digests[2]);
}

INSTANTIATE_TEST_SUITE_P(All, HostLaws, testing::ValuesIn(all_combinations()),
                         [](const auto& info) { return text_of(info.param); });

// One law alone, called in any order.
template <class Info>
struct Named {
  const Info* law;
};
template <class Info>
void PrintTo(const Named<Info>& named, std::ostream* out) {
  *out << named.law->name;
}
template <class Info>
std::vector<Named<Info>> all_of(std::span<const Info> laws) {
  std::vector<Named<Info>> all;
  for (const Info& law : laws) all.push_back({&law});
  return all;
}

host::NicOptions options_of_one() {
  host::NicOptions options;
  options.speed = 100_Gbps;
  options.senders = options.receivers = 1;
  options.seed = 3;
  return options;
}

// A sending QP as a NIC would move it on.
struct Sending {
  explicit Sending(uint64_t seed) : random(seed, 0, 0) {
    state.unacked = state.next = state.sent_end = random.below(1U << 24);
    state.end = UINT64_MAX;
    state.window = kFull;
  }
  void send() {
    state.next += random.below(state.window + 1);
    state.next = std::min(state.next, state.unacked + state.window);
    state.next = std::max(state.next, state.unacked);
    state.sent_end = std::max(state.sent_end, state.next);
  }
  host::Ack ack() {
    const auto packets = random.below(static_cast<uint32_t>(state.in_flight()) + 1);
    state.unacked += packets;
    host::Ack out = {.packets = packets, .now = now};
    if (random.below(4) != 0) out.rtt = Duration::nanoseconds(int64_t{1} << random.below(23));
    out.hops = static_cast<uint8_t>(random.below(256));
    out.marked = random.below(2) == 0;
    out.entropy = static_cast<uint16_t>(random.below(65'536));
    return out;
  }

  static constexpr uint32_t kFull = 100;
  RandomStream random;
  host::SendState state;
  Instant now;
};

class RateControls : public testing::TestWithParam<Named<host::RateControlInfo>> {};

TEST_P(RateControls, WindowAndRateStayInTheirBoundsWhateverIsHeard) {
  const host::NicOptions options = options_of_one();
  for (uint64_t seed = 0; seed < 5; ++seed) {
    Sending qp(seed);
    const auto law = GetParam().law->make({options, {}});
    law->open(0, {Bytes(Sending::kFull * 1'024), 8_us, Sending::kFull}, qp.state);
    host::Round round;
    for (int step = 0; step < 5'000; ++step) {
      qp.now = qp.now + Duration::nanoseconds(qp.random.below(20'000));
      qp.send();
      const uint64_t before = conformance::allocations();
      const host::Ack ack = qp.ack();
      round.acked += ack.packets;
      if (ack.marked) round.marked += ack.packets;
      switch (qp.random.below(20)) {
        case 0:
          law->on_cnp(0, qp.state, qp.now);
          break;
        case 1:
          law->on_nak(0, ack, qp.state);
          break;
        case 2:
          law->on_timeout(0, qp.state, qp.now);
          break;
        case 3:
          if (round.acked == 0) break;
          law->on_round(0, round, qp.state);
          round = {};
          break;
        default:
          law->on_ack(0, ack, qp.state);
      }
      ASSERT_GE(qp.state.window, 1u);
      ASSERT_LE(qp.state.window, Sending::kFull);
      ASSERT_GT(law->rate(0, qp.now).bps(), 0);
      ASSERT_LE(law->rate(0, qp.now), options.speed);
      for (host::Pace& pace : law->paces()) {
        if (pace.due <= qp.now) {
          law->on_due(0, qp.state, qp.now);
          ASSERT_GT(pace.due, qp.now) << "asked once, it is not due at once again";
        }
        ASSERT_GT(pace.rate_bps, 0);
        ASSERT_LE(pace.rate_bps, options.speed.bps());
      }
      ASSERT_EQ(conformance::allocations(), before);
    }
  }
}

INSTANTIATE_TEST_SUITE_P(All, RateControls, testing::ValuesIn(all_of(host::rate_controls())),
                         [](const auto& info) { return std::string(info.param.law->name); });

class Entropies : public testing::TestWithParam<Named<host::EntropyInfo>> {};

TEST_P(Entropies, PortsAreOfTheRangeWhateverIsHeard) {
  const host::NicOptions options = options_of_one();
  const auto law = GetParam().law->make({options, {}});
  Sending qp(1);
  const auto check = [](uint16_t port) {
    if (port == host::kSamePort) return;
    ASSERT_GE(port, host::kFirstEntropy);
  };
  check(law->open(0, {50'000, Sending::kFull}, qp.state));
  for (int step = 0; step < 20'000; ++step) {
    qp.now = qp.now + 1_us;
    qp.send();
    const uint64_t before = conformance::allocations();
    check(law->on_ack(0, qp.ack(), qp.state));
    if (step % 7 == 0) check(law->on_cnp(0, qp.state, qp.now));
    if (step % 11 == 0) check(law->on_nak(0, {.now = qp.now, .nak = true}, qp.state));
    if (step % 50 == 0) check(law->on_timeout(0, qp.state, qp.now));
    ASSERT_EQ(conformance::allocations(), before);
  }
}

INSTANTIATE_TEST_SUITE_P(All, Entropies, testing::ValuesIn(all_of(host::entropies())),
                         [](const auto& info) { return std::string(info.param.law->name); });

class Pacings : public testing::TestWithParam<Named<host::PacingInfo>> {};

// A packet that may not start is asked about again when the law said, and then it may, or the law
// names a later time at last a few times.
TEST_P(Pacings, EveryPacketStartsAtLast) {
  const host::NicOptions options = options_of_one();
  const auto law = GetParam().law->make({options, {}});
  Sending qp(3);
  host::Pace pace;
  for (int step = 0; step < 20'000; ++step) {
    qp.now = qp.now + Duration::nanoseconds(int64_t{1} << qp.random.below(22));
    qp.send();
    const uint64_t before = conformance::allocations();
    pace.rate_bps = 1 + qp.random.below(4) * (options.speed.bps() - 1) / 3;
    pace.rate_bps = std::max<int64_t>(pace.rate_bps, 100'000'000);
    int asked = 0;
    for (;;) {
      const Instant start = law->next_send(0, pace, qp.state, qp.now);
      if (start <= qp.now) break;
      ASSERT_LT(start, qp.now + 10_ms);
      ASSERT_LT(++asked, 4);
      qp.now = start;
    }
    pace.last_start = qp.now;
    pace.last_line_octets = 64 + qp.random.below(4'096);
    law->on_sent(0, pace, qp.state);
    ASSERT_EQ(conformance::allocations(), before);
  }
}

INSTANTIATE_TEST_SUITE_P(All, Pacings, testing::ValuesIn(all_of(host::pacings())),
                         [](const auto& info) { return std::string(info.param.law->name); });

class Recoveries : public testing::TestWithParam<Named<host::RecoveryInfo>> {};

// Whatever a peer says, only packets are repeated that are in flight, and a timeout repeats the
// first of them.
TEST_P(Recoveries, OnlyWhatIsInFlightIsRepeatedAndATimeoutRepeatsTheFirst) {
  const host::NicOptions options = options_of_one();
  const auto law = GetParam().law->make_sender({options, {}});
  Sending qp(2);
  law->open(0, qp.state);
  const auto repeats = [&] {
    std::vector<uint64_t> all;
    while (qp.state.repair == host::Repair::pending) {
      all.push_back(law->next_send(0, qp.state));
      EXPECT_GE(all.back(), qp.state.unacked);
      EXPECT_LT(all.back(), qp.state.sent_end);
      if (all.size() > Sending::kFull) break;
    }
    EXPECT_LE(all.size(), Sending::kFull) << "it repeats for ever";
    return all;
  };
  for (int step = 0; step < 20'000; ++step) {
    qp.now = qp.now + 1_us;
    qp.send();
    host::Ack ack = qp.ack();
    ack.arrived = qp.state.unacked + 1 + qp.random.below(Sending::kFull);
    ack.bits_base = qp.state.unacked;
    ack.bits = qp.random.next64() & ~uint64_t{1};
    const bool told = ack.packets != 0 && qp.state.repair != host::Repair::none;
    if (told) law->on_ack(0, ack, qp.state);
    ack.nak = ack.arrived < qp.state.sent_end && step % 3 == 0;
    if (ack.nak) law->on_nak(0, ack, qp.state);
    repeats();
    if (step % 20 != 0 || qp.state.in_flight() == 0) continue;
    const uint64_t first = qp.state.unacked;
    law->on_timeout(0, qp.state, qp.now);
    const std::vector<uint64_t> all = repeats();
    const bool gone_back = qp.state.next == first;
    ASSERT_TRUE(gone_back || (!all.empty() && all.front() == first)) << step;
  }
}

INSTANTIATE_TEST_SUITE_P(All, Recoveries, testing::ValuesIn(all_of(host::recoveries())),
                         [](const auto& info) { return std::string(info.param.law->name); });

}  // namespace
}  // namespace eddy::test
