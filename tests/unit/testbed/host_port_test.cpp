#include "testbed/host_port.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "net/arp.h"
#include "net/byte_order.h"
#include "net/ethernet.h"
#include "net/pause_frame.h"
#include "net/protocols.h"
#include "net/roce.h"
#include "tests/unit/testbed/test_wire.h"

namespace eddy::testbed {
namespace {

using namespace eddy::literals;
using test::PacketPool;
using test::TestWire;

constexpr int kPayload = 1'024;
// WRITE middle on the line: Ethernet, IPv4, UDP, BTH, payload, ICRC, and what a line adds.
constexpr int64_t kLineOctets = 14 + 20 + 8 + 12 + kPayload + 4 + 24;
constexpr MacAddress kMacs[2] = {{{2, 0xaa, 0, 1, 0, 1}}, {{2, 0xaa, 0, 1, 0, 2}}};
constexpr Ipv4Address kAddresses[2] = {{0x0a000101}, {0x0a000102}};

Instant us(int64_t n) {
  return Instant::at(Duration::microseconds(n));
}

HostPortOptions options_of(size_t host) {
  HostPortOptions options;
  options.nic.config.congestion_control = "none";
  options.nic.config.window = false;
  options.nic.mac = kMacs[host];
  options.nic.gateway = kMacs[1 - host];
  options.nic.address = kAddresses[host];
  options.nic.speed = BitRate::mbps(1'000);
  options.nic.senders = options.nic.receivers = 8;
  return options;
}

// Two hosts on one cable, a flow from the first to the second.
struct Pair {
  explicit Pair(HostPortOptions first = options_of(0), HostPortOptions second = options_of(1))
      : pool(4'096),
        wires{TestWire(pool), TestWire(pool)},
        a(first, wires[0]),
        b(second, wires[1]) {
    wires[0].join(wires[1]);
  }
  void begin(int64_t packets, Instant at) {
    const Bytes size(packets * kPayload);
    const uint32_t receiver = b.nic().expect(
        {.size = size, .source = kAddresses[0], .source_qpn = 0, .source_port = 50'000});
    const uint32_t sender = a.nic().open({.size = size,
                                          .destination = kAddresses[1],
                                          .destination_qpn = receiver,
                                          .source_port = 50'000,
                                          .base_rtt = Duration::microseconds(20)});
    a.start(sender, at);
  }
  void poll(Instant now) {
    a.poll(now);
    b.poll(now);
  }
  uint64_t delivered() const { return b.nic().counter(host::NicCounter::rx_data_packets); }

  PacketPool pool;
  TestWire wires[2];
  HostPort a;
  HostPort b;
};

Duration line_time(int64_t frames) {
  return LineRate(BitRate::mbps(1'000)).time_of(Bytes(kLineOctets)) * frames;
}

TEST(HostPort, AFrameIsHandedOverWhenItsLastBitHasLeft) {
  Pair pair;
  pair.begin(1, us(10));
  const Duration line = LineRate(BitRate::mbps(1'000)).time_of(Bytes(kLineOctets + 16));  // RETH
  const Instant end = us(10) + line;
  pair.poll(us(10));
  EXPECT_EQ(pair.a.next_deadline(), end);
  pair.poll(end - 1_ps);
  EXPECT_EQ(pair.delivered(), 0u);
  pair.poll(end);
  EXPECT_EQ(pair.delivered(), 1u);
}

TEST(HostPort, TheDelayOfTheLinkPassesInBothDirections) {
  HostPortOptions first = options_of(0);
  first.delay = 5_us;
  Pair pair(first);
  pair.begin(1, us(0));
  pair.poll(us(0));
  const Duration line = LineRate(BitRate::mbps(1'000)).time_of(Bytes(kLineOctets + 16));
  pair.poll(us(0) + line + 5_us - 1_ps);
  EXPECT_EQ(pair.delivered(), 0u);
  const Instant there = us(0) + line + 5_us;
  pair.poll(there);
  EXPECT_EQ(pair.delivered(), 1u);
  for (Instant now = there; now < there + 10_us; now = now + 100_ns) pair.poll(now);
  EXPECT_EQ(pair.a.nic().counter(host::NicCounter::rx_ack_packets), 1u);
  // The ACK took its own line time, then waited for the delay at this end.
  ASSERT_EQ(pair.a.nic().completions().size(), 1u);
  EXPECT_GE(pair.a.nic().completions()[0].at, there + 5_us);
}

TEST(HostPort, LatePollsCostNoThroughput) {
  constexpr int64_t kFrames = 500;
  HostPortOptions first = options_of(0);
  first.catch_up = 1_ms;
  Pair pair(first);
  pair.begin(kFrames, us(0));
  // The line needs 4.4 ms; 8.8 us a frame, and a poll every 300.
  for (int64_t at = 0; us(at) < us(0) + line_time(kFrames) + 600_us; at += 300) pair.poll(us(at));
  EXPECT_EQ(pair.delivered(), static_cast<uint64_t>(kFrames));
}

TEST(HostPort, TheLineMakesUpForNoMoreLatenessThanItMay) {
  HostPortOptions first = options_of(0);
  first.catch_up = 100_us;
  Pair pair(first);
  pair.begin(1'000, us(0));
  pair.poll(us(1));
  pair.poll(us(3'000));  // three milliseconds asleep
  const auto most = static_cast<uint64_t>(100_us / line_time(1)) + 2;
  EXPECT_LE(pair.delivered(), most);
  EXPECT_GE(pair.delivered(), most - 4);
}

TEST(HostPort, NeverSendsMoreThanItsLineCarries) {
  HostPortOptions first = options_of(0);
  first.catch_up = 50_us;
  Pair pair(first);
  pair.begin(2'000, us(0));
  uint64_t state = 7;
  for (Instant now = us(0); now < us(4'000);) {
    state = state * 6'364'136'223'846'793'005u + 1;
    now = now + Duration::nanoseconds(static_cast<int64_t>(state >> 33) % 40'000);
    pair.poll(now);
    EXPECT_LE(line_time(static_cast<int64_t>(pair.delivered())), now.since_zero());
  }
  EXPECT_GT(pair.delivered(), 400u);
}

TEST(HostPort, ObeysAPauseAndGoesOnAfterwards) {
  Pair pair;
  pair.begin(100, us(0));
  for (int64_t at = 0; at < 100; ++at) pair.poll(us(at));
  const uint64_t before = pair.delivered();
  std::array<uint8_t, 64> frame{};
  PauseFrame pause;
  pause.source = kMacs[1];
  pause.set(Priority(3), 65'535);
  const size_t length = encode(pause, frame);
  pair.wires[0].put(std::span(frame).first(length));
  pair.poll(us(100));
  EXPECT_TRUE(pair.a.nic().paused(Priority(3), us(101)));
  for (int64_t at = 100; at < 400; ++at) pair.poll(us(at));
  EXPECT_LE(pair.delivered(), before + 2);  // what was on the line when it came
  EXPECT_EQ(pair.a.nic().counter(host::NicCounter::rx_pfc_packets), 1u);
  pause.set(Priority(3), 0);
  pair.wires[0].put(std::span(frame).first(encode(pause, frame)));
  for (int64_t at = 400; at < 1'500; ++at) pair.poll(us(at));
  EXPECT_EQ(pair.delivered(), 100u);
}

TEST(HostPort, AFrameThatIsLostIsSentAgain) {
  Pair pair;
  pair.wires[0].lose = [lost = false](Packet& frame) mutable {
    return frame.wire_len > 1'000 && !std::exchange(lost, true);
  };
  pair.begin(10, us(0));
  for (int64_t at = 0; at < 20'000; at += 5) pair.poll(us(at));
  EXPECT_EQ(pair.b.nic().outcome_of_receiver(0).delivered_bytes, 10u * kPayload);
  EXPECT_GT(pair.a.nic().counter(host::NicCounter::retransmitted_packets), 0u);
  EXPECT_EQ(pair.a.nic().completions().size(), 1u);
}

TEST(HostPort, WhatTheWireRefusesStaysInOrder) {
  Pair pair;
  pair.begin(50, us(0));
  for (int64_t at = 0; at < 2'000; ++at) {
    pair.wires[0].room = at % 100 == 0 ? 1 : 0;
    if (at > 1'000) pair.wires[0].room = SIZE_MAX;
    pair.poll(us(at));
  }
  EXPECT_EQ(pair.delivered(), 50u);
  EXPECT_EQ(pair.b.nic().outcome_of_receiver(0).out_of_order_packets, 0u);
  EXPECT_GT(pair.a.counter(HostPortCounter::host_tx_refused), 0u);
}

TEST(HostPort, WithoutBuffersItWaitsForThem) {
  PacketPool few(2);
  PacketPool peer(256);
  TestWire here(few);
  HostPort port(options_of(0), here);
  here.room = 0;  // the two frames stay where they are
  const uint32_t qpn = port.nic().open({.size = Bytes(50 * kPayload),
                                        .destination = kAddresses[1],
                                        .destination_qpn = 0,
                                        .source_port = 50'000,
                                        .base_rtt = 20_us});
  port.start(qpn, us(0));
  for (int64_t at = 0; at < 200; ++at) port.poll(us(at));
  EXPECT_EQ(port.nic().counter(host::NicCounter::tx_data_packets), 2u);
  EXPECT_GT(port.counter(HostPortCounter::host_blank_missing), 0u);
  EXPECT_GT(port.next_deadline(), us(199));  // it does not spin for them
  here.room = SIZE_MAX;
  for (int64_t at = 200; at < 1'000; ++at) port.poll(us(at));
  EXPECT_EQ(here.sent.size(), 50u);
}

TEST(HostPort, FramesAreWholeAndTheirPayloadIsZero) {
  PacketPool pool(64);
  TestWire wire(pool);
  HostPort port(options_of(0), wire);
  const uint32_t qpn = port.nic().open({.size = Bytes(3 * kPayload),
                                        .destination = kAddresses[1],
                                        .destination_qpn = 0,
                                        .source_port = 50'000,
                                        .base_rtt = 20_us});
  port.start(qpn, us(0));
  for (int64_t at = 0; at < 200; ++at) port.poll(us(at));
  ASSERT_EQ(wire.sent.size(), 3u);
  for (size_t i = 0; i < 3; ++i) {
    const std::vector<uint8_t>& frame = wire.sent[i];
    const size_t headers = 14 + 20 + 8 + 12 + (i == 0 ? 16 : 0);
    ASSERT_EQ(frame.size(), headers + kPayload + 4);
    EXPECT_EQ(load_be16(frame.data() + 16) + 14u, frame.size());
    EXPECT_TRUE(std::all_of(frame.begin() + static_cast<ptrdiff_t>(headers), frame.end(),
                            [](uint8_t octet) { return octet == 0; }))
        << i;
  }
}

TEST(HostPort, WithIcrcEveryFrameCarriesAValidOneAtItsEnd) {
  HostPortOptions first = options_of(0);
  HostPortOptions second = options_of(1);
  first.nic.config.icrc_check = second.nic.config.icrc_check = true;
  Pair pair(first, second);
  size_t checked = 0;
  for (TestWire& wire : pair.wires)
    wire.lose = [&](Packet& frame) {
      EXPECT_TRUE(icrc_ok(ConstOctets(frame.data(), frame.data_len()).subspan(14)));
      return ++checked == 0;
    };
  pair.begin(20, us(0));
  for (int64_t at = 0; at < 1'000; ++at) pair.poll(us(at));
  EXPECT_EQ(pair.a.nic().completions().size(), 1u);
  EXPECT_EQ(checked, 40u);
  EXPECT_EQ(pair.b.nic().counter(host::NicCounter::malformed_packets), 0u);
}

std::vector<uint8_t> arp_request(Ipv4Address target) {
  std::vector<uint8_t> frame(60);
  rewrite_macs(frame.data(), {{0xff, 0xff, 0xff, 0xff, 0xff, 0xff}}, kMacs[1]);
  store_be16(frame.data() + 12, kEtherTypeArp);
  encode(ArpMessage{.sender_mac = kMacs[1], .sender_ip = kAddresses[1], .target_ip = target},
         Octets(frame).subspan(14));
  return frame;
}

TEST(HostPort, AnswersArpForItsAddress) {
  PacketPool pool(64);
  TestWire wire(pool);
  HostPort port(options_of(0), wire);
  wire.put(arp_request(kAddresses[0]));
  port.poll(us(1));
  port.poll(us(10));
  ASSERT_EQ(wire.sent.size(), 1u);
  const std::vector<uint8_t>& reply = wire.sent.front();
  EXPECT_EQ(load_mac(reply.data()), kMacs[1]);
  EXPECT_EQ(load_mac(reply.data() + 6), kMacs[0]);
  ArpMessage said;
  ASSERT_EQ(decode(ConstOctets(reply).subspan(14), said), CodecVerdict::ok);
  EXPECT_EQ(said, (ArpMessage{.operation = ArpOperation::reply,
                              .sender_mac = kMacs[0],
                              .sender_ip = kAddresses[0],
                              .target_mac = kMacs[1],
                              .target_ip = kAddresses[1]}));
  EXPECT_EQ(port.counter(HostPortCounter::host_arp_replies), 1u);
  EXPECT_EQ(port.nic().counter(host::NicCounter::malformed_packets), 0u);
}

TEST(HostPort, AnnouncesItselfThreeTimesBeforeItIsReady) {
  PacketPool pool(64);
  TestWire wire(pool);
  HostPortOptions options = options_of(0);
  options.announce = true;
  HostPort port(options, wire);
  EXPECT_FALSE(port.announced());
  for (int64_t at = 0; at < 300'000; at += 10) port.poll(us(at));
  EXPECT_FALSE(port.announced()) << "the last one has yet to be heard";
  EXPECT_LE(port.next_deadline(), us(300'000));
  for (int64_t at = 300'000; at < 1'000'000; at += 10) port.poll(us(at));
  EXPECT_TRUE(port.announced());
  ASSERT_EQ(wire.sent.size(), 3u);
  EXPECT_EQ(port.counter(HostPortCounter::host_arp_announcements), 3u);
  for (const std::vector<uint8_t>& frame : wire.sent) {
    EXPECT_EQ(load_mac(frame.data()), MacAddress::broadcast());
    ArpMessage said;
    ASSERT_EQ(decode(ConstOctets(frame).subspan(14), said), CodecVerdict::ok);
    EXPECT_EQ(said, (ArpMessage{.operation = ArpOperation::request,
                                .sender_mac = kMacs[0],
                                .sender_ip = kAddresses[0],
                                .target_mac = {},
                                .target_ip = kAddresses[0]}));
  }
  EXPECT_TRUE(HostPort(options_of(0), wire).announced()) << "there is nothing to announce";
}

TEST(HostPort, IsSilentWhenAnotherIsAskedFor) {
  PacketPool pool(64);
  TestWire wire(pool);
  HostPort port(options_of(0), wire);
  wire.put(arp_request(Ipv4Address{0x0a000199}));
  std::vector<uint8_t> reply = arp_request(kAddresses[0]);
  reply[21] = 2;  // somebody's answer
  wire.put(reply);
  std::vector<uint8_t> cut = arp_request(kAddresses[0]);
  cut.resize(30);
  wire.put(cut);
  for (int64_t at = 0; at < 20; ++at) port.poll(us(at));
  EXPECT_TRUE(wire.sent.empty());
  EXPECT_EQ(port.counter(HostPortCounter::host_arp_requests), 0u);
}

TEST(HostPort, GivesEveryBufferBack) {
  PacketPool pool(4'096);
  TestWire wire(pool);
  {
    HostPortOptions options = options_of(0);
    options.delay = 50_us;
    HostPort port(options, wire);
    const uint32_t qpn = port.nic().open({.size = Bytes(500 * kPayload),
                                          .destination = kAddresses[1],
                                          .destination_qpn = 0,
                                          .source_port = 50'000,
                                          .base_rtt = 20_us});
    port.start(qpn, us(0));
    wire.put(arp_request(kAddresses[0]));
    for (int64_t at = 0; at < 40; ++at) port.poll(us(at));
    EXPECT_GT(wire.held, 0u);
  }
  EXPECT_EQ(wire.held, 0u);
  EXPECT_EQ(pool.available(), 4'096u);
}

}  // namespace
}  // namespace eddy::testbed
