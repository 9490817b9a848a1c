// WireLinks: network interfaces of the kernel, as a testbed of containers needs them: veth pairs,
// their way into another network namespace, addresses and a default route.
//
// Speaks rtnetlink in the network namespace that it was opened in. What it does needs
// CAP_NET_ADMIN there, and in the namespace that an interface is moved to, by a descriptor of it;
// nobody enters that namespace. Thread: one. Problems are one line with the interface in it. Cost:
// a round trip to the kernel each. Source: rtnetlink(7), veth(4).
#pragma once

#include <cstdint>
#include <string>

#include "net/addresses.h"
#include "net/result.h"

namespace eddy::testbed {

struct VethPair {
  std::string device;
  std::string peer;
  MacAddress peer_mac;
  int mtu = 1'500;
};

class WireLinks {
 public:
  static Result<WireLinks> open();
  ~WireLinks();
  WireLinks(WireLinks&& other) noexcept;
  WireLinks& operator=(WireLinks&&) = delete;
  WireLinks(const WireLinks&) = delete;
  WireLinks& operator=(const WireLinks&) = delete;

  // Both ends compute their checksums and cut their segments themselves, since who reads them from
  // a packet socket would see frames as no line has them.
  [[nodiscard]] Problems make_pair(const VethPair& pair);
  // With its peer. One that is not there is removed already.
  [[nodiscard]] Problems remove(const std::string& device);
  [[nodiscard]] Problems set_up(const std::string& device);
  [[nodiscard]] Problems move(const std::string& device, int network, const std::string& name);
  [[nodiscard]] Problems add_address(const std::string& device, Ipv4Address address);
  // Whether or not the gateway is in a subnet of the interface.
  [[nodiscard]] Problems add_default_route(const std::string& device, Ipv4Address gateway);

 private:
  explicit WireLinks(int fd) : fd_(fd) {}
  class Request;
  int ask(Request& request);  // 0, or errno

  int fd_;
  uint32_t sequence_ = 0;
};

// A socket that becomes readable when an interface of this namespace comes, goes or changes;
// negative: errno.
int watch_links();

}  // namespace eddy::testbed
