#include "switch/dpdk/packet_socket.h"

#include <arpa/inet.h>
#include <gtest/gtest.h>
#include <linux/if_ether.h>
#include <linux/if_packet.h>
#include <net/if.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <unistd.h>

namespace eddy {
namespace {

class File {
 public:
  explicit File(int number) : number_(number) {}
  ~File() { close(number_); }
  File(const File&) = delete;
  File& operator=(const File&) = delete;
  int number() const { return number_; }

 private:
  int number_;
};

// A socket that nobody reads hears more frames of the loopback interface than it has room for.
TEST(PacketSocket, DropsOfAFullSocketAreTakenOnce) {
  const unsigned loopback = if_nametoindex("lo");
  const File deaf(socket(AF_PACKET, SOCK_RAW, htons(ETH_P_ALL)));
  ASSERT_GE(deaf.number(), 0) << "needs the capability CAP_NET_RAW";
  const int least = 1;
  ASSERT_EQ(setsockopt(deaf.number(), SOL_SOCKET, SO_RCVBUF, &least, sizeof(least)), 0);
  sockaddr_ll address{};
  address.sll_family = AF_PACKET;
  address.sll_protocol = htons(ETH_P_ALL);
  address.sll_ifindex = static_cast<int>(loopback);
  ASSERT_EQ(bind(deaf.number(), reinterpret_cast<sockaddr*>(&address), sizeof(address)), 0);
  (void)take_packet_socket_drops(loopback);

  const File udp(socket(AF_INET, SOCK_DGRAM, 0));
  sockaddr_in discard{};
  discard.sin_family = AF_INET;
  discard.sin_port = htons(9);
  discard.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  const char octets[512] = {};
  for (int i = 0; i < 100; ++i)
    (void)sendto(udp.number(), octets, sizeof(octets), 0,
                 reinterpret_cast<const sockaddr*>(&discard), sizeof(discard));

  EXPECT_EQ(take_packet_socket_drops(loopback + 1'000), 0u) << "of another interface";
  EXPECT_GE(take_packet_socket_drops(loopback), 90u);
  EXPECT_LE(take_packet_socket_drops(loopback), 10u) << "taken is taken; others use lo, too";
}

}  // namespace
}  // namespace eddy
