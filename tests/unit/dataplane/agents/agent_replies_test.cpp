// RoCE's answers on their last hop, as the sender's leaf hears them: whose they are, what they
// say, and when nobody can tell.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "net/parse.h"
#include "switch/dataplane/paths/roce_reply.h"
#include "switch/dataplane/state/reply_flows.h"
#include "tests/unit/dataplane/agents/agent_rig.h"

namespace eddy::test {
namespace {

using lb::Reply;
using testing::ElementsAre;
using testing::IsEmpty;

constexpr uint32_t kSenderQpn = 0x111;  // to which replies go
constexpr uint32_t kReceiverQpn = 0x222;

class Replies : public testing::Test, ForgetsTalks {};

Frame framed(const RocePacket& packet, const MacAddress& to, const MacAddress& from) {
  Frame frame(14 + roce_packet_length(packet));
  encode(
      EthernetHeader{to, from, packet.addresses.source.is_v4() ? kEtherTypeIpv4 : kEtherTypeIpv6},
      frame);
  encode_headers(packet, Octets(frame).subspan(14));
  return frame;
}

uint64_t order_hash_of(const Frame& frame) {
  ParsedFrame parsed;
  EXPECT_EQ(parse_frame(frame.data(), static_cast<uint32_t>(frame.size()),
                        static_cast<uint32_t>(frame.size()), parsed),
            ParseVerdict::ok);
  return parsed.order_hash;
}

// Leaf 0's host sends, leaf 1's answers.
struct Pair {
  explicit Pair(AgentRig& with, bool ipv6 = false)
      : rig(with),
        sender(ipv6 ? ip("fd00:1:1::2") : host_ip(1, 1)),
        receiver(ipv6 ? ip("fd00:2:1::2") : host_ip(2, 1)) {}

  RocePacket data(uint16_t source_port, uint32_t qpn = kReceiverQpn) const {
    RocePacket packet;
    packet.addresses = {sender, receiver};
    packet.source_port = source_port;
    packet.dscp = kLosslessDscp;
    packet.bth = {.opcode = RoceOpcode::write_middle, .destination_qpn = qpn, .psn = 5};
    packet.payload_len = 256;
    return packet;
  }
  RocePacket ack(uint16_t source_port, uint32_t psn, uint8_t syndrome = kAethAckUnlimited) const {
    RocePacket packet =
        make_ack({receiver, sender}, kSenderQpn, psn, {.syndrome = syndrome, .msn = 1});
    packet.source_port = source_port;
    return packet;
  }
  // The order hash of what was sent.
  uint64_t send(const RocePacket& packet) {
    const bool from_sender = packet.addresses.source == sender;
    const size_t l = from_sender ? 0 : 1;
    const Frame frame = framed(packet, port_mac(rig.shape.leaves[l], 0), host_mac(l + 1, 1));
    rig.fabric.inject(rig.leaves[l], PortId(0), frame);
    rig.run_for(12_us);
    return order_hash_of(frame);
  }
  std::vector<Reply>& heard(size_t shard = 0) { return rig.of_leaf(0, shard).replies; }

  AgentRig& rig;
  IpAddress sender;
  IpAddress receiver;
};

TEST_F(Replies, AckNakAndCnpAreToldWithTheFlowThatTheyAnswer) {
  AgentRig rig;
  rig.run_for(5_us);
  Pair pair(rig);
  const uint64_t flow = pair.send(pair.data(777));
  EXPECT_THAT(pair.heard(), IsEmpty());
  pair.send(pair.ack(777, 0xabcdef));
  pair.send(pair.ack(777, 6, kAethNakSequence));
  RocePacket echo = pair.ack(777, 7);
  echo.bth.becn = true;
  pair.send(echo);
  RocePacket cnp = make_cnp({pair.receiver, pair.sender}, kSenderQpn);
  cnp.source_port = 777;
  pair.send(cnp);
  ASSERT_EQ(pair.heard().size(), 4u);
  const Reply::Kind kinds[] = {Reply::Kind::ack, Reply::Kind::nak, Reply::Kind::ack,
                               Reply::Kind::cnp};
  const uint32_t psns[] = {0xabcdef, 6, 7, 0};
  for (size_t i = 0; i < 4; ++i) {
    EXPECT_EQ(pair.heard()[i].flow, flow) << i;
    EXPECT_EQ(pair.heard()[i].kind, kinds[i]) << i;
    EXPECT_EQ(pair.heard()[i].psn, psns[i]) << i;
    EXPECT_EQ(pair.heard()[i].ecn_echo, i >= 2) << i;
  }
  EXPECT_TRUE(rig.of_leaf(1).replies.empty()) << "at the sender's leaf alone";
}

TEST_F(Replies, OfIpv6TooAndOnTheHostsShard) {
  for (const bool ipv6 : {false, true}) {
    AgentRig rig({.shards = 3});
    rig.run_for(20_us);
    Pair pair(rig, ipv6);
    if (ipv6) {
      for (size_t l = 0; l < 2; ++l) {
        config::SwitchConfig config = rig.shape.leaves[l];
        config.ports[0].addresses.push_back(prefix(l == 0 ? "fd00:1:1::1/64" : "fd00:2:1::1/64"));
        config.routes.push_back(
            {prefix(l == 0 ? "fd00:2::/32" : "fd00:1::/32"), LeafId(2 - l), {}});
        config.neighbors.push_back(
            {l == 0 ? pair.sender : pair.receiver, host_mac(l + 1, 1), config.ports[0].name});
        ASSERT_TRUE(rig.leaf(l).reconfigure(config).ok());
      }
      for (size_t s = 0; s < 2; ++s) {
        config::SwitchConfig config = rig.shape.spines[s];
        config.routes.push_back({prefix("fd00:1::/32"), LeafId(1), {}});
        config.routes.push_back({prefix("fd00:2::/32"), LeafId(2), {}});
        ASSERT_TRUE(rig.spine(s).reconfigure(config).ok());
      }
      rig.run_for(5_us);
    }
    const uint64_t flow = pair.send(pair.data(4'242));
    pair.send(pair.ack(4'242, 9));
    ASSERT_EQ(pair.heard(0).size(), 1u) << ipv6;
    EXPECT_EQ(pair.heard(0)[0].flow, flow);
    EXPECT_EQ(pair.heard(0)[0].psn, 9u);
    EXPECT_THAT(pair.heard(1), IsEmpty());
    EXPECT_THAT(pair.heard(2), IsEmpty());
    pair.heard(0).clear();
  }
}

// Two queue pairs of the same hosts with one source port: no packet says which is answered.
TEST_F(Replies, AFlowThatSharesItsSourcePortIsNotTold) {
  AgentRig rig;
  rig.run_for(5_us);
  Pair pair(rig);
  pair.send(pair.ack(1, 1));
  EXPECT_EQ(pair.heard().back().flow, 0u) << "nothing was sent";
  const uint64_t one = pair.send(pair.data(1, 0x10));
  pair.send(pair.data(2, 0x11));
  pair.send(pair.ack(1, 1));
  EXPECT_EQ(pair.heard().back().flow, one) << "the other has another port";
  pair.send(pair.data(1, 0x12));
  pair.send(pair.ack(1, 1));
  EXPECT_EQ(pair.heard().back().flow, 0u);
}

TEST(ReplyFlows, APlaceIsOneFlowsAgainAfterATurn) {
  ReplyFlows flows;
  EXPECT_EQ(flows.find(7), 0u);
  flows.note(7, 100);
  EXPECT_EQ(flows.find(7), 100u);
  EXPECT_EQ(flows.find(7 + ReplyFlows::kPlaces), 0u) << "the same place, another flow";
  flows.note(7, 200);
  for (int i = 0; i < 1'024; ++i) {
    EXPECT_EQ(flows.find(7), 0u);
    flows.note(7, 200);
  }
  EXPECT_EQ(flows.find(7), 200u);
  flows.note(7 + ReplyFlows::kPlaces, 300);
  EXPECT_EQ(flows.find(7), 0u);
  EXPECT_EQ(flows.find(7 + ReplyFlows::kPlaces), 300u);
}

TEST_F(Replies, DataAndWhatIsCutOffAreNone) {
  AgentRig rig({.leaves = "modest"});
  Pair pair(rig);
  rig.run_for(5_us);
  pair.send(pair.data(1));
  pair.send(pair.ack(1, 1));
  EXPECT_THAT(pair.heard(), IsEmpty()) << "nobody asked";
  PacketPool pool(4, 2048);
  Frame frame = framed(pair.ack(1, 3), host_mac(1, 1), host_mac(2, 1));
  Packet* packet = pool.get(frame);
  packet->l2_len = 14;
  packet->l3_len = 20;
  EXPECT_EQ(read_reply(*packet)->psn, 3u);
  packet->held_len = 14 + 20 + 8 + 12;  // no AETH
  EXPECT_FALSE(read_reply(*packet).has_value());
}

}  // namespace
}  // namespace eddy::test
