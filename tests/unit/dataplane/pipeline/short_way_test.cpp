// The short way of reception says of a frame what the parser says, or nothing: of sound frames of
// each kind, and of each with any bit of its headers turned over.
#include "switch/dataplane/pipeline/short_way.h"

#include <gtest/gtest.h>

#include "net/checksum.h"
#include "net/random.h"
#include "net/roce.h"
#include "net/shim.h"
#include "switch/dataplane/pipeline/ingress.h"
#include "tests/support/frames.h"
#include "tests/support/one_switch.h"
#include "tests/support/packet_pool.h"

namespace eddy::test {
namespace {

constexpr MacAddress kUs = {{0x02, 0xed, 0, 0, 0, 1}};
constexpr MacAddress kStation = {{0x02, 0xaa, 0, 0, 0, 1}};
constexpr uint16_t kVlan = 10;

struct Sound {
  const char* name;
  Frame frame;
  size_t ip;  // where its network header begins
};

Frame roce(bool v4, RoceOpcode opcode) {
  RocePacket packet;
  packet.addresses = {ip(v4 ? "10.1.1.2" : "fd00:1::2"), ip(v4 ? "10.2.1.2" : "fd00:9::2")};
  packet.dscp = kLosslessDscp;
  packet.bth.opcode = opcode;
  packet.bth.destination_qpn = 0x123456;
  packet.payload_len = 64;
  Frame frame(14 + roce_packet_length(packet));
  const size_t at =
      encode(EthernetHeader{kUs, kStation, v4 ? kEtherTypeIpv4 : kEtherTypeIpv6}, frame);
  (void)encode_headers(packet, Octets(frame).subspan(at));
  return frame;
}
Frame udp(bool v4) {
  return udp_frame({.destination_mac = kUs,
                    .source_mac = kStation,
                    .source = ip(v4 ? "10.1.1.2" : "fd00:1::2"),
                    .destination = ip(v4 ? "10.2.1.2" : "fd00:9::2"),
                    .dscp = kLosslessDscp,
                    .ecn = 1,
                    .frame_len = 200});
}
Frame tagged(Frame frame, uint16_t vlan) {
  const std::array<uint8_t, 4> tag = {0x81, 0x00, 5 << 5, static_cast<uint8_t>(vlan)};
  frame.insert(frame.begin() + 12, tag.begin(), tag.end());
  return frame;
}
Frame shimmed(Frame frame) {
  std::array<uint8_t, kShimHeader> octets;
  (void)encode(Shim{.source_leaf = LeafId(2), .inner_ethertype = load_be16(&frame[12])}, octets);
  store_be16(&frame[12], kEtherTypeShim);
  frame.insert(frame.begin() + 14, octets.begin(), octets.end());
  return frame;
}

std::vector<Sound> sound_frames() {
  std::vector<Sound> all;
  for (const bool v4 : {true, false}) {
    all.push_back({v4 ? "UDP over IPv4" : "UDP over IPv6", udp(v4), 14});
    for (const RoceOpcode opcode :
         {RoceOpcode::write_middle, RoceOpcode::acknowledge, RoceOpcode::cnp})
      all.push_back({v4 ? "RoCE over IPv4" : "RoCE over IPv6", roce(v4, opcode), 14});
    all.push_back({"tagged", tagged(udp(v4), kVlan), 18});
    all.push_back({"with a priority", tagged(roce(v4, RoceOpcode::cnp), 0), 18});
    all.push_back({"with a shim", shimmed(udp(v4)), 46});
    all.push_back({"RoCE with a shim", shimmed(roce(v4, RoceOpcode::send_only)), 46});
  }
  return all;
}

void mend_checksum(Frame& frame, size_t at) {
  if (frame[at] >> 4 != 4) return;
  store_be16(&frame[at + 10], 0);
  store_be16(&frame[at + 10], internet_checksum(ConstOctets(frame).subspan(at, kIpv4Header)));
}

class ShortWayTest : public testing::Test {
 protected:
  ShortWayTest() {
    for (size_t i = 0; i < 64; ++i)
      classes_.by_dscp[i] = {TrafficClass(i % 8), PriorityGroupId(i % 7), QueueId(i % 5)};
    for (size_t i = 0; i < 8; ++i)
      classes_.by_pcp[i] = {TrafficClass(7 - i), PriorityGroupId(i), QueueId(6 - i % 7)};
    for (size_t tos = 0; tos < 256; ++tos)
      classes_.by_tos[tos] = {.flags = static_cast<uint16_t>(
                                  kPacketIp | detail::ecn_flags(static_cast<uint8_t>(tos % 4))),
                              .class_of = classes_.by_dscp[tos / 4]};
    settings_.classes = &classes_;
    settings_.mac = kUs;
    settings_.head = head_to(kUs);
    settings_.role = config::PortRole::fabric;
    settings_.vlan = kVlan;
    const std::vector<Route> routes = {{prefix("10.2.0.0/16"), {LeafId(2)}},
                                       {prefix("fd00:9::/32"), {LeafId(3)}}};
    routes_ = *RouteTable::build(routes, RouteEngine::ranges);
  }

  // True: it was taken, and is what the long way makes of it.
  bool taken(const Frame& frame, size_t wire_len = 0, uint16_t flags = 0) {
    Packet* packet = pool_.get(frame, wire_len);
    packet->flags = flags;
    const bool by_it = compare(packet, frame, wire_len);
    pool_.put(packet);
    return by_it;
  }
  bool compare(Packet* packet, const Frame& frame, size_t wire_len) {
    ParsedFrame parsed;
    const ParseVerdict verdict = parse_packet(*packet, parsed);
    const ShortWay way(PortId(7), settings_, *routes_, /*sums_good=*/false);
    Gathered gathered;
    if (!by_some_way(way, packet, gathered)) return false;
    EXPECT_EQ(verdict, ParseVerdict::ok);
    Packet* slow = pool_.get(frame, wire_len);
    const bool by_pcp = (parsed.flags & kPacketTagged) != 0 && settings_.pcp_trusted;
    Ingress::fill(slow, parsed,
                  by_pcp ? classes_.by_pcp[parsed.pcp] : classes_.by_dscp[parsed.dscp]);
    slow->ingress_port = PortId(7);
    slow->charged_bytes = 0;
    look_up(*routes_, {&slow, 1});
    EXPECT_FALSE(slow->has(kPacketLastHop));
    EXPECT_TRUE(std::equal(kUs.octets.begin(), kUs.octets.end(), frame.begin()));
    EXPECT_TRUE(parsed.vlan_id == 0 ? settings_.takes_untagged : parsed.vlan_id == kVlan);
    expect_same(*packet, *slow);
    const PlainBurst burst = gathered.over({&packet, 1}, 5);
    EXPECT_EQ(burst.octets % slow->wire_len, 0u);
    EXPECT_EQ(burst.flags, slow->flags);
    EXPECT_EQ(burst.pgs, 1u << slow->pg.index());
    EXPECT_EQ(burst.backlog, 5);
    pool_.put(slow);
    return true;
  }
  // Each packet alone, and as the first of two.
  bool by_some_way(const ShortWay& way, Packet* packet, Gathered& gathered) {
    const std::array<Packet*, 2> two = {packet, packet};
    for (const size_t count : {1, 2}) {
      gathered = {};
      const std::span<Packet* const> some(two.data(), count);
      if (settings_.takes_untagged && way.take_untagged(some, gathered) == count) continue;
      if (count == 2) return false;
      return way.take_other(packet, gathered);
    }
    return true;
  }
  static void expect_same(const Packet& a, const Packet& b) {
    EXPECT_EQ(a.order_hash, b.order_hash);
    EXPECT_EQ(a.balance_hash, b.balance_hash);
    EXPECT_EQ(a.wire_len, b.wire_len);
    EXPECT_EQ(a.charged_bytes, b.charged_bytes);
    EXPECT_EQ(a.next_hop, b.next_hop);
    EXPECT_EQ(a.ingress_port, b.ingress_port);
    EXPECT_EQ(a.payload_len, b.payload_len);
    EXPECT_EQ(a.flags, b.flags);
    EXPECT_EQ(a.l2_len, b.l2_len);
    EXPECT_EQ(a.l3_len, b.l3_len);
    EXPECT_EQ(a.traffic_class, b.traffic_class);
    EXPECT_EQ(a.pg, b.pg);
    EXPECT_EQ(a.queue, b.queue);
  }

  PacketPool pool_{2, 512};
  PortClasses classes_;
  PortSettings settings_;
  std::shared_ptr<const RouteTable> routes_;
};

// What a world that checks has found good is not asked again, of no kind of frame.
TEST_F(ShortWayTest, SumsThatAreSaidToBeGoodAreNotAddedUp) {
  for (const Sound& sound : sound_frames()) {
    Frame frame = sound.frame;
    if (frame[sound.ip] >> 4 != 4) continue;
    frame[sound.ip + 10] ^= 1;
    Packet* packet = pool_.get(frame, 0);
    for (const bool good : {false, true}) {
      packet->flags = 0;
      const ShortWay way(PortId(7), settings_, *routes_, good);
      Gathered gathered;
      EXPECT_EQ(by_some_way(way, packet, gathered), good) << sound.name;
    }
    pool_.put(packet);
  }
}

TEST_F(ShortWayTest, TakesSoundFrames) {
  for (const Sound& sound : sound_frames()) {
    SCOPED_TRACE(sound.name);
    EXPECT_TRUE(taken(sound.frame));
    settings_.pcp_trusted = !settings_.pcp_trusted;
    EXPECT_TRUE(taken(sound.frame, sound.frame.size() + 4)) << "padded";
  }
}

TEST_F(ShortWayTest, TakesHeadersThatAPayloadIsOnlySaidToFollow) {
  for (Sound& sound : sound_frames()) {
    SCOPED_TRACE(sound.name);
    const size_t udp = sound.ip + (sound.frame[sound.ip] >> 4 == 4 ? 20 : 40);
    const size_t whole = sound.frame.size();
    sound.frame.resize(udp + 8 + 12);
    EXPECT_TRUE(taken(sound.frame, whole));
    EXPECT_FALSE(taken(sound.frame, whole - 1)) << "an octet is missing";
    if (sound.ip == 46) {
      EXPECT_TRUE(taken(sound.frame, whole - kShimHeader, kPacketFreeShim));
      EXPECT_FALSE(taken(sound.frame, whole - kShimHeader - 1, kPacketFreeShim));
      EXPECT_FALSE(taken(sound.frame, whole - kShimHeader));
    }
  }
}

// Any bit up to the BTH's end; the IPv4 checksum as it was, and right again.
TEST_F(ShortWayTest, SaysWhatTheParserSaysOrNothing) {
  size_t taken_anyway = 0, all = 0;
  for (const Sound& sound : sound_frames())
    for (size_t bit = 0; bit < 8 * std::min<size_t>(sound.frame.size(), sound.ip + 60); ++bit)
      for (const bool mended : {false, true}) {
        Frame frame = sound.frame;
        frame[bit / 8] = static_cast<uint8_t>(frame[bit / 8] ^ 1u << bit % 8);
        if (mended) mend_checksum(frame, sound.ip);
        taken_anyway += taken(frame) ? 1 : 0;
        ++all;
        if (HasFailure()) FAIL() << sound.name << ", octet " << bit / 8 << ", bit " << bit % 8;
      }
  EXPECT_GT(taken_anyway, all / 4) << "addresses, ports and keys are all alike to it";
}

TEST_F(ShortWayTest, SaysSoOfEveryLength) {
  for (const Sound& sound : sound_frames()) {
    const bool v4 = sound.frame[sound.ip] >> 4 == 4;
    const size_t udp = sound.ip + (v4 ? 20 : 40);
    for (size_t readable = 0; readable <= sound.frame.size(); ++readable)
      for (const int more : {-1, 0, 1})
        for (const size_t carried : {0, 7, 8, 19, 20, 23, 24, 60}) {
          Frame frame = sound.frame;
          const auto length = static_cast<uint16_t>(carried + (v4 ? 20 : 0));
          store_be16(&frame[sound.ip + (v4 ? 2 : 4)], length);
          store_be16(&frame[udp + 4], static_cast<uint16_t>(static_cast<int>(carried) + more));
          mend_checksum(frame, sound.ip);
          frame.resize(readable);
          (void)taken(frame, udp + carried);
          (void)taken(frame, udp + carried - 1);
          if (HasFailure()) FAIL() << sound.name << ", " << readable << " of " << carried;
        }
  }
}

TEST_F(ShortWayTest, KnowsBadAddresses) {
  for (const Sound& sound : sound_frames()) {
    const bool v4 = sound.frame[sound.ip] >> 4 == 4;
    for (const size_t at : {sound.ip + (v4 ? 12 : 8), sound.ip + (v4 ? 16 : 24)})
      for (size_t top = 0; top < 256; ++top) {
        Frame frame = sound.frame;
        if (!v4) std::fill_n(frame.begin() + static_cast<ptrdiff_t>(at), 15, uint8_t{0});
        frame[at] = static_cast<uint8_t>(top);
        mend_checksum(frame, sound.ip);
        (void)taken(frame);
        if (!v4) store_be16(&frame[at + 10], 0xffff);  // maps an IPv4 address where top is 0
        (void)taken(frame);
        if (HasFailure()) FAIL() << sound.name << ", " << at << ": " << top;
      }
  }
}

TEST_F(ShortWayTest, LeavesWhatThePortDoesNotServe) {
  settings_.takes_untagged = false;
  EXPECT_FALSE(taken(udp(true)));
  EXPECT_FALSE(taken(udp(false)));
  EXPECT_FALSE(taken(shimmed(udp(true))));
  EXPECT_FALSE(taken(tagged(udp(true), 0)));
  EXPECT_FALSE(taken(tagged(udp(true), 11)));
  EXPECT_TRUE(taken(tagged(udp(true), kVlan)));
  settings_.takes_untagged = true;
  settings_.role = config::PortRole::host;
  EXPECT_FALSE(taken(shimmed(udp(true)))) << "hosts have no shim to send";
}

TEST(Octets32, DifferByVectorAsByWords) {
  RandomStream random(1, 0, 0);
  for (int turn = 0; turn < 5'000; ++turn) {
    Octets32 a, b, mask, octets;
    for (size_t i = 0; i < 32; ++i) {
      a.at[i] = static_cast<uint8_t>(random.next());
      b.at[i] = static_cast<uint8_t>(random.next());
      mask.at[i] = random.below(4) == 0 ? static_cast<uint8_t>(random.next()) : 0;
      octets.at[i] = static_cast<uint8_t>(a.at[i] ^ b.at[i] ^ (random.next() & ~mask.at[i]));
    }
    if (random.below(2) == 0) octets.at[random.below(32)] ^= static_cast<uint8_t>(random.next());
    bool other = false;
    for (size_t i = 0; i < 32; ++i) other |= ((octets.at[i] ^ a.at[i] ^ b.at[i]) & mask.at[i]) != 0;
    EXPECT_EQ(differs_by_words(octets.at.data(), a, b, mask), other);
    EXPECT_EQ(differs(octets.at.data(), a, b, mask), other);
    EXPECT_EQ(differs(octets.at.data(), a ^ b, mask), other);
  }
}

// A port's head has the least of a range where untagged IPv4 has one, and other kinds are compared
// with the same head.
TEST(Octets32, OtherKindsAskNothingWhereUntaggedIpv4HasARange) {
  const Octets32& span = detail::kIpv4Ranges.ranges.span;
  size_t ranges = 0;
  for (size_t i = 0; i < span.at.size(); ++i) {
    if (span.at[i] == 0) continue;
    ++ranges;
    for (const PlainKind* kind : {&kPlainIpv6, &kTagged, &kShimmed, &kFeedback})
      EXPECT_EQ(kind->mask.at[i], 0) << "octet " << i;
  }
  EXPECT_EQ(ranges, 4u);
}

TEST(Octets32, StrayByVectorAsByOctets) {
  RandomStream random(2, 0, 0);
  size_t stray = 0;
  for (int turn = 0; turn < 5'000; ++turn) {
    Octets32 least, octets;
    Ranges32 ranges;
    for (size_t i = 0; i < 32; ++i) {
      least.at[i] = static_cast<uint8_t>(random.next());
      octets.at[i] = static_cast<uint8_t>(random.next());
      ranges.from.at[i] = static_cast<uint8_t>(random.below(16));
      ranges.mask.at[i] = random.below(4) == 0 ? static_cast<uint8_t>(random.next()) : 0;
    }
    // What each place needs, or at one of them less.
    for (size_t i = 0; i < 32; ++i) {
      const auto above =
          static_cast<uint8_t>(octets.at[(i & 16) + ranges.from.at[i]] - least.at[i]);
      ranges.span.at[i] = above & ranges.mask.at[i];
    }
    const size_t at = random.below(32);
    const bool strays_there = random.below(2) == 0 && ranges.span.at[at] != 0;
    if (strays_there) --ranges.span.at[at];
    stray += strays_there ? 1 : 0;
    EXPECT_EQ(strays_by_octets(octets.at.data(), least, ranges), strays_there);
    EXPECT_EQ(strays(octets.at.data(), least, ranges), strays_there);
  }
  EXPECT_GT(stray, 0u);
}

}  // namespace
}  // namespace eddy::test
