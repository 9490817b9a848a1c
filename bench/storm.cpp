#include "bench/storm.h"

#include <rte_cycles.h>

#include <algorithm>
#include <array>
#include <memory>

#include "bench/pipeline_cases.h"
#include "bench/replay_io.h"
#include "bench/undisturbed.h"
#include "config/rlb.h"
#include "net/cnm.h"
#include "net/ethernet.h"

namespace eddy::bench {
namespace {

constexpr size_t kSources = 64;
constexpr size_t kPolls = 200;         // a sample
constexpr size_t kStormPort = 2;       // the first uplink, behind two hosts
constexpr uint16_t kNobodys = 0x88b6;  // IEEE local-experimental 2

// A ReplayIo and, in each poll, a burst of one port besides, which is written before the poll: what
// is counted inside polls is the switch's.
class StormIo final : public Io {
 public:
  StormIo(const ReplaySpec& spec, uint16_t ethertype) : replay_(spec), ethertype_(ethertype) {}

  void next_poll() {
    replay_.next_poll();
    for (Packet*& packet : storm_) {
      packet = replay_.allocate();
      write(packet);
    }
    stormy_ = true;
  }
  void raise_link(PortId port) { replay_.raise_link(port); }

  Received receive(std::span<Packet*> out) override {
    const Received calm = replay_.receive(out);
    if (calm.count != 0 || !stormy_) return calm;
    stormy_ = false;
    std::ranges::copy(storm_, out.begin());
    return {PortId(kStormPort), kBurst, Bytes(0)};
  }
  const News& news() override { return replay_.news(); }
  uint16_t transmit(PortId port, std::span<Packet* const> packets, Instant done) override {
    return replay_.transmit(port, packets, done);
  }
  Packet* allocate() override { return replay_.allocate(); }
  void free(std::span<Packet* const> packets) override { replay_.free(packets); }

 private:
  // Of a queue that the other traffic does not use: what warnings do to packets is not asked here.
  void write(Packet* packet) {
    constexpr MacAddress kPeer{{2, 0xed, 0, 9, 0, 1}};
    ++sent_;
    Cnm message;
    message.feedback = 20;
    message.congestion_point = {kPeer, static_cast<uint16_t>(sent_ % kSources)};
    message.priority = Priority(4);
    message.warning = {.hops_left = 1, .sequence = sent_, .expiry_ns = 24'000};
    const EthernetHeader header{
        .source = kPeer, .ethertype = ethertype_, .tag_count = 1, .tags = {VlanTag{.pcp = 7}}};
    const Octets space(packet->data(), 128);
    size_t length = encode(header, space);
    length += encode(message, space.subspan(length));
    packet->set_length(length, length);
  }

  ReplayIo replay_;
  uint16_t ethertype_;
  std::array<Packet*, kBurst> storm_{};
  uint32_t sent_ = 0;
  bool stormy_ = false;
};

class Leaf {
 public:
  explicit Leaf(uint16_t ethertype)
      : config_(warned_leaf()),
        io_(replay_of(spec(), config_), ethertype),
        object_(make_switch(config_, 1)) {
    for (size_t port = 0; port < config_.ports.size(); ++port) io_.raise_link(PortId(port));
    (void)run(kPolls);
  }

  // Cycles a poll, of a leaf whose caches and predictors are its own again.
  double sample() {
    (void)run(kPolls);
    return run(kPolls);
  }
  double run(size_t polls) {
    const uint64_t before = rte_rdtsc();
    for (size_t i = 0; i < polls; ++i) {
      now_ = now_ + kPollGap * 2;
      io_.next_poll();
      object_->shard(ShardId(0)).poll(io_, now_);
    }
    return static_cast<double>(rte_rdtsc() - before) / static_cast<double>(polls);
  }

 private:
  static Case spec() { return {.name = "storm", .bursts = 2}; }
  static config::SwitchConfig warned_leaf() {
    config::SwitchConfig leaf = config_of(spec());
    leaf.rlb = config::rlb_preset(config::RlbPreset::standard);
    return leaf;
  }

  config::SwitchConfig config_;
  StormIo io_;
  std::unique_ptr<Switch> object_;
  Instant now_ = Instant::at(Duration::microseconds(1'000));
};

}  // namespace

std::vector<Result> measure_storm(int rounds) {
  Leaf warned(kEtherTypeCnm);
  Leaf calm(kNobodys);
  std::vector<double> shares;
  for (int round = 0; round < rounds; ++round)
    shares.push_back(undisturbed([&] {
      const double with = warned.sample();
      return 100 * (with - calm.sample()) / with;
    }));
  return {summarize("rlb.storm", shares, "%")};
}

std::vector<Counted> counted_storm() {
  const auto leaf = [](uint16_t ethertype) {
    return [ethertype](size_t polls) { (void)Leaf(ethertype).run(polls); };
  };
  return {{"storm.cnm", 2 * kBurst, leaf(kEtherTypeCnm)},
          {"storm.calm", 2 * kBurst, leaf(kNobodys)}};
}

}  // namespace eddy::bench
