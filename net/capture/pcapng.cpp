#include "net/capture/pcapng.h"

#include <array>

namespace eddy {
namespace {

// Block types, and the codes of options by the block they are for.
constexpr uint32_t kSection = 0x0a0d0d0a;
constexpr uint32_t kInterface = 1;
constexpr uint32_t kStatistics = 5;
constexpr uint32_t kEnhancedPacket = 6;
constexpr uint32_t kByteOrder = 0x1a2b3c4d;
constexpr uint16_t kEthernet = 1;  // LINKTYPE_ETHERNET
constexpr uint16_t kEnd = 0;
constexpr uint16_t kComment = 1;
constexpr uint16_t kUserApplication = 4;
constexpr uint16_t kName = 2;
constexpr uint16_t kDescription = 3;
constexpr uint16_t kSpeed = 8;
constexpr uint16_t kResolution = 9;
constexpr uint8_t kNanoseconds = 9;  // a power of ten
constexpr uint16_t kFlags = 2;
constexpr uint16_t kDropCount = 4;
constexpr uint16_t kStartTime = 2;
constexpr uint16_t kEndTime = 3;
constexpr uint16_t kReceived = 4;
constexpr uint16_t kDropped = 5;
constexpr uint16_t kAccepted = 6;

}  // namespace

void PcapngWriter::begin_section(std::string_view application) {
  const size_t began = begin_block(kSection);
  word32(kByteOrder);
  word16(1);  // version 1.0
  word16(0);
  word32(~uint32_t{0});  // the section's length is not known
  word32(~uint32_t{0});
  option(kUserApplication, application);
  option(kEnd, ConstOctets());
  end_block(began);
}

void PcapngWriter::add(const PcapngInterface& interface) {
  const size_t began = begin_block(kInterface);
  word16(kEthernet);
  word16(0);
  word32(interface.snap);
  option(kName, interface.name);
  if (!interface.description.empty()) option(kDescription, interface.description);
  if (interface.speed_bps != 0) option64(kSpeed, interface.speed_bps);
  option(kResolution, ConstOctets(&kNanoseconds, 1));
  option(kEnd, ConstOctets());
  end_block(began);
}

void PcapngWriter::add(const PcapngPacket& packet) {
  const size_t began = begin_block(kEnhancedPacket);
  word32(packet.interface);
  stamp(packet.stamp_ns);
  word32(static_cast<uint32_t>(packet.frame.size()));
  word32(packet.wire_len);
  octets(packet.frame);
  if (!packet.comment.empty()) option(kComment, packet.comment);
  const std::array<uint8_t, 4> flags{static_cast<uint8_t>(packet.outbound ? 2 : 1)};
  option(kFlags, flags);
  if (packet.lost_before != 0) option64(kDropCount, packet.lost_before);
  option(kEnd, ConstOctets());
  end_block(began);
}

void PcapngWriter::add(const PcapngStatistics& statistics) {
  const size_t began = begin_block(kStatistics);
  word32(statistics.interface);
  stamp(statistics.stamp_ns);
  for (const auto& [code, ns] :
       {std::pair{kStartTime, statistics.start_ns}, std::pair{kEndTime, statistics.end_ns}}) {
    word16(code);
    word16(8);
    stamp(ns);
  }
  option64(kReceived, statistics.seen);
  option64(kDropped, statistics.lost);
  option64(kAccepted, statistics.matched);
  option(kEnd, ConstOctets());
  end_block(began);
}

void PcapngWriter::word16(uint16_t value) {
  out_.push_back(static_cast<uint8_t>(value));
  out_.push_back(static_cast<uint8_t>(value >> 8));
}

void PcapngWriter::word32(uint32_t value) {
  word16(static_cast<uint16_t>(value));
  word16(static_cast<uint16_t>(value >> 16));
}

void PcapngWriter::stamp(uint64_t ns) {
  word32(static_cast<uint32_t>(ns >> 32));
  word32(static_cast<uint32_t>(ns));
}

void PcapngWriter::octets(ConstOctets bytes) {
  out_.insert(out_.end(), bytes.begin(), bytes.end());
  while (out_.size() % 4 != 0) out_.push_back(0);
}

void PcapngWriter::option(uint16_t code, ConstOctets value) {
  word16(code);
  word16(static_cast<uint16_t>(value.size()));
  octets(value);
}

void PcapngWriter::option(uint16_t code, std::string_view text) {
  option(code, ConstOctets(reinterpret_cast<const uint8_t*>(text.data()), text.size()));
}

void PcapngWriter::option64(uint16_t code, uint64_t value) {
  word16(code);
  word16(8);
  word32(static_cast<uint32_t>(value));
  word32(static_cast<uint32_t>(value >> 32));
}

// Blocks are whole words, so that what follows one is aligned.
size_t PcapngWriter::begin_block(uint32_t type) {
  const size_t began = out_.size();
  word32(type);
  word32(0);  // its length, once it is known
  return began;
}

void PcapngWriter::end_block(size_t began) {
  const auto length = static_cast<uint32_t>(out_.size() - began + 4);
  word32(length);
  for (size_t i = 0; i < 4; ++i) out_[began + 4 + i] = static_cast<uint8_t>(length >> 8 * i);
}

}  // namespace eddy
