#include "switch/explain/description.h"

#include <algorithm>
#include <array>
#include <cstring>
#include <optional>
#include <set>
#include <span>
#include <utility>

#include "config/places.h"
#include "net/byte_order.h"
#include "net/checksum.h"
#include "net/ip.h"
#include "net/protocols.h"
#include "net/quantity.h"
#include "net/text/printable.h"
#include "switch/dataplane/state/snapshot.h"

namespace eddy::explain {
namespace {

constexpr const char* kKeys =
    "port, src, dst, proto, sport, dport, dscp, ecn, ttl, len, qp, opcode, vlan, pcp";
constexpr uint32_t kLongest = 9'216;  // frame
constexpr std::array<std::string_view, 4> kEcnWords = {"not-ect", "ect1", "ect0", "ce"};

std::string in_quotes(std::string_view text) {
  return "\"" + printable(text) + "\"";
}

uint32_t headers_of(const Description& of) {
  const uint32_t l3 = of.destination.is_v4() ? kIpv4Header : kIpv6Header;
  const uint32_t l2 = kEthernetHeader + (of.tagged ? kVlanTag : 0);
  if (of.protocol == kProtocolTcp) return l2 + l3 + kTcpHeader;
  if (of.protocol != kProtocolUdp) return l2 + l3;
  const bool roce = of.destination_port == kRocePort;
  return l2 + l3 + kUdpHeader + (roce ? kBthHeader + kIcrc : 0);
}

// Words KEY=VALUE, each once.
class Reader {
 public:
  Reader(std::string_view text, const config::SwitchConfig& config) : config_(config) {
    while (!text.empty()) {
      const size_t end = std::min(text.find_first_of(" \t\n,"), text.size());
      if (end != 0) words_.push_back(text.substr(0, end));
      text.remove_prefix(std::min(end + 1, text.size()));
    }
  }

  Result<Description> read() {
    const bool any = std::ranges::any_of(
        words_, [](std::string_view word) { return word.find('=') != std::string_view::npos; });
    if (!any)
      return Result<Description>::failure(
          (words_.empty() ? "the description is empty"
                          : in_quotes(words_[0]) + " describes nothing") +
          std::string("; a packet is described like \"src=10.0.1.5 dst=10.0.3.7 proto=udp "
                      "dport=4791 dscp=26\", with the keys ") +
          kKeys);
    for (const std::string_view word : words_) read_word(word);
    settle();
    if (!problems_.empty()) return problems_;
    return out_;
  }

 private:
  void say(std::string problem) { problems_.push_back(std::move(problem)); }

  void read_word(std::string_view word) {
    const size_t equals = word.find('=');
    if (equals == std::string_view::npos) return say(in_quotes(word) + " is not KEY=VALUE");
    const std::string key(word.substr(0, equals));
    const std::string_view value = word.substr(equals + 1);
    if (!given_.insert(key).second) return say(printable(key) + " is said twice");
    if (key == "src") return read_address(key, value, out_.source);
    if (key == "dst") return read_address(key, value, out_.destination);
    if (key == "port") return read_port(value);
    if (key == "proto") return read_protocol(value);
    if (key == "ecn") return read_ecn(value);
    read_number(key, value);
  }

  void read_number(const std::string& key, std::string_view value) {
    constexpr uint32_t kPort = UINT16_MAX;
    if (key == "sport") return number(key, value, 0, kPort, out_.source_port);
    if (key == "dport") return number(key, value, 0, kPort, out_.destination_port);
    if (key == "dscp") return number(key, value, 0, 63, out_.dscp);
    if (key == "ttl") return number(key, value, 0, UINT8_MAX, out_.ttl);
    if (key == "len") return number(key, value, kMinimumFrame, kLongest, out_.length);
    if (key == "qp") return number(key, value, 0, (1u << 24) - 1, out_.queue_pair);
    if (key == "opcode") return number(key, value, 0, UINT8_MAX, out_.opcode);
    if (key == "vlan") return number(key, value, 0, 4'094, out_.vlan);
    if (key == "pcp") return number(key, value, 0, 7, out_.pcp);
    given_.erase(key);
    say(in_quotes(key) + " is unknown; valid keys are " + kKeys);
  }

  template <class T>
  void number(const std::string& key, std::string_view value, uint32_t least, uint32_t most,
              T& into) {
    Result<int64_t> parsed = parse_integer(value);
    if (!parsed.ok() || *parsed < int64_t{least} || *parsed > int64_t{most})
      return say(key + "=" + printable(value) + " is no whole number from " +
                 std::to_string(least) + " to " + std::to_string(most));
    into = static_cast<T>(*parsed);
  }

  void read_address(const std::string& key, std::string_view value, IpAddress& into) {
    const std::optional<IpAddress> address = parse_ip(value);
    if (!address) return say(key + "=" + printable(value) + " is no IPv4 or IPv6 address");
    into = *address;
  }

  void read_port(std::string_view value) {
    const size_t place = config::place_of(config_, std::string(value));
    if (place < config_.ports.size()) {
      out_.port = PortId(place);
      return;
    }
    say("port=" + printable(value) + " is unknown; valid are " + port_names());
  }

  std::string port_names() const {
    std::string names;
    for (const config::PortConfig& port : config_.ports)
      if (!port.absent()) names += (names.empty() ? "" : ", ") + port.name;
    return names.empty() ? "none: the switch has no ports" : names;
  }

  void read_protocol(std::string_view value) {
    if (value == "udp") return void(out_.protocol = kProtocolUdp);
    if (value == "tcp") return void(out_.protocol = kProtocolTcp);
    if (value == "icmp") return void(icmp_ = true);
    Result<int64_t> parsed = parse_integer(value);
    if (!parsed.ok() || *parsed < 0 || *parsed > UINT8_MAX)
      return say("proto=" + printable(value) +
                 " is unknown; valid are udp, tcp, icmp, and numbers from 0 to 255");
    out_.protocol = static_cast<uint8_t>(*parsed);
  }

  void read_ecn(std::string_view value) {
    const auto found = std::ranges::find(kEcnWords, value);
    if (found == kEcnWords.end())
      return say("ecn=" + printable(value) + " is unknown; valid are not-ect, ect0, ect1, ce");
    out_.ecn = static_cast<uint8_t>(found - kEcnWords.begin());
  }

  bool has(const char* key) const { return given_.contains(key); }

  // What belongs together.
  void settle() {
    for (const char* key : {"src", "dst"})
      if (!has(key)) say(std::string(key) + " is missing");
    const bool ports = out_.protocol == kProtocolUdp || out_.protocol == kProtocolTcp;
    for (const char* key : {"sport", "dport"})
      if (has(key) && (icmp_ || !ports)) say(std::string(key) + " is for udp and tcp alone");
    const bool roce = !icmp_ && out_.protocol == kProtocolUdp && out_.destination_port == kRocePort;
    for (const char* key : {"qp", "opcode"})
      if (has(key) && !roce) say(std::string(key) + " is for proto=udp dport=4791 alone");
    if (has("pcp") && !has("vlan")) say("pcp is of a tag: it needs vlan, 0 for a tag without one");
    out_.tagged = has("vlan");
    if (!problems_.empty()) return;
    if (out_.source.is_v4() != out_.destination.is_v4())
      return say("src and dst are one of IPv4, one of IPv6");
    if (icmp_) out_.protocol = out_.destination.is_v4() ? kProtocolIcmp : kProtocolIcmpv6;
    if (!has("port")) find_port();
    const uint32_t least = std::max(headers_of(out_), kMinimumFrame);
    if (out_.length == 0) out_.length = least;
    if (out_.length < least)
      say("len=" + std::to_string(out_.length) + " is shorter than its headers, " +
          std::to_string(least));
  }

  // The one of the network that the source is in.
  void find_port() {
    const config::PortConfig* found = nullptr;
    for (size_t i = 0; i < config_.ports.size(); ++i)
      for (const IpPrefix& network : config_.ports[i].addresses)
        if (network.contains(out_.source) && found == nullptr) {
          found = &config_.ports[i];
          out_.port = PortId(i);
        }
    if (found == nullptr)
      say("port is missing: src is in the network of no port; valid are " + port_names());
  }

  const config::SwitchConfig& config_;
  std::vector<std::string_view> words_;
  std::set<std::string> given_;
  Description out_;
  bool icmp_ = false;
  Problems problems_;
};

// A view that one header after the other takes its octets from.
class Writer {
 public:
  explicit Writer(std::vector<uint8_t>& out) : out_(out) {}
  Octets room(size_t octets) {
    const size_t at = out_.size();
    out_.resize(at + octets);
    return {out_.data() + at, octets};
  }
  void word(uint16_t value) { store_be16(room(2).data(), value); }

 private:
  std::vector<uint8_t>& out_;
};

void put_network(const Description& of, uint16_t payload, Writer& writer) {
  if (of.destination.is_v4()) {
    const Ipv4Header header{.dscp = of.dscp,
                            .ecn = of.ecn,
                            .total_length = static_cast<uint16_t>(kIpv4Header + payload),
                            .ttl = of.ttl,
                            .protocol = of.protocol,
                            .source = of.source.v4(),
                            .destination = of.destination.v4()};
    encode(header, writer.room(kIpv4Header));
  } else {
    const Ipv6Header header{.dscp = of.dscp,
                            .ecn = of.ecn,
                            .payload_length = payload,
                            .next_header = of.protocol,
                            .hop_limit = of.ttl,
                            .source = of.source.v6(),
                            .destination = of.destination.v6()};
    encode(header, writer.room(kIpv6Header));
  }
}

void put_transport(const Description& of, uint16_t payload, Writer& writer) {
  if (of.protocol == kProtocolTcp) {
    encode(TcpHeader{.source_port = of.source_port, .destination_port = of.destination_port},
           writer.room(kTcpHeader));
  } else if (of.protocol == kProtocolUdp) {
    encode(UdpHeader{.source_port = of.source_port,
                     .destination_port = of.destination_port,
                     .length = payload},
           writer.room(kUdpHeader));
    if (of.destination_port != kRocePort) return;
    uint8_t* const bth = writer.room(kBthHeader + kIcrc).data();
    bth[0] = of.opcode;
    store_be32(bth + 4, of.queue_pair);
  }
}

}  // namespace

Result<Description> read_description(std::string_view text, const config::SwitchConfig& config) {
  if (text.size() > kMostDescription)
    return Result<Description>::failure("the description is longer than " +
                                        std::to_string(kMostDescription) + " octets");
  return Reader(text, config).read();
}

std::vector<uint8_t> frame_of(const Description& of, const config::SwitchConfig& config) {
  std::vector<uint8_t> frame;
  Writer writer(frame);
  const MacAddress to = port_mac(config, of.port.index());
  std::ranges::copy(to.octets, writer.room(6).begin());
  std::ranges::copy(std::array<uint8_t, 6>{0x02, 0, 0, 0, 0, 0x01}, writer.room(6).begin());
  if (of.tagged) {
    writer.word(kEtherTypeVlan);
    writer.word(static_cast<uint16_t>(of.pcp << 13 | of.vlan));
  }
  const bool v4 = of.destination.is_v4();
  writer.word(v4 ? kEtherTypeIpv4 : kEtherTypeIpv6);
  const uint32_t l3 = v4 ? kIpv4Header : kIpv6Header;
  const uint32_t padded =
      headers_of(of) < kMinimumFrame && of.length == kMinimumFrame ? headers_of(of) : of.length;
  const auto payload = static_cast<uint16_t>(padded - frame.size() - l3);
  put_network(of, payload, writer);
  put_transport(of, payload, writer);
  return frame;
}

}  // namespace eddy::explain
