// PcapRun: a switch fed from captures in virtual time: `now` is what the packets' stamps and the
// switch's own deadlines say, so the same inputs give the same outputs, byte for byte.
//
// It is the third implementation of Io, beside DPDK's ports and the test fabric, and needs no EAL.
// One shard. Frames of all ports are merged by (time, port, position in the capture) and given to
// the switch one by one, each after the deadlines and completions that are due by then. Zero is
// that of the stamps (1970), or the whole second of the earliest one where that is over 100 days
// later. Nothing here touches a file: captures and results are octets in memory. Owner: one thread.
// Bounds: what the captures hold; 32 ports. Source: architecture, section 11.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <vector>

#include "net/ids.h"
#include "net/result.h"
#include "net/units.h"
#include "switch/dataplane/object/switch.h"
#include "switch/dataplane/state/io.h"
#include "switch/dpdk/completion_calendar.h"
#include "switch/dpdk/heap_packets.h"

namespace eddy {

class PcapRun final : public Io {
 public:
  // `packets` of `data_room` octets are what the switch may hold. The switch has one shard.
  PcapRun(Switch& object, size_t packets, size_t data_room);

  // What port `port` receives: a whole capture file, kept by the caller until the run is over.
  Problems add_capture(PortId port, std::span<const uint8_t> file);
  // Runs until `drain_time` after the last frame of the captures.
  Problems run(Duration drain_time);

  // A capture file of all that left by the port, stamped with the end of each frame on the line.
  const std::vector<uint8_t>& sent(PortId port) const { return sent_[port.index()]; }
  // Called after each poll, to take the events that came.
  std::function<void()> after_poll;
  // Frames of the captures that found no packet, or none long enough.
  uint64_t lost() const { return lost_; }

  Received receive(std::span<Packet*> out) override;
  const News& news() override;
  uint16_t transmit(PortId port, std::span<Packet* const> packets, Instant done) override;
  Packet* allocate() override;
  void free(std::span<Packet* const> packets) override;

 private:
  struct Arrival {
    uint64_t stamp_ns = 0;
    PortId port;
    std::span<const uint8_t> frame;
    uint32_t wire_len = 0;
  };

  void sort_arrivals();
  Instant time_of(const Arrival& arrival) const;
  Problems run_until(Instant end);
  Instant next_moment() const;
  void poll(Instant now);

  Shard& shard_;
  HeapPackets packets_;
  std::vector<Arrival> arrivals_;  // by (time, port, position)
  size_t next_arrival_ = 0;
  size_t arrived_ = 0;    // those before it may be received
  uint64_t zero_ns_ = 0;  // the stamp of Instant{}
  Instant now_;
  CompletionCalendar calendar_;
  std::vector<PortId> completed_;
  size_t completed_count_ = 0;
  std::vector<LinkChange> changes_;  // all ports come up in the first poll
  std::vector<std::vector<uint8_t>> sent_;
  uint64_t lost_ = 0;
};

}  // namespace eddy
