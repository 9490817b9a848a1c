#include "lab/world/window_message.h"

#include <algorithm>
#include <string>

#include "lab/world/message.h"
#include "lab/world/packet_pool.h"
#include "net/assert.h"

namespace eddy::lab {
namespace {

constexpr size_t kFrameHeader = 20;  // octets
constexpr size_t kItemEnds = 14;

Problems unread(const std::string& why) {
  return {"a message of another rank cannot be read: " + why};
}

}  // namespace

void begin_window(Message& message) {
  message.assign(kWindowHeader, 0);
}

void add_frame(Message& message, Instant at, uint32_t line, const Packet& packet) {
  MessageWriter write(message);
  write.instant(at);
  write.number(line);
  write.number(uint32_t{packet.wire_len});
  write.number(packet.flags);
  write.number(static_cast<uint16_t>(packet.data_len()));
  write.octets({packet.data(), packet.data_len()});
}

void finish_window(Message& message, uint64_t number, uint32_t frames, const Told& told) {
  Message header;
  header.reserve(kWindowHeader);
  MessageWriter write(header);
  write.number(kWindowMagic);
  write.number(kWindowVersion);
  write.number(number);
  write.number(frames);
  write.number(static_cast<uint32_t>(told.ends.size()));
  write.instant(told.next);
  write.instant(told.now);
  write.instant(told.action);
  write.number(told.awaited);
  write.number(static_cast<uint32_t>(told.unended));
  write.number(static_cast<uint8_t>(told.stopped));
  write.number(static_cast<uint8_t>(told.noted));
  ASSERT(header.size() == kWindowHeader);
  std::ranges::copy(header, message.begin());
  MessageWriter behind(message);
  for (const ItemEnds& each : told.ends) {
    behind.number(each.item);
    behind.number(each.flows);
    behind.instant(each.last);
  }
}

Problems read_window(std::span<const uint8_t> message, uint64_t number, Told& told,
                     std::vector<FrameView>& frames) {
  frames.clear();
  if (message.size() < kWindowHeader)
    return unread("it has " + std::to_string(message.size()) + " octets");
  MessageReader read(message);
  if (read.number<uint32_t>() != kWindowMagic) return unread("it is none of ours");
  if (const auto version = read.number<uint16_t>(); version != kWindowVersion)
    return unread("it is of version " + std::to_string(version) + ", this is " +
                  std::to_string(kWindowVersion));
  if (const auto at = read.number<uint64_t>(); at != number)
    return unread("it is of window " + std::to_string(at) + ", this is " + std::to_string(number));
  const auto count = read.number<uint32_t>();
  const auto ends = read.number<uint32_t>();
  told = Told{.next = read.instant(), .now = read.instant(), .action = read.instant()};
  told.awaited = read.number<uint64_t>();
  told.unended = read.number<uint32_t>();
  told.stopped = read.number<uint8_t>() != 0;
  told.noted = read.number<uint8_t>() != 0;
  if (count > read.left() / kFrameHeader)
    return unread("it is cut off before its " + std::to_string(count) + " frames");
  frames.reserve(count);
  for (uint32_t i = 0; i < count; ++i) {
    FrameView frame{.at = read.instant(),
                    .line = read.number<uint32_t>(),
                    .wire_len = read.number<uint32_t>(),
                    .flags = read.number<uint16_t>()};
    const auto length = read.number<uint16_t>();
    frame.octets = read.octets(length);
    if (!read.ok()) return unread("it is cut off in frame " + std::to_string(i));
    if (frame.wire_len > UINT16_MAX)
      return unread("frame " + std::to_string(i) + " is " + std::to_string(frame.wire_len) +
                    " octets long");
    if (length > PacketPool::kDataRoom)
      return unread("frame " + std::to_string(i) + " has " + std::to_string(length) + " octets");
    frames.push_back(frame);
  }
  if (ends > read.left() / kItemEnds) return unread("it is cut off in the ends of items");
  for (uint32_t i = 0; i < ends; ++i)
    told.ends.push_back({.item = read.number<uint16_t>(),
                         .flows = read.number<uint32_t>(),
                         .last = read.instant()});
  if (read.left() != 0)
    return unread(std::to_string(read.left()) + " octets follow its last frame");
  return {};
}

}  // namespace eddy::lab
