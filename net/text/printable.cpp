#include "net/text/printable.h"

#include <cstdint>

namespace eddy {
namespace {

constexpr char kHex[] = "0123456789abcdef";

// A character of UTF-8; length 0: the octets are none.
struct Character {
  uint32_t code = 0;
  size_t length = 0;
};

size_t length_by_first(uint8_t first) {
  if (first < 0x80) return 1;
  if (first >= 0xc2 && first < 0xe0) return 2;
  if (first >= 0xe0 && first < 0xf0) return 3;
  if (first >= 0xf0 && first < 0xf5) return 4;
  return 0;
}

// Longer than needed, half of a pair, or beyond the last.
bool is_malformed(uint32_t code, size_t length) {
  if (length == 3) return code < 0x800 || (code >= 0xd800 && code < 0xe000);
  return length == 4 && (code < 0x10000 || code > 0x10ffff);
}

Character first_of(std::string_view text) {
  const auto octet = [&](size_t i) { return static_cast<uint8_t>(text[i]); };
  const size_t length = length_by_first(octet(0));
  if (length == 0 || length > text.size()) return {};
  if (length == 1) return {octet(0), 1};
  uint32_t code = octet(0) & (0x7f >> length);
  for (size_t i = 1; i < length; ++i) {
    if ((octet(i) & 0xc0) != 0x80) return {};
    code = code << 6 | (octet(i) & 0x3f);
  }
  if (is_malformed(code, length)) return {};
  return {code, length};
}

bool is_obeyed(uint32_t code) {
  const bool control = code < 0x20 || (code >= 0x7f && code < 0xa0);
  const bool separator = code == 0x2028 || code == 0x2029;
  const bool direction = code == 0x61c || code == 0x200e || code == 0x200f ||
                         (code >= 0x202a && code <= 0x202e) || (code >= 0x2066 && code <= 0x2069);
  return control || separator || direction;
}

void append_hex(uint32_t value, int digits, std::string& out) {
  for (int shift = 4 * (digits - 1); shift >= 0; shift -= 4) out += kHex[value >> shift & 0xf];
}

void append_escape(uint32_t code, std::string& out) {
  if (code == '\n') {
    out += "\\n";
  } else if (code == '\t') {
    out += "\\t";
  } else if (code < 0x80) {
    out += "\\x";
    append_hex(code, 2, out);
  } else {
    out += "\\u";
    append_hex(code, 4, out);
  }
}

std::string escaped(std::string_view text, bool keeps_lines) {
  std::string out;
  out.reserve(text.size());
  while (!text.empty()) {
    const Character next = first_of(text);
    const size_t length = next.length == 0 ? 1 : next.length;
    if (next.length == 0) {
      out += "\\x";
      append_hex(static_cast<uint8_t>(text.front()), 2, out);
    } else if (is_obeyed(next.code) && !(keeps_lines && next.code == '\n')) {
      append_escape(next.code, out);
    } else {
      out += text.substr(0, length);
    }
    text.remove_prefix(length);
  }
  return out;
}

}  // namespace

std::string printable(std::string_view text) {
  return escaped(text, false);
}

std::string printable_lines(std::string_view text) {
  return escaped(text, true);
}

}  // namespace eddy
