#include "net/addresses.h"

namespace eddy {
namespace {

constexpr int kV4OffsetBits = 96;  // where an IPv4 address starts in IpAddress's 16 octets

int hex_digit(char c) {
  if (c >= '0' && c <= '9') return c - '0';
  if (c >= 'a' && c <= 'f') return c - 'a' + 10;
  if (c >= 'A' && c <= 'F') return c - 'A' + 10;
  return -1;
}

// A decimal number of at most three digits, no sign, no leading zero: "010" would be octal to some.
std::optional<unsigned> parse_small_decimal(std::string_view text) {
  if (text.empty() || text.size() > 3) return std::nullopt;
  if (text.size() > 1 && text[0] == '0') return std::nullopt;
  unsigned value = 0;
  for (const char c : text) {
    if (c < '0' || c > '9') return std::nullopt;
    value = value * 10 + static_cast<unsigned>(c - '0');
  }
  return value;
}

std::optional<uint32_t> parse_dotted_quad(std::string_view text) {
  uint32_t value = 0;
  for (int i = 0; i < 4; ++i) {
    const size_t dot = text.find('.');
    if ((dot == std::string_view::npos) != (i == 3)) return std::nullopt;
    const auto octet = parse_small_decimal(text.substr(0, dot));
    if (!octet || *octet > 255) return std::nullopt;
    value = value << 8 | *octet;
    if (i < 3) text.remove_prefix(dot + 1);
  }
  return value;
}

// The groups on one side of "::", or all of them; an IPv4 tail counts as two groups.
struct Groups {
  std::array<uint16_t, 8> values{};
  size_t count = 0;

  bool push(uint32_t value) {
    if (count == values.size()) return false;
    values[count++] = static_cast<uint16_t>(value);
    return true;
  }
};

std::optional<uint16_t> parse_hex_group(std::string_view text) {
  if (text.empty() || text.size() > 4) return std::nullopt;
  unsigned value = 0;
  for (const char c : text) {
    const int digit = hex_digit(c);
    if (digit < 0) return std::nullopt;
    value = value << 4 | static_cast<unsigned>(digit);
  }
  return static_cast<uint16_t>(value);
}

bool push_v4_tail(std::string_view text, Groups& groups) {
  const auto v4 = parse_dotted_quad(text);
  return v4 && groups.push(*v4 >> 16) && groups.push(*v4 & 0xffff);
}

std::optional<Groups> parse_groups(std::string_view text, bool may_end_in_v4) {
  Groups groups;
  if (text.empty()) return groups;
  while (true) {
    const size_t colon = text.find(':');
    const std::string_view word = text.substr(0, colon);
    const bool last = colon == std::string_view::npos;
    if (last && may_end_in_v4 && word.find('.') != std::string_view::npos)
      return push_v4_tail(word, groups) ? std::optional(groups) : std::nullopt;
    const auto value = parse_hex_group(word);
    if (!value || !groups.push(*value)) return std::nullopt;
    if (last) return groups;
    text.remove_prefix(colon + 1);
  }
}

void put_group(Ipv6Address& address, size_t index, uint16_t value) {
  address.octets[2 * index] = static_cast<uint8_t>(value >> 8);
  address.octets[2 * index + 1] = static_cast<uint8_t>(value);
}

std::optional<Ipv6Address> parse_v6(std::string_view text) {
  const size_t gap = text.find("::");
  const bool has_gap = gap != std::string_view::npos;
  const auto head = parse_groups(text.substr(0, gap), !has_gap);
  const auto tail = parse_groups(has_gap ? text.substr(gap + 2) : std::string_view(), true);
  if (!head || !tail) return std::nullopt;
  const size_t total = head->count + tail->count;
  if (has_gap ? total > 7 : total != 8) return std::nullopt;
  Ipv6Address address;
  for (size_t i = 0; i < head->count; ++i) put_group(address, i, head->values[i]);
  for (size_t i = 0; i < tail->count; ++i) put_group(address, 8 - tail->count + i, tail->values[i]);
  return address;
}

void append_hex(std::string& out, unsigned value, bool pad_to_octet) {
  constexpr char kDigits[] = "0123456789abcdef";
  int shift = 12;
  while (shift > (pad_to_octet ? 4 : 0) && (value >> shift) == 0) shift -= 4;
  for (; shift >= 0; shift -= 4) out += kDigits[value >> shift & 0xf];
}

std::string print_v4(Ipv4Address v4) {
  return std::to_string(v4.value >> 24) + '.' + std::to_string(v4.value >> 16 & 0xff) + '.' +
         std::to_string(v4.value >> 8 & 0xff) + '.' + std::to_string(v4.value & 0xff);
}

struct ZeroRun {
  size_t begin = 8;
  size_t length = 0;
};

// RFC 5952, 4.2: the longest run of two groups or more, the first of equals.
ZeroRun longest_zero_run(const std::array<unsigned, 8>& groups) {
  ZeroRun best;
  for (size_t i = 0; i < groups.size(); ++i) {
    size_t end = i;
    while (end < groups.size() && groups[end] == 0) ++end;
    if (end - i >= 2 && end - i > best.length) best = {i, end - i};
    if (end > i) i = end - 1;
  }
  return best;
}

std::string print_v6(const Ipv6Address& v6) {
  std::array<unsigned, 8> groups{};
  for (size_t i = 0; i < groups.size(); ++i)
    groups[i] = static_cast<unsigned>(v6.octets[2 * i] << 8 | v6.octets[2 * i + 1]);
  const ZeroRun gap = longest_zero_run(groups);
  std::string out;
  for (size_t i = 0; i < groups.size(); ++i) {
    if (i == gap.begin) {
      out += "::";
      i += gap.length - 1;
      continue;
    }
    if (!out.empty() && out.back() != ':') out += ':';
    append_hex(out, groups[i], false);
  }
  return out;
}

}  // namespace

std::optional<MacAddress> parse_mac(std::string_view text) {
  if (text.size() != 17) return std::nullopt;
  MacAddress mac;
  for (size_t i = 0; i < mac.octets.size(); ++i) {
    const int high = hex_digit(text[3 * i]);
    const int low = hex_digit(text[3 * i + 1]);
    if (high < 0 || low < 0) return std::nullopt;
    if (i < 5 && text[3 * i + 2] != ':') return std::nullopt;
    mac.octets[i] = static_cast<uint8_t>(high << 4 | low);
  }
  return mac;
}

std::optional<IpAddress> parse_ip(std::string_view text) {
  if (text.find(':') == std::string_view::npos) {
    const auto v4 = parse_dotted_quad(text);
    return v4 ? std::optional(IpAddress(Ipv4Address{*v4})) : std::nullopt;
  }
  const auto v6 = parse_v6(text);
  // ::ffff:a.b.c.d is how IpAddress keeps IPv4; as text it is refused, IPv4 is written as IPv4.
  if (!v6 || IpAddress(*v6).is_v4()) return std::nullopt;
  return IpAddress(*v6);
}

std::optional<IpPrefix> parse_ip_prefix(std::string_view text) {
  const size_t slash = text.find('/');
  if (slash == std::string_view::npos) return std::nullopt;
  const auto address = parse_ip(text.substr(0, slash));
  const auto length = parse_small_decimal(text.substr(slash + 1));
  if (!address || !length || *length > (address->is_v4() ? 32U : 128U)) return std::nullopt;
  return IpPrefix{*address, static_cast<uint8_t>(*length)};
}

std::string to_string(const MacAddress& mac) {
  std::string out;
  for (const uint8_t octet : mac.octets) {
    if (!out.empty()) out += ':';
    append_hex(out, octet, true);
  }
  return out;
}

std::string to_string(const IpAddress& ip) {
  return ip.is_v4() ? print_v4(ip.v4()) : print_v6(ip.v6());
}

std::string to_string(const IpPrefix& prefix) {
  return to_string(prefix.address) + '/' + std::to_string(prefix.length);
}

IpPrefix IpPrefix::network() const {
  const int kept = length + (address.is_v4() ? kV4OffsetBits : 0);
  Ipv6Address masked = address.v6();
  for (int i = 0; i < 16; ++i) {
    const int bits = kept - 8 * i;
    if (bits >= 8) continue;
    auto& octet = masked.octets[static_cast<size_t>(i)];
    octet = bits <= 0 ? 0 : static_cast<uint8_t>(octet & (0xff00 >> bits));
  }
  return {IpAddress(masked), length};
}

bool IpPrefix::contains(const IpAddress& other) const {
  if (other.is_v4() != address.is_v4()) return false;
  return IpPrefix{other, length}.network().address == network().address;
}

}  // namespace eddy
