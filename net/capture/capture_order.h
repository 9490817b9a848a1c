// CaptureOrder: what a shard is to capture, and where to.
//
// Owner: whoever orders it, until the shard has been told that it ends. Written before, read by the
// shard only.
#pragma once

#include <bitset>
#include <cstdint>

#include "net/capture/capture_ring.h"
#include "net/capture/packet_filter.h"
#include "net/ids.h"

namespace eddy {

// That packets are traced instead of captured.
struct TraceOrder {
  PacketFilter filter;  // which
  uint32_t most = 1;    // at most kMostTraced
};

struct CaptureOrder {
  std::bitset<kMaxPorts> ports;       // out: the port by which it leaves; else by which it came
  uint8_t directions = 0;             // bit = CaptureDirection
  uint32_t snap = kCaptureMostSnap;   // octets of a frame, at most kCaptureMostSnap
  int64_t zero_ns = 0;                // what the shard's time zero is in stamps
  CaptureWriter ring;                 // to begin with
  const TraceOrder* trace = nullptr;  // null: they are captured

  bool wants(CaptureDirection direction) const {
    return (directions >> static_cast<unsigned>(direction) & 1) != 0;
  }
};

}  // namespace eddy
