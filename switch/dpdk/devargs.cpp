#include "switch/dpdk/devargs.h"

#include <unistd.h>

#include <algorithm>
#include <bit>
#include <cctype>
#include <charconv>
#include <numeric>

namespace eddy {
namespace {

constexpr int kFrameHeaders = 14 + 2 * 4 + kLongestShim;  // Ethernet, two tags
constexpr int kPacketRingFrames = 1'024;  // of af_packet's rings: 12 ms of 1,500 B at 1 Gb/s

int number(std::optional<std::string_view> text, int otherwise) {
  int value = otherwise;
  if (text) std::from_chars(text->data(), text->data() + text->size(), value);
  return value;
}

int power_of_two(int n) {
  return static_cast<int>(std::bit_ceil(static_cast<unsigned>(n)));
}

// In each slot of its ring the kernel puts up to 66 octets before the frame, and drops what does
// not fit without a word; the driver wants an mbuf to hold all but 32 octets of a slot.
constexpr int kSlotHeader = 66;
constexpr int kSlotHeaderDriver = 32;

// Slots of a power of two of pages, or the small one: 16 to 7 pages, for MTUs up to 1,672.
constexpr int kSmallSlot = 1'792;

int packet_ring_slot(int mtu) {
  const int wanted = frame_size_of(mtu) + kSlotHeader;
  return wanted <= kSmallSlot ? kSmallSlot : std::max(2'048, power_of_two(wanted));
}

// An XDP frame starts this far into what an mbuf offers. The kernel takes an element of the pool
// for a chunk of its own, and has limits for that: not longer than a page, not shorter than 2,048
// octets.
constexpr int kXdpHeadroom = 256;
// The pool's header, the mbuf, its Packet, and the headroom.
constexpr int kMbufAndHeaders = RTE_CACHE_LINE_SIZE + 128 + 64 + RTE_PKTMBUF_HEADROOM;
constexpr int kShortestChunk = 2'048;

int page_size() {
  return static_cast<int>(sysconf(_SC_PAGESIZE));
}

int memif_buffer(int mtu) {
  return std::max(2'048, power_of_two(frame_size_of(mtu)));
}

}  // namespace

DeviceArgs DeviceArgs::parse(std::string_view text) {
  DeviceArgs out;
  bool first = true;
  while (!text.empty() || first) {
    const size_t comma = text.find(',');
    const std::string_view part = text.substr(0, comma);
    text = comma == std::string_view::npos ? std::string_view{} : text.substr(comma + 1);
    if (first) {
      out.name_ = part;
      first = false;
      continue;
    }
    const size_t equals = part.find('=');
    const bool has_value = equals != std::string_view::npos;
    out.arguments_.emplace_back(part.substr(0, equals), has_value ? part.substr(equals + 1) : "");
  }
  return out;
}

std::string DeviceArgs::driver() const {
  std::string driver = name_;
  while (!driver.empty() && std::isdigit(static_cast<unsigned char>(driver.back())) != 0)
    driver.pop_back();
  return driver;
}

bool DeviceArgs::is_pci() const {
  const auto hex_or_mark = [](char c) {
    return std::isxdigit(static_cast<unsigned char>(c)) != 0 || c == ':' || c == '.';
  };
  return name_.find(':') != std::string::npos && name_.find('.') != std::string::npos &&
         std::all_of(name_.begin(), name_.end(), hex_or_mark);
}

bool DeviceArgs::is_af_packet() const {
  const std::string driver = this->driver();
  return driver == "net_af_packet" || driver == "eth_af_packet";
}

bool DeviceArgs::is_af_xdp() const {
  return driver() == "net_af_xdp";
}

std::optional<std::string_view> DeviceArgs::find(std::string_view key) const {
  for (const auto& [name, value] : arguments_)
    if (name == key) return value;
  return std::nullopt;
}

void DeviceArgs::set_default(std::string_view key, std::string_view value) {
  if (!find(key)) arguments_.emplace_back(key, value);
}

void DeviceArgs::remove(std::string_view key) {
  std::erase_if(arguments_, [key](const auto& argument) { return argument.first == key; });
}

std::string DeviceArgs::to_string() const {
  std::string out = name_;
  for (const auto& [key, value] : arguments_) {
    out += ',' + key;
    if (!value.empty()) out += '=' + value;
  }
  return out;
}

// Slots must fill a block, and a block whole pages.
int packet_ring_block(int slot, int page) {
  return std::lcm(slot, page);
}

int frame_size_of(int mtu) {
  return mtu + kFrameHeaders;
}

DeviceArgs with_driver_defaults(DeviceArgs device, int mtu) {
  const std::string driver = device.driver();
  if (device.is_af_packet()) {
    const int slot = number(device.find("framesz"), packet_ring_slot(mtu));
    device.set_default("framesz", std::to_string(slot));
    device.set_default("blocksz", std::to_string(packet_ring_block(slot, page_size())));
    device.set_default("framecnt", std::to_string(kPacketRingFrames));
    device.set_default("qdisc_bypass", "1");
  } else if (driver == "net_memif") {
    device.set_default("role", "client");
    device.set_default("socket-abstract", "no");  // a path works across network namespaces
    device.set_default("bsize", std::to_string(memif_buffer(mtu)));
  } else if (device.is_af_xdp()) {
    device.set_default("start_queue", "0");
    device.set_default("queue_count", "1");
  }
  return device;
}

int longest_buffer_of(const DeviceArgs& device) {
  return device.is_af_xdp() ? page_size() - kMbufAndHeaders : kAnyBuffer;
}

// As ethdev itself reckons what a frame is longer than its packet.
uint32_t longest_mtu_of(const DriverLimits& limits) {
  constexpr uint32_t kUnknown = UINT16_MAX;
  constexpr uint32_t kHeaderAndFcs = 14 + 4;
  if (limits.frame <= kHeaderAndFcs) return limits.mtu;
  const bool both = limits.mtu != kUnknown && limits.frame > limits.mtu;
  return both ? limits.mtu : std::min(limits.mtu, limits.frame - kHeaderAndFcs);
}

uint32_t driver_mtu(const DeviceArgs& device, const DriverLimits& limits, int mtu) {
  const auto wanted = static_cast<uint32_t>(mtu);
  const uint32_t longest = longest_mtu_of(limits);
  if (wanted <= longest) return wanted;
  return device.is_pci() ? 0 : longest;
}

int buffer_size_of(const DeviceArgs& device, int mtu) {
  if (device.is_af_packet())
    return number(device.find("framesz"), packet_ring_slot(mtu)) - kSlotHeaderDriver;
  if (device.is_af_xdp())
    return std::max(frame_size_of(mtu) + kXdpHeadroom, kShortestChunk - kMbufAndHeaders);
  return frame_size_of(mtu);
}

}  // namespace eddy
