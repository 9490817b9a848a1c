// Two NICs joined by two lines that lose, double, delay and mark frames by a seed.
#include <gtest/gtest.h>

#include <queue>
#include <string>

#include "host/nic.h"
#include "net/hash.h"
#include "net/ip.h"
#include "net/protocols.h"
#include "net/random.h"
#include "tests/conformance/allocations.h"
#include "tests/support/packet_pool.h"

namespace eddy::test {
namespace {

using namespace eddy::literals;
using config::CongestionControl;
using host::NicCounter;

constexpr BitRate kSpeed = 100_Gbps;
constexpr Duration kDelay = 2_us;
constexpr int kOverhead = 24;

struct Faults {
  uint32_t lost = 0;  // of 1,000 frames, as the others
  uint32_t doubled = 0;
  uint32_t delayed = 0;  // by up to 20 us more
  uint32_t marked = 0;
};

struct Scenario {
  std::string name;
  config::HostConfig config;
  Faults faults;
};

struct Flow {
  size_t from = 0;
  Bytes size{0};
  uint32_t sender = 0;
  uint32_t receiver = 0;
};

class Pipe {
 public:
  static constexpr size_t kFlows = 12;

  Pipe(const Scenario& scenario, uint64_t seed)
      : scenario_(scenario), random_(seed, 0, 0), nics_{nic(0), nic(1)} {
    for (uint32_t id = 0; id < kFlows; ++id) {
      Flow flow;
      flow.from = id % 2;
      flow.size = Bytes(1 + random_.below(id < 4 ? 3'000 : 100'000));
      open(id, flow);
      flows_.push_back(flow);
    }
    for (const Flow& flow : flows_)
      counted([&] { nics_[flow.from].start(flow.sender, Instant()); });
  }

  // Until nothing more can happen, or far too late.
  void run() {
    while (now_ < Instant::at(2_s)) {
      step();
      const Instant next = next_time();
      if (next == Instant::never()) return;
      ASSERT_GT(next, now_);
      now_ = next;
    }
  }

  void expect_all_done() {
    for (const Flow& flow : flows_) {
      const host::ReceiveOutcome& received =
          nics_[1 - flow.from].outcome_of_receiver(flow.receiver);
      EXPECT_EQ(received.delivered_bytes, static_cast<uint64_t>(flow.size.count()));
    }
    for (host::Nic& nic : nics_) {
      EXPECT_EQ(nic.completions().size(), kFlows);  // each flow ends once at either side
      EXPECT_EQ(nic.counter(NicCounter::malformed_packets), 0u);
      EXPECT_EQ(nic.counter(NicCounter::not_for_us_packets), 0u);
      EXPECT_EQ(nic.counter(NicCounter::invalid_ack_packets), 0u);
    }
  }
  uint64_t counter(NicCounter which) const {
    return nics_[0].counter(which) + nics_[1].counter(which);
  }
  uint64_t digest() const { return digest_; }
  uint64_t allocated() const { return allocated_; }
  Instant now() const { return now_; }

 private:
  struct InFlight {
    Instant at;
    uint64_t order = 0;
    Packet* packet = nullptr;
    size_t to = 0;
    bool operator>(const InFlight& other) const {
      return at != other.at ? at > other.at : order > other.order;
    }
  };

  static IpAddress address(size_t host) {
    return Ipv4Address{static_cast<uint32_t>(0x0a000001 + host)};
  }
  host::Nic nic(size_t host) const {
    host::NicOptions options;
    options.config = scenario_.config;
    options.mac = {{2, 0, 0, 0, 0, static_cast<uint8_t>(1 + host)}};
    options.gateway = {{2, 0, 0, 0, 0, static_cast<uint8_t>(2 - host)}};
    options.address = address(host);
    options.speed = kSpeed;
    options.senders = options.receivers = kFlows / 2;
    options.reorder_packets = 64;  // so that the rings of bits go round
    return host::Nic(options);
  }

  void open(uint32_t id, Flow& flow) {
    const uint32_t first_psn = random_.next() & 0xffffff;
    // Numbers are given in order, so each side can name the other's before it is opened.
    const uint32_t qpn = id / 2;
    flow.receiver = nics_[1 - flow.from].expect({.flow = id,
                                                 .size = flow.size,
                                                 .source = address(flow.from),
                                                 .source_qpn = qpn,
                                                 .first_psn = first_psn});
    flow.sender = nics_[flow.from].open({.flow = id,
                                         .size = flow.size,
                                         .destination = address(1 - flow.from),
                                         .destination_qpn = flow.receiver,
                                         .first_psn = first_psn,
                                         .base_rtt = kDelay * 2 + 1_us});
    ASSERT_EQ(flow.sender, qpn);
  }

  template <class Call>
  void counted(Call&& call) {
    const uint64_t before = allocations();
    call();
    allocated_ += allocations() - before;
  }

  void step() {
    while (!frames_.empty() && frames_.top().at <= now_) {
      const InFlight frame = frames_.top();
      frames_.pop();
      note(frame);
      counted([&] { nics_[frame.to].receive(*frame.packet, now_); });
      pool_.put(frame.packet);
    }
    for (size_t host = 0; host < 2; ++host) {
      counted([&] { nics_[host].on_timers(now_); });
      if (line_free_at_[host] <= now_) send(host);
    }
  }

  void send(size_t host) {
    line_free_at_[host] = Instant::never();  // until something is sent
    asleep_[host] = true;
    Packet* blank = pool_.get();
    ASSERT(blank != nullptr);
    bool sent = false;
    counted([&] { sent = nics_[host].transmit(*blank, now_); });
    if (!sent) {
      pool_.put(blank);
      line_free_at_[host] = now_;
      return;
    }
    asleep_[host] = false;
    line_free_at_[host] = now_ + LineRate(kSpeed).time_of(Bytes(blank->wire_len + kOverhead));
    carry(blank, 1 - host, line_free_at_[host] + kDelay);
  }

  void carry(Packet* packet, size_t to, Instant at) {
    const auto one_of = [&](uint32_t of_1000) { return random_.below(1'000) < of_1000; };
    if (one_of(scenario_.faults.marked)) mark_ce(packet->data() + kEthernetHeader);
    if (one_of(scenario_.faults.delayed)) at = at + Duration::nanoseconds(random_.below(20'000));
    if (one_of(scenario_.faults.doubled)) {
      Packet* twin = pool_.get({packet->data(), packet->data_len()}, packet->wire_len);
      ASSERT(twin != nullptr);
      frames_.push({at + 3_us, order_++, twin, to});
    }
    if (one_of(scenario_.faults.lost)) return pool_.put(packet);
    frames_.push({at, order_++, packet, to});
  }

  Instant next_time() const {
    Instant next = frames_.empty() ? Instant::never() : frames_.top().at;
    for (size_t host = 0; host < 2; ++host) {
      if (!asleep_[host]) next = std::min(next, line_free_at_[host]);
      next = std::min(next, nics_[host].next_deadline());
    }
    return next;
  }

  void note(const InFlight& frame) {
    digest_ = hash_pair(digest_, static_cast<uint64_t>(frame.at.ps()));
    for (uint32_t i = 0; i < frame.packet->data_len(); ++i)
      digest_ = hash_pair(digest_, frame.packet->data()[i]);
  }

  Scenario scenario_;
  RandomStream random_;
  std::array<host::Nic, 2> nics_;
  PacketPool pool_{4'096};
  std::vector<Flow> flows_;
  std::priority_queue<InFlight, std::vector<InFlight>, std::greater<>> frames_;
  std::array<Instant, 2> line_free_at_{};
  std::array<bool, 2> asleep_{};
  Instant now_;
  uint64_t order_ = 0;
  uint64_t digest_ = 0;
  uint64_t allocated_ = 0;
};

enum class Way : uint8_t { go_back_n, irn, reorder_buffer };

Scenario scenario(Way way, CongestionControl control, Faults faults) {
  const char* const ways[] = {"go_back_n", "irn", "reorder_buffer"};
  const char* const controls[] = {"none", "dcqcn", "dctcp"};
  Scenario out;
  out.name =
      std::string(ways[static_cast<size_t>(way)]) + "_" + controls[static_cast<size_t>(control)];
  out.config.recovery = way == Way::irn ? config::Recovery::irn : config::Recovery::go_back_n;
  out.config.reorder_buffer = way == Way::reorder_buffer;
  out.config.congestion_control = control;
  out.config.rto = 200_us;
  out.config.nak_timer = 20_us;
  out.config.reorder_timeout = 30_us;
  out.config.icrc_check = control == CongestionControl::dcqcn;
  out.faults = faults;
  return out;
}

std::vector<Scenario> scenarios(Faults faults) {
  std::vector<Scenario> out;
  for (const Way way : {Way::go_back_n, Way::irn, Way::reorder_buffer})
    for (const auto control :
         {CongestionControl::none, CongestionControl::dcqcn, CongestionControl::dctcp})
      out.push_back(scenario(way, control, faults));
  return out;
}

constexpr Faults kHostile = {.lost = 20, .doubled = 10, .delayed = 50, .marked = 50};

TEST(Pipe, EveryFlowArrivesWholeThroughLossDoublingAndReordering) {
  for (const Scenario& each : scenarios(kHostile)) {
    for (uint64_t seed = 1; seed <= 2; ++seed) {
      SCOPED_TRACE(testing::Message() << each.name << " seed " << seed);
      Pipe pipe(each, seed);
      pipe.run();
      pipe.expect_all_done();
      EXPECT_GT(pipe.counter(NicCounter::retransmitted_packets), 0u);
      EXPECT_EQ(pipe.allocated(), 0u);
    }
  }
}

TEST(Pipe, AcksForManyPacketsDoAsWell) {
  for (Scenario each : scenarios(kHostile)) {
    each.config.ack_every = 8;
    each.config.variable_window = true;
    SCOPED_TRACE(each.name);
    Pipe pipe(each, 5);
    pipe.run();
    pipe.expect_all_done();
  }
}

TEST(Pipe, WithoutFaultsNothingIsSentTwiceAndTheLineIsFull) {
  for (const Scenario& each : scenarios({})) {
    SCOPED_TRACE(each.name);
    Pipe pipe(each, 1);
    pipe.run();
    pipe.expect_all_done();
    EXPECT_EQ(pipe.counter(NicCounter::retransmitted_packets), 0u);
    EXPECT_EQ(pipe.counter(NicCounter::tx_nak_packets), 0u);
    EXPECT_EQ(pipe.counter(NicCounter::timeouts), 0u);
    EXPECT_LT(pipe.now(), Instant::at(300_us));
  }
}

TEST(Pipe, AnyPayloadFrom256To4096GetsThrough) {
  for (const int mtu : {256, 257, 1'000, 1'001, 4'095, 4'096})
    for (const bool icrc : {false, true}) {
      SCOPED_TRACE(testing::Message() << mtu << (icrc ? " with ICRC" : ""));
      Scenario each = scenario(Way::go_back_n, CongestionControl::dcqcn, {});
      each.config.mtu = mtu;
      each.config.icrc_check = icrc;
      Pipe pipe(each, 3);
      pipe.run();
      pipe.expect_all_done();
      EXPECT_EQ(pipe.counter(NicCounter::retransmitted_packets), 0u);
    }
}

TEST(Pipe, ReorderingAloneIsHarmlessToTheReorderBuffer) {
  Scenario each = scenario(Way::reorder_buffer, CongestionControl::none, {.delayed = 100});
  Pipe pipe(each, 7);
  pipe.run();
  pipe.expect_all_done();
  EXPECT_EQ(pipe.counter(NicCounter::retransmitted_packets), 0u);
  EXPECT_EQ(pipe.counter(NicCounter::tx_nak_packets), 0u);
}

TEST(Pipe, TheSameSeedGivesTheSameFrames) {
  for (const Scenario& each : scenarios(kHostile)) {
    SCOPED_TRACE(each.name);
    std::array<uint64_t, 3> digests{};
    for (size_t i = 0; i < 3; ++i) {
      Pipe pipe(each, i == 2 ? 2 : 1);
      pipe.run();
      digests[i] = pipe.digest();
    }
    EXPECT_EQ(digests[0], digests[1]);
    EXPECT_NE(digests[0], digests[2]);
  }
}

}  // namespace
}  // namespace eddy::test
