#include "bench/overhead.h"

#include <rte_cycles.h>

#include <array>
#include <bit>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <utility>
#include <vector>

#include "bench/pipeline_cases.h"
#include "bench/replay_io.h"
#include "bench/undisturbed.h"
#include "config/rlb.h"
#include "net/assert.h"
#include "net/byte_order.h"
#include "net/cnm.h"
#include "net/ethernet.h"
#include "net/protocols.h"
#include "net/shim.h"
#include "tests/support/one_switch.h"

namespace eddy::bench {
namespace {

constexpr size_t kHosts = 2;
constexpr size_t kUplinks = 4;
constexpr size_t kPolls = 320;          // a sample
constexpr uint32_t kFlows = 10'000;     // at this load most pause for longer than a flowlet's gap,
constexpr uint32_t kSteadyFlows = 500;  // and of so few hardly one does
constexpr uint32_t kWarnEvery = 256;    // polls: warnings live for longer
constexpr size_t kSentAt = 16;          // in the shim: when the frame was sent,
constexpr size_t kEchoedAt = 20;        // and the stamp that it echoes
constexpr size_t kFeedbackPathAt = 8;
constexpr size_t kSourceAt = 2;

// How many stamps an uplink answers in a poll.
struct Answers {
  uint8_t uplink = 0;
  uint8_t count = 0;
};
using Answering = std::vector<std::vector<Answers>>;  // poll by poll

// A ReplayIo whose uplinks lead to leaves that answer stamps, and to spines that warn. Around a
// leaf that stamps nothing it can do as much for stamps as it did around another: it reads packets
// and writes answers, which nobody gets.
class FabricIo final : public Io {
 public:
  FabricIo(const ReplaySpec& spec, size_t warned_uplinks)
      : replay_(spec), warned_(warned_uplinks), feedback_(kMinimumFrame) {
    const size_t at = encode(EthernetHeader{.ethertype = kEtherTypeShim}, feedback_);
    encode(Shim{.kind = ShimKind::feedback,
                .flags = kShimRttEcho | kShimFeedback,
                .destination_leaf = LeafId(1),
                .feedback_packets = 1},
           Octets(feedback_).subspan(at));
  }

  void next_poll(Instant now) {
    if (!unheard_.empty())
      read_as_if_stamped();
    else
      read_stamps();
    if (noted_ != nullptr) [[unlikely]]
      noted_->emplace_back();
    replay_.next_poll();
    now_ns_ = static_cast<uint32_t>(now.ps() / 1'000);
    if (polls_++ % kWarnEvery == 0)
      for (size_t i = 0; i < warned_; ++i) {
        lines_[i].warns = true;
        answering_ |= 1u << i;
      }
  }
  void raise_link(PortId port) { replay_.raise_link(port); }
  // From now on; null: no more.
  void note_answers(Answering* noted) { noted_ = noted; }
  // Of another world, which has noted some.
  void answer_unheard(const Answering& noted) { unheard_ = noted; }

  Received receive(std::span<Packet*> out) override {
    const Received fresh = replay_.receive(out);
    if (fresh.count != 0 || answering_ == 0) return fresh;
    if (unheard_.empty()) return next_answers(out);
    while (answering_ != 0) {
      const Received answers = next_answers(out);
      for (size_t i = 0; i < answers.count; ++i) replay_.free(out.subspan(i, 1));
    }
    return {};
  }
  const News& news() override { return replay_.news(); }
  uint16_t transmit(PortId port, std::span<Packet* const> packets, Instant done) override {
    ASSERT(dressed_count_ + packets.size() < dressed_.size());
    for (const Packet* packet : packets) {  // which have shims is what no predictor can know
      dressed_[dressed_count_] = packet;
      dressed_count_ += packet->has(kPacketShim) ? 1 : 0;
    }
    return replay_.transmit(port, packets, done);
  }
  Packet* allocate() override { return replay_.allocate(); }
  void free(std::span<Packet* const> packets) override { replay_.free(packets); }

 private:
  struct Stamp {
    uint32_t sent_ns;
    uint16_t leaf, path;
  };
  struct Line {
    std::array<Stamp, kBurst> asked;
    uint16_t count = 0;
    bool warns = false;
  };

  // Of what the last poll has sent: freed, and not yet written anew.
  void read_stamps() {
    for (size_t i = 0; i < dressed_count_; ++i) note(*dressed_[i]);
    dressed_count_ = 0;
  }
  void note(const Packet& packet) {
    const uint8_t* shim = packet.data() + kEthernetHeader;
    if ((shim[1] & kShimRttRequest) != 0) ask(packet.egress_port.index() - kHosts, shim);
  }
  void ask(size_t uplink, const uint8_t* shim) {
    Line& line = lines_[uplink];
    if (line.count + 1u == line.asked.size()) return;
    line.asked[line.count++] = {load_be32(shim + kSentAt), load_be16(shim + 4),
                                load_be16(shim + 6)};
    answering_ |= 1u << uplink;
  }
  // As read_stamps() around the other leaf, of whatever packet was sent.
  void read_as_if_stamped() {
    for (const Answers& answers : unheard_[polls_ % unheard_.size()])
      for (size_t i = 0; i < answers.count; ++i)
        ask(answers.uplink, dressed_[0]->data() + kEthernetHeader);
  }

  Received next_answers(std::span<Packet*> out) {
    const auto uplink = static_cast<size_t>(std::countr_zero(answering_));
    answering_ &= answering_ - 1;
    const uint16_t count = answer(uplink, out);
    if (noted_ != nullptr) [[unlikely]]
      noted_->back().push_back({static_cast<uint8_t>(uplink), static_cast<uint8_t>(count)});
    return {PortId(kHosts + uplink), count, Bytes(0)};
  }
  uint16_t answer(size_t uplink, std::span<Packet*> out) {
    Line& line = lines_[uplink];
    uint16_t count = 0;
    if (std::exchange(line.warns, false)) [[unlikely]]
      out[count++] = make(warning(uplink));
    while (line.count != 0) out[count++] = make(echo(line.asked[--line.count]));
    return count;
  }

  const test::Frame& echo(const Stamp& stamp) {
    uint8_t* shim = feedback_.data() + kEthernetHeader;
    store_be16(shim + kSourceAt, stamp.leaf);
    store_be16(shim + kFeedbackPathAt, stamp.path);
    store_be32(shim + kSentAt, now_ns_);
    store_be32(shim + kEchoedAt, stamp.sent_ns);
    return feedback_;
  }

  const test::Frame& warning(size_t uplink) {
    const MacAddress peer{{2, 0xed, 0, 9, 0, static_cast<uint8_t>(uplink + 1)}};
    Cnm message;
    message.feedback = 20;
    message.congestion_point = {peer, 7};
    message.priority = test::kLossless;
    message.warning = {.predicting_switch = SwitchId(40 + uplink),
                       .destination_leaf = LeafId::none(),
                       .sequence = ++sequence_,
                       .expiry_ns = 900'000};
    const EthernetHeader header{
        .source = peer, .ethertype = kEtherTypeCnm, .tag_count = 1, .tags = {VlanTag{.pcp = 7}}};
    warning_.resize(128);
    const size_t length = encode(header, warning_);
    warning_.resize(length + encode(message, Octets(warning_).subspan(length)));
    return warning_;
  }

  Packet* make(const test::Frame& frame) {
    Packet* packet = replay_.allocate();
    std::memcpy(packet->data(), frame.data(), frame.size());
    packet->set_length(frame.size(), frame.size());
    return packet;
  }

  ReplayIo replay_;
  size_t warned_;
  test::Frame feedback_;
  test::Frame warning_;
  std::array<Line, kUplinks> lines_;
  uint32_t answering_ = 0;  // bit = uplink that brings something in this poll
  Answering* noted_ = nullptr;
  Answering unheard_;  // empty: answers are given to the leaf
  // Packets with shims, and one more, that the last poll has sent.
  std::array<const Packet*, kUplinks * kBurst + 1> dressed_{};
  size_t dressed_count_ = 0;
  uint32_t now_ns_ = 0;
  uint32_t polls_ = 0;
  uint32_t sequence_ = 0;
};

config::RlbConfig with_guard(config::GuardMode mode) {
  config::RlbConfig rlb = config::rlb_preset(config::RlbPreset::standard);
  rlb.guard.mode = mode;
  return rlb;
}
const config::RlbConfig kOff = config::rlb_preset(config::RlbPreset::off);
const config::RlbConfig kStandard = config::rlb_preset(config::RlbPreset::standard);
const config::RlbConfig kUnguarded = with_guard(config::GuardMode::off);

class Leaf {
 public:
  Leaf(const config::RlbConfig& rlb, size_t warned_uplinks, uint32_t flows = kFlows)
      : config_(leaf(rlb)),
        io_(replay_of(spec(flows), config_), warned_uplinks),
        object_(make_switch(config_, 1)) {
    for (size_t port = 0; port < config_.ports.size(); ++port) io_.raise_link(PortId(port));
    (void)run(2'000);
  }
  // Without RLB: what the world of the other does about stamps, its own does, too.
  Leaf(Leaf& beside, uint32_t flows = kFlows) : Leaf(kOff, 0, flows) {
    io_.answer_unheard(beside.answers());
  }

  // Cycles a packet, of a leaf whose caches and predictors are its own again.
  double sample() {
    (void)run(kPolls);
    return run(kPolls);
  }
  double run(size_t polls) {
    const uint64_t before = rte_rdtsc();
    for (size_t i = 0; i < polls; ++i) {
      now_ = now_ + kPollGap;
      io_.next_poll(now_);
      object_->shard(ShardId(0)).poll(io_, now_);
    }
    return static_cast<double>(rte_rdtsc() - before) / static_cast<double>(polls * kBurst);
  }

  // That what is measured is what is meant.
  void expect(PortCounter which, bool some) const {
    uint64_t sum = 0;
    for (size_t port = 0; port < config_.ports.size(); ++port)
      sum += test::count(*object_, port, which);
    const Balance balance = object_->balance();
    if ((sum != 0) == some && balance.dropped == 0 && balance.holds()) return;
    std::fprintf(stderr, "rlb.overhead: counter %zu is %zu, %zu packets dropped\n",
                 static_cast<size_t>(which), static_cast<size_t>(sum),
                 static_cast<size_t>(balance.dropped));
    std::exit(1);
  }

 private:
  // What a sample's polls bring.
  Answering answers() {
    Answering noted;
    io_.note_answers(&noted);
    (void)run(kPolls);
    io_.note_answers(nullptr);
    return noted;
  }
  static Case spec(uint32_t flows) {
    return {.name = "overhead", .flows = flows, .hosts = kHosts, .uplinks = kUplinks};
  }
  static config::SwitchConfig leaf(const config::RlbConfig& rlb) {
    config::SwitchConfig config = config_of(spec(kFlows));
    config.rlb = rlb;
    return config;
  }

  config::SwitchConfig config_;
  FabricIo io_;
  std::unique_ptr<Switch> object_;
  Instant now_ = Instant::at(Duration::microseconds(1'000));
};

struct Leaves {
  Leaf unguarded{kUnguarded, 0};
  Leaf bare{unguarded};
  Leaf idle{kStandard, 0};
  Leaf warned{kStandard, kUplinks / 2};
  Leaf steady{kStandard, 0, kSteadyFlows};
  Leaf bare_steady{steady, kSteadyFlows};

  void check() const {
    bare.expect(PortCounter::shim_tx_packets, false);
    unguarded.expect(PortCounter::path_samples, true);
    idle.expect(PortCounter::path_samples, true);
    idle.expect(PortCounter::path_warnings_begun, false);
    idle.expect(PortCounter::guard_moved_flows, true);
    steady.expect(PortCounter::path_samples, true);
    warned.expect(PortCounter::path_samples, true);
    warned.expect(PortCounter::rlb_rerouted_packets, true);
    warned.expect(PortCounter::path_warnings_expired, false);
  }
};

}  // namespace

std::vector<Result> measure_overhead(int rounds) {
  Leaves leaves;
  std::vector<double> unguarded, idle, warned, steady;
  const auto sample = [&](Leaf& bare, Leaf& leaf, std::vector<double>& samples) {
    samples.push_back(undisturbed([&] {
      const double without = bare.sample();
      return leaf.sample() - without;
    }));
  };
  for (int round = 0; round < rounds; ++round) {
    sample(leaves.bare, leaves.unguarded, unguarded);
    sample(leaves.bare, leaves.idle, idle);
    sample(leaves.bare, leaves.warned, warned);
    sample(leaves.bare_steady, leaves.steady, steady);
  }
  leaves.check();
  return {summarize("rlb.overhead.idle", idle), summarize("rlb.overhead.unguarded", unguarded),
          summarize("rlb.overhead.warned", warned), summarize("rlb.overhead.steady", steady)};
}

std::vector<Counted> counted_overhead() {
  const auto leaf = [](const config::RlbConfig& rlb, size_t warned, uint32_t flows) {
    return [&rlb, warned, flows](size_t polls) { (void)Leaf(rlb, warned, flows).run(polls); };
  };
  const auto bare = [](const config::RlbConfig& rlb, uint32_t flows) {
    return [&rlb, flows](size_t polls) {
      Leaf beside(rlb, 0, flows);
      (void)Leaf(beside, flows).run(polls);
    };
  };
  return {{"rlb.bare", kBurst, bare(kUnguarded, kFlows)},
          {"rlb.unguarded", kBurst, leaf(kUnguarded, 0, kFlows)},
          {"rlb.idle", kBurst, leaf(kStandard, 0, kFlows)},
          {"rlb.warned", kBurst, leaf(kStandard, kUplinks / 2, kFlows)},
          {"rlb.bare_steady", kBurst, bare(kStandard, kSteadyFlows)},
          {"rlb.steady", kBurst, leaf(kStandard, 0, kSteadyFlows)}};
}

}  // namespace eddy::bench
