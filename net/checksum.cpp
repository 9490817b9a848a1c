#include "net/checksum.h"

#include <algorithm>
#include <array>

#include "net/byte_order.h"

namespace eddy {
namespace {

constexpr uint32_t kPolynomial = 0xedb88320;  // 0x04c11db7 reflected
constexpr size_t kSlices = 8;
using CrcTables = std::array<std::array<uint32_t, 256>, kSlices>;

// tables[k][x]: the CRC of octet x followed by k zero octets.
constexpr CrcTables make_crc_tables() {
  CrcTables tables{};
  for (uint32_t x = 0; x < 256; ++x) {
    uint32_t crc = x;
    for (int bit = 0; bit < 8; ++bit) crc = crc >> 1 ^ ((crc & 1) != 0 ? kPolynomial : 0);
    tables[0][x] = crc;
  }
  for (size_t k = 1; k < kSlices; ++k)
    for (size_t x = 0; x < 256; ++x)
      tables[k][x] = tables[k - 1][x] >> 8 ^ tables[0][tables[k - 1][x] & 0xff];
  return tables;
}

constexpr CrcTables kCrc = make_crc_tables();

uint32_t advance_octet(uint32_t crc, uint8_t octet) {
  return crc >> 8 ^ kCrc[0][(crc ^ octet) & 0xff];
}

uint32_t advance_eight(uint32_t crc, const uint8_t* at) {
  const uint64_t word = load_raw<uint64_t>(at) ^ crc;
  uint32_t next = 0;
  for (size_t i = 0; i < kSlices; ++i) next ^= kCrc[kSlices - 1 - i][word >> (8 * i) & 0xff];
  return next;
}

}  // namespace

uint64_t add_to_sum(uint64_t sum, ConstOctets octets) {
  const uint8_t* at = octets.data();
  size_t left = octets.size();
  for (; left >= 4; left -= 4, at += 4) sum += load_be32(at);
  if (left >= 2) sum += load_be16(at);
  if ((left & 1) != 0) sum += static_cast<uint64_t>(octets.back()) << 8;
  return sum;
}

uint16_t checksum_of_sum(uint64_t sum) {
  while (sum >> 16 != 0) sum = (sum & 0xffff) + (sum >> 16);
  return static_cast<uint16_t>(~sum);
}

void Crc32::add(ConstOctets octets) {
  const uint8_t* at = octets.data();
  size_t left = octets.size();
  for (; left >= kSlices; left -= kSlices, at += kSlices) state_ = advance_eight(state_, at);
  for (; left != 0; --left, ++at) state_ = advance_octet(state_, *at);
}

void Crc32::add_zeros(size_t count) {
  static constexpr std::array<uint8_t, 64> kZeros{};
  while (count != 0) {
    const size_t piece = std::min(count, kZeros.size());
    add(ConstOctets(kZeros).first(piece));
    count -= piece;
  }
}

uint32_t frame_check_sequence(ConstOctets frame) {
  Crc32 crc;
  crc.add(frame);
  return crc.value();
}

}  // namespace eddy
