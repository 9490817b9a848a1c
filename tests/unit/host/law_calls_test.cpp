// What a NIC tells its laws, and what it makes of their answers: with laws of the tests' own.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <vector>

#include "host/describe.h"
#include "host/receiver.h"
#include "host/sender.h"
#include "tests/unit/host/one_nic.h"

namespace eddy::test {
namespace {

using host::Ack;
using host::SendState;
using testing::ElementsAre;
using testing::IsEmpty;

constexpr uint16_t kFirstPort = 60'000;

// What the laws of a test are told; they are made by plain functions, so this is where it ends up.
struct Told {
  Instant due;  // of the rate control, after trouble
  std::vector<std::string> calls;
  std::vector<Ack> acks;
  Duration hold;                               // by the pacing: between two packets
  host::Repair repair = host::Repair::none;    // by the recovery, after each NAK
  int64_t rate_after_trouble = 1'000'000'000;  // by the rate control: b/s
};
Told told;

void note(const char* who, const char* call) {
  told.calls.push_back(std::string(who) + "." + call);
}

class Port : public host::Entropy {
 public:
  static constexpr std::string_view kSummary = "another port for each packet";
  static constexpr host::Hears kHears = {.acks = true, .rtt = true, .rounds = true};
  static constexpr bool kEachPacket = true;
  static constexpr bool kEchoesMarks = true;
  static constexpr bool kEchoesPort = true;

  explicit Port(const host::LawInit&) {}

  uint16_t on_ack(uint32_t, const Ack& ack, const SendState&) override {
    note("port", "ack");
    told.acks.push_back(ack);
    return host::kSamePort;
  }
  uint16_t on_round(uint32_t, const host::Round& round, const SendState&) override {
    note("port",
         ("round " + std::to_string(round.marked) + "/" + std::to_string(round.acked)).c_str());
    return host::kSamePort;
  }
  uint16_t next_send(uint32_t, const SendState&, Instant) override { return next_++; }

 private:
  uint16_t next_ = kFirstPort;
};

class Moving : public host::Entropy {
 public:
  static constexpr std::string_view kSummary = "another port after anything bad";

  explicit Moving(const host::LawInit&) {}

  uint16_t open(uint32_t, const host::EntropyOpening&, const SendState&) override {
    return kFirstPort;
  }
  uint16_t on_nak(uint32_t, const Ack&, const SendState&) override { return kFirstPort + 1; }
  uint16_t on_cnp(uint32_t, const SendState&, Instant) override { return kFirstPort + 2; }
  uint16_t on_timeout(uint32_t, const SendState&, Instant) override { return kFirstPort + 3; }
};

class Holding : public host::Pacing {
 public:
  static constexpr std::string_view kSummary = "a packet some time after the other";
  static constexpr bool kAlways = true;

  explicit Holding(const host::LawInit&) {}

  Instant next_send(uint32_t, const host::Pace& pace, const SendState&, Instant now) override {
    return pace.last_line_octets == 0 ? now : pace.last_start + told.hold;
  }
  host::PacedPacket on_sent(uint32_t, const host::Pace& pace, const SendState&) override {
    note("hold", ("sent " + std::to_string(pace.last_line_octets)).c_str());
    return {.held = told.calls.size() > 1, .flowlet = true};
  }
};

// Slow after a NAK, a CNP or a timeout; at line rate again when it is asked.
class Slow : public host::RateControl {
 public:
  static constexpr std::string_view kSummary = "slow after anything bad";

  explicit Slow(const host::LawInit& init) : line_(init.nic.speed) {
    pace_all(init.nic.senders, line_);
  }

  bool on_nak(uint32_t qpn, const Ack&, SendState&) override { return slow("nak", qpn); }
  bool on_cnp(uint32_t qpn, SendState&, Instant) override { return slow("cnp", qpn); }
  bool on_timeout(uint32_t qpn, SendState&, Instant) override { return slow("timeout", qpn); }
  void on_due(uint32_t qpn, SendState&, Instant) override {
    note("slow", "due");
    pace(qpn).due = Instant::never();
    pace(qpn).rate_bps = line_.bps();
  }
  BitRate rate(uint32_t, Instant) const override { return line_; }

 private:
  bool slow(const char* why, uint32_t qpn) {
    note("slow", why);
    pace(qpn).rate_bps = told.rate_after_trouble;
    pace(qpn).due = pace(qpn).grows = told.due;
    return true;
  }

  BitRate line_;
};

// The same, with a window of its own.
class SlowWindow : public Slow {
 public:
  static constexpr host::Hears kHears = {.rounds = true};
  using Slow::Slow;
};

// Goes back, and wants to hear of ACKs or to repeat packet 1, as told.
class Asking : public host::SendRecovery {
 public:
  static constexpr std::string_view kSummary = "asks for what it is told to";

  explicit Asking(const host::LawInit&) {}

  host::Timeouts timeouts() const override { return {.rto = 4_ms, .short_rto = 4_ms}; }
  void on_ack(uint32_t, const Ack& ack, SendState& state) override {
    note("ask", "ack");
    told.acks.push_back(ack);
    state.repair = host::Repair::none;
  }
  void on_nak(uint32_t, const Ack&, SendState& state) override { state.repair = told.repair; }
  void on_timeout(uint32_t, SendState&, Instant) override {}
  uint64_t next_send(uint32_t, SendState& state) override {
    state.repair = host::Repair::listens;
    return 1;
  }
};

class Silent : public host::ReceiveRecovery {
 public:
  explicit Silent(const host::LawInit& init) : ReceiveRecovery(init.nic.receivers) {}

  host::Disposal on_ahead(uint32_t qpn, uint64_t, host::ReceiveState&, Instant now) override {
    timers().set(qpn, now + 10_us);
    return {.reply = host::Reply::ack};
  }
  host::Reply on_timer(uint32_t, host::ReceiveState&, Instant) override { return host::Reply::nak; }
};

// A sending and a receiving QP of one NIC each, with nothing between them.
struct Ends {
  explicit Ends(const host::Laws& laws, const config::HostConfig& config = plain_config())
      : sending_options(host_options(config)),
        receiving_options(peer_of(sending_options)),
        near(sending_options),
        far(receiving_options),
        senders(sending_options, laws, near, ledger),
        receivers(receiving_options, laws, far, ledger) {
    told = {};
  }

  static host::NicOptions peer_of(host::NicOptions options) {
    std::swap(options.mac, options.gateway);
    options.address = kPeerAddress;
    return options;
  }

  void open(int64_t packets) {
    receivers.expect(
        {.size = Bytes(packets * 1'024), .source = kHostAddress, .source_port = kReplyPort});
    senders.open({.size = Bytes(packets * 1'024),
                  .destination = kPeerAddress,
                  .source_port = kDataPort,
                  .base_rtt = 8_us});
    senders.start(0, Instant());
  }

  // The port of the packet sent; 0: none. It waits in `data`.
  uint16_t send(Instant now) {
    if (!senders.transmit(*data, now)) return 0;
    return reading(far, *data).source_port();
  }
  void mark() {
    uint8_t* ip = data->data() + kEthernetHeader;
    replace_word(ip, 0, static_cast<uint16_t>(load_be16(ip) | kEcnCongestion));
  }
  // The packet sent last arrives; the port of its reply, which waits in `reply`.
  uint16_t deliver(Instant now) {
    receivers.on_data(reading(far, *data), now);
    return next_reply();
  }
  uint16_t next_reply() {
    if (!receivers.has_control()) return 0;
    receivers.transmit_control(*reply);
    return reading(near, *reply).source_port();
  }
  void answer(Instant now) {
    const host::Received received = reading(near, *reply);
    if (received.opcode() == RoceOpcode::cnp) return senders.on_cnp(received, now);
    senders.on_acknowledge(received, now);
  }
  void nak(uint32_t psn, Instant now) { hand_in(make_ack({}, 0, psn, {kAethNakSequence, 0}), now); }
  void ack(uint32_t psn, Instant now) {
    hand_in(make_ack({}, 0, psn, {kAethAckUnlimited, 0}), now);
  }
  void cnp(Instant now) { hand_in(make_cnp({}, 0), now); }

  void hand_in(RocePacket roce, Instant now) {
    roce.addresses = {IpAddress(kPeerAddress), IpAddress(kHostAddress)};
    std::vector<uint8_t> frame(128);
    rewrite_macs(frame.data(), kHostMac, kGatewayMac);
    store_be16(&frame[12], kEtherTypeIpv4);
    frame.resize(kEthernetHeader + encode_headers(roce, Octets(frame).subspan(kEthernetHeader)));
    pool.put(reply);
    reply = pool.get(frame, kEthernetHeader + roce_packet_length(roce));
    answer(now);
  }

  static host::Received reading(const host::Framer& framer, Packet& packet) {
    host::Received received{};
    PauseFrame pause;
    const host::Reading reading = framer.read(packet, received, pause);
    EXPECT_EQ(reading, host::Reading::roce);
    return received;
  }

  const host::NicOptions sending_options;
  const host::NicOptions receiving_options;
  const host::Framer near;
  const host::Framer far;
  host::Ledger ledger{16};
  host::Senders senders;
  host::Receivers receivers;
  PacketPool pool{2};
  Packet* data = pool.get();
  Packet* reply = pool.get();
};

host::Laws plain_laws() {
  return host::laws_of(plain_config());
}

host::Laws with_entropy(const host::EntropyInfo& info) {
  host::Laws laws = plain_laws();
  laws.entropy.law = &info;
  return laws;
}

const host::EntropyInfo kPort = host::describe_entropy<Port>("port");
const host::EntropyInfo kMoving = host::describe_entropy<Moving>("moving");
const host::PacingInfo kHolding = host::describe_pacing<Holding>("holding");
const host::RateControlInfo kSlow = host::describe_rate_control<Slow>("slow");
const host::RateControlInfo kSlowWindow = host::describe_rate_control<SlowWindow>("slow_window");
const host::RecoveryInfo kAsking = host::describe_recovery<Asking, Silent>("asking");

TEST(LawCalls, EveryPacketMayTakeAPortOfItsOwnAndItsReplyComesFromThere) {
  for (const bool icrc : {false, true}) {
    config::HostConfig config = plain_config();
    config.icrc_check = icrc;
    Ends ends(with_entropy(kPort), config);
    ends.open(100);
    EXPECT_EQ(ends.send(at(1_us)), kFirstPort);
    EXPECT_EQ(ends.deliver(at(2_us)), kFirstPort);
    ends.answer(at(3_us));
    EXPECT_EQ(ends.send(at(4_us)), kFirstPort + 1);
    ends.mark();
    EXPECT_EQ(ends.deliver(at(5_us)), kFirstPort + 1);
    ends.answer(at(9_us));
    ASSERT_EQ(told.acks.size(), 2u);
    EXPECT_EQ(told.acks[0].entropy, kFirstPort);
    EXPECT_EQ(told.acks[0].rtt, 2_us);
    EXPECT_FALSE(told.acks[0].marked);
    EXPECT_EQ(told.acks[0].packets, 1u);
    EXPECT_EQ(told.acks[1].entropy, kFirstPort + 1);
    EXPECT_EQ(told.acks[1].rtt, 5_us);
    EXPECT_TRUE(told.acks[1].marked);
    EXPECT_EQ(ends.receivers.outcome(0).out_of_order_packets, 0u);
  }
}

TEST(LawCalls, ANakComesFromThePortOfThePacketThatWasAhead) {
  Ends ends(with_entropy(kPort));
  ends.open(100);
  ends.send(at(0_us));  // lost
  ends.send(at(1_us));
  EXPECT_EQ(ends.deliver(at(2_us)), kFirstPort + 1);
  ends.answer(at(3_us));
  ASSERT_EQ(told.acks.size(), 1u);
  EXPECT_TRUE(told.acks[0].nak);
  EXPECT_EQ(told.acks[0].entropy, kFirstPort + 1);
  EXPECT_EQ(ends.senders.outcome(0).naks, 1u);
}

TEST(LawCalls, TheRoundTripOfWhatWasSentTwiceIsNotKnown) {
  Ends ends(with_entropy(kPort));
  ends.open(100);
  for (int i = 0; i < 2; ++i) ends.send(at(0_us));
  ends.nak(0, at(3_us));
  ends.send(at(4_us));
  ends.ack(0, at(5_us));
  ends.ack(1, at(6_us));  // of the first time: it was not sent again
  ends.ack(1, at(7_us));  // acknowledges nothing
  ASSERT_EQ(told.acks.size(), 4u);
  EXPECT_EQ(told.acks[0].rtt, Duration());
  EXPECT_EQ(told.acks[1].rtt, Duration());
  EXPECT_EQ(told.acks[2].rtt, 6_us);
  EXPECT_EQ(told.acks[3].rtt, Duration());
}

TEST(LawCalls, LateRepliesTellTheEntropyOfTheirPath) {
  Ends ends(with_entropy(kPort));
  ends.open(100);
  for (int i = 0; i < 5; ++i) ends.send(at(0_us));
  ends.ack(3, at(1_us));
  ends.ack(1, at(2_us));
  ASSERT_EQ(told.acks.size(), 2u);
  EXPECT_EQ(told.acks[0].packets, 4u);
  EXPECT_EQ(told.acks[1].packets, 0u);
  EXPECT_EQ(told.acks[1].rtt, Duration());
}

TEST(LawCalls, ARoundIsWhatWasInFlightAtTheEndOfTheLast) {
  config::HostConfig config = plain_config();
  config.window = true;
  config.bdp = Bytes(4 * 1'024);
  Ends ends(with_entropy(kPort), config);
  ends.open(100);
  const auto pass = [&](bool marked) {
    ends.send(at(0_us));
    if (marked) ends.mark();
    ends.deliver(at(1_us));
    ends.answer(at(2_us));
  };
  for (const bool marked : {false, true, true, false}) pass(marked);
  pass(true);  // alone in flight when the round ended: none was
  told.acks.clear();
  std::vector<std::string> rounds;
  for (const std::string& call : told.calls)
    if (call.find("round") != std::string::npos) rounds.push_back(call);
  EXPECT_THAT(rounds, ElementsAre("port.round 2/4", "port.round 1/1"));
}

TEST(LawCalls, TheFirstRoundIsABandwidthDelayProductWhereNoWindowBoundsIt) {
  config::HostConfig config = plain_config();
  config.bdp = Bytes(2 * 1'024);
  Ends ends(with_entropy(kPort), config);
  ends.open(100);
  for (int i = 0; i < 5; ++i) ends.send(at(0_us));
  ends.ack(0, at(1_us));
  EXPECT_THAT(told.calls, ElementsAre("port.ack"));
  ends.ack(1, at(1_us));
  EXPECT_THAT(told.calls, ElementsAre("port.ack", "port.round 0/2", "port.ack"));
  ends.ack(3, at(1_us));  // five were in flight
  EXPECT_EQ(told.calls.back(), "port.ack");
  ends.ack(4, at(1_us));
  EXPECT_EQ(told.calls[told.calls.size() - 2], "port.round 0/3");
}

TEST(LawCalls, TheWindowFollowsTheRateUnlessTheLawSetsIt) {
  config::HostConfig config = plain_config();
  config.window = config.variable_window = true;
  config.bdp = Bytes(8 * 1'024);
  for (const bool own : {false, true}) {
    host::Laws laws = plain_laws();
    laws.rate_control.law = own ? &kSlowWindow : &kSlow;
    Ends ends(laws, config);
    told.due = Instant::never();
    told.rate_after_trouble = 25'000'000'000;  // a quarter
    ends.open(100);
    ends.cnp(at(0_us));
    int sent = 0;
    for (Instant now = at(1_us); now < at(20_us); now = now + 1_us) sent += ends.send(now) != 0;
    EXPECT_EQ(sent, own ? 8 : 2);
  }
}

TEST(LawCalls, APortThatChangesStaysUntilTheNext) {
  Ends ends(with_entropy(kMoving));
  ends.open(100);
  EXPECT_EQ(ends.send(at(0_us)), kFirstPort);
  ends.nak(0, at(1_us));
  EXPECT_EQ(ends.send(at(1_us)), kFirstPort + 1);
  EXPECT_EQ(ends.send(at(1_us)), kFirstPort + 1);
  ends.cnp(at(2_us));
  EXPECT_EQ(ends.send(at(2_us)), kFirstPort + 2);
  ends.senders.on_timers(at(10_ms));
  EXPECT_EQ(ends.send(at(10_ms)), kFirstPort + 3);
  EXPECT_EQ(ends.deliver(at(10_ms)), kReplyPort);
}

TEST(LawCalls, APacingMayHoldPacketsAtLineRate) {
  host::Laws laws = plain_laws();
  laws.pacing.law = &kHolding;
  Ends ends(laws);
  told.hold = 3_us;
  ends.open(100);
  EXPECT_NE(ends.send(at(0_us)), 0);
  EXPECT_EQ(ends.send(at(1_us)), 0);
  EXPECT_EQ(ends.senders.next_timer(), at(3_us));
  EXPECT_EQ(ends.send(at(3_us) - 1_ps), 0);
  EXPECT_NE(ends.send(at(3_us)), 0);
  EXPECT_THAT(told.calls, ElementsAre("hold.sent 1122", "hold.sent 1106"));
  EXPECT_EQ(ends.ledger.counters[static_cast<size_t>(host::NicCounter::held_packets)], 1u);
  EXPECT_EQ(ends.ledger.counters[static_cast<size_t>(host::NicCounter::flowlets)], 2u);
}

TEST(LawCalls, AQueuePairThatWaitsLooksAgainWhenItsPaceHasChanged) {
  host::Laws laws = plain_laws();
  laws.rate_control.law = &kSlow;
  for (const std::string trouble : {"cnp", "nak", "timeout"}) {
    Ends ends(laws);
    ends.open(100);
    ends.send(at(0_us));
    told.due = at(8_ms);
    told.rate_after_trouble = 1'000'000;  // 9 ms a packet
    ends.cnp(at(0_us));
    EXPECT_EQ(ends.send(at(1_us)), 0);
    told.rate_after_trouble = 1'000'000'000;  // 9 us
    const Instant now = trouble == "timeout" ? at(4_ms) : at(2_us);
    if (trouble == "cnp") ends.cnp(now);
    if (trouble == "nak") ends.nak(0, now);
    if (trouble == "timeout") ends.senders.on_timers(now);
    EXPECT_EQ(told.calls.back(), "slow." + trouble);
    EXPECT_NE(ends.send(now + 10_us), 0) << trouble;
  }
}

TEST(LawCalls, ALawIsAskedWhenItIsDue) {
  host::Laws laws = plain_laws();
  laws.rate_control.law = &kSlow;
  Ends ends(laws);
  told.due = at(500_us);
  told.rate_after_trouble = 1'000'000;
  ends.open(100);
  ends.send(at(0_us));
  ends.cnp(at(1_us));
  EXPECT_EQ(ends.send(at(499_us)), 0);
  EXPECT_EQ(ends.senders.next_timer(), at(500_us)) << "the rate may grow then";
  EXPECT_THAT(told.calls, ElementsAre("slow.cnp"));
  EXPECT_NE(ends.send(at(500_us)), 0);
  EXPECT_THAT(told.calls, ElementsAre("slow.cnp", "slow.due"));
}

TEST(LawCalls, ARecoveryHearsOfAcksWhileItAsksForThem) {
  host::Laws laws = plain_laws();
  laws.recovery.law = &kAsking;
  Ends ends(laws);
  ends.open(100);
  for (int i = 0; i < 5; ++i) ends.send(at(0_us));
  ends.ack(0, at(1_us));
  EXPECT_THAT(told.calls, IsEmpty());
  told.repair = host::Repair::pending;
  ends.nak(1, at(2_us));
  EXPECT_NE(ends.send(at(2_us)), 0);  // packet 1
  EXPECT_EQ(ends.senders.outcome(0).retransmitted_packets, 1u);
  ends.ack(3, at(3_us));
  EXPECT_THAT(told.calls, ElementsAre("ask.ack"));
  EXPECT_EQ(told.acks[0].packets, 3u);
  ends.ack(4, at(4_us));
  EXPECT_THAT(told.calls, ElementsAre("ask.ack"));
}

TEST(LawCalls, NothingIsRepeatedOfAMessageThatIsDone) {
  host::Laws laws = plain_laws();
  laws.recovery.law = &kAsking;
  Ends ends(laws);
  ends.open(3);
  for (int i = 0; i < 3; ++i) ends.send(at(0_us));
  told.repair = host::Repair::pending;
  ends.nak(1, at(1_us));
  ends.ack(2, at(2_us));
  EXPECT_EQ(ends.send(at(3_us)), 0);
  EXPECT_EQ(ends.ledger.completions.size(), 1u);
}

TEST(LawCalls, AReceiverMayAnswerWithAnAckAndByItsTimer) {
  host::Laws laws = plain_laws();
  laws.recovery.law = &kAsking;
  Ends ends(laws);
  ends.open(100);
  ends.send(at(0_us));  // lost
  ends.send(at(0_us));
  EXPECT_EQ(ends.deliver(at(1_us)), kReplyPort);
  EXPECT_EQ(Ends::reading(ends.near, *ends.reply).psn(), kPsnMask);  // nothing in order yet
  EXPECT_EQ(Ends::reading(ends.near, *ends.reply).syndrome(), kAethAckUnlimited);
  EXPECT_EQ(ends.receivers.next_timer(), at(11_us));
  ends.receivers.on_timers(at(11_us));
  EXPECT_EQ(ends.next_reply(), kReplyPort);
  EXPECT_EQ(Ends::reading(ends.near, *ends.reply).syndrome(), kAethNakSequence);
  EXPECT_EQ(ends.receivers.next_timer(), Instant::never());
}

}  // namespace
}  // namespace eddy::test
