#include "net/addresses.h"

#include <gtest/gtest.h>

#include <string>

#include "net/random.h"

namespace eddy {
namespace {

TEST(MacAddress, ReadsAndPrintsColonHex) {
  const auto mac = parse_mac("02:00:00:aB:CD:0f");
  ASSERT_TRUE(mac);
  EXPECT_EQ(to_string(*mac), "02:00:00:ab:cd:0f");
  EXPECT_EQ(to_string(parse_mac("09:90:Af:fA:0F:F0").value()), "09:90:af:fa:0f:f0");
  for (const char* bad : {"", "02:00:00:00:00", "02:00:00:00:00:0", "02-00-00-00-00-01",
                          "02:00:00:00:00:001", "02:00:00:00:00:01:"})
    EXPECT_FALSE(parse_mac(bad)) << bad;
  for (const char digit : {'/', ':', '@', 'G', '`', 'g'})  // those around the digits
    EXPECT_FALSE(parse_mac(std::string("02:00:00:00:00:0") + digit)) << digit;
}

TEST(IpAddress, ReadsAndPrintsIpv4) {
  const auto ip = parse_ip("10.1.0.255");
  ASSERT_TRUE(ip);
  EXPECT_TRUE(ip->is_v4());
  EXPECT_EQ(ip->v4().value, 0x0a0100ffU);
  EXPECT_EQ(to_string(*ip), "10.1.0.255");
  for (const char* bad : {"", "10.1.0", "10.1.0.1.2", "10.1.0.256", "10.1.0.01", "10.1.0.",
                          ".1.0.1", "10.1.0.+1", "10.1.0.1 ", "1000.1.0.1", "a.b.c.d"})
    EXPECT_FALSE(parse_ip(bad)) << bad;
}

TEST(IpAddress, PrintsIpv6AsRfc5952) {
  const std::pair<const char*, const char*> cases[] = {
      {"2001:DB8::0001", "2001:db8::1"},
      {"2001:db8:0:0:0:0:2:1", "2001:db8::2:1"},
      {"2001:db8:0:1:1:1:1:1", "2001:db8:0:1:1:1:1:1"},
      {"2001:0:0:1:0:0:0:1", "2001:0:0:1::1"},
      {"2001:db8:0:0:1:0:0:1", "2001:db8::1:0:0:1"},
      {"0:0:0:0:0:0:0:0", "::"},
      {"::1", "::1"},
      {"1::", "1::"},
      {"0:0:1::", "0:0:1::"},
      {"64:ff9b::192.0.2.33", "64:ff9b::c000:221"},
      {"1:2:3:4:5:6:1.2.3.4", "1:2:3:4:5:6:102:304"},
      {"fe80::1:0:0:0", "fe80::1:0:0:0"},
      {"1:2:3:4:5:6:7::", "1:2:3:4:5:6:7:0"},
  };
  for (const auto& [text, canonical] : cases) {
    const auto ip = parse_ip(text);
    ASSERT_TRUE(ip) << text;
    EXPECT_FALSE(ip->is_v4());
    EXPECT_EQ(to_string(*ip), canonical);
  }
}

TEST(IpAddress, RefusesWhatIsNotIpv6) {
  for (const char* bad :
       {":", ":::", "1:::2", "1::2::3", "1:2:3:4:5:6:7", "1:2:3:4:5:6:7:8:9",
        "1:2:3:4:5:6:7:8::", "12345::", "g::", ":1::2", "1::2:", "1.2.3.4::", "1::1.2.3",
        "1:2:3:4:5:6:7:1.2.3.4", "::1%1", "::ffff:1.2.3.4", "1:2:3:4::5:6:7:8"})
    EXPECT_FALSE(parse_ip(bad)) << bad;
}

TEST(IpAddress, PrintedFormReadsBackAsTheSameAddress) {
  constexpr uint64_t kSeed = 1;
  RandomStream random(kSeed, 0, 0);
  for (int round = 0; round < 500; ++round) {
    Ipv6Address v6;
    for (auto& octet : v6.octets)
      octet = random.below(3) != 0 ? 0 : static_cast<uint8_t>(random.next());
    if (IpAddress(v6).is_v4()) continue;
    const std::string text = to_string(IpAddress(v6));
    const auto again = parse_ip(text);
    ASSERT_TRUE(again && *again == IpAddress(v6)) << text << " seed " << kSeed;
    const IpAddress v4(Ipv4Address{random.next()});
    ASSERT_EQ(parse_ip(to_string(v4)), v4) << "seed " << kSeed;
  }
}

TEST(IpPrefix, NetworkClearsHostBitsInItsOwnFamily) {
  EXPECT_EQ(to_string(parse_ip_prefix("10.1.255.7/20")->network()), "10.1.240.0/20");
  EXPECT_EQ(to_string(parse_ip_prefix("10.1.2.3/0")->network()), "0.0.0.0/0");
  EXPECT_EQ(to_string(parse_ip_prefix("10.1.2.3/32")->network()), "10.1.2.3/32");
  EXPECT_EQ(to_string(parse_ip_prefix("fd00:1234:5678::9/33")->network()), "fd00:1234::/33");
  EXPECT_EQ(to_string(parse_ip_prefix("fd00::9/128")->network()), "fd00::9/128");
  EXPECT_EQ(to_string(parse_ip_prefix("fd00::9/0")->network()), "::/0");
}

TEST(IpPrefix, ContainsItsOwnFamilyOnly) {
  const auto v4 = parse_ip_prefix("10.1.0.1/23");
  EXPECT_TRUE(v4->contains(*parse_ip("10.1.1.255")));
  EXPECT_FALSE(v4->contains(*parse_ip("10.1.2.0")));
  const auto all_v6 = parse_ip_prefix("::/0");
  EXPECT_TRUE(all_v6->contains(*parse_ip("fd00::1")));
  EXPECT_FALSE(all_v6->contains(*parse_ip("10.1.1.1")));
  EXPECT_FALSE(parse_ip_prefix("0.0.0.0/0")->contains(*parse_ip("::1")));
}

TEST(IpPrefix, RefusesLengthsOutsideItsFamily) {
  for (const char* bad : {"10.1.0.0", "10.1.0.0/33", "10.1.0.0/", "10.1.0.0/08", "10.1.0.0/-1",
                          "fd00::/129", "/24", "fd00::/1/2", "10.1.0.0/24 "})
    EXPECT_FALSE(parse_ip_prefix(bad)) << bad;
}

}  // namespace
}  // namespace eddy
