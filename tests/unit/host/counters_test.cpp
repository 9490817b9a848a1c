// Every counter of a NIC and of its queue pairs, in a life that touches each of them.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <map>
#include <string>

#include "tests/unit/host/one_nic.h"

namespace eddy::test {
namespace {

using testing::ElementsAre;

// Octets without FCS: data packets, the first of a message with its RETH, ACK or NAK, CNP, PFC.
constexpr uint64_t kData = 14 + 20 + 8 + 12 + 1'024 + 4;
constexpr uint64_t kFirst = kData + 16;
constexpr uint64_t kAck = 14 + 20 + 8 + 12 + 4 + 4;
constexpr uint64_t kCnp = 14 + 20 + 8 + 12 + 16 + 4;
constexpr uint64_t kPfc = 60;

host::NicOptions small_backlog() {
  config::HostConfig config = plain_config();
  config.congestion_control = "dcqcn";
  config.dcqcn.cnp_interval = 0_us;
  host::NicOptions options = host_options(config);
  options.control_backlog = 3;
  return options;
}

std::map<std::string, uint64_t> counted(const host::Nic& nic) {
  std::map<std::string, uint64_t> counters;
  for (size_t i = 0; i < static_cast<size_t>(host::NicCounter::kCount); ++i)
    counters[std::string(host::nic_counter_infos()[i].name)] =
        nic.counter(static_cast<host::NicCounter>(i));
  return counters;
}

// Four packets, of which one is asked for again, one is lost and timed out; the rate is cut.
void send_four(OneNic& one) {
  const uint32_t qpn = one.send(4);
  for (const uint32_t psn : {0u, 1u, 2u})
    EXPECT_THAT(one.transmit_data(at(10_us * (psn + 1)), 1), ElementsAre(psn));
  one.cnp(qpn, at(31_us));
  one.nak(qpn, 1, at(32_us));
  for (const uint32_t psn : {1u, 2u, 3u})
    EXPECT_THAT(one.transmit_data(at(40_us + 10_us * psn), 1), ElementsAre(psn));
  one.ack(qpn, 2, at(71_us));
  one.ack(qpn, 9, at(72_us));  // never sent
  one.nic.on_timers(at(4'071_us));
  EXPECT_THAT(one.transmit_data(at(4'071_us), 1), ElementsAre(3));
  one.ack(qpn, 3, at(4'080_us));
  const host::SendOutcome& outcome = one.nic.outcome_of_sender(qpn);
  EXPECT_EQ(outcome.sent_packets, 7u);
  EXPECT_EQ(outcome.retransmitted_packets, 3u);
  EXPECT_EQ(outcome.retransmitted_bytes, 3u * 1'024);
  EXPECT_EQ(outcome.naks, 1u);
  EXPECT_EQ(outcome.timeouts, 1u);
  EXPECT_EQ(outcome.cnps, 1u);
}

// Three packets: one marked, two in the wrong order, one doubled; two replies find no room.
void receive_three(OneNic& one) {
  const uint32_t qpn = one.expect(3);
  one.data(qpn, 0, at(5_ms), kEcnCongestion);
  one.data(qpn, 2, at(5_ms));
  one.data(qpn, 1, at(5_ms));
  one.data(qpn, 1, at(5_ms));
  EXPECT_THAT(one.replies(at(5_ms)), ElementsAre("C", "A0", "N1"));
  const host::ReceiveOutcome& outcome = one.nic.outcome_of_receiver(qpn);
  EXPECT_EQ(outcome.received_packets, 4u);
  EXPECT_EQ(outcome.delivered_bytes, 2u * 1'024);
  EXPECT_EQ(outcome.out_of_order_packets, 1u);
  EXPECT_EQ(outcome.duplicate_packets, 1u);
  EXPECT_EQ(outcome.ecn_marked_packets, 1u);
  EXPECT_EQ(outcome.max_ood, 1u);
}

// For queue pairs that there are not, a packet of the wrong length, and a pause.
void receive_what_is_wrong(OneNic& one) {
  one.data(/*qpn=*/77, 1, at(6_ms));
  one.cnp(/*qpn=*/77, at(6_ms));
  RocePacket shorter = one.data_packet(/*qpn=*/0, 2);
  shorter.payload_len = 512;
  one.receive(shorter, at(6_ms));
  one.pause(Priority(3), 100, at(6_ms));
}

TEST(NicCounters, EachCountsWhatItSays) {
  OneNic one(small_backlog());
  send_four(one);
  receive_three(one);
  receive_what_is_wrong(one);
  const std::map<std::string, uint64_t> expected = {
      {"rx_packets", 5 + 4 + 4},
      {"rx_bytes", (kCnp + 4 * kAck) + (kFirst + 3 * kData) + (kData + kCnp + kData - 512 + kPfc)},
      {"tx_packets", 7 + 3},
      {"tx_bytes", kFirst + 6 * kData + kCnp + 2 * kAck},
      {"rx_data_packets", 4},
      {"rx_ack_packets", 3},
      {"rx_nak_packets", 1},
      {"rx_cnp_packets", 1},
      {"rx_pfc_packets", 1},
      {"tx_data_packets", 7},
      {"tx_ack_packets", 1},
      {"tx_nak_packets", 1},
      {"tx_cnp_packets", 1},
      {"retransmitted_packets", 3},
      {"timeouts", 1},
      {"control_backlog_drops", 2},
      {"malformed_packets", 1},
      {"not_for_us_packets", 2},
      {"invalid_ack_packets", 1},
      {"held_packets", 0},  // of pacings that hold: law_calls_test.cpp
      {"flowlets", 0},
      {"rx_flow_stop_packets", 0},  // stop_test.cpp
      {"flow_stopped_ns", 0},
      {"flow_drains", 0},  // entropy/flowcut_test.cpp
  };
  EXPECT_EQ(counted(one.nic), expected);
}

}  // namespace
}  // namespace eddy::test
