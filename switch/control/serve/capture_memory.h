// CaptureMemory: the rings of one capture, a ring a shard, in memory that its reader maps, too.
//
// Two files without a name (memfd): the records, which the reader can map but not write, and where
// it stands, which is all that it writes. Neither can be cut shorter by anybody, so that no worker
// touches memory that is gone; both are there as a whole before a worker sees them. Layout of the
// first: a ring after the other, each kCaptureStateOctets of CaptureRingState and `octets` of
// records; of the second: a CaptureRingTail each. Owner: Captures, and each command that a worker
// has not carried out. Source: docs/adr/0043.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "net/capture/capture_order.h"
#include "net/result.h"
#include "switch/control/serve/socket_server.h"

namespace eddy::control {

inline constexpr size_t kCaptureStateOctets = 4096;  // of a ring, in front of its records
inline constexpr int kCaptureFormat = 1;             // of memory and records
static_assert(sizeof(CaptureRingState) <= kCaptureStateOctets);

class CaptureMemory {
 public:
  // `octets`: of each ring, a power of two, 64 KiB at least.
  static Result<std::shared_ptr<CaptureMemory>> create(size_t rings, size_t octets);
  ~CaptureMemory();
  CaptureMemory(const CaptureMemory&) = delete;
  CaptureMemory& operator=(const CaptureMemory&) = delete;

  CaptureWriter writer(size_t ring);
  // The records, then where the reader stands; duplicates, the caller's.
  std::vector<Fd> descriptors() const;

 private:
  CaptureMemory(size_t rings, size_t octets) : rings_(rings), octets_(octets) {}
  Problems map();
  size_t records_octets() const { return rings_ * (kCaptureStateOctets + octets_); }
  size_t tails_octets() const { return rings_ * sizeof(CaptureRingTail); }

  size_t rings_;
  size_t octets_;
  Fd records_file_;
  Fd tails_file_;
  uint8_t* records_ = nullptr;
  uint8_t* tails_ = nullptr;
};

// The same memory, as its reader has it.
class CaptureView {
 public:
  static Result<std::unique_ptr<CaptureView>> map(const std::vector<Fd>& descriptors, size_t rings,
                                                  size_t octets);
  ~CaptureView();
  CaptureView(const CaptureView&) = delete;
  CaptureView& operator=(const CaptureView&) = delete;

  std::span<CaptureReader> readers() { return readers_; }

 private:
  CaptureView() = default;

  void* records_ = nullptr;
  void* tails_ = nullptr;
  size_t records_octets_ = 0;
  size_t tails_octets_ = 0;
  std::vector<CaptureReader> readers_;
};

}  // namespace eddy::control
