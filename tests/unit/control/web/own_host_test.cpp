#include "switch/control/web/own_host.h"

#include <gtest/gtest.h>

namespace eddy::control {
namespace {

TEST(OwnHost, AddressesAndLocalhostAreOurs) {
  for (const char* host : {"127.0.0.1:9480", "127.0.0.1", "localhost", "LocalHost:8080",
                           "[::1]:9480", "[::1]", "10.0.0.7:1", "[fd00::7]"})
    EXPECT_TRUE(is_own_host(host, "")) << host;
}

// A page's own name that its owner has made lead to our address.
TEST(OwnHost, OtherNamesAreNot) {
  for (const char* host :
       {"", "evil.example", "evil.example:9480", "localhost.evil.example", "127.0.0.1.evil.example",
        "evil.example@127.0.0.1", "127.0.0.1:9480:9480", "127.0.0.1:", "127.0.0.1:x",
        "127.0.0.1:123456", "[::1", "[::1]x", "[::1]:", "[evil.example]", "[127.0.0.1]", "::1",
        "localhost ", "127.1", "0x7f000001"})
    EXPECT_FALSE(is_own_host(host, "")) << host;
}

TEST(OwnHost, TheMachineHasItsNameWhereOthersReachIt) {
  EXPECT_TRUE(is_own_host("Rack7:9480", "rack7"));
  EXPECT_FALSE(is_own_host("rack7:9480", ""));
  EXPECT_FALSE(is_own_host("rack8", "rack7"));
}

TEST(OwnPage, OtherPagesAreKnownByWhatTheBrowserSays) {
  for (const char* site : {"", "same-origin", "none"}) EXPECT_TRUE(is_own_page(site)) << site;
  for (const char* site : {"cross-site", "same-site", "x"}) EXPECT_FALSE(is_own_page(site)) << site;
}

}  // namespace
}  // namespace eddy::control
