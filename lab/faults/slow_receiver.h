// SlowReceiver: a host that takes its data slower than its line brings them: a receive buffer in
// front of its NIC, drained at a rate, which pauses the leaf.
//
// Data packets (host.dscp) wait in a FIFO and enter the NIC one after the other, each for its
// octets at the drain's rate; all other frames pass. Above kXoff octets the host sends XOFF for the
// data's priority, and again each half of a pause; at kXon or below it sends XON. The buffer holds
// kXoff and what may still come after the pause: two propagation delays at line speed, a frame
// being sent at each end, and the leaf's reaction. Pause frames leave at once, as from a MAC; they
// take no line time. What does not fit is lost and counted. Owner: Faults. Cost: a planned action
// a packet. Source: reference C.2 to C.5.
#pragma once

#include <cstdint>
#include <deque>

#include "config/host.h"
#include "lab/world/world.h"

namespace eddy::lab {

class SlowReceiver final : public Intake {
 public:
  static constexpr int64_t kXoff = 65'536;
  static constexpr int64_t kXon = 32'768;

  struct Setup {
    size_t host = 0;
    BitRate line_rate;
    Duration line_delay;
    int largest_frame = 0;  // octets
    MacAddress mac;
    config::HostConfig config;
  };
  SlowReceiver(World& world, const Setup& setup);

  void begin(BitRate drain);  // or, when begun, from the next packet on another rate
  void end();                 // all that waits enters the NIC now

  void take(Packet* packet) override;
  size_t held() const override { return waiting_.size(); }

  uint64_t lost() const { return lost_; }
  uint64_t pauses() const { return pauses_; }  // times that it began to pause the leaf
  int64_t limit() const { return limit_; }     // octets

 private:
  bool is_data(const Packet& packet) const;
  void drain();
  void plan_drain();
  void hold_leaf();
  void send_pause(uint16_t quanta);

  World& world_;
  Setup setup_;
  LineRate drain_rate_;
  Duration refresh_;
  int64_t limit_ = 0;
  bool on_ = false;
  bool pausing_ = false;
  bool draining_ = false;
  uint64_t episode_ = 0;  // of the pause: refreshes of an earlier one do nothing
  int64_t octets_ = 0;
  std::deque<Packet*> waiting_;
  uint64_t lost_ = 0;
  uint64_t pauses_ = 0;
};

}  // namespace eddy::lab
