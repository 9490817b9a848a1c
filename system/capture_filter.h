// CaptureFilter: which packets a capture keeps, in the language of pcap-filter(7).
//
// libpcap compiles and runs it, in eddyctl and eddylab, so that no worker runs what a user wrote
// and no switch needs libpcap. Thread: one. Cost: of a packet, the interpretation of its program.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "net/capture/packet_filter.h"
#include "net/result.h"

namespace eddy {

class CaptureFilter {
 public:
  // Of a frame's first octets it sees as many, whatever is kept of it.
  static constexpr uint32_t kSees = 512;

  // Empty: everything.
  static Result<CaptureFilter> compile(const std::string& expression);
  CaptureFilter(CaptureFilter&&) noexcept;
  CaptureFilter& operator=(CaptureFilter&&) noexcept;
  ~CaptureFilter();

  bool keeps_all() const { return program_ == nullptr; }
  bool matches(std::span<const uint8_t> frame, uint32_t wire_len) const;
  // For whoever else runs it.
  std::vector<FilterInstruction> program() const;

 private:
  struct Program;
  CaptureFilter();
  std::unique_ptr<Program> program_;  // null: none
};

}  // namespace eddy
