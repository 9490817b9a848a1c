// The pcapng format, written into buffers: no file is touched here.
//
// One section, little-endian; an interface a port, Ethernet, stamps in nanoseconds; a packet's
// direction is in epb_flags, and what a switch says of it in its comment. The last blocks count
// what was lost by interface. Each function appends whole blocks. Source:
// draft-ietf-opsawg-pcapng.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "net/codec.h"

namespace eddy {

struct PcapngInterface {
  std::string name;
  std::string description;
  uint64_t speed_bps = 0;  // 0: not said
  uint32_t snap = 0;       // octets
};

struct PcapngPacket {
  uint32_t interface = 0;  // the number of its PcapngInterface
  uint64_t stamp_ns = 0;
  uint32_t wire_len = 0;  // of the frame; `frame` may be cut shorter
  ConstOctets frame;
  bool outbound = false;
  uint64_t lost_before = 0;  // packets of the interface, since the last one; 0: not said
  std::string_view comment;  // at most 64 KiB; empty: none
};

// What became of an interface's packets, at the end.
struct PcapngStatistics {
  uint32_t interface = 0;
  uint64_t stamp_ns = 0;  // of the count
  uint64_t start_ns = 0;
  uint64_t end_ns = 0;
  uint64_t seen = 0;     // that the capture was to have
  uint64_t lost = 0;     // of these, for want of room
  uint64_t matched = 0;  // of those that were not lost, by the filter
};

class PcapngWriter {
 public:
  explicit PcapngWriter(std::vector<uint8_t>& out) : out_(out) {}
  void begin_section(std::string_view application);
  void add(const PcapngInterface& interface);
  void add(const PcapngPacket& packet);
  void add(const PcapngStatistics& statistics);

 private:
  void word16(uint16_t value);
  void word32(uint32_t value);
  void stamp(uint64_t ns);
  void octets(ConstOctets bytes);  // padded to 32 bits
  void option(uint16_t code, ConstOctets value);
  void option(uint16_t code, std::string_view text);
  void option64(uint16_t code, uint64_t value);
  size_t begin_block(uint32_t type);
  void end_block(size_t began);

  std::vector<uint8_t>& out_;
};

}  // namespace eddy
