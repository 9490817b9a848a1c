#include "tests/conformance/allocations.h"

#include <cstddef>
#include <cstdlib>
#include <new>

namespace {
uint64_t count = 0;

void* counted(size_t size, size_t alignment) {
  ++count;
  void* memory = std::aligned_alloc(alignment, (size + alignment - 1) / alignment * alignment);
  if (memory == nullptr) std::abort();
  return memory;
}
}  // namespace

namespace eddy::test {
uint64_t allocations() {
  return count;
}
}  // namespace eddy::test

void* operator new(size_t size) {
  return counted(size, alignof(std::max_align_t));
}
void* operator new(size_t size, std::align_val_t alignment) {
  return counted(size, static_cast<size_t>(alignment));
}
void* operator new(size_t size, const std::nothrow_t&) noexcept {
  return counted(size, alignof(std::max_align_t));
}
void operator delete(void* memory) noexcept {
  std::free(memory);
}
void operator delete(void* memory, size_t) noexcept {
  std::free(memory);
}
void operator delete(void* memory, std::align_val_t) noexcept {
  std::free(memory);
}
void operator delete(void* memory, size_t, std::align_val_t) noexcept {
  std::free(memory);
}
