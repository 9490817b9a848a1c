#include <gtest/gtest.h>

#include "host/registry.h"
#include "tests/unit/host/one_nic.h"

namespace eddy::test {
namespace {

TEST(PacingByRate, TheGapIsTheLastPacketAtTheRate) {
  const host::NicOptions options = host_options(plain_config());
  const host::PacingInfo* info = host::find_law(host::pacings(), "by_rate");
  ASSERT_NE(info, nullptr);
  EXPECT_FALSE(info->always);
  const auto pacing = info->make({options, {}});
  host::Pace pace;
  pace.last_start = at(3_us);
  pace.last_line_octets = 1'250;
  pace.rate_bps = 10'000'000'000;  // 10,000 bits: 1 us
  EXPECT_EQ(pacing->next_send(0, pace, {}, at(3_us)), at(4_us));
  pace.rate_bps = 3'000'000'000;
  EXPECT_EQ(pacing->next_send(7, pace, {}, at(9_us)), at(3_us + 3'333'333_ps));
}

}  // namespace
}  // namespace eddy::test
