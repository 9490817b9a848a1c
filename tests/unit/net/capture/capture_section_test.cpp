// Blocks of pcapng, octet by octet where the format says so, and what a switch says of a packet.
// That tshark reads them is in tests/e2e/capture_test.py.
#include "net/capture/capture_section.h"

#include <gtest/gtest.h>

#include <numeric>

namespace eddy {
namespace {

uint32_t word_at(const std::vector<uint8_t>& octets, size_t at) {
  uint32_t word = 0;
  std::memcpy(&word, octets.data() + at, sizeof word);
  return word;
}

struct Block {
  uint32_t type;
  std::vector<uint8_t> body;
};

// Each says its length twice.
std::vector<Block> blocks_of(const std::vector<uint8_t>& file) {
  std::vector<Block> blocks;
  for (size_t at = 0; at < file.size();) {
    const uint32_t length = word_at(file, at + 4);
    EXPECT_EQ(length % 4, 0u);
    EXPECT_EQ(word_at(file, at + length - 4), length);
    blocks.push_back({word_at(file, at),
                      {file.begin() + static_cast<std::ptrdiff_t>(at + 8),
                       file.begin() + static_cast<std::ptrdiff_t>(at + length - 4)}});
    at += length;
  }
  return blocks;
}

// The value of the option in the options that begin at `at`; empty: it is not there.
std::string option_of(const Block& block, size_t at, uint16_t code) {
  while (at + 4 <= block.body.size()) {
    const uint32_t head = word_at(block.body, at);
    const size_t length = head >> 16;
    if ((head & 0xffff) == code)
      return {block.body.begin() + static_cast<std::ptrdiff_t>(at + 4),
              block.body.begin() + static_cast<std::ptrdiff_t>(at + 4 + length)};
    at += 4 + (length + 3) / 4 * 4;
  }
  return "";
}

uint64_t number_of(const std::string& octets) {
  uint64_t value = 0;
  std::memcpy(&value, octets.data(), std::min(octets.size(), sizeof value));
  return value;
}

struct Section {
  std::vector<uint8_t> out;
  CaptureSection section{out,
                         {.application = "test",
                          .owner = "leaf1",
                          .ports = {{"h1", 10'000'000'000}, {"spine1", 0}},
                          .reasons = {"runt", "no_route"}}};
  std::vector<uint8_t> frame = std::vector<uint8_t>(61, 0xab);

  std::vector<Block> add(const CaptureRecord& record, uint32_t snap = 9'216) {
    out.clear();
    CaptureRecord head = record;
    head.captured = static_cast<uint16_t>(frame.size());
    EXPECT_TRUE(section.add({head, frame}, snap));
    return blocks_of(out);
  }
  std::string comment(const CaptureRecord& record) {
    const std::vector<Block> blocks = add(record);
    return option_of(blocks.at(0), 20 + 64, 1);
  }
};

TEST(CaptureSection, BeginsWithAnInterfaceAPort) {
  Section rig;
  rig.section.begin(128, 5);
  const std::vector<Block> blocks = blocks_of(rig.out);
  ASSERT_EQ(blocks.size(), 3u);
  EXPECT_EQ(blocks[0].type, 0x0a0d0d0au);
  EXPECT_EQ(word_at(blocks[0].body, 0), 0x1a2b3c4du);
  EXPECT_EQ(option_of(blocks[0], 16, 4), "test");
  EXPECT_EQ(blocks[1].type, 1u);
  EXPECT_EQ(word_at(blocks[1].body, 0), 1u);    // Ethernet
  EXPECT_EQ(word_at(blocks[1].body, 4), 128u);  // snap
  EXPECT_EQ(option_of(blocks[1], 8, 2), "h1");
  EXPECT_EQ(number_of(option_of(blocks[1], 8, 8)), 10'000'000'000u);
  EXPECT_EQ(option_of(blocks[1], 8, 9), std::string(1, '\x09'));  // nanoseconds
  EXPECT_EQ(option_of(blocks[2], 8, 2), "spine1");
  EXPECT_EQ(option_of(blocks[2], 8, 8), "");
}

TEST(CaptureSection, APacketAndWhatIsSaidOfIt) {
  Section rig;
  const std::vector<Block> blocks = rig.add({.wire_len = 1'500,
                                             .stamp_ns = 0x1'2345'6789,
                                             .port = 1,
                                             .from = 0,
                                             .direction = CaptureDirection::out,
                                             .queue = 3,
                                             .pg = 4,
                                             .decisions = kCaptureRerouted | kCaptureRecirculated,
                                             .rounds = 2});
  ASSERT_EQ(blocks.size(), 1u);
  const Block& packet = blocks[0];
  EXPECT_EQ(packet.type, 6u);
  EXPECT_EQ(word_at(packet.body, 0), 1u);
  EXPECT_EQ(word_at(packet.body, 4), 1u);           // high word of the stamp
  EXPECT_EQ(word_at(packet.body, 8), 0x23456789u);  // low word
  EXPECT_EQ(word_at(packet.body, 12), 61u);
  EXPECT_EQ(word_at(packet.body, 16), 1'500u);
  EXPECT_EQ(packet.body[20 + 60], 0xab);
  EXPECT_EQ(packet.body[20 + 61], 0);  // padding
  EXPECT_EQ(option_of(packet, 84, 1),
            "eddy dir=out port=spine1 queue=3 pg=4 from=h1 rlb=rerouted+recirculated rounds=2");
  EXPECT_EQ(number_of(option_of(packet, 84, 2)), 2u);  // outbound
}

TEST(CaptureSection, LeavesOutWhatIsNotKnown) {
  Section rig;
  EXPECT_EQ(rig.comment({.port = 0}), "eddy dir=in port=h1");
  EXPECT_EQ(rig.comment({.direction = CaptureDirection::drop, .reason = 1}),
            "eddy dir=drop port=h1 reason=no_route");
  EXPECT_EQ(rig.comment({.direction = CaptureDirection::drop, .reason = 77}),
            "eddy dir=drop port=h1 reason=77");  // of a newer switch
}

TEST(CaptureSection, CutsToTheSnapLength) {
  Section rig;
  const std::vector<Block> blocks = rig.add({.wire_len = 61}, 14);
  EXPECT_EQ(word_at(blocks.at(0).body, 12), 14u);
  EXPECT_EQ(word_at(blocks.at(0).body, 16), 61u);
}

TEST(CaptureSection, RefusesAPortThatIsNone) {
  Section rig;
  EXPECT_FALSE(rig.section.add({{.port = 2}, {}}, 9'216));
  EXPECT_TRUE(rig.out.empty());
  EXPECT_EQ(rig.section.written(), 0u);
}

TEST(CaptureSection, LossesAreSaidOnceInAPacketAndInTheEnd) {
  Section rig;
  rig.section.begin(128, 5);
  rig.add({.port = 0});
  rig.section.set_lost(0, 7);
  EXPECT_EQ(number_of(option_of(rig.add({.port = 0}).at(0), 84, 4)), 7u);
  EXPECT_EQ(option_of(rig.add({.port = 0}).at(0), 84, 4), "");
  rig.section.set_lost(0, 9);
  rig.section.skip(0);
  rig.out.clear();
  rig.section.end(1'000);
  const std::vector<Block> blocks = blocks_of(rig.out);
  ASSERT_EQ(blocks.size(), 2u);
  EXPECT_EQ(blocks[0].type, 5u);
  EXPECT_EQ(number_of(option_of(blocks[0], 12, 4)), 13u);  // 3 written, 1 skipped, 9 lost
  EXPECT_EQ(number_of(option_of(blocks[0], 12, 5)), 9u);
  EXPECT_EQ(number_of(option_of(blocks[0], 12, 6)), 3u);
  EXPECT_EQ(number_of(option_of(blocks[1], 12, 4)), 0u);
  EXPECT_EQ(rig.section.lost(), 9u);
}

}  // namespace
}  // namespace eddy
