#include "net/memory/reserved.h"

#include <sys/mman.h>

#include <cstdlib>
#include <cstring>
#include <new>

namespace eddy {
namespace {

constexpr size_t kLine = 64;
constexpr size_t kPage = 4096;

size_t whole(size_t octets, size_t unit) {
  return (octets + unit - 1) / unit * unit;
}

void* from_heap(size_t octets) {
  const size_t size = whole(octets, kLine);
  return std::memset(::operator new(size, std::align_val_t(kLine)), 0, size);
}

// Without huge pages, which the first write would fill with what is beside it.
void* map(size_t octets) {
  void* memory = mmap(nullptr, octets, PROT_READ | PROT_WRITE,
                      MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (memory == MAP_FAILED) std::abort();  // nor could anybody go on for whom `new` has none
  (void)madvise(memory, octets, MADV_NOHUGEPAGE);
  return memory;
}

}  // namespace

void ReservedMemory::Release::operator()(void* memory) const {
  if (mapped != 0)
    munmap(memory, mapped);
  else
    ::operator delete(memory, std::align_val_t(kLine));
}

ReservedMemory::ReservedMemory(size_t octets) {
  if (octets == 0) return;
  const size_t mapped = kReservedOnHeap || octets < kPage ? 0 : whole(octets, kPage);
  octets_ = {mapped != 0 ? map(mapped) : from_heap(octets), Release{mapped}};
}

}  // namespace eddy
