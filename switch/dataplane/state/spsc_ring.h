// SpscRing: a one-way ring from one thread to another: an rte_ring whose memory is owned here
// (rte_ring_init, no EAL).
//
// T is trivially copied; its size is a multiple of 4 octets. Threads: one sender, one receiver;
// count() is exact while neither is active. Cost: an rte_ring enqueue or dequeue a call.
#pragma once

#include <rte_ring.h>
#include <rte_ring_elem.h>

#include <cstdint>
#include <span>
#include <type_traits>

#include "net/memory/reserved.h"

namespace eddy {

namespace detail {
// What an rte_ring lies in, initialised.
ReservedMemory make_spsc_ring(unsigned element_size, unsigned capacity);

// rte_ring copies elements as integers, which to the compiler are other objects than T: it may read
// a T before the copy has written it. Costs no instruction.
inline void copied_as_other_type(const void* items) {
  asm volatile("" : : "r"(items) : "memory");
}
}  // namespace detail

// kCapacity: a power of two; one less fit in.
template <class T, unsigned kCapacity>
class SpscRing {
  static_assert(std::is_trivially_copyable_v<T>);
  static constexpr unsigned kElementSize = sizeof(T);  // NOLINT(bugprone-sizeof-expression)

 public:
  SpscRing()
      : memory_(detail::make_spsc_ring(kElementSize, kCapacity)),
        ring_(static_cast<rte_ring*>(memory_.data())) {}

  // False: full, nothing sent.
  [[nodiscard]] bool send(const T& item) { return send({&item, 1}) == 1; }
  // As many as fit; returns how many.
  [[nodiscard]] size_t send(std::span<const T> items) {
    detail::copied_as_other_type(items.data());
    return rte_ring_sp_enqueue_burst_elem(ring_, items.data(), kElementSize,
                                          static_cast<unsigned>(items.size()), nullptr);
  }
  // Receives into `out`; returns how many.
  size_t receive(std::span<T> out) {
    const size_t received = rte_ring_sc_dequeue_burst_elem(
        ring_, out.data(), kElementSize, static_cast<unsigned>(out.size()), nullptr);
    detail::copied_as_other_type(out.data());
    return received;
  }
  // For the receiver. rte_ring_empty() reads what the sender stores without saying so to the
  // compiler.
  bool empty() const {
    return __atomic_load_n(&ring_->prod.tail, __ATOMIC_RELAXED) == ring_->cons.tail;
  }
  // For the sender: so many fit in.
  size_t room() const { return rte_ring_free_count(ring_); }
  size_t count() const { return rte_ring_count(ring_); }
  // visit(T&) for all that is inside, which stays there in its order. While nobody sends or
  // receives.
  template <class Visit>
  void for_each(Visit&& visit) {
    for (size_t left = count(); left != 0; --left) {
      T item;
      (void)receive({&item, 1});
      visit(item);
      (void)send(item);
    }
  }

 private:
  ReservedMemory memory_;
  rte_ring* ring_;
};

}  // namespace eddy
