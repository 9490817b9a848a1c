#include "net/congestion/cim.h"

#include <gtest/gtest.h>

#include <array>

namespace eddy {
namespace {

constexpr Cim kHot = {.kind = CimKind::hot,
                      .hops_left = 2,
                      .priority = Priority(3),
                      .origin = SwitchId(7),
                      .leaf = LeafId(9),
                      .tag = 0x12345678,
                      .sequence = 0xffff'fffe,
                      .expiry_ns = 40'000,
                      .crossed_ns = 5,
                      .queue_bytes = 61'000};

TEST(Cim, IsDecodedAsItWasEncoded) {
  std::array<uint8_t, kCimMessage> octets{};
  for (const CimKind kind : {CimKind::hot, CimKind::cold, CimKind::hello}) {
    Cim message = kHot;
    message.kind = kind;
    if (kind == CimKind::hello) message.tag = 0;
    ASSERT_EQ(encode(message, octets), kCimMessage);
    Cim decoded;
    ASSERT_EQ(decode(octets, decoded), CodecVerdict::ok);
    EXPECT_EQ(decoded, message);
  }
}

TEST(Cim, RefusesWhatItIsNot) {
  std::array<uint8_t, kCimMessage> good{};
  encode(kHot, good);
  Cim decoded;
  EXPECT_EQ(decode(ConstOctets(good).first(kCimMessage - 1), decoded), CodecVerdict::truncated);
  struct Change {
    size_t at;
    uint8_t to;
    CodecVerdict verdict;
  };
  const Change changes[] = {{0, 0x21, CodecVerdict::bad_version},
                            {0, 0x01, CodecVerdict::bad_version},
                            {0, 0x13, CodecVerdict::bad_value},
                            {0, 0x10, CodecVerdict::bad_value},  // a hello that names a host
                            {2, 8, CodecVerdict::bad_value}};
  for (const Change& change : changes) {
    std::array<uint8_t, kCimMessage> bad = good;
    bad[change.at] = change.to;
    EXPECT_EQ(decode(bad, decoded), change.verdict) << change.at;
  }
}

}  // namespace
}  // namespace eddy
