#include "plugin/elf.h"

#include <elf.h>

#include <bit>
#include <cstring>

namespace eddy::plugin {
namespace {

#if defined(__x86_64__)
constexpr uint16_t kMachine = EM_X86_64;
#elif defined(__aarch64__)
constexpr uint16_t kMachine = EM_AARCH64;
#endif
static_assert(std::endian::native == std::endian::little);

std::string machine_name(uint16_t machine) {
  switch (machine) {
    case EM_X86_64:
      return "x86-64";
    case EM_AARCH64:
      return "AArch64";
    case EM_386:
      return "32-bit x86";
    case EM_ARM:
      return "32-bit ARM";
    case EM_RISCV:
      return "RISC-V";
    default:
      return "machine " + std::to_string(machine) + " of ELF";
  }
}

}  // namespace

std::string elf_problem(std::string_view octets) {
  if (octets.substr(0, SELFMAG) != std::string_view(ELFMAG, SELFMAG))
    return "this is no shared object (ELF)";
  Elf64_Ehdr header{};
  if (octets.size() < sizeof header) return "this is a shared object (ELF) that is cut off";
  std::memcpy(&header, octets.data(), sizeof header);
  if (header.e_ident[EI_DATA] != ELFDATA2LSB)
    return "it is for a processor that has the highest octet first, and this one has the lowest";
  // e_machine stands at the same place in a file for 32 bits.
  if (header.e_machine != kMachine || header.e_ident[EI_CLASS] != ELFCLASS64)
    return "it is for " + machine_name(header.e_machine) +
           (header.e_machine == kMachine ? " with 32 bits" : "") + ", and this program runs on " +
           machine_name(kMachine);
  if (header.e_type != ET_DYN) return "this is no shared object but another kind of ELF file";
  return {};
}

}  // namespace eddy::plugin
