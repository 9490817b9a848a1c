// The plan of the buffer: every priority group's limits, and whether a lossless configuration fits.
//
// Set aside are the reserved octets and the headroom of all PGs, and what flow stages may hold
// (docs/adr/0026); the rest is the shared pool. A
// configuration is refused when the lossless PGs could not all fill up to XOFF at once (static), or
// when the pool left is too small for a threshold that lets a PG work (dynamic). An overcommitted
// one runs all the same: thresholds hold while the shared pool lasts, and headroom that would take
// more than half of the buffer becomes one pool of that half, which may run out. Units in the
// types. Owner: control, at start and reconfiguration. Source: reference C.2, C.4; architecture,
// section 6.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "config/config.h"
#include "net/ids.h"
#include "net/result.h"
#include "net/units.h"
#include "pfc/buffer_pool.h"

namespace eddy::pfc {

// Masks: bit i is the PG, priority or queue i.
struct PortBufferPlan {
  std::array<PgLimits, kPriorities> pgs;  // headroom resolved
  uint8_t lossless_pgs = 0;
  uint8_t lossless_priorities = 0;  // what lossless PGs pause
  uint8_t lossless_queues = 0;      // what lossless PGs' traffic leaves by
};

struct BufferPlan {
  std::vector<PortBufferPlan> ports;
  Bytes size;
  Bytes needed;    // reserved, headroom, and the XOFF of lossless PGs with a static threshold
  Bytes reserved;  // set aside: reserved octets and headroom of all PGs
  Bytes headroom_pool = BufferPool::kNoLimit;  // what the headroom of all PGs may take together
  Bytes stages;                                // for what flow stages hold
  Bytes shared;                                // the rest
  int cell_bytes = 1;
  // What is left for lossy groups while every lossless one is at its XOFF and in its headroom.
  Bytes lossy() const { return std::max(size - needed - stages, Bytes(0)); }
  std::string shortfall;  // what does not fit, of an overcommitted buffer; else empty

  // The most packets a full buffer can hold, plus the `in_rings` that rings hold besides: with this
  // many mbufs the buffer is the limit and never the mbufs.
  size_t mbufs(size_t in_rings) const;
};

// Resolves and checks the buffer of a scaled configuration; every problem at once.
[[nodiscard]] Result<BufferPlan> plan_buffer(const config::SwitchConfig& config);

}  // namespace eddy::pfc
