// Reserved: an array of a fixed size that takes memory where it is first written to, a page at a
// time.
//
// For what may be needed and mostly is not: rings that are nearly always empty, states of ports
// that have never been paused. Elements are zero octets until they are written, which must be a
// valid value of theirs or never be read; reading them takes no memory. The pages are the array's
// own and never huge ones, so nothing beside it makes it resident. What is smaller than a page, and
// all of it under AddressSanitizer, lies on the heap. Owner: whoever holds it; it moves, and its
// elements stay where they are. Cost: that of an array; the first write to a page is a page fault.
// Source: docs/adr/0033.
#pragma once

#include <cstddef>
#include <memory>
#include <type_traits>

namespace eddy {

// AddressSanitizer knows where memory of the heap ends.
#if defined(__SANITIZE_ADDRESS__)
inline constexpr bool kReservedOnHeap = true;
#elif defined(__has_feature)
inline constexpr bool kReservedOnHeap = __has_feature(address_sanitizer);
#else
inline constexpr bool kReservedOnHeap = false;
#endif

// Zero octets, aligned to a cache line; null for none.
class ReservedMemory {
 public:
  ReservedMemory() = default;
  explicit ReservedMemory(size_t octets);
  void* data() const { return octets_.get(); }

 private:
  struct Release {
    size_t mapped;  // 0: from the heap
    void operator()(void* memory) const;
  };
  std::unique_ptr<void, Release> octets_;
};

template <class T>
class Reserved {
  static_assert(std::is_trivially_destructible_v<T> && alignof(T) <= 64);

 public:
  explicit Reserved(size_t count)
      : memory_(count * sizeof(T)), items_(static_cast<T*>(memory_.data())), count_(count) {}

  T& operator[](size_t i) { return items_[i]; }
  const T& operator[](size_t i) const { return items_[i]; }
  size_t size() const { return count_; }
  T* data() { return items_; }
  T* begin() { return items_; }
  T* end() { return items_ + count_; }
  const T* begin() const { return items_; }
  const T* end() const { return items_ + count_; }

 private:
  ReservedMemory memory_;
  T* items_;
  size_t count_;
};

}  // namespace eddy
