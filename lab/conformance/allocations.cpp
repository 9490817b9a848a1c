#include "lab/conformance/allocations.h"

#include <cstddef>
#include <cstdlib>
#include <new>

namespace {

thread_local uint64_t count = 0;

void* counted(size_t size, size_t alignment) {
  ++count;
  return std::aligned_alloc(alignment, (size + alignment - 1) / alignment * alignment);
}

void* counted_or_throw(size_t size, size_t alignment) {
  void* memory = counted(size == 0 ? 1 : size, alignment);
  if (memory == nullptr) throw std::bad_alloc();
  return memory;
}

}  // namespace

namespace eddy::conformance {
uint64_t allocations() {
  return count;
}
}  // namespace eddy::conformance

void* operator new(size_t size) {
  return counted_or_throw(size, alignof(std::max_align_t));
}
void* operator new(size_t size, std::align_val_t alignment) {
  return counted_or_throw(size, static_cast<size_t>(alignment));
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
