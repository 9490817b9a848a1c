// Descriptions of packets: what they become, and what is said of those that describe none.
#include "switch/explain/description.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "net/protocols.h"
#include "switch/explain/loose_packet.h"
#include "tests/support/one_switch.h"

namespace eddy::explain {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::SizeIs;

const config::SwitchConfig& two_hosts() {
  static const config::SwitchConfig config = test::hosts_switch(2);
  return config;
}

Problems problems_of(std::string_view text) {
  const Result<Description> read = read_description(text, two_hosts());
  return read.ok() ? Problems{} : read.problems();
}

struct Parsed {
  ParseVerdict verdict;
  ParsedFrame frame;
  uint32_t wire_len;
};
Parsed parsed(std::string_view text) {
  const Result<Description> read = read_description(text, two_hosts());
  EXPECT_TRUE(read.ok()) << read.problems().front();
  const LoosePacket packet(frame_of(read.value(), two_hosts()), read.value().length);
  Parsed out{};
  out.verdict = parse_packet(*packet.get(), out.frame);
  out.wire_len = packet.get()->wire_len;
  return out;
}

TEST(Description, BecomesTheFrameThatItDescribes) {
  const Parsed roce = parsed(
      "src=10.1.1.2 dst=10.1.2.2 proto=udp sport=7000 dport=4791 dscp=26 ecn=ect0 len=1000 qp=77 "
      "opcode=17 ttl=9");
  EXPECT_EQ(roce.verdict, ParseVerdict::ok);
  EXPECT_EQ(roce.frame.kind, FrameKind::ipv4);
  EXPECT_EQ(roce.frame.dscp, 26);
  EXPECT_EQ(roce.frame.ecn, 2);
  EXPECT_EQ(roce.frame.ttl, 9);
  EXPECT_EQ(roce.frame.source_port, 7'000);
  EXPECT_EQ(roce.frame.destination_port, kRocePort);
  EXPECT_EQ(roce.frame.destination_qpn, 77u);
  EXPECT_EQ(roce.frame.bth_opcode, kBthAcknowledge);
  EXPECT_NE(roce.frame.flags & kPacketRoceControl, 0);
  EXPECT_EQ(roce.wire_len, 1'000u);
}

TEST(Description, OfEveryKind) {
  for (const char* text :
       {"src=10.1.1.2 dst=10.1.2.2", "src=10.1.1.2 dst=10.1.2.2 proto=tcp dport=80",
        "src=10.1.1.2 dst=10.1.2.2 proto=icmp", "src=10.1.1.2 dst=10.1.2.2 proto=89",
        "src=fd00::1 dst=fd00::2 port=host1 proto=udp dport=9",
        "port=host2 src=fd00::1 dst=fd00::2", "src=10.1.1.2,dst=10.1.2.2,vlan=0,pcp=3",
        "src=10.1.1.2 dst=10.1.2.2 len=9000"}) {
    const Parsed frame = parsed(text);
    EXPECT_EQ(frame.verdict, ParseVerdict::ok) << text;
    EXPECT_GE(frame.wire_len, kMinimumFrame) << text;
  }
  EXPECT_EQ(parsed("src=10.1.1.2 dst=10.1.2.2 vlan=0 pcp=3").frame.pcp, 3);
  EXPECT_EQ(parsed("src=fd00::1 dst=fd00::2 port=host1 dscp=46").frame.dscp, 46);
}

TEST(Description, ThePortIsThatOfTheSourcesNetwork) {
  EXPECT_EQ(read_description("src=10.1.2.9 dst=10.1.1.2", two_hosts()).value().port, PortId(1));
  EXPECT_EQ(read_description("src=10.1.2.9 dst=10.1.1.2 port=host1", two_hosts()).value().port,
            PortId(0));
  EXPECT_THAT(problems_of("src=192.0.2.1 dst=10.1.1.2"),
              ElementsAre(HasSubstr("valid are host1, host2")));
}

TEST(Description, NonsenseIsOneProblem) {
  for (const char* text : {"", "   ", "hello", "give me a path please", "\x1b[31m"}) {
    const Problems problems = problems_of(text);
    ASSERT_THAT(problems, SizeIs(1)) << text;
    EXPECT_THAT(problems[0], HasSubstr("src, dst"));
    EXPECT_EQ(problems[0].find('\n'), std::string::npos);
    EXPECT_EQ(problems[0].find('\x1b'), std::string::npos);
  }
  EXPECT_THAT(problems_of(std::string(kMostDescription + 1, 'x')), SizeIs(1));
}

TEST(Description, AllThatIsWrongIsSaidAtOnce) {
  EXPECT_THAT(problems_of("src=10.0.0.300 dscp=64 dport=x port=spine9 colour=red len=10 dscp=1 up"),
              ElementsAre("src=10.0.0.300 is no IPv4 or IPv6 address",
                          "dscp=64 is no whole number from 0 to 63",
                          "dport=x is no whole number from 0 to 65535",
                          "port=spine9 is unknown; valid are host1, host2",
                          HasSubstr("\"colour\" is unknown; valid keys are port, src"),
                          "len=10 is no whole number from 60 to 9216", "dscp is said twice",
                          "\"up\" is not KEY=VALUE", "dst is missing"));
}

TEST(Description, WhatDoesNotBelongTogether) {
  EXPECT_THAT(problems_of("src=10.1.1.2 dst=fd00::1"), ElementsAre(HasSubstr("one of IPv6")));
  EXPECT_THAT(problems_of("src=10.1.1.2 dst=10.1.2.2 proto=icmp dport=3"),
              ElementsAre("dport is for udp and tcp alone"));
  EXPECT_THAT(problems_of("src=10.1.1.2 dst=10.1.2.2 qp=3"),
              ElementsAre("qp is for proto=udp dport=4791 alone"));
  EXPECT_THAT(problems_of("src=10.1.1.2 dst=10.1.2.2 pcp=3"), ElementsAre(HasSubstr("vlan")));
  EXPECT_THAT(problems_of("src=fd00::1 dst=fd00::2 port=host1 proto=tcp len=60"),
              ElementsAre(HasSubstr("shorter than its headers, 74")));
}

}  // namespace
}  // namespace eddy::explain
