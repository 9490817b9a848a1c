// Pages: memory of a world, in huge pages where the system grants them.
//
// The state of a large fabric is many times what a TLB covers in pages of 4 KiB, and every hop
// touches other parts of it. Huge pages are asked for (madvise), never required. Memory is zero,
// and resident only where it was touched, but for what a huge page rounds up. Source: Linux,
// transparent huge pages.
#pragma once

#include <cstddef>
#include <cstdint>

namespace eddy::lab {

class Pages {
 public:
  // As address space runs out: a broken invariant.
  explicit Pages(size_t octets);
  ~Pages();
  Pages(const Pages&) = delete;
  Pages& operator=(const Pages&) = delete;

  uint8_t* data() const { return data_; }

 private:
  size_t octets_;
  uint8_t* data_;
};

// Lets the heap take its next `octets` out of one such stretch: for what is made of many small
// pieces. It changes how this process's heap grows, for good; without glibc's malloc it does
// nothing.
void reserve_heap(size_t octets);

}  // namespace eddy::lab
