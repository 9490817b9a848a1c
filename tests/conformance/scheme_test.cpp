// What every registered scheme must do, whatever it is, with its default parameters and with each
// choice, flag and limit that it declares.
#include <gtest/gtest.h>

#include <array>
#include <cstddef>
#include <cstring>
#include <ranges>
#include <set>
#include <string>
#include <vector>

#include "net/byte_order.h"
#include "net/protocols.h"
#include "net/random.h"
#include "tests/conformance/allocations.h"
#include "tests/conformance/probes.h"
#include "tests/support/paths.h"

namespace eddy::lb {
namespace {

using namespace literals;
using test::make_packet;
using test::make_set;
using test::Paths;

constexpr int64_t kLargestCount = 4'096;  // larger tables would make the tests slow, not better

struct Variant {
  std::string scheme;
  ParameterMap parameters;
};

std::vector<Variant> variants() {
  std::vector<Variant> all;
  for (const SchemeInfo& scheme : schemes()) {
    const std::string name(scheme.name);
    all.push_back({name, {}});
    for (const ParameterInfo& parameter : scheme.parameters) {
      std::set<int64_t> values = {parameter.min, parameter.max};
      for (size_t i = 0; i < parameter.choices.size(); ++i) values.insert(static_cast<int64_t>(i));
      values.erase(parameter.fallback);
      for (int64_t value : values)
        if (parameter.kind != ParameterKind::count || value <= kLargestCount)
          all.push_back({name, {{std::string(parameter.name), value_text(parameter, value)}}});
    }
  }
  return all;
}

std::vector<Variant> ordered_variants() {
  std::vector<Variant> all = variants();
  std::erase_if(all, [](const Variant& v) { return !find_scheme(v.scheme)->promises_order; });
  return all;
}

std::string name_of(const testing::TestParamInfo<Variant>& info) {
  std::string name = info.param.scheme;
  for (const auto& [parameter, value] : info.param.parameters)
    name.append("_").append(parameter).append("_").append(value);
  return name;
}

// A packet with the little of a frame that a scheme may read: where an IPv4 packet goes to.
struct Framed {
  static constexpr size_t kDestination = kEthernetHeader + 16;

  void fill(uint64_t flow) {
    mbuf.buf_addr = octets.data();
    packet = make_packet(flow);
    packet.l2_len = kEthernetHeader;
    store_be32(&octets[kDestination], static_cast<uint32_t>(flow / 4));
  }

  alignas(64) rte_mbuf mbuf{};
  Packet packet{};  // right behind it, as Packet::mbuf() has it
  alignas(64) std::array<uint8_t, 64> octets{};
};
static_assert(offsetof(Framed, packet) == sizeof(rte_mbuf));

// A burst of packets that a test fills and sends through a selector.
class Burst {
 public:
  Burst(Burst&&) = default;
  explicit Burst(size_t size = kBurst) : packets_(size), set_of_(size) {
    for (Framed& each : packets_) pointers_.push_back(&each.packet);
  }
  Burst copy() const {
    Burst other(packets_.size());
    other.set_of_ = set_of_;
    for (size_t i = 0; i < packets_.size(); ++i) {
      other.packets_[i] = packets_[i];
      other.packets_[i].mbuf.buf_addr = other.packets_[i].octets.data();
    }
    return other;
  }
  void put(size_t i, uint64_t flow, uint16_t set) {
    packets_[i].fill(flow);
    set_of_[i] = set;
  }
  void select(Selector& selector, const PathView& view) {
    selector.select(view, pointers_, set_of_);
  }
  auto packets() { return packets_ | std::views::transform(&Framed::packet); }
  uint16_t set_of(size_t i) const { return set_of_[i]; }

 private:
  std::vector<Framed> packets_;
  std::vector<Packet*> pointers_;
  std::vector<uint16_t> set_of_;
};

Paths six_sets() {
  const std::array<uint16_t, 4> uneven = {40, 40, 10, 10};
  return Paths({make_set(1), make_set(2, 1), make_set(uneven, 3), make_set(7, 7), make_set(16, 14),
                make_set(64, 30)});
}

// The outside world: packets of random flows, queues, loads, pauses, what is measured of paths, and
// members that die and return.
class Script {
 public:
  explicit Script(uint64_t seed) : random_(seed, 0, 0) {}

  void next(Paths& paths, Burst& burst, bool with_deaths) {
    now_ = now_ + Duration::nanoseconds(random_.below(80'000));
    for (size_t i = 0; i < burst.packets().size(); ++i)
      burst.put(i, random_.below(300), static_cast<uint16_t>(random_.below(6)));
    for (int i = 0; i < 8; ++i) paths.queue(random_.below(94), random_.below(100'000));
    paths.port(random_.below(94)).paused_queues = static_cast<uint8_t>(random_.next());
    const uint32_t loaded = random_.below(94);
    paths.load(loaded, random_.below(120), now_);
    if (ahead_ != Duration{}) Rebase(Rebase::Way::forward).shift(paths.port(loaded).dre_since_ps);
    for (uint16_t set = 0; set < paths.sets().size(); ++set) measure(paths, set);
    for (size_t set = 0; with_deaths && set < paths.sets().size(); ++set) {
      const MemberMask all = test::first_members(paths.sets()[set].count);
      const MemberMask some = random_.next64() & all;
      paths.live(set) = some != 0 ? some : all;
    }
  }
  Instant now() const { return now_ + ahead_; }
  // The clock of the switch goes forward and back in turn.
  void move_clock(Paths& paths, Selector& selector) {
    const Rebase rebase(ahead_ == Duration{} ? Rebase::Way::forward : Rebase::Way::back);
    ahead_ -= rebase.back();
    selector.rebase(rebase);
    paths.rebase(rebase);
  }

 private:
  void measure(Paths& paths, uint16_t set) {
    const auto member = static_cast<MemberIndex>(random_.below(paths.sets()[set].count));
    PathRecord& record = paths.measured().at(set, member);
    const Instant at = paths.measured().record_time(now());
    record.take_delay(Duration::nanoseconds(8'000 + random_.below(100'000)), at);
    record.take_marks(100, random_.below(101));
    record.take_congestion(static_cast<uint8_t>(random_.next()), at);
    paths.measured().set_failed(set, member,
                                random_.below(8) == 0 ? PathFailure::silent : PathFailure::none);
  }

  RandomStream random_;
  Instant now_;
  Duration ahead_;
};

constexpr uint64_t kSeed = 20'260'701;
constexpr int kBursts = 40;

class SchemeConformance : public testing::TestWithParam<Variant> {
 protected:
  std::unique_ptr<Selector> bare(const Paths& paths, test::Entity entity = {}) const {
    return test::make(GetParam().scheme, paths, GetParam().parameters, entity);
  }
  // In a probe.
  std::unique_ptr<Selector> probed(std::span<const SchemeInfo> in_probe, const Paths& paths) const {
    const ParameterMap& parameters = GetParam().parameters;
    for (const SchemeInfo& scheme : in_probe)
      if (scheme.name == GetParam().scheme)
        return std::move(scheme
                             .make({.sets = paths.sets(),
                                    .seed = 1,
                                    .switch_id = SwitchId(1),
                                    .shard = ShardId(0),
                                    .parameters = parameters,
                                    .lines = paths.lines(),
                                    .dre = paths.dre()})
                             .value());
    return nullptr;
  }
};
class FlowOrder : public SchemeConformance {};

TEST_P(SchemeConformance, ChoosesOnlyLiveMembers) {
  Paths paths = six_sets();
  const auto selector = bare(paths);
  Script script(kSeed);
  Burst burst;
  for (int round = 0; round < kBursts; ++round) {
    script.next(paths, burst, true);
    burst.select(*selector, paths.measured_view(script.now()));
    for (size_t i = 0; i < kBurst; ++i) {
      const Packet& packet = burst.packets()[i];
      const PathSet& set = paths.sets()[burst.set_of(i)];
      ASSERT_TRUE(contains(paths.live(burst.set_of(i)), packet.member)) << "seed " << kSeed;
      ASSERT_EQ(packet.egress_port, set.members[packet.member].port);
      ASSERT_EQ(packet.path, set.members[packet.member].path);
    }
  }
}

// Without what pads a packet's end, whose contents are nobody's.
constexpr size_t kPacketOctets = offsetof(Packet, queue) + sizeof(Packet::queue);

// Runs the script through a selector; what it wrote into the packets, octet by octet.
std::string transcript(Selector& selector, Paths paths, bool rebases = false) {
  Script script(kSeed);
  Burst burst;
  std::string octets;
  for (int round = 0; round < kBursts; ++round) {
    if (rebases && round % 3 == 0) script.move_clock(paths, selector);
    script.next(paths, burst, true);
    burst.select(selector, paths.measured_view(script.now()));
    for (const Packet& packet : burst.packets())
      octets.append(reinterpret_cast<const char*>(&packet), kPacketOctets);
  }
  return octets;
}

TEST_P(SchemeConformance, SameSeedSameChoices) {
  const Paths paths = six_sets();
  EXPECT_EQ(transcript(*bare(paths), six_sets()), transcript(*bare(paths), six_sets()));
}

TEST_P(SchemeConformance, ChoosesTheSameWhenTheClockIsRebased) {
  const Paths paths = six_sets();
  EXPECT_EQ(transcript(*bare(paths), six_sets(), /*rebases=*/true),
            transcript(*bare(paths), six_sets()));
}

TEST_P(SchemeConformance, ProposingHasNoLastingEffect) {
  const Paths paths = six_sets();
  const auto again = probed(ask_again_schemes(), paths);
  seen.clear();
  EXPECT_EQ(transcript(*again, six_sets()), transcript(*bare(paths), six_sets()));
  EXPECT_EQ(seen.size(), kBursts * kBurst);
  for (const Seen& each : seen) ASSERT_TRUE(each.steady) << "seed " << kSeed;
}

TEST_P(SchemeConformance, AWrapperMayTakeTheSecondChoice) {
  Paths paths = six_sets();
  const auto selector = probed(second_choice_schemes(), paths);
  Script script(kSeed);
  Burst burst;
  for (int round = 0; round < kBursts; ++round) {
    script.next(paths, burst, true);
    seen.clear();
    burst.select(*selector, paths.measured_view(script.now()));
    ASSERT_EQ(seen.size(), kBurst);
    for (size_t i = 0; i < kBurst; ++i) {
      const MemberMask live = paths.live(burst.set_of(i));
      ASSERT_EQ(burst.packets()[i].member, seen[i].committed);
      ASSERT_TRUE(contains(live, seen[i].committed)) << "seed " << kSeed;
      ASSERT_EQ(seen[i].committed == seen[i].proposed, count_of(live) == 1) << "seed " << kSeed;
    }
  }
}

// Queues and lines fill where packets go and time passes, so every scheme has reason to move on.
MemberMask used_members(Selector& selector, Paths& paths, Instant& now) {
  MemberMask used = 0;
  Burst burst;
  for (uint64_t flow = 0; flow < 150 * kBurst; flow += kBurst) {
    now = now + 21_s;
    for (const Packet& before : burst.packets()) paths.load(before.egress_port.index(), 100, now);
    for (size_t i = 0; i < kBurst; ++i) burst.put(i, flow + i, 0);
    burst.select(selector, paths.measured_view(now));
    for (const Packet& packet : burst.packets()) {
      used |= bit_of(packet.member);
      PortSignals& port = paths.port(packet.egress_port.index());
      paths.queue(packet.egress_port.index(), port.queued_bytes[3] + packet.wire_len);
    }
  }
  return used;
}

TEST_P(SchemeConformance, OneMemberAndSixtyFour) {
  Instant now;
  for (size_t count : {1, 64}) {
    Paths paths({make_set(count)});
    const auto selector = bare(paths);
    EXPECT_EQ(used_members(*selector, paths, now), test::first_members(count));
  }
}

TEST_P(SchemeConformance, AMemberLeavesAndReturns) {
  Paths paths({make_set(5)});
  const auto selector = bare(paths);
  Instant now;
  EXPECT_EQ(used_members(*selector, paths, now), 0b11111u);
  paths.live() = 0b10111;
  EXPECT_EQ(used_members(*selector, paths, now), 0b10111u);
  paths.live() = 0b11111;
  EXPECT_EQ(used_members(*selector, paths, now), 0b11111u);
}

TEST_P(SchemeConformance, AllocatesNothingAfterConstruction) {
  Paths paths = six_sets();
  const auto selector = bare(paths);
  Script script(kSeed);
  Burst burst;
  for (int round = 0; round < kBursts; ++round) {
    script.next(paths, burst, true);
    const PathView view = paths.measured_view(script.now());
    const uint64_t before = eddy::test::allocations();
    burst.select(*selector, view);
    ASSERT_EQ(eddy::test::allocations(), before);
  }
}

TEST(Allocations, AreCounted) {
  const uint64_t before = eddy::test::allocations();
  const auto kept = std::make_unique<std::vector<int>>(3);
  EXPECT_EQ(eddy::test::allocations(), before + 2);
}

// Flows start, send back to back and never pause; each set keeps its live members.
TEST_P(FlowOrder, AFlowKeepsItsPath) {
  Paths paths({make_set(16), make_set(16, 16)});
  paths.live(0) = 0b1010'1111'0000'1111;
  const auto selector = bare(paths);
  Burst burst;
  std::array<MemberIndex, kBurst> first{};
  Instant now;
  for (int round = 0; round < 200; ++round) {
    for (size_t i = 0; i < kBurst; ++i) burst.put(i, i, i % 2);
    burst.select(*selector, paths.measured_view(now));
    for (size_t i = 0; i < kBurst; ++i) {
      if (round == 0) first[i] = burst.packets()[i].member;
      ASSERT_EQ(burst.packets()[i].member, first[i]) << "flow " << i << ", burst " << round;
    }
    now = now + 1_us;
    paths.queue(static_cast<size_t>(round) % 32, 1'000'000);
  }
}

// ACK, NAK and CNP go as plain ECMP would send them, and leave no trace in the scheme.
TEST_P(SchemeConformance, RoceControlGoesByEcmp) {
  Paths paths = six_sets();
  const auto selector = bare(paths);
  const auto undisturbed = bare(paths);
  const auto ecmp = test::make("ecmp", paths);
  Script script(kSeed);
  Burst data;
  for (int round = 0; round < kBursts; ++round) {
    script.next(paths, data, true);
    const PathView view = paths.measured_view(script.now());
    for (uint16_t set = 0; set < paths.sets().size(); ++set) {
      Packet ack = make_packet(1'000u + set);
      ack.set(kPacketRoceControl);
      const MemberIndex member = test::select_one(*selector, view, ack, set);
      ASSERT_EQ(member, test::select_one(*ecmp, view, ack, set));
    }
    Burst same = data.copy();
    data.select(*selector, view);
    same.select(*undisturbed, view);
    for (size_t i = 0; i < kBurst; ++i)
      ASSERT_EQ(data.packets()[i].member, same.packets()[i].member) << "seed " << kSeed;
  }
}

// Or as data, if asked; control frames between leaves still go by ECMP.
TEST_P(SchemeConformance, RoceControlGoesByTheSchemeIfAsked) {
  Paths paths = six_sets();
  const auto asked = bare(paths, {.control_by_scheme = true});
  const auto usual = bare(paths);
  const auto ecmp = test::make("ecmp", paths);
  Script script(kSeed);
  Burst data;
  for (int round = 0; round < kBursts; ++round) {
    script.next(paths, data, true);
    const PathView view = paths.measured_view(script.now());
    Packet between_leaves = make_packet(2'000u);
    between_leaves.flags = kPacketShim | kPacketShimControl | kPacketRoceControl;
    const MemberIndex member = test::select_one(*asked, view, between_leaves, 5);
    ASSERT_EQ(member, test::select_one(*ecmp, view, between_leaves, 5));
    Burst control = data.copy();
    for (Packet& packet : control.packets()) packet.set(kPacketRoceControl);
    control.select(*asked, view);
    data.select(*usual, view);
    for (size_t i = 0; i < kBurst; ++i)
      ASSERT_EQ(control.packets()[i].member, data.packets()[i].member) << "seed " << kSeed;
  }
}

TEST(SchemeStreams, ShardsDrawApart) {
  for (const SchemeInfo& scheme : schemes()) {
    const Paths paths = six_sets();
    const auto of_shard = [&](uint8_t shard) {
      return transcript(*test::make(scheme.name, paths, {}, {.shard = shard}), six_sets());
    };
    const bool only_hashes = scheme.name == "ecmp" || scheme.name == "wcmp";
    EXPECT_EQ(of_shard(0) == of_shard(1), only_hashes) << scheme.name;
  }
}

INSTANTIATE_TEST_SUITE_P(Registry, SchemeConformance, testing::ValuesIn(variants()), name_of);
INSTANTIATE_TEST_SUITE_P(Registry, FlowOrder, testing::ValuesIn(ordered_variants()), name_of);

}  // namespace
}  // namespace eddy::lb
