#include "switch/dataplane/paths/shim_dresser.h"

#include <algorithm>
#include <cstddef>
#include <cstring>

#include "lb/members.h"
#include "lb/selector.h"
#include "net/byte_order.h"
#include "switch/dataplane/queues/rewrite.h"
#include "switch/dataplane/queues/sojourn.h"
#include "switch/dataplane/state/shim_layout.h"

namespace eddy {
namespace {

constexpr uint8_t kOneHop = 0x10;
constexpr uint8_t kHopMask = 0xf0;
constexpr uint8_t kHopByHop = 0xff;
constexpr uint8_t kNoEcho = 0xff;

void set_flags(uint8_t* shim, unsigned flags) {
  shim[shim_at::kFlags] = static_cast<uint8_t>(shim[shim_at::kFlags] | flags);
}
void clear_flags(uint8_t* shim, unsigned flags) {
  shim[shim_at::kFlags] = static_cast<uint8_t>(shim[shim_at::kFlags] & ~flags);
}
// All but the field that says what is in the frame.
void copy_fields(uint8_t* to, const uint8_t* from) {
  constexpr size_t kHalf = kShimHeader / 2;
  std::memcpy(to, from, kHalf);
  std::memcpy(to + shim_at::kInnerEtherType - kHalf, from + shim_at::kInnerEtherType - kHalf,
              kHalf);
}

}  // namespace

void ShimDresser::adopt(const Snapshot& now) {
  plan_ = &now.path_plan;
  next_hop_count_ = now.next_hops.size();
  every_ = plan_->need == lb::ShimNeed::every;
  in_bursts_ = plan_->dresses() && (every_ || plan_->pins || agents_.dresses());
  const bool singly = plan_->dresses() && !in_bursts_;
  const PathEchoes* const echoes = now.schemes[context_.id.index()].echoes.get();
  noted_ = echoes == nullptr ? nullptr : echoes->attention();
  attention_ = singly && !now.path_sets.empty() ? noted_ : nullptr;
  const bool is_free = plan_->shim_octets == 0;
  shortest_mtu_ = UINT16_MAX;
  for (const PortSettings& port : now.ports)
    if (port.role == config::PortRole::fabric)
      shortest_mtu_ = std::min(shortest_mtu_, port.max_l3_len);
  packet_flags_ = static_cast<uint16_t>(kPacketShim | (is_free ? kPacketFreeShim : 0));
  (void)encode(Shim{.source_leaf = now.leaf}, shim_);
  source_ = load_be64(shim_.data());
  passes_ = every_ && noted_ != nullptr && context_.sole && !now.has_channels &&
            !agents_.hears_replies() && agents_.dresses_briefly();
  looks_at_bursts_ = in_bursts_ || agents_.hears_replies() || now.has_channels;
}

bool ShimDresser::begin_passing_burst(std::span<Packet* const> packets,
                                      std::span<const uint16_t> sets) {
  const PortId from = packets[0]->ingress_port;
  if (context_.settings(from).role != config::PortRole::host) return false;
  if (!agents_.dress_briefly(packets, sets, briefs_)) return false;
  unsigned flags = flags_of_poll();
  if (agents_.says_delays()) flags |= kShimTolerableDelay;
  const lb::LoadReports* const reports = agents_.reports();
  stencil_ = {.way = source_ | uint64_t{flags} << 48,
              .time = uint64_t{paths_.now_ns()} << 32,
              .leaf_of_set = plan_->leaf_of_set.data(),
              .noted = noted_,
              .briefs = briefs_.data(),
              .reports = reports != nullptr && reports->has_any() ? reports : nullptr,
              .octets = plan_->shim_octets,
              .flags = packet_flags_ | (agents_.says_delays() ? unsigned{kPacketTimed} : 0),
              .now_ns = lb::PathRecord::wire_time(context_.now)};
  return true;
}

void ShimDresser::look_at_burst(std::span<Packet* const> packets, From from) {
  if (agents_.hears_replies()) agents_.watch_replies(packets);
  if (in_bursts_) dress_burst(packets, from);
}

bool ShimDresser::is_member(const Packet& packet, uint16_t set) const {
  const lb::PathSet& to = context_.path_sets[set];
  return packet.member < to.count && to.members[packet.member].port == packet.egress_port;
}

bool ShimDresser::is_from_host(const Packet& packet) const {
  return context_.settings(packet.ingress_port).role == config::PortRole::host &&
         !packet.has(kPacketOriginated) && packet.data_off >= kShimHeader;
}

uint8_t ShimDresser::flags_of_poll() const {
  return paths_.proves() ? kShimPinned : 0;
}

// What shims of a poll have in common.
void ShimDresser::begin_shims() {
  shim_[shim_at::kFlags] = flags_of_poll();
  store_be32(&shim_[shim_at::kSent], paths_.now_ns());
}

ShimDresser::Common ShimDresser::common() const {
  return {shim_.data(), plan_->leaf_of_set.data(), plan_->shim_octets, packet_flags_};
}

// Without an errand.
[[gnu::always_inline]] inline uint8_t* ShimDresser::put_shim(Packet& packet, uint16_t set,
                                                             const Common& common) {
  packet.push_front(kShimHeader);
  packet.wire_len = static_cast<uint16_t>(packet.wire_len + common.octets);
  put_heads(packet, (heads_of(packet) | common.flags) + (kShimHeader << kL2LenShift));
  uint8_t* frame = packet.data();  // the MACs are still to be written
  uint8_t* shim = frame + kEthernetHeader;
  // The frame's EtherType, right before what it says, is where the shim has it.
  store_be16(shim - 2, kEtherTypeShim);
  copy_fields(shim, common.shim);
  const size_t leaf = common.leaf_of_set[set].index();
  store_be32(shim + shim_at::kDestination, static_cast<uint32_t>(leaf << 16 | packet.path.index()));
  shim[shim_at::kService] = static_cast<uint8_t>(packet.traffic_class.index() << 4);
  context_.count(packet.egress_port, PortCounter::shim_tx_packets);
  return shim;
}

// The place of the path whose echo it carries, or kNoEcho.
[[gnu::always_inline]] inline uint8_t ShimDresser::add_shim(Packet& packet, uint16_t set,
                                                            Errand errand) {
  uint8_t* const shim = put_shim(packet, set, common());
  // What is of this poll is written into the frame: the template, which is read as a whole, would
  // have to wait for it.
  shim[shim_at::kFlags] = flags_of_poll();
  store_be32(shim + shim_at::kSent, paths_.now_ns());
  if (errand.stamps != nullptr) add_stamp(packet, shim, set, *errand.stamps);
  return errand.echoes ? add_echo(shim, set) : kNoEcho;
}

inline void ShimDresser::add_stamp(const Packet& packet, uint8_t* shim, uint16_t set,
                                   lb::PathRecord& path) {
  set_flags(shim, kShimRttRequest | kShimSampled);
  paths_.stamp(packet, set, path);
}

// Its place.
uint8_t ShimDresser::add_echo(uint8_t* shim, uint16_t set) {
  const PathService::Telling told = paths_.tell(set);
  write_report(shim, told, told.path, told.congestion);
  return told.place;
}

void ShimDresser::write_report(uint8_t* shim, const PathService::Telling& told, PathId path,
                               uint8_t load) {
  set_flags(shim, told.flags);
  store_be16(shim + shim_at::kReportPath, static_cast<uint16_t>(path.index()));
  shim[shim_at::kReportLoad] = load;
  store_be32(shim + shim_at::kEchoed, told.echoed_ns);
  store_be32(shim + shim_at::kHold, told.hold_ns);
  shim[shim_at::kPackets] = told.packets;
  shim[shim_at::kMarked] = told.marked;
}

// Asked where PathEchoes::attention() says that there may be one.
inline ShimDresser::Errand ShimDresser::errand_of(const Packet& packet, uint16_t set) {
  return {.stamps = paths_.due(packet, set), .echoes = paths_.waiting(set) != 0};
}

// A packet that a stamp may be due for, or that an echo waits for.
void ShimDresser::consider(Packet& packet, uint16_t set) {
  if (!is_member(packet, set)) return;
  const Errand errand = errand_of(packet, set);
  if ((errand.stamps == nullptr && !errand.echoes) || !is_from_host(packet)) return;
  (void)add_shim(packet, set, errand);
}

// Of a packet from a host. What exceeds the MTU is dropped before its queue, and takes neither
// stamp nor echo with it.
uint16_t ShimDresser::set_to_dress(const Packet& packet, From from) const {
  const bool stale = from == From::other_shard && packet.next_hop >= next_hop_count_;
  if ((packet.flags & (kPacketShim | kPacketOriginated)) != 0 || stale) return kNoSet;
  const NextHop& next_hop = context_.next_hops[packet.next_hop];
  const PortSettings& out = context_.settings(packet.egress_port);
  const bool ours = context_.sole || out.owner == context_.id;
  if (next_hop.kind != NextHop::Kind::path_set || !ours || packet.network_len() > out.max_l3_len ||
      packet.data_off < kShimHeader)
    return kNoSet;
  return from == From::choice || is_member(packet, next_hop.set) ? next_hop.set : kNoSet;
}

// In a burst in which every packet from a host gets a shim, most are without headers of their own
// between Ethernet and IP, not too long, and take nothing along. longest: 0 where that is not
// asked, nor where they lead.
inline bool ShimDresser::is_plain(const Packet& packet, const NextHop* next_hop,
                                  uint32_t longest) const {
  constexpr uint32_t kAsked = uint32_t{kPacketShim | kPacketOriginated} | uint32_t{UINT8_MAX}
                                                                              << kL2LenShift;
  return (heads_of(packet) & kAsked) == uint32_t{kEthernetHeader} << kL2LenShift &&
         packet.wire_len <= longest && next_hop->kind == NextHop::Kind::path_set &&
         packet.data_off >= kShimHeader && !lb::contains(noted_[next_hop->set], packet.member);
}

[[gnu::noinline]] ShimDresser::Dressed ShimDresser::dress_one(Packet& packet, From from) {
  const uint16_t set = set_to_dress(packet, from);
  if (set == kNoSet) return {};
  Errand errand;
  if (noted_ != nullptr && lb::contains(noted_[set], packet.member))
    errand = errand_of(packet, set);
  if (!every_ && errand.stamps == nullptr && !errand.echoes && plan_->pinned[set] == 0) return {};
  strip_headers(packet, /*keep_shim=*/false);
  return {set, add_shim(packet, set, errand)};
}

void ShimDresser::dress_burst(std::span<Packet* const> packets, From from) {
  begin_shims();
  const Common common = this->common();
  const NextHop* const next_hops = context_.next_hops;
  const bool asks = agents_.dresses();
  const bool plain = every_ && noted_ != nullptr && context_.sole && from == From::choice;
  const uint32_t longest = plain ? shortest_mtu_ + kEthernetHeader : 0;
  PortId host = PortId::none();  // a port of hosts, by which the last packet came
  size_t count = 0;
  for (Packet* packet : packets) {
    if (packet->ingress_port != host) [[unlikely]] {
      if (context_.settings(packet->ingress_port).role != config::PortRole::host) continue;
      host = packet->ingress_port;
    }
    const NextHop* const next_hop = next_hops + packet->next_hop;
    Dressed dressed{.echo = kNoEcho};
    if (is_plain(*packet, next_hop, longest)) [[likely]] {
      dressed.set = next_hop->set;
      (void)put_shim(*packet, dressed.set, common);
    } else if ((dressed = dress_one(*packet, from)).set == kNoSet) {
      continue;
    }
    if (asks) note_dressed(*packet, dressed, count++);
  }
  if (count != 0) ask_agents(count);
}

[[gnu::noinline]] void ShimDresser::add_errand(const Packet& packet, uint8_t* shim, uint16_t set) {
  Errand errand;
  if (lb::contains(noted_[set], packet.member)) errand = errand_of(packet, set);
  if (errand.stamps != nullptr) add_stamp(packet, shim, set, *errand.stamps);
  if (errand.echoes)
    (void)add_echo(shim, set);
  else if (stencil_.wants_report(set))
    report(shim, set);
}

void ShimDresser::report(uint8_t* shim, uint16_t set) {
  const lb::LoadReports::Report report = agents_.reports()->next(set);
  if (paths_.has_place(set, report.place))
    write_report(shim, paths_.report(set, report.place), report.path, report.load);
}

[[gnu::noinline]] void ShimDresser::dress_apart(Packet& packet, size_t place) {
  const Dressed dressed = dress_one(packet, From::choice);
  if (dressed.set == kNoSet) return;
  uint8_t* const shim = packet.data() + kEthernetHeader;
  if (dressed.echo == kNoEcho && stencil_.wants_report(dressed.set)) report(shim, dressed.set);
  const uint32_t brief = briefs_[place];
  shim[shim_at::kHops] = static_cast<uint8_t>(shim[shim_at::kHops] | brief >> 24);
  store_be16(shim + shim_at::kTolerableDelay, static_cast<uint16_t>(brief));
  if (!agents_.says_delays()) return;
  set_flags(shim, kShimTolerableDelay);
  begin_sojourn(packet, context_.now);
}

inline void ShimDresser::note_dressed(Packet& packet, const Dressed& dressed, size_t place) {
  lb::Dressing& dressing = dressings_[place];
  dressing.packet = &packet;
  dressing.set = dressed.set;
  dressing.may_report = (dressed.echo == kNoEcho) & every_;
  dressing.fields.written = 0;
  echoes_[place] = dressed.echo;
}

void ShimDresser::ask_agents(size_t count) {
  agents_.dress({dressings_.data(), count});
  const unsigned undeclared = ~unsigned{agents_.declared()};
  for (size_t i = 0; i < count; ++i) {
    lb::Dressing& dressing = dressings_[i];
    if (dressing.fields.written == 0) continue;
    if ((dressing.fields.written & undeclared) != 0) [[unlikely]]
      agents_.take_out_undeclared(dressing);
    if (!write_usual(dressing)) write_fields(dressing, echoes_[i]);
  }
}

// What schemes write into nearly every shim. False: there is more, or something else.
inline bool ShimDresser::write_usual(lb::Dressing& dressing) const {
  const lb::ShimFields& fields = dressing.fields;
  uint8_t* const shim = dressing.packet->data() + kEthernetHeader;
  switch (fields.written) {
    case lb::kFieldEpoch:
      write_epoch(shim, fields);
      return true;
    case lb::kFieldDelay:
      write_delay(*dressing.packet, shim, fields);
      return true;
    case lb::kFieldSequence:
      store_be16(shim + shim_at::kTolerableDelay, fields.sequence);
      return true;
    default:
      return false;
  }
}

inline void ShimDresser::write_epoch(uint8_t* shim, const lb::ShimFields& fields) {
  shim[shim_at::kHops] = static_cast<uint8_t>((shim[shim_at::kHops] & ~3) | (fields.epoch & 3));
}

inline void ShimDresser::write_delay(Packet& packet, uint8_t* shim,
                                     const lb::ShimFields& fields) const {
  store_be16(shim + shim_at::kTolerableDelay, fields.tolerable_delay);
  set_flags(shim, kShimTolerableDelay);
  begin_sojourn(packet, context_.now);
}

void ShimDresser::write_fields(lb::Dressing& dressing, uint8_t echo_place) {
  const lb::ShimFields& fields = dressing.fields;
  uint8_t* shim = dressing.packet->data() + kEthernetHeader;
  if ((fields.written & lb::kFieldReport) != 0 && dressing.may_report &&
      paths_.has_place(dressing.set, fields.report_place)) {
    write_report(shim, paths_.report(dressing.set, fields.report_place), fields.report_path,
                 fields.report_load);
  }
  if ((fields.written & lb::kFieldEpoch) != 0) write_epoch(shim, fields);
  if ((fields.written & lb::kFieldChannel) != 0) shim_at::put_channel(shim, fields.virtual_channel);
  if ((fields.written & lb::kFieldDelay) != 0) write_delay(*dressing.packet, shim, fields);
  if ((fields.written & lb::kFieldSequence) != 0)
    store_be16(shim + shim_at::kTolerableDelay, fields.sequence);
  if ((fields.written & lb::kFieldTail) == 0) return;
  // Its time stands where an echo's wait does.
  if (echo_place != kNoEcho) paths_.put_back(dressing.set, echo_place);
  clear_flags(shim, kShimRttEcho | kShimFeedback);
  if (fields.tail) set_flags(shim, kShimTail);
  if (fields.rerouted) set_flags(shim, kShimRerouted);
  store_be32(shim + shim_at::kHold, fields.tail_sent_ns);
}

// On its way through a switch that is neither end.
void ShimDresser::pass(Packet& packet) {
  uint8_t* shim = packet.data() + kEthernetHeader;
  if ((shim[shim_at::kHops] & kHopMask) != kHopMask)
    shim[shim_at::kHops] = static_cast<uint8_t>(shim[shim_at::kHops] + kOneHop);
  const PortId port = packet.egress_port;
  const uint32_t utilisation = context_.dre->utilisation(
      context_.signals(port), plan_->capacities[port.index()], context_.now);
  shim[shim_at::kCongestion] = static_cast<uint8_t>(std::max<uint32_t>(
      shim[shim_at::kCongestion], std::min<uint32_t>(utilisation >> 8, UINT8_MAX)));
  if (agents_.hears_waits()) [[unlikely]]
    note_wait(packet, shim);
}

[[gnu::noinline]] void ShimDresser::note_wait(Packet& packet, const uint8_t* shim) {
  if ((shim[shim_at::kFlags] & kShimTolerableDelay) == 0) return;
  begin_sojourn(packet, context_.now);
  const lb::PortSignals& signals = context_.signals(packet.egress_port);
  if (!signals.paused(packet.queue)) return;
  agents_.wait({.port = packet.egress_port,
                .queue = packet.queue,
                .source = LeafId(load_be16(shim + shim_at::kSource)),
                .destination = LeafId(load_be16(shim + shim_at::kDestination)),
                .path = PathId(load_be16(shim + shim_at::kPath)),
                .tolerable_delay = load_be16(shim + shim_at::kTolerableDelay),
                .ahead = signals.waiting_from(packet.queue)});
}

// Its path does not say it, or has been followed to its end.
bool ShimDresser::is_free(const uint8_t* shim) {
  return shim[shim_at::kPath + 1] == kHopByHop || (shim[shim_at::kHops] & kHopMask) != 0;
}

// The member that the path id names, if it lives; kWait: none.
lb::MemberIndex ShimDresser::named_by(const uint8_t* shim, uint16_t set) const {
  const lb::PathSet& to = context_.path_sets[set];
  const uint8_t second = shim[shim_at::kPath + 1];
  for (lb::MemberIndex i = 0; i < to.count; ++i)
    if (to.members[i].path.index() >> 8 == second)
      return lb::contains(context_.live[set], i) ? i : lb::kWait;
  return lb::kWait;
}

lb::MemberIndex ShimDresser::steered(const Packet& packet, uint16_t set) const {
  const uint8_t* shim = packet.data() + packet.l2_len - kShimHeader;
  const bool chooses = context_.path_sets[set].count == 1 || is_free(shim);
  return chooses ? lb::kWait : named_by(shim, set);
}

bool ShimDresser::steer(Packet& packet, uint16_t set) {
  const lb::PathSet& to = context_.path_sets[set];
  uint8_t* shim = packet.data() + packet.l2_len - kShimHeader;
  if (to.count == 1) return false;
  if (is_free(shim)) {
    clear_flags(shim, kShimPinned);
    return false;
  }
  const lb::MemberIndex member = named_by(shim, set);
  if (member == lb::kWait) {
    context_.count(packet.ingress_port, PortCounter::path_deviated_packets);
    clear_flags(shim, kShimPinned);
    return false;
  }
  lb::assign(packet, to, member);
  return true;
}

}  // namespace eddy
