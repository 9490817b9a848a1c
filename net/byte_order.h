// Unaligned loads and stores of wire integers.
//
// `_be` functions convert between network and host order; `load_raw` keeps the octets as they lie,
// for hashing and for comparing with constants. Bounds are the caller's. Cost: one or two
// instructions.
#pragma once

#include <cstdint>
#include <cstring>

namespace eddy {

template <class T>
inline T load_raw(const uint8_t* at) {
  T value;
  std::memcpy(&value, at, sizeof value);
  return value;
}

inline uint16_t load_be16(const uint8_t* at) {
  return __builtin_bswap16(load_raw<uint16_t>(at));
}
inline uint32_t load_be24(const uint8_t* at) {
  return static_cast<uint32_t>(at[0]) << 16 | static_cast<uint32_t>(at[1]) << 8 | at[2];
}
inline uint32_t load_be32(const uint8_t* at) {
  return __builtin_bswap32(load_raw<uint32_t>(at));
}
inline uint64_t load_be64(const uint8_t* at) {
  return __builtin_bswap64(load_raw<uint64_t>(at));
}

inline void store_be16(uint8_t* at, uint16_t value) {
  value = __builtin_bswap16(value);
  std::memcpy(at, &value, sizeof value);
}
inline void store_be24(uint8_t* at, uint32_t value) {
  at[0] = static_cast<uint8_t>(value >> 16);
  at[1] = static_cast<uint8_t>(value >> 8);
  at[2] = static_cast<uint8_t>(value);
}
inline void store_be32(uint8_t* at, uint32_t value) {
  value = __builtin_bswap32(value);
  std::memcpy(at, &value, sizeof value);
}
inline void store_be64(uint8_t* at, uint64_t value) {
  value = __builtin_bswap64(value);
  std::memcpy(at, &value, sizeof value);
}

}  // namespace eddy
