// PacketFilter: a program of the classic packet filter (BPF), which says of a frame whether it is
// wanted.
//
// Programs come from users: load() takes only those that end after at most as many steps as they
// have instructions (jumps go forward), and whose loads are looked at as they run. It knows what
// libpcap compiles, not what kernels have beside a frame. Owner: who loads it; any number of
// threads may ask it at once. Bounds: kMost instructions, 2 KiB. Cost: some cycles an instruction.
// Source: McCanne and Jacobson, "The BSD packet filter", USENIX 1993.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "net/result.h"

namespace eddy {

// As struct bpf_insn.
struct FilterInstruction {
  uint16_t code = 0;
  uint8_t if_true = 0;  // instructions to leave out
  uint8_t if_false = 0;
  uint32_t k = 0;
};

class PacketFilter {
 public:
  static constexpr size_t kMost = 256;

  PacketFilter() = default;  // takes everything
  static Result<PacketFilter> load(std::span<const FilterInstruction> program);

  // Of a frame of `wire_len` octets, of which `frame` can be read.
  bool matches(std::span<const uint8_t> frame, uint32_t wire_len) const {
    return program_.empty() || run(frame, wire_len) != 0;
  }

 private:
  uint32_t run(std::span<const uint8_t> frame, uint32_t wire_len) const;

  std::vector<FilterInstruction> program_;
};

}  // namespace eddy
