// One input, one program of the packet filter and a frame: an octet that says how many
// instructions there are, those, eight octets each, then the frame. The program is refused, or it
// ends, reads nothing beyond the frame, and answers as libpcap's own interpreter does.
#include <pcap/pcap.h>

#include <algorithm>
#include <cstring>
#include <vector>

#include "net/assert.h"
#include "net/capture/packet_filter.h"

namespace {

using namespace eddy;

FilterInstruction instruction_at(const uint8_t* data) {
  FilterInstruction out;
  std::memcpy(&out.code, data, 2);
  out.if_true = data[2];
  out.if_false = data[3];
  std::memcpy(&out.k, data + 4, 4);
  return out;
}

// libpcap ends the process at codes that it does not have, and shifts by more than a word's bits
// are undefined there.
bool libpcap_has(const FilterInstruction& each) {
  const uint16_t operation = each.code & 0xf0;
  switch (each.code & 0x07) {
    case BPF_RET:
      return each.code == BPF_RET || each.code == (BPF_RET | BPF_A);
    case BPF_MISC:
      return each.code == BPF_MISC || each.code == (BPF_MISC | BPF_TXA);
    case BPF_ST:
      return each.code == BPF_ST;
    case BPF_STX:
      return each.code == BPF_STX;
    case BPF_ALU:
      if (operation == BPF_NEG) return each.code == (BPF_ALU | BPF_NEG);
      return (operation != BPF_LSH && operation != BPF_RSH) || (each.code & BPF_X) != 0 ||
             each.k < 32;
    case BPF_JMP:
      return operation != BPF_JA || each.code == (BPF_JMP | BPF_JA);
    case BPF_LD:
      return true;
    default:
      return (each.code & 0xe0) != BPF_ABS && (each.code & 0xe0) != BPF_IND;
  }
}

bool of_libpcap(const std::vector<FilterInstruction>& program, const std::vector<uint8_t>& frame,
                uint32_t wire_len) {
  std::vector<bpf_insn> same;
  // Its cells begin with whatever the stack has, and ours with 0, as A does.
  for (uint32_t cell = 0; cell < BPF_MEMWORDS; ++cell) same.push_back({BPF_ST, 0, 0, cell});
  for (const FilterInstruction& each : program)
    same.push_back({each.code, each.if_true, each.if_false, each.k});
  return bpf_filter(same.data(), frame.data(), wire_len, static_cast<u_int>(frame.size())) != 0;
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  if (size == 0) return 0;
  const size_t count = std::min<size_t>(data[0], (size - 1) / 8);
  std::vector<FilterInstruction> program;
  for (size_t i = 0; i < count; ++i) program.push_back(instruction_at(data + 1 + i * 8));
  const auto filter = PacketFilter::load(program);
  if (!filter.ok()) {
    ASSERT(filter.problems().size() == 1 && !filter.problems().front().empty());
    return 0;
  }
  // Of its own, so that a read beyond it is seen.
  const std::vector<uint8_t> frame(data + 1 + count * 8, data + size);
  const auto wire_len = static_cast<uint32_t>(frame.size() + data[0]);
  const bool matches = filter.value().matches(frame, wire_len);
  if (!program.empty() && std::ranges::all_of(program, libpcap_has))
    ASSERT(matches == of_libpcap(program, frame, wire_len));
  return 0;
}
