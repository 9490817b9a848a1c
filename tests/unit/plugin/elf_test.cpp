#include "plugin/elf.h"

#include <elf.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

namespace eddy::plugin {
namespace {

using testing::HasSubstr;

#if defined(__x86_64__)
constexpr uint16_t kOwn = EM_X86_64;
constexpr uint16_t kOther = EM_AARCH64;
#else
constexpr uint16_t kOwn = EM_AARCH64;
constexpr uint16_t kOther = EM_X86_64;
#endif

Elf64_Ehdr good() {
  Elf64_Ehdr header{};
  std::copy_n(ELFMAG, SELFMAG, reinterpret_cast<char*>(header.e_ident));
  header.e_ident[EI_CLASS] = ELFCLASS64;
  header.e_ident[EI_DATA] = ELFDATA2LSB;
  header.e_machine = kOwn;
  header.e_type = ET_DYN;
  return header;
}

std::string problem(const Elf64_Ehdr& header) {
  return elf_problem({reinterpret_cast<const char*>(&header), sizeof header});
}

TEST(Elf, OfThisMachineIsGood) {
  EXPECT_EQ(problem(good()), "");
}

TEST(Elf, OtherFilesAreNone) {
  EXPECT_THAT(elf_problem(""), HasSubstr("no shared object"));
  EXPECT_THAT(elf_problem("#!/bin/sh\n"), HasSubstr("no shared object"));
  EXPECT_THAT(elf_problem("\x7f"
                          "ELF"),
              HasSubstr("cut off"));
}

TEST(Elf, OfAnotherProcessorSaysBoth) {
  Elf64_Ehdr header = good();
  header.e_machine = kOther;
  EXPECT_THAT(problem(header), testing::AllOf(HasSubstr("x86-64"), HasSubstr("AArch64")));
  header = good();
  header.e_ident[EI_CLASS] = ELFCLASS32;
  EXPECT_THAT(problem(header), HasSubstr("with 32 bits"));
  header = good();
  header.e_ident[EI_DATA] = ELFDATA2MSB;
  EXPECT_THAT(problem(header), HasSubstr("highest octet first"));
}

TEST(Elf, AnObjectFileIsNoSharedObject) {
  Elf64_Ehdr header = good();
  header.e_type = ET_REL;
  EXPECT_THAT(problem(header), HasSubstr("another kind of ELF file"));
}

}  // namespace
}  // namespace eddy::plugin
