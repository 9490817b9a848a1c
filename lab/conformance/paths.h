// Path sets, port signals and packets for the conformance suite and for tests of lb/: a view whose
// every number the user chooses.
#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <span>
#include <string_view>
#include <vector>

#include "config/rlb.h"
#include "lb/members.h"
#include "lb/path_set.h"
#include "lb/path_view.h"
#include "lb/registry.h"
#include "net/packet.h"
#include "net/rebase.h"

namespace eddy::lb::test {

inline MemberMask first_members(size_t count) {
  return count == kMaxPaths ? ~MemberMask{0} : (MemberMask{1} << count) - 1;
}

// A set whose member i leaves by port first_port + i with path id (i, 0xFF).
inline PathSet make_set(std::span<const uint16_t> weights, size_t first_port = 0) {
  PathSet set;
  set.count = static_cast<uint8_t>(weights.size());
  for (size_t i = 0; i < weights.size(); ++i)
    set.members[i] = {PortId(first_port + i), PathId(i << 8 | 0xFF), weights[i]};
  return set;
}
inline PathSet make_set(size_t count, size_t first_port = 0) {
  return make_set(std::vector<uint16_t>(count, 1), first_port);
}

// One switch's path sets, which of their members live, and the signals of its ports.
class Paths {
 public:
  static constexpr BitRate kRate = BitRate::gbps(40);
  static constexpr Bytes kMarking{160'000};
  // Delays are one way; stamps wait in queue 3, that of make_packet().
  static constexpr PathTable::Parameters kMeasurement = {
      .base_rtt = Duration::microseconds(16), .one_way = true, .measured = {.queues = 1 << 3}};

  explicit Paths(std::vector<PathSet> sets)
      : sets_(std::move(sets)),
        ports_(std::make_unique<std::array<PortSignals, kMaxPorts>>()),
        measured_(std::make_unique<PathTable>(sets_, kMeasurement)),
        lines_(kMaxPorts, PortLine{kRate, kMarking}) {
    for (const PathSet& set : sets_) live_.push_back(first_members(set.count));
    for (PortSignals& port : *ports_) {
      for (auto& bytes : port.queued_bytes) bytes = 0;
      port.up = 1;
    }
  }

  // Without measurements, or with those of measured().
  PathView view(Instant now = {}, const WarningTable* warnings = nullptr) const {
    return {now, sets_, live_.data(), ports_->data(), {.warnings = warnings}};
  }
  PathView measured_view(Instant now, const WarningTable* warnings = nullptr) const {
    return {
        now, sets_, live_.data(), ports_->data(), {.warnings = warnings, .paths = measured_.get()}};
  }
  // With whatever the test has.
  PathView view_with(Instant now, const PathAids& aids) const {
    return {now, sets_, live_.data(), ports_->data(), aids};
  }
  PathTable& measured() { return *measured_; }
  // The first sample of a member's delay is its delay; a second one is smoothed.
  void measure(size_t set, MemberIndex member, Duration delay, Instant now) {
    measured_->at(set, member).forget();
    measured_->take_delay(set, member, delay, now);
  }
  // Whatever went into the path before the instant has arrived.
  void drained(size_t set, MemberIndex member, Instant before) {
    measured_->take_echo(set, member, before, /*proves=*/true);
  }
  // What a switch would rebase of what is here.
  void rebase(const Rebase& rebase) {
    for (PortSignals& port : *ports_) rebase.shift(port.dre_since_ps);
    measured_->rebase(rebase);
  }
  std::span<const PathSet> sets() const { return sets_; }
  MemberMask& live(size_t set = 0) { return live_[set]; }
  PortSignals& port(size_t number) { return (*ports_)[number]; }
  void queue(size_t port_number, uint32_t bytes, size_t queue_number = 3) {
    port(port_number).queued_bytes[queue_number] = bytes;
  }
  std::span<const PortLine> lines() const { return lines_; }
  const Dre& dre() const { return dre_; }
  // The port has sent this share of what its line carries, as its register shows at `now`.
  void load(size_t port_number, uint32_t percent, Instant now = {}) {
    PortSignals& signals = port(port_number);
    dre_.restart(signals, now);
    signals.dre_bytes = static_cast<uint64_t>(dre_.capacity(kRate).count()) * percent / 100;
  }

 private:
  std::vector<PathSet> sets_;
  std::vector<MemberMask> live_;
  std::unique_ptr<std::array<PortSignals, kMaxPorts>> ports_;
  std::unique_ptr<PathTable> measured_;
  std::vector<PortLine> lines_;
  Dre dre_{Dre::Parameters{}};
};

// A full-sized data packet of flow number `flow`; a line alone, without a frame to read.
inline Packet make_packet(uint64_t flow, uint16_t payload = 1'000) {
  Packet packet{};
  packet.order_hash = mix64(flow + 1);
  packet.balance_hash = static_cast<uint32_t>(mix64(~flow));
  packet.payload_len = payload;
  packet.wire_len = payload + 58u;
  packet.queue = QueueId(3);
  packet.flags = kPacketIp;
  return packet;
}

struct Entity {
  uint64_t seed = 1;
  uint16_t switch_id = 1;
  uint8_t shard = 0;
  bool rlb = false;                               // by default
  const config::RlbConfig* rlb_config = nullptr;  // or so
  bool control_by_scheme = false;
};

inline std::unique_ptr<Selector> make(std::string_view scheme, const Paths& paths,
                                      const ParameterMap& parameters = {}, Entity entity = {}) {
  static const config::RlbConfig kStandard{.preset = config::RlbPreset::standard};
  const config::RlbConfig* rlb = entity.rlb ? &kStandard : entity.rlb_config;
  const SelectorInit init{paths.sets(),          entity.seed, SwitchId(entity.switch_id),
                          ShardId(entity.shard), parameters,  rlb,
                          paths.lines(),         paths.dre(), entity.control_by_scheme};
  Result<std::unique_ptr<Selector>> made = make_selector(scheme, init);
  return made ? std::move(made.value()) : nullptr;
}

inline MemberIndex select_one(Selector& selector, const PathView& view, Packet& packet,
                              uint16_t set = 0) {
  Packet* const burst[] = {&packet};
  const uint16_t set_of[] = {set};
  selector.select(view, burst, set_of);
  return packet.member;
}

}  // namespace eddy::lb::test
