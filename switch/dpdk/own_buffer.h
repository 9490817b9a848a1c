// A frame is read in its packet's own buffer, in one piece. Most drivers bring it so; some spread
// it over several buffers, or leave it in memory of their own.
#pragma once

#include <rte_mbuf.h>

#include <cstdint>
#include <cstring>

#include "net/packet.h"

namespace eddy {

// False: it does not fit there.
inline bool bring_into_own_buffer(rte_mbuf* mbuf) {
  if (mbuf->nb_segs > 1 && rte_pktmbuf_linearize(mbuf) != 0) return false;
  if (!RTE_MBUF_HAS_EXTBUF(mbuf)) return true;
  const uint16_t length = mbuf->data_len;
  if (RTE_PKTMBUF_HEADROOM + length > rte_pktmbuf_data_room_size(mbuf->pool)) return false;
  std::memcpy(Packet::of(mbuf)->buffer() + RTE_PKTMBUF_HEADROOM, rte_pktmbuf_mtod(mbuf, void*),
              length);
  rte_pktmbuf_detach(mbuf);  // its buffer is its own again, and begins where it did
  mbuf->data_len = length;
  mbuf->pkt_len = length;
  return true;
}

}  // namespace eddy
