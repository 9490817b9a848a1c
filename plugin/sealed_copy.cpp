#include "plugin/sealed_copy.h"

#include <fcntl.h>
#include <sha2.h>
#include <sys/mman.h>

#include <cerrno>
#include <cstring>

#include "plugin/elf.h"

namespace eddy::plugin {
namespace {

Result<SealedCopy> failed(const std::string& what) {
  return Result<SealedCopy>::failure(what);
}

Result<std::string> contents(int file) {
  std::string all;
  std::string part(size_t{1} << 16, '\0');
  for (;;) {
    const ssize_t got = ::pread(file, part.data(), part.size(), static_cast<off_t>(all.size()));
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) return Result<std::string>::failure(std::strerror(errno));
    if (got == 0) return all;
    all.append(part, 0, static_cast<size_t>(got));
    if (all.size() > kLargestFile)
      return Result<std::string>::failure("it is larger than 64 MiB, more than a scheme has");
  }
}

std::string sha256(std::string_view octets) {
  std::string text(SHA256_DIGEST_STRING_LENGTH, '\0');
  ::SHA256Data(reinterpret_cast<const uint8_t*>(octets.data()), octets.size(), text.data());
  text.pop_back();  // what ends a C string
  return text;
}

bool write_all(int file, std::string_view octets) {
  while (!octets.empty()) {
    const ssize_t put = ::write(file, octets.data(), octets.size());
    if (put < 0 && errno == EINTR) continue;
    if (put <= 0) return false;
    octets.remove_prefix(static_cast<size_t>(put));
  }
  return true;
}

}  // namespace

Result<SealedCopy> seal(const Descriptor& file) {
  const auto octets = contents(file.get());
  if (!octets) return octets.problems();
  if (const std::string problem = elf_problem(octets.value()); !problem.empty())
    return failed(problem);
  SealedCopy copy{Descriptor(::memfd_create("eddy-plugin", MFD_CLOEXEC | MFD_ALLOW_SEALING)),
                  sha256(octets.value())};
  if (!copy.memory || !write_all(copy.memory.get(), octets.value()))
    return failed(std::string("no memory for it: ") + std::strerror(errno));
  constexpr int kSeals = F_SEAL_WRITE | F_SEAL_GROW | F_SEAL_SHRINK | F_SEAL_SEAL;
  if (::fcntl(copy.memory.get(), F_ADD_SEALS, kSeals) != 0)
    return failed(std::string("its copy cannot be sealed: ") + std::strerror(errno));
  return copy;
}

}  // namespace eddy::plugin
