#include "net/pcap.h"

#include "net/byte_order.h"

namespace eddy {
namespace {

constexpr uint32_t kMagicMicroseconds = 0xa1b2c3d4;
constexpr uint32_t kMagicNanoseconds = 0xa1b23c4d;
constexpr uint32_t kVersion = 2 | 4U << 16;  // major 2, minor 4 as one little-endian word
constexpr uint32_t kVersionBigEndian = 2U << 16 | 4;
constexpr uint32_t kLinkEthernet = 1;
constexpr uint64_t kNsASecond = 1'000'000'000;

void store_le32(uint8_t* at, uint32_t value) {
  store_be32(at, __builtin_bswap32(value));
}

bool is_magic(uint32_t word) {
  return word == kMagicMicroseconds || word == kMagicNanoseconds;
}

}  // namespace

size_t encode_pcap_header(Octets out) {
  zero_front(out, kPcapFileHeader);
  store_le32(&out[0], kMagicNanoseconds);
  store_le32(&out[4], kVersion);
  store_le32(&out[16], kPcapSnapLength);
  store_le32(&out[20], kLinkEthernet);
  return kPcapFileHeader;
}

size_t encode(const PcapRecord& record, Octets out) {
  ASSERT(record.frame.size() <= record.wire_len && record.frame.size() <= kPcapSnapLength);
  ASSERT(out.size() >= kPcapRecordHeader + record.frame.size());
  store_le32(&out[0], static_cast<uint32_t>(record.stamp_ns / kNsASecond));
  store_le32(&out[4], static_cast<uint32_t>(record.stamp_ns % kNsASecond));
  store_le32(&out[8], static_cast<uint32_t>(record.frame.size()));
  store_le32(&out[12], record.wire_len);
  return kPcapRecordHeader + put(out.subspan(kPcapRecordHeader), record.frame);
}

uint32_t PcapReader::word(size_t offset) const {
  const uint32_t value = load_be32(rest_.data() + offset);
  return big_endian_ ? value : __builtin_bswap32(value);
}

CodecVerdict PcapReader::open(ConstOctets file) {
  rest_ = file;
  if (file.size() < kPcapFileHeader) return CodecVerdict::truncated;
  big_endian_ = is_magic(load_be32(file.data()));
  const uint32_t magic = word(0);
  if (!is_magic(magic)) return CodecVerdict::wrong_type;
  ns_a_fraction_ = magic == kMagicNanoseconds ? 1 : 1'000;
  if (word(4) != (big_endian_ ? kVersionBigEndian : kVersion)) return CodecVerdict::bad_version;
  if (word(20) != kLinkEthernet) return CodecVerdict::wrong_type;
  rest_ = file.subspan(kPcapFileHeader);
  return CodecVerdict::ok;
}

CodecVerdict PcapReader::next(PcapRecord& record) {
  record = PcapRecord{};
  if (rest_.size() < kPcapRecordHeader) return CodecVerdict::truncated;
  const uint64_t fraction_ns = uint64_t{word(4)} * ns_a_fraction_;
  const uint32_t length = word(8);
  record.stamp_ns = word(0) * kNsASecond + fraction_ns;
  record.wire_len = word(12);
  if (fraction_ns >= kNsASecond) return CodecVerdict::bad_value;
  if (length > kPcapSnapLength || length > record.wire_len) return CodecVerdict::bad_length;
  if (rest_.size() - kPcapRecordHeader < length) return CodecVerdict::truncated;
  record.frame = rest_.subspan(kPcapRecordHeader, length);
  rest_ = rest_.subspan(kPcapRecordHeader + length);
  return CodecVerdict::ok;
}

}  // namespace eddy
