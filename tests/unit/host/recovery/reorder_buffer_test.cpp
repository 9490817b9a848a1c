#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/unit/host/one_nic.h"

namespace eddy::test {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

config::HostConfig reorder_buffer() {
  config::HostConfig config = plain_config();
  config.reorder_buffer = true;
  config.reorder_timeout = 500_us;
  return config;
}

TEST(ReorderBuffer, KeepsInSilence) {
  OneNic one(reorder_buffer());
  const uint32_t qpn = one.expect(100);
  for (int64_t i : {0, 2, 3, 2}) one.data(qpn, i, at(1_us));
  EXPECT_THAT(one.replies(at(1_us)), ElementsAre("A0"));
  EXPECT_EQ(one.nic.next_deadline(), at(501_us));
  one.data(qpn, 1, at(2_us));
  EXPECT_THAT(one.replies(at(2_us)), ElementsAre("A3"));
  EXPECT_EQ(one.nic.next_deadline(), Instant::never());
  EXPECT_EQ(one.nic.outcome_of_receiver(qpn).delivered_bytes, 4u * 1'024);
  EXPECT_EQ(one.nic.outcome_of_receiver(qpn).duplicate_packets, 1u);
}

TEST(ReorderBuffer, AGapThatStaysIsALossAfterTheTimeout) {
  OneNic one(reorder_buffer());
  const uint32_t qpn = one.expect(100);
  for (int64_t i : {1, 3}) one.data(qpn, i, at(1_us));
  one.nic.on_timers(at(501_us - 1_ps));
  EXPECT_THAT(one.replies(at(501_us)), IsEmpty());
  one.nic.on_timers(at(501_us));
  EXPECT_THAT(one.replies(at(501_us)), ElementsAre("N0"));
  EXPECT_EQ(one.nic.next_deadline(), at(1'001_us));
  one.data(qpn, 0, at(600_us));  // 1 was kept; the gap before 3 is a new one
  EXPECT_THAT(one.replies(at(600_us)), ElementsAre("A1"));
  EXPECT_EQ(one.nic.next_deadline(), at(1'100_us));
}

TEST(ReorderBuffer, WithoutATimeoutNobodyIsAsked) {
  config::HostConfig config = reorder_buffer();
  config.reorder_timeout = Duration{};
  OneNic one(config);
  const uint32_t qpn = one.expect(100);
  one.data(qpn, 1, at(1_us));
  EXPECT_EQ(one.nic.next_deadline(), Instant::never());
  EXPECT_THAT(one.replies(at(1_us)), IsEmpty());
}

TEST(ReorderBuffer, WhatDoesNotFitIsDroppedAndNamed) {
  host::NicOptions options = host_options(reorder_buffer());
  options.reorder_packets = 64;
  OneNic one(options);
  const uint32_t qpn = one.expect(100);
  for (int64_t i : {64, 65}) one.data(qpn, i, at(0_us));
  EXPECT_THAT(one.replies(at(0_us)), ElementsAre("N0"));
  EXPECT_EQ(one.nic.outcome_of_receiver(qpn).delivered_bytes, 0u);
}

}  // namespace
}  // namespace eddy::test
