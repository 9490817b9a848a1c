// Programs of the packet filter: what they answer, and which are refused. The programs are what
// libpcap makes of the expressions.
#include "net/capture/packet_filter.h"

#include <gtest/gtest.h>

#include <array>
#include <vector>

#include "net/random.h"

namespace eddy {
namespace {

using Program = std::vector<FilterInstruction>;

// "udp port 4791" over Ethernet, as `tcpdump -dd` prints it.
Program udp_port_4791() {
  return {{0x28, 0, 0, 12},     {0x15, 0, 6, 0x86dd}, {0x30, 0, 0, 20},      {0x15, 0, 15, 17},
          {0x28, 0, 0, 54},     {0x15, 12, 0, 4791},  {0x28, 0, 0, 56},      {0x15, 10, 11, 4791},
          {0x15, 0, 10, 0x800}, {0x30, 0, 0, 23},     {0x15, 0, 8, 17},      {0x28, 0, 0, 20},
          {0x45, 6, 0, 0x1fff}, {0xb1, 0, 0, 14},     {0x48, 0, 0, 14},      {0x15, 2, 0, 4791},
          {0x48, 0, 0, 16},     {0x15, 0, 1, 4791},   {0x06, 0, 0, 262'144}, {0x06, 0, 0, 0}};
}

std::vector<uint8_t> udp4(uint16_t destination, uint8_t protocol = 17) {
  std::vector<uint8_t> frame(60);
  frame[12] = 0x08;
  frame[14] = 0x45;
  frame[23] = protocol;
  frame[36] = static_cast<uint8_t>(destination >> 8);
  frame[37] = static_cast<uint8_t>(destination);
  return frame;
}

PacketFilter loaded(const Program& program) {
  auto filter = PacketFilter::load(program);
  EXPECT_TRUE(filter.ok()) << filter.problems().front();
  return std::move(*filter);
}

TEST(PacketFilter, WithoutAProgramEverythingMatches) {
  EXPECT_TRUE(PacketFilter().matches({}, 0));
  EXPECT_TRUE(loaded({}).matches(udp4(1), 60));
}

TEST(PacketFilter, AnswersAsLibpcapDoes) {
  const PacketFilter filter = loaded(udp_port_4791());
  EXPECT_TRUE(filter.matches(udp4(4791), 60));
  EXPECT_FALSE(filter.matches(udp4(4790), 60));
  EXPECT_FALSE(filter.matches(udp4(4791, 6), 60));
  std::vector<uint8_t> fragment = udp4(4791);
  fragment[21] = 1;
  EXPECT_FALSE(filter.matches(fragment, 60));
  std::vector<uint8_t> six(70);
  six[12] = 0x86;
  six[13] = 0xdd;
  six[20] = 17;
  six[56] = 4791 >> 8;
  six[57] = 4791 & 0xff;
  EXPECT_TRUE(filter.matches(six, 70));
  const std::vector<uint8_t> whole = udp4(4791);
  EXPECT_FALSE(filter.matches(std::span(whole).first(36), 60)) << "cut before the port";
  EXPECT_FALSE(filter.matches({}, 60));
}

TEST(PacketFilter, ArithmeticMemoryAndLength) {
  // (wire length * 3 + 7) % 10 kept in a cell, compared by X.
  const PacketFilter filter = loaded({{0x80, 0, 0, 0},
                                      {0x24, 0, 0, 3},
                                      {0x04, 0, 0, 7},
                                      {0x94, 0, 0, 10},
                                      {0x02, 0, 0, 5},
                                      {0x61, 0, 0, 5},
                                      {0x00, 0, 0, 4},
                                      {0x1d, 0, 1, 0},
                                      {0x06, 0, 0, 1},
                                      {0x06, 0, 0, 0}});
  EXPECT_TRUE(filter.matches({}, 9));  // 34
  EXPECT_FALSE(filter.matches({}, 8));
}

// As libpcap and kernels have it: the answer is no, whatever comes behind.
TEST(PacketFilter, WhatDividesByZeroIsNotWanted) {
  for (const uint16_t divides : {uint16_t{0x3c}, uint16_t{0x9c}})
    for (const uint32_t by : {0u, 1u})
      EXPECT_EQ(loaded({{0x00, 0, 0, 9}, {0x01, 0, 0, by}, {divides, 0, 0, 0}, {0x06, 0, 0, 1}})
                    .matches({}, 1),
                by != 0);
}

TEST(PacketFilter, ProgramsThatMayNotEndOrReachElsewhereAreRefused) {
  const auto refused = [](const Program& program) { return !PacketFilter::load(program).ok(); };
  EXPECT_TRUE(refused({{0x00, 0, 0, 1}}));                   // no answer
  EXPECT_TRUE(refused({{0x05, 0, 0, 1}, {0x06, 0, 0, 1}}));  // jumps behind its end
  EXPECT_TRUE(refused({{0x05, 0, 0, 0xffffffff}, {0x06, 0, 0, 1}}));
  EXPECT_TRUE(refused({{0x15, 0, 1, 0}, {0x06, 0, 0, 1}}));
  EXPECT_TRUE(refused({{0x60, 0, 0, 16}, {0x06, 0, 0, 1}}));  // no such cell
  EXPECT_TRUE(refused({{0x02, 0, 0, 16}, {0x06, 0, 0, 1}}));
  EXPECT_TRUE(refused({{0x34, 0, 0, 0}, {0x06, 0, 0, 1}}));  // divides by 0
  EXPECT_TRUE(refused({{0xffff, 0, 0, 0}, {0x06, 0, 0, 1}}));
  EXPECT_TRUE(refused({{0xb0, 0, 0, 0}, {0x06, 0, 0, 1}}));  // MSH into A
  for (const uint16_t size : {0x08, 0x10, 0x18})             // cells are words
    for (const uint16_t load : {0x60, 0x61})
      EXPECT_TRUE(refused({{static_cast<uint16_t>(load | size), 0, 0, 0}, {0x06, 0, 0, 1}}));
  EXPECT_TRUE(refused(Program(PacketFilter::kMost + 1, {0x06, 0, 0, 1})));
}

// Whatever is loaded ends, and reads nothing beyond its frame: sanitizers watch.
TEST(PacketFilter, ProgramsOfChance) {
  RandomStream draw(5, 1, 1);
  size_t accepted = 0;
  for (int round = 0; round < 20'000; ++round) {
    Program program(1 + draw.below(12));
    for (FilterInstruction& each : program)
      each = {static_cast<uint16_t>(draw.below(256)), static_cast<uint8_t>(draw.below(4)),
              static_cast<uint8_t>(draw.below(4)),
              draw.below(2) == 0 ? draw.below(20) : draw.next()};
    program.back() = {static_cast<uint16_t>(draw.below(2) == 0 ? 0x06 : 0x16), 0, 0, draw.below(2)};
    const auto filter = PacketFilter::load(program);
    if (!filter.ok()) continue;
    ++accepted;
    const std::vector<uint8_t> frame(draw.below(30));
    (void)filter.value().matches(frame, 64);
  }
  EXPECT_GT(accepted, 200u);
}

}  // namespace
}  // namespace eddy
