#include <gtest/gtest.h>

#include "host/registry.h"
#include "tests/unit/host/one_nic.h"

namespace eddy::test {
namespace {

constexpr uint32_t kFull = 100;

// One QP of the law alone.
struct Window {
  explicit Window(const ParameterValues& given = {}, int ack_every = 1) {
    config::HostConfig config = plain_config();
    config.ack_every = ack_every;
    const host::RateControlInfo* info = host::find_law(host::rate_controls(), "mp_rdma");
    EXPECT_EQ(info->make_notifier, nullptr) << "marks come back in ACKs";
    EXPECT_TRUE(info->echoes_marks);
    law = info->make({host_options(config), given});
    state.unacked = state.next = 1'000;
    law->open(0, {Bytes(kFull * 1'024), 8_us, kFull}, state);
  }
  // Of packet `arrived`; 0: not known.
  void ack(bool marked, uint64_t arrived = 0) {
    EXPECT_FALSE(law->on_ack(0, {.packets = 1, .arrived = arrived, .marked = marked}, state));
  }
  void acks(int count, bool marked) {
    for (int i = 0; i < count; ++i) ack(marked);
  }

  std::unique_ptr<host::RateControl> law;
  host::SendState state;
};

TEST(MpRdmaWindow, BeginsWithABandwidthDelayProductAndNeverExceedsIt) {
  Window qp;
  EXPECT_EQ(qp.state.window, kFull);
  qp.acks(1'000, false);
  EXPECT_EQ(qp.state.window, kFull);
}

TEST(MpRdmaWindow, AMarkTakesHalfAPacket) {
  Window qp;
  qp.ack(true);
  EXPECT_EQ(qp.state.window, 99u) << "99.5";
  qp.ack(true);
  EXPECT_EQ(qp.state.window, 99u);
  qp.acks(18, true);
  EXPECT_EQ(qp.state.window, 90u);
}

// 1 / 50 + 1 / 50.02 + ... : 50 replies are a little less than one packet, 51 are more.
TEST(MpRdmaWindow, ARoundWithoutMarksAddsAPacket) {
  Window qp;
  qp.acks(100, true);
  EXPECT_EQ(qp.state.window, 50u);
  qp.acks(50, false);
  EXPECT_EQ(qp.state.window, 50u);
  qp.ack(false);
  EXPECT_EQ(qp.state.window, 51u);
}

TEST(MpRdmaWindow, AtLeastOnePacketOrWhatAnAckWaitsForStays) {
  Window qp;
  qp.acks(1'000, true);
  EXPECT_EQ(qp.state.window, 1u);
  Window coalesced({}, 8);
  coalesced.acks(1'000, true);
  EXPECT_EQ(coalesced.state.window, 8u);
}

TEST(MpRdmaWindow, AReplyOfAnOvertakenPacketTakesAWholeOne) {
  Window qp({{"delta", 10}});
  qp.acks(40, true);
  EXPECT_EQ(qp.state.window, 80u);
  qp.ack(false, 1'030);
  qp.ack(false, 1'020);  // ten behind
  EXPECT_EQ(qp.state.window, 80u);
  qp.ack(false, 1'019);
  EXPECT_EQ(qp.state.window, 79u);
  qp.ack(true, 1'018);
  EXPECT_EQ(qp.state.window, 78u) << "a mark on top takes no more";
}

TEST(MpRdmaWindow, TroubleLeavesItAsItIs) {
  Window qp;
  EXPECT_FALSE(qp.law->on_timeout(0, qp.state, at(1_us)));
  EXPECT_FALSE(qp.law->on_nak(0, {.nak = true}, qp.state));
  EXPECT_EQ(qp.state.window, kFull);
  EXPECT_EQ(qp.law->rate(0, at(1_us)), 100_Gbps);
}

}  // namespace
}  // namespace eddy::test
