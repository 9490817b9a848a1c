// Overtaken: whether the packet that a reply answers came later than packets sent long after it.
//
// MP-RDMA's window and its entropy both ask, each of its own. Replies that do not name what they
// answer (recoveries without bitmaps) are never overtaken. Owner: one law. Bounds: 8 octets a QP.
// Cost: a comparison a reply. Source: MP-RDMA; reference A.18.
#pragma once

#include <algorithm>
#include <cstdint>
#include <vector>

#include "host/send_state.h"
#include "net/text/parameters.h"

namespace eddy::host {

// Both laws declare it, and the configuration has it once.
template <auto Member>
constexpr auto overtaken_parameter() {
  return ranged<Member>("delta", 1, 65'535,
                        {"packets: a way whose packet comes so much later than others is not used "
                         "for what its reply lets go",
                         "MP-RDMA: the bound of overtaking"});
}

class Overtaken {
 public:
  Overtaken(size_t queue_pairs, int64_t delta)
      : delta_(static_cast<uint64_t>(delta)), highest_(queue_pairs) {}

  void open(uint32_t qpn, const SendState& state) { highest_[qpn] = state.next; }
  // Of each reply, once.
  bool hear(uint32_t qpn, const Ack& ack) {
    if (ack.arrived == 0) return false;
    highest_[qpn] = std::max(highest_[qpn], ack.arrived);
    return ack.arrived + delta_ < highest_[qpn];
  }

 private:
  const uint64_t delta_;
  std::vector<uint64_t> highest_;  // packet that a reply answered
};

}  // namespace eddy::host
