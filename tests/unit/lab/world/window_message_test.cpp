#include "lab/world/window_message.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstring>

#include "lab/world/message.h"
#include "lab/world/packet_pool.h"

namespace eddy::lab {
namespace {

using namespace eddy::literals;
using testing::ElementsAre;
using testing::HasSubstr;

constexpr uint64_t kNumber = 17;
const Told kTold{.next = Instant() + 3_us,
                 .now = Instant() + 2_us,
                 .action = Instant() + 5_ms,
                 .awaited = 12,
                 .unended = 345,
                 .stopped = true,
                 .ends = {{.item = 3, .flows = 5, .last = Instant() + 1_us}}};

// Two frames.
Message some_message() {
  PacketPool pool(2);
  Message message;
  begin_window(message);
  for (const uint8_t length : {64, 98}) {
    Packet* packet = pool.get();
    std::memset(packet->data(), length, length);
    packet->held_len = length;
    packet->wire_len = 1'000U + length;
    packet->flags = kPacketFreeShim;
    add_frame(message, Instant() + Duration::microseconds(length), 70'000U + length, *packet);
  }
  finish_window(message, kNumber, 2, kTold);
  return message;
}

Problems problems_of(std::span<const uint8_t> message, uint64_t number = kNumber) {
  Told told;
  std::vector<FrameView> frames;
  return read_window(message, number, told, frames);
}

TEST(WindowMessage, IsReadAsItWasWritten) {
  const Message message = some_message();
  Told told;
  std::vector<FrameView> frames;
  EXPECT_THAT(read_window(message, kNumber, told, frames), testing::IsEmpty());
  EXPECT_EQ(told, kTold);
  ASSERT_EQ(frames.size(), 2u);
  EXPECT_EQ(frames[1].at, Instant() + 98_us);
  EXPECT_EQ(frames[1].line, 70'098u);
  EXPECT_EQ(frames[1].wire_len, 1'098u);
  EXPECT_EQ(frames[1].flags, kPacketFreeShim);
  EXPECT_EQ(frames[1].octets.size(), 98u);
  EXPECT_THAT(frames[1].octets, testing::Each(98));
  EXPECT_EQ(message.size(), kWindowHeader + 2 * 20 + 64 + 98 + 14);
}

TEST(WindowMessage, CutOffAnywhereIsOneProblem) {
  const Message message = some_message();
  for (size_t length = 0; length < message.size(); ++length)
    EXPECT_THAT(problems_of(std::span(message).first(length)),
                ElementsAre(HasSubstr("cannot be read")))
        << length;
  Message longer = message;
  longer.push_back(0);
  EXPECT_THAT(problems_of(longer), ElementsAre(HasSubstr("1 octets follow its last frame")));
}

TEST(WindowMessage, AnotherVersionOrWindowIsNamed) {
  Message message = some_message();
  EXPECT_THAT(problems_of(message, 18), ElementsAre(HasSubstr("it is of window 17, this is 18")));
  message[4] = 9;
  EXPECT_THAT(problems_of(message), ElementsAre(HasSubstr("it is of version 9, this is 2")));
  message[0] = 0;
  EXPECT_THAT(problems_of(message), ElementsAre(HasSubstr("it is none of ours")));
}

TEST(WindowMessage, HostileLengthsAreRefused) {
  Message message = some_message();
  constexpr size_t kCount = 14;   // where the number of frames stands
  constexpr size_t kLength = 18;  // of a frame's header: its octets
  Message many = message;
  std::fill_n(many.begin() + kCount, 4, 0xff);
  EXPECT_THAT(problems_of(many), ElementsAre(HasSubstr("before its 4294967295 frames")));
  constexpr size_t kEnds = 18;  // the number of ends of items
  Message ends = message;
  std::fill_n(ends.begin() + kEnds, 4, 0xff);
  EXPECT_THAT(problems_of(ends), ElementsAre(HasSubstr("cut off in the ends of items")));
  std::fill_n(message.begin() + kWindowHeader + kLength, 2, 0xff);
  EXPECT_THAT(problems_of(message), ElementsAre(HasSubstr("cut off in frame 0")));
  Message room(kWindowHeader + 20 + 200);
  std::copy_n(some_message().begin(), kWindowHeader + 20, room.begin());
  room[kCount] = 1;
  room[kWindowHeader + kLength] = 200;
  EXPECT_THAT(problems_of(room), ElementsAre(HasSubstr("frame 0 has 200 octets")));
  constexpr size_t kWireLen = 12;  // of a frame's header; a packet has two of its four octets
  Message longest = some_message();
  longest[kWindowHeader + kWireLen + 2] = 1;
  EXPECT_THAT(problems_of(longest), ElementsAre(HasSubstr("frame 0 is ")));
}

// Every single octet, changed in every way that matters: an answer, and no frame beyond the
// message.
TEST(WindowMessage, AnyOctetMayBeWrong) {
  const Message message = some_message();
  for (size_t at = 0; at < message.size(); ++at)
    for (const uint8_t with : {0x00, 0x01, 0x7f, 0x80, 0xff}) {
      Message changed = message;
      changed[at] = with;
      Told told;
      std::vector<FrameView> frames;
      if (!read_window(changed, kNumber, told, frames).empty()) continue;
      size_t octets = kWindowHeader;
      for (const FrameView& frame : frames) octets += 20 + frame.octets.size();
      octets += 14 * told.ends.size();
      EXPECT_EQ(octets, changed.size());
    }
}

TEST(Message, NumbersComeBack) {
  Message message;
  MessageWriter write(message);
  for (const uint64_t value : {uint64_t{0}, uint64_t{127}, uint64_t{128}, UINT64_MAX})
    write.compact(value);
  write.text("words");
  MessageReader read(message);
  EXPECT_EQ(read.compact(), 0u);
  EXPECT_EQ(read.compact(), 127u);
  EXPECT_EQ(read.compact(), 128u);
  EXPECT_EQ(read.compact(), UINT64_MAX);
  EXPECT_EQ(read.text(), "words");
  EXPECT_TRUE(read.done());
  EXPECT_EQ(read.number<uint32_t>(), 0u);
  EXPECT_FALSE(read.ok());
}

TEST(Message, ANumberWithoutEndAndATextWithoutOctetsAreNone) {
  const Message endless(20, 0x80);
  MessageReader read(endless);
  EXPECT_EQ(read.compact(), 0u);
  EXPECT_FALSE(read.ok());
  const Message text = {5, 'a'};
  MessageReader cut(text);
  EXPECT_EQ(cut.text(), "");
  EXPECT_FALSE(cut.ok());
}

}  // namespace
}  // namespace eddy::lab
