// What all codecs of net/ share: views of octets and the verdict of a decoder.
//
// `encode(value, out)` writes the value at the front of `out` and returns the octets written; `out`
// too small is a broken invariant of the caller (ASSERT). `decode(in, value)` reads hostile octets:
// it never reads past `in`, and its result is meaningful only after `ok`. Views in a decoded value
// point into `in`. For every encodable value, decode(encode(value)) is the value. Nothing
// allocates.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>
#include <string_view>

#include "net/assert.h"

namespace eddy {

using Octets = std::span<uint8_t>;
using ConstOctets = std::span<const uint8_t>;

enum class CodecVerdict : uint8_t {
  ok,
  truncated,     // the input ends before the fixed part or before what a length field promises
  wrong_type,    // another EtherType, opcode, protocol or magic: not this format
  bad_version,   // a version that we do not speak
  bad_length,    // a length field that contradicts the format or the rest of the frame
  bad_checksum,  // Internet checksum or ICRC
  bad_address,   // an address that this message may not have
  bad_value,     // any other field outside its range
  bad_option,    // a TLV or option that is malformed, missing, or not allowed here
};
inline constexpr int kCodecVerdicts = static_cast<int>(CodecVerdict::bad_option) + 1;
std::string_view to_string(CodecVerdict verdict);

// Copies `from` to the front of `to`; they may overlap.
inline size_t put(Octets to, ConstOctets from) {
  ASSERT(to.size() >= from.size());
  if (!from.empty()) std::memmove(to.data(), from.data(), from.size());
  return from.size();
}

// Zeroes the first `n` octets.
inline void zero_front(Octets out, size_t n) {
  ASSERT(out.size() >= n);
  if (n != 0) std::memset(out.data(), 0, n);
}

}  // namespace eddy
