#include "lab/world/huge_pages.h"

#include <malloc.h>
#include <sys/mman.h>

#include <cstdlib>

#include "net/assert.h"

namespace eddy::lab {
namespace {

constexpr uintptr_t kHugePage = 2 << 20;

// Whole huge pages inside of [memory, memory + octets), not touched yet.
void ask_for_huge_pages(void* memory, size_t octets) {
  const auto from = (reinterpret_cast<uintptr_t>(memory) + kHugePage - 1) & ~(kHugePage - 1);
  const auto to = (reinterpret_cast<uintptr_t>(memory) + octets) & ~(kHugePage - 1);
  if (from < to) madvise(reinterpret_cast<void*>(from), to - from, MADV_HUGEPAGE);
}

}  // namespace

Pages::Pages(size_t octets) : octets_(octets), data_(nullptr) {
  if (octets == 0) return;
  void* memory = mmap(nullptr, octets, PROT_READ | PROT_WRITE,
                      MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  ASSERT(memory != MAP_FAILED);
  ask_for_huge_pages(memory, octets);
  data_ = static_cast<uint8_t*>(memory);
}

Pages::~Pages() {
  if (data_ != nullptr) munmap(data_, octets_);
}

// A piece of that size makes the heap grow by as much, and is given back before it is touched.
void reserve_heap(size_t octets) {
  if (mallopt(M_MMAP_MAX, 0) == 0 || mallopt(M_TRIM_THRESHOLD, -1) == 0) return;
  void* stretch = std::malloc(octets);
  if (stretch == nullptr) return;
  ask_for_huge_pages(stretch, octets);
  std::free(stretch);
}

}  // namespace eddy::lab
