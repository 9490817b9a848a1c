// FlowLines: where a scheme's table keeps the line of a flow, so that whoever has a packet's hash
// can ask for the line long before the scheme reads it.
//
// Tables of all schemes are found into by the high half of the order hash. Owner: the scheme whose
// table it is, which stays where it is as long as the scheme lives. Cost: four instructions a
// packet. Source: docs/adr/0030.
#pragma once

#include <rte_prefetch.h>

#include <cstddef>
#include <cstdint>

namespace eddy::lb {

class FlowLines {
 public:
  FlowLines() = default;  // none is read
  // As many as the high half of a hash is scaled to, of less than 4 GiB.
  template <class Line>
  FlowLines(const Line* lines, size_t count)
      : first_(reinterpret_cast<const std::byte*>(lines)), octets_(count * sizeof(Line)) {}

  bool any() const { return first_ != nullptr; }
  // Where there are any: an octet of the flow's. To scale to octets leads into the line that to
  // scale to lines finds.
  const std::byte* find(uint64_t order_hash) const {
    return first_ + ((order_hash >> 32) * octets_ >> 32);
  }
  void prefetch(uint64_t order_hash) const { rte_prefetch0(find(order_hash)); }

 private:
  const std::byte* first_ = nullptr;
  uint64_t octets_ = 0;  // of all
};

}  // namespace eddy::lb
