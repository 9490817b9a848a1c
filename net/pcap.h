// The pcap format, to and from buffers: no file is touched here.
//
// Written: little-endian, nanosecond stamps, Ethernet. Read: both byte orders, micro- and
// nanosecond stamps. Stamps are nanoseconds since the Unix epoch (an Instant counts from a world's
// own zero). Bounds: a record holds at most 256 KiB. Source: draft-ietf-opsawg-pcap.
#pragma once

#include <cstdint>

#include "net/codec.h"

namespace eddy {

inline constexpr size_t kPcapFileHeader = 24;
inline constexpr size_t kPcapRecordHeader = 16;
inline constexpr uint32_t kPcapSnapLength = 262'144;

struct PcapRecord {
  uint64_t stamp_ns = 0;
  uint32_t wire_len = 0;  // of the frame; `frame` may be cut shorter
  ConstOctets frame;
};

size_t encode_pcap_header(Octets out);
size_t encode(const PcapRecord& record, Octets out);

// Walks the records of one file held in memory.
class PcapReader {
 public:
  // truncated; wrong_type: not a pcap file, or its link type is not Ethernet; bad_version.
  [[nodiscard]] CodecVerdict open(ConstOctets file);

  bool at_end() const { return rest_.empty(); }
  // truncated; bad_length: over the snap length, or longer than the frame was on the wire;
  // bad_value: a fraction of a second or more. After a fault the rest of the file cannot be read.
  [[nodiscard]] CodecVerdict next(PcapRecord& record);

 private:
  uint32_t word(size_t offset) const;

  ConstOctets rest_;
  bool big_endian_ = false;
  uint32_t ns_a_fraction_ = 1;
};

}  // namespace eddy
