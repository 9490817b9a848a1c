#include "testbed/wire_links.h"

#include <arpa/inet.h>
#include <linux/ethtool.h>
#include <linux/rtnetlink.h>
#include <linux/sockios.h>
#include <linux/veth.h>
#include <net/if.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstring>
#include <string_view>
#include <utility>

namespace eddy::testbed {
namespace {

constexpr size_t kLargestMessage = 1'024;
constexpr uint8_t kHostLength = 32;

Problems problem(const std::string& device, const char* what, int error) {
  if (error == 0) return {};
  return {"interface " + device + ": " + what + ": " + std::strerror(error)};
}

// 0, or errno. Without checksums of the device the kernel cuts most segments itself, but not all.
int turn_offloads_off(const std::string& device) {
  const int fd = socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0);
  if (fd < 0) return errno;
  int error = 0;
  for (const uint32_t command : {uint32_t{ETHTOOL_STXCSUM}, uint32_t{ETHTOOL_STSO}}) {
    ethtool_value value{.cmd = command, .data = 0};
    ifreq request{};
    std::memcpy(request.ifr_name, device.c_str(), device.size() + 1);
    request.ifr_data = reinterpret_cast<char*>(&value);
    if (ioctl(fd, SIOCETHTOOL, &request) != 0 && error == 0) error = errno;
  }
  close(fd);
  return error;
}

bool is_interface_name(const std::string& name) {
  return !name.empty() && name.size() < IFNAMSIZ;
}

}  // namespace

// A message of rtnetlink: its header, the header of its kind, attributes.
class WireLinks::Request {
 public:
  template <class Header>
  Request(uint16_t type, uint16_t flags, const Header& header) {
    nlmsghdr& head = *reinterpret_cast<nlmsghdr*>(octets_.data());
    head.nlmsg_type = type;
    head.nlmsg_flags = static_cast<uint16_t>(NLM_F_REQUEST | NLM_F_ACK | flags);
    size_ = NLMSG_HDRLEN;
    add(&header, sizeof(header));
  }
  void attribute(uint16_t type, const void* data, size_t size) {
    const size_t at = begin(type);
    add(data, size);
    end(at);
  }
  void text(uint16_t type, const std::string& value) {
    attribute(type, value.c_str(), value.size() + 1);
  }
  void number(uint16_t type, uint32_t value) { attribute(type, &value, sizeof(value)); }
  // What is added up to end() is inside of it.
  size_t begin(uint16_t type) {
    const size_t at = size_;
    const rtattr head{.rta_len = 0, .rta_type = type};
    add(&head, sizeof(head));
    return at;
  }
  void end(size_t at) {
    reinterpret_cast<rtattr*>(octets_.data() + at)->rta_len = static_cast<uint16_t>(last_ - at);
  }
  void add(const void* data, size_t size) {
    std::memcpy(octets_.data() + size_, data, size);
    last_ = size_ + size;  // lengths are without what fills up to the next
    size_ = NLMSG_ALIGN(last_);
  }
  const void* finish(uint32_t sequence) {
    nlmsghdr& head = *reinterpret_cast<nlmsghdr*>(octets_.data());
    head.nlmsg_len = static_cast<uint32_t>(size_);
    head.nlmsg_seq = sequence;
    return octets_.data();
  }
  size_t size() const { return size_; }

 private:
  alignas(NLMSG_ALIGNTO) std::array<uint8_t, kLargestMessage> octets_{};
  size_t size_ = 0;
  size_t last_ = 0;
};

Result<WireLinks> WireLinks::open() {
  const int fd = socket(AF_NETLINK, SOCK_RAW | SOCK_CLOEXEC, NETLINK_ROUTE);
  if (fd < 0) return Result<WireLinks>::failure(std::string("rtnetlink: ") + std::strerror(errno));
  return WireLinks(fd);
}

WireLinks::~WireLinks() {
  if (fd_ >= 0) close(fd_);
}

WireLinks::WireLinks(WireLinks&& other) noexcept
    : fd_(std::exchange(other.fd_, -1)), sequence_(other.sequence_) {}

int WireLinks::ask(Request& request) {
  const void* message = request.finish(++sequence_);
  if (send(fd_, message, request.size(), 0) < 0) return errno;
  alignas(NLMSG_ALIGNTO) std::array<uint8_t, 4 * kLargestMessage> answer{};
  for (;;) {
    const ssize_t count = recv(fd_, answer.data(), answer.size(), 0);
    if (count < 0 && errno == EINTR) continue;
    if (count < 0) return errno;
    const auto& head = *reinterpret_cast<const nlmsghdr*>(answer.data());
    if (static_cast<size_t>(count) < NLMSG_HDRLEN + sizeof(nlmsgerr)) return EPROTO;
    if (head.nlmsg_seq != sequence_ || head.nlmsg_type != NLMSG_ERROR) continue;
    return -reinterpret_cast<const nlmsgerr*>(NLMSG_DATA(&head))->error;
  }
}

Problems WireLinks::make_pair(const VethPair& pair) {
  if (!is_interface_name(pair.device) || !is_interface_name(pair.peer))
    return {"interface " + pair.device + ": names have 1 to " + std::to_string(IFNAMSIZ - 1) +
            " octets"};
  Request request(RTM_NEWLINK, NLM_F_CREATE | NLM_F_EXCL, ifinfomsg{});
  request.text(IFLA_IFNAME, pair.device);
  request.number(IFLA_MTU, static_cast<uint32_t>(pair.mtu));
  const size_t info = request.begin(IFLA_LINKINFO);
  request.text(IFLA_INFO_KIND, "veth");
  const size_t data = request.begin(IFLA_INFO_DATA);
  const size_t peer = request.begin(VETH_INFO_PEER);
  const ifinfomsg header{};
  request.add(&header, sizeof(header));
  request.text(IFLA_IFNAME, pair.peer);
  request.number(IFLA_MTU, static_cast<uint32_t>(pair.mtu));
  request.attribute(IFLA_ADDRESS, pair.peer_mac.octets.data(), pair.peer_mac.octets.size());
  request.end(peer);
  request.end(data);
  request.end(info);
  if (Problems problems = problem(pair.device, "making it", ask(request)); !problems.empty())
    return problems;
  for (const std::string& each : {pair.device, pair.peer})
    if (Problems problems = problem(each, "turning its offloads off", turn_offloads_off(each));
        !problems.empty())
      return problems;
  return {};
}

Problems WireLinks::remove(const std::string& device) {
  const unsigned index = if_nametoindex(device.c_str());
  if (index == 0) return {};
  Request request(RTM_DELLINK, 0, ifinfomsg{.ifi_index = static_cast<int>(index)});
  const int error = ask(request);
  return problem(device, "removing it", error == ENODEV ? 0 : error);
}

Problems WireLinks::set_up(const std::string& device) {
  const ifinfomsg header{.ifi_index = static_cast<int>(if_nametoindex(device.c_str())),
                         .ifi_flags = IFF_UP,
                         .ifi_change = IFF_UP};
  Request request(RTM_NEWLINK, 0, header);
  return problem(device, "setting it up", ask(request));
}

Problems WireLinks::move(const std::string& device, int network, const std::string& name) {
  if (!is_interface_name(name)) return {"interface \"" + name + "\": no valid name"};
  Request request(RTM_NEWLINK, 0,
                  ifinfomsg{.ifi_index = static_cast<int>(if_nametoindex(device.c_str()))});
  request.number(IFLA_NET_NS_FD, static_cast<uint32_t>(network));
  request.text(IFLA_IFNAME, name);
  return problem(device, "moving it", ask(request));
}

Problems WireLinks::add_address(const std::string& device, Ipv4Address address) {
  const ifaddrmsg header{.ifa_family = AF_INET,
                         .ifa_prefixlen = kHostLength,
                         .ifa_index = if_nametoindex(device.c_str())};
  Request request(RTM_NEWADDR, NLM_F_CREATE | NLM_F_EXCL, header);
  request.number(IFA_LOCAL, htonl(address.value));
  request.number(IFA_ADDRESS, htonl(address.value));
  return problem(device, "giving it an address", ask(request));
}

Problems WireLinks::add_default_route(const std::string& device, Ipv4Address gateway) {
  const rtmsg header{.rtm_family = AF_INET,
                     .rtm_table = RT_TABLE_MAIN,
                     .rtm_protocol = RTPROT_BOOT,
                     .rtm_scope = RT_SCOPE_UNIVERSE,
                     .rtm_type = RTN_UNICAST,
                     .rtm_flags = RTNH_F_ONLINK};
  Request request(RTM_NEWROUTE, NLM_F_CREATE | NLM_F_REPLACE, header);
  request.number(RTA_GATEWAY, htonl(gateway.value));
  request.number(RTA_OIF, if_nametoindex(device.c_str()));
  return problem(device, "routing by it", ask(request));
}

int watch_links() {
  const int fd = socket(AF_NETLINK, SOCK_RAW | SOCK_CLOEXEC | SOCK_NONBLOCK, NETLINK_ROUTE);
  if (fd < 0) return -errno;
  sockaddr_nl address{};
  address.nl_family = AF_NETLINK;
  address.nl_groups = RTMGRP_LINK;
  if (bind(fd, reinterpret_cast<const sockaddr*>(&address), sizeof(address)) == 0) return fd;
  const int error = errno;
  close(fd);
  return -error;
}

}  // namespace eddy::testbed
