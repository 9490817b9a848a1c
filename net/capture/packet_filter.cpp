#include "net/capture/packet_filter.h"

#include <array>
#include <string>

#include "net/byte_order.h"

namespace eddy {
namespace {

constexpr uint32_t kCells = 16;  // of scratch memory

// Of FilterInstruction::code.
enum Class : uint16_t {
  kLd = 0,
  kLdx = 1,
  kSt = 2,
  kStx = 3,
  kAlu = 4,
  kJmp = 5,
  kRet = 6,
  kMisc = 7
};
enum Size : uint16_t { kWord = 0x00, kHalf = 0x08, kByte = 0x10 };
enum Mode : uint16_t {
  kImm = 0x00,
  kAbs = 0x20,
  kInd = 0x40,
  kMem = 0x60,
  kLen = 0x80,
  kMsh = 0xa0
};
enum Alu : uint16_t {
  kAdd = 0x00,
  kSub = 0x10,
  kMul = 0x20,
  kDiv = 0x30,
  kOr = 0x40,
  kAnd = 0x50,
  kLsh = 0x60,
  kRsh = 0x70,
  kNeg = 0x80,
  kMod = 0x90,
  kXor = 0xa0
};
enum Jump : uint16_t { kJa = 0x00, kJeq = 0x10, kJgt = 0x20, kJge = 0x30, kJset = 0x40 };
constexpr uint16_t kByX = 0x08;  // the operand is X, else k
constexpr uint16_t kByA = 0x10;  // of a return: A, else k
constexpr uint16_t kTxa = 0x80;  // of kMisc: X to A, else A to X

uint16_t class_of(uint16_t code) {
  return code & 0x07;
}
uint16_t operation(uint16_t code) {
  return code & 0xf0;
}

// Why the instruction is refused; empty: it is not.
const char* fault_of_load(const FilterInstruction& each) {
  const uint16_t mode = each.code & 0xe0;
  const uint16_t size = each.code & 0x18;
  const bool to_x = class_of(each.code) == kLdx;
  const bool of_itself = mode == kMem || mode == kImm || mode == kLen;
  if (of_itself && size != kWord) return "no such load";
  if (mode == kMem) return each.k < kCells ? "" : "there is no such cell";
  if (of_itself) return "";
  if (mode == kMsh) return to_x && size == kByte ? "" : "no such load";
  const bool from_frame = (mode == kAbs || mode == kInd) && !to_x;
  return from_frame && (size == kWord || size == kHalf || size == kByte) ? "" : "no such load";
}

bool divides(uint16_t code) {
  return class_of(code) == kAlu && (operation(code) == kDiv || operation(code) == kMod);
}

const char* fault_of_alu(const FilterInstruction& each) {
  if (operation(each.code) > kXor) return "no such operation";
  return divides(each.code) && (each.code & kByX) == 0 && each.k == 0 ? "divides by 0" : "";
}

const char* fault_of_jump(const FilterInstruction& each, size_t left) {
  if (operation(each.code) == kJa) return each.k < left ? "" : "jumps out of the program";
  if (operation(each.code) > kJset) return "no such jump";
  return each.if_true < left && each.if_false < left ? "" : "jumps out of the program";
}

// `left`: instructions behind it.
const char* fault_of(const FilterInstruction& each, size_t left) {
  if (each.code > 0xff) return "no such instruction";
  switch (class_of(each.code)) {
    case kLd:
    case kLdx:
      return fault_of_load(each);
    case kSt:
    case kStx:
      return each.k < kCells ? "" : "there is no such cell";
    case kAlu:
      return fault_of_alu(each);
    case kJmp:
      return fault_of_jump(each, left);
    default:
      return "";
  }
}

// Where it divides `by` is not 0.
uint32_t computed(uint16_t code, uint32_t a, uint32_t by) {
  switch (operation(code)) {
    case kAdd:
      return a + by;
    case kSub:
      return a - by;
    case kMul:
      return a * by;
    case kDiv:
      return a / by;
    case kMod:
      return a % by;
    case kOr:
      return a | by;
    case kAnd:
      return a & by;
    case kXor:
      return a ^ by;
    case kLsh:
      return by < 32 ? a << by : 0;
    case kRsh:
      return by < 32 ? a >> by : 0;
    default:
      return -a;  // kNeg
  }
}

bool jumps(uint16_t code, uint32_t a, uint32_t by) {
  switch (operation(code)) {
    case kJeq:
      return a == by;
    case kJgt:
      return a > by;
    case kJge:
      return a >= by;
    default:
      return (a & by) != 0;  // kJset
  }
}

// Where a program stands.
struct Machine {
  std::span<const uint8_t> frame;
  uint32_t wire_len;
  uint32_t a = 0;
  uint32_t x = 0;
  std::array<uint32_t, kCells> cells{};

  // False: it reads beyond the frame, which is not wanted then.
  bool load(const FilterInstruction& each) {
    uint32_t& into = class_of(each.code) == kLdx ? x : a;
    switch (each.code & 0xe0) {
      case kImm:
        into = each.k;
        return true;
      case kLen:
        into = wire_len;
        return true;
      case kMem:
        into = cells[each.k];
        return true;
      case kMsh:  // an IPv4 header's length
        if (each.k >= frame.size()) return false;
        into = (frame[each.k] & 0x0fu) * 4;
        return true;
      default:
        return load_frame(each);
    }
  }
  bool load_frame(const FilterInstruction& each) {
    const uint64_t at = uint64_t{each.k} + ((each.code & 0xe0) == kInd ? x : 0);
    const uint16_t size = each.code & 0x18;
    const size_t octets = size == kWord ? 4 : size == kHalf ? 2 : 1;
    if (at + octets > frame.size()) return false;
    const uint8_t* const from = frame.data() + at;
    a = size == kWord ? load_be32(from) : size == kHalf ? load_be16(from) : *from;
    return true;
  }
};

}  // namespace

Result<PacketFilter> PacketFilter::load(std::span<const FilterInstruction> program) {
  using Loaded = Result<PacketFilter>;
  if (program.size() > kMost)
    return Loaded::failure("the filter has " + std::to_string(program.size()) +
                           " instructions; at most " + std::to_string(kMost) + " are taken");
  for (size_t i = 0; i < program.size(); ++i)
    if (const char* fault = fault_of(program[i], program.size() - i - 1); *fault != 0)
      return Loaded::failure("the filter's instruction " + std::to_string(i) + ": " + fault);
  if (!program.empty() && class_of(program.back().code) != kRet)
    return Loaded::failure("the filter does not end with an answer");
  PacketFilter filter;
  filter.program_.assign(program.begin(), program.end());
  return filter;
}

uint32_t PacketFilter::run(std::span<const uint8_t> frame, uint32_t wire_len) const {
  Machine machine{.frame = frame, .wire_len = wire_len};
  for (const FilterInstruction* at = program_.data();; ++at) {
    const FilterInstruction each = *at;
    const uint32_t by = (each.code & kByX) != 0 ? machine.x : each.k;
    switch (class_of(each.code)) {
      case kLd:
      case kLdx:
        if (!machine.load(each)) return 0;
        break;
      case kSt:
        machine.cells[each.k] = machine.a;
        break;
      case kStx:
        machine.cells[each.k] = machine.x;
        break;
      case kAlu:
        if (by == 0 && divides(each.code)) return 0;  // such a frame is not wanted
        machine.a = computed(each.code, machine.a, by);
        break;
      case kJmp:
        if (operation(each.code) == kJa)
          at += each.k;
        else
          at += jumps(each.code, machine.a, by) ? each.if_true : each.if_false;
        break;
      case kRet:
        return (each.code & kByA) != 0 ? machine.a : each.k;
      default:
        (each.code & kTxa) != 0 ? machine.a = machine.x : machine.x = machine.a;
        break;
    }
  }
}

}  // namespace eddy
