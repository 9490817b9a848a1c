#include "lab/faults/line_fault.h"

#include <algorithm>

#include "net/assert.h"
#include "net/byte_order.h"
#include "net/hash.h"
#include "net/parse.h"
#include "net/protocols.h"
#include "net/shim.h"

namespace eddy::lab {
namespace {

constexpr uint32_t kDrawPurpose = 0x66616472;  // "fadr"
constexpr double kDraws = 4'294'967'296.0;     // 2^32
constexpr uint32_t kIpv4Source = 12;           // octets into the header
constexpr uint32_t kIpv4Destination = 16;
// The ICRC takes these for ones, since they may change on the way.
constexpr uint32_t kUdpChecksum = 6;  // octets behind the network header
constexpr uint32_t kBthCongestion = kUdpHeader + 4;

enum class Kind { pause, cnm, ip, other };

Kind kind_of(const Packet& packet, ParsedFrame& frame) {
  constexpr uint32_t kType = 12;
  if (packet.data_len() >= kEthernetHeader &&
      load_be16(packet.data() + kType) == kEtherTypeMacControl)
    return Kind::pause;
  if (parse_packet(packet, frame) != ParseVerdict::ok) return Kind::other;
  if (frame.kind == FrameKind::cnm || frame.kind == FrameKind::cim) return Kind::cnm;
  return frame.kind == FrameKind::ipv4 ? Kind::ip : Kind::other;
}

// Of frames that a fault of this type concerns.
Kind kind_for(config::FaultType type) {
  using enum config::FaultType;
  switch (type) {
    case pfc_loss:
    case pfc_duplicate:
    case pfc_delay:
      return Kind::pause;
    case cnm_loss:
    case cnm_duplicate:
      return Kind::cnm;
    case black_hole:
    case random_drop:
    case corruption:
    case link_flap:
    case slow_link:
    case pause_storm:
    case slow_receiver:
    case switch_stall:
    case pool_exhaustion:
    case reconfigure:
      return Kind::ip;
  }
  return Kind::ip;
}

}  // namespace

LineFault::LineFault(const FaultPlan& plan, const Topology& topology, uint64_t seed,
                     bool icrc_check)
    : type_(plan.config.type),
      threshold_(static_cast<uint64_t>(plan.config.probability * kDraws)),
      delay_(plan.config.delay),
      icrc_check_(icrc_check),
      seed_(hash_pair(seed, plan.index)),
      pair_threshold_(plan.pair_threshold),
      pairs_(plan.pairs.begin(), plan.pairs.end()),
      lines_(plan.lines) {
  ASSERT(std::ranges::is_sorted(lines_));
  for (const uint32_t line : lines_)
    streams_.emplace_back(hash_pair(seed, line), static_cast<uint32_t>(plan.index), kDrawPurpose);
  if (type_ != config::FaultType::black_hole) return;
  for (uint32_t i = 0; i < topology.hosts.size(); ++i)
    host_of_[topology.hosts[i].address.v4().value] = i;
}

LineFilter::Verdict LineFault::judge(uint32_t line, Packet& packet) {
  if (!concerns(packet)) return {};
  RandomStream& random =
      streams_[static_cast<size_t>(std::ranges::lower_bound(lines_, line) - lines_.begin())];
  if (random.next() >= threshold_) return {};
  ++hits_;
  switch (type_) {
    case config::FaultType::black_hole:
    case config::FaultType::random_drop:
    case config::FaultType::pfc_loss:
    case config::FaultType::cnm_loss:
      return {.lose = true};
    case config::FaultType::corruption:
      flip_bit(packet, random);
      return {};
    case config::FaultType::pfc_duplicate:
    case config::FaultType::cnm_duplicate:
      return {.duplicate = true};
    case config::FaultType::pfc_delay:
      return {.extra_delay = delay_};
    case config::FaultType::link_flap:
    case config::FaultType::slow_link:
    case config::FaultType::pause_storm:
    case config::FaultType::slow_receiver:
    case config::FaultType::switch_stall:
    case config::FaultType::pool_exhaustion:
    case config::FaultType::reconfigure:
      return {};
  }
  return {};
}

bool LineFault::concerns(const Packet& packet) const {
  ParsedFrame frame;
  const Kind kind = kind_of(packet, frame);
  if (kind == Kind::other && frame.kind == FrameKind::shim_control) return chosen_leaves(packet);
  if (kind != kind_for(type_)) return false;
  return type_ != config::FaultType::black_hole || chosen_pair(packet.data() + frame.l2_len);
}

// What leaves say to each other has no hosts.
bool LineFault::chosen_leaves(const Packet& packet) const {
  constexpr uint64_t kLeaves = uint64_t{1} << 63;  // unlike any pair of hosts
  Shim shim;
  const ConstOctets behind{packet.data() + kEthernetHeader, packet.data_len() - kEthernetHeader};
  if (pair_threshold_ == 0 || decode(behind, shim) != CodecVerdict::ok) return false;
  const uint64_t pair =
      kLeaves | uint64_t{shim.source_leaf.index()} << 32 | uint64_t{shim.destination_leaf.index()};
  return hash_pair(seed_, pair) < pair_threshold_;
}

bool LineFault::chosen_pair(const uint8_t* ip) const {
  const auto source = host_of_.find(load_be32(ip + kIpv4Source));
  const auto destination = host_of_.find(load_be32(ip + kIpv4Destination));
  if (source == host_of_.end() || destination == host_of_.end()) return false;
  const uint64_t pair = uint64_t{source->second} << 32 | destination->second;
  return pairs_.contains(pair) || hash_pair(seed_, pair) < pair_threshold_;
}

void LineFault::flip_bit(Packet& packet, RandomStream& random) const {
  ParsedFrame frame;
  if (parse_packet(packet, frame) != ParseVerdict::ok) return;
  const uint32_t ip = frame.l2_len;
  const uint32_t transport = ip + frame.l3_len;
  const uint32_t end = icrc_check_ ? packet.data_len() : transport;
  constexpr uint32_t kUncovered = 3;  // octets behind the network header, without the ICRC's cover
  const bool all = icrc_check_ && end > transport + kBthCongestion;
  uint32_t at = ip + random.below((all ? end - kUncovered : transport) - ip);
  if (at >= transport + kUdpChecksum) at += 2;
  if (at >= transport + kBthCongestion) at += 1;
  packet.data()[at] ^= static_cast<uint8_t>(1U << random.below(8));
}

}  // namespace eddy::lab
