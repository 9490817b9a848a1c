// Device strings of the configuration ("net_memif0,role=client,socket=/run/eddy/a.sock",
// "0000:01:00.0"): taken apart, and completed with what Eddy wants where the user said nothing.
//
// Text, and the size of the machine's pages; control plane. Source: docs/dpdk_notes.md, "Virtual
// ports".
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace eddy {

class DeviceArgs {
 public:
  static DeviceArgs parse(std::string_view text);

  const std::string& name() const { return name_; }  // "net_memif0"
  std::string driver() const;                        // "net_memif": the name without its number
  bool is_pci() const;                               // "0000:01:00.0" or "01:00.0"
  bool is_af_packet() const;                         // by either of its two names
  bool is_af_xdp() const;
  std::optional<std::string_view> find(std::string_view key) const;
  void set_default(std::string_view key, std::string_view value);
  void remove(std::string_view key);
  std::string to_string() const;

 private:
  std::string name_;
  std::vector<std::pair<std::string, std::string>> arguments_;  // in order; keys may repeat
};

inline constexpr int kLongestShim = 32;
// Octets of a frame on the line for a layer-3 MTU: Ethernet header, two tags, the shim.
int frame_size_of(int mtu);

// Octets of a block of af_packet's rings for slots of that size, on a kernel with such pages: 4,096
// octets on x86, 4,096 to 65,536 on AArch64.
int packet_ring_block(int slot, int page);

// What a driver says that it takes: the longest layer-3 packet, the longest frame with its FCS.
struct DriverLimits {
  uint32_t mtu = 0;    // 65,535: unknown
  uint32_t frame = 0;  // 0: unknown
};
uint32_t longest_mtu_of(const DriverLimits& limits);
// The MTU to configure the device with. Configuring holds us to what the driver says, but a virtual
// device's word is not about its frames: af_packet says 1,500 octets whatever its rings hold, which
// follows from its arguments. A NIC's word counts: 0 when `mtu` is above it.
uint32_t driver_mtu(const DeviceArgs& device, const DriverLimits& limits, int mtu);

// Adds the defaults of the device's driver for frames up to `mtu`.
DeviceArgs with_driver_defaults(DeviceArgs device, int mtu);

// Octets that an mbuf must offer behind its headroom so that the device puts each frame into one.
int buffer_size_of(const DeviceArgs& device, int mtu);

// The most that an mbuf may offer for the device to work with its pool: net_af_xdp hands the pool's
// memory to the kernel, which takes chunks of at most a page.
inline constexpr int kAnyBuffer = 65'000;
int longest_buffer_of(const DeviceArgs& device);

}  // namespace eddy
