// HostPipe: two NICs joined by two lines that lose, double, delay and mark frames, and pause the
// NICs, by a seed.
//
// Twelve flows, half of them each way; PSNs start anywhere, so that some wrap. Owner: one test;
// time is virtual.
#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <queue>
#include <string>
#include <vector>

#include "host/nic.h"
#include "lab/conformance/allocations.h"
#include "net/ethernet.h"
#include "net/hash.h"
#include "net/ip.h"
#include "net/pause_frame.h"
#include "net/protocols.h"
#include "net/random.h"
#include "tests/support/packet_pool.h"

namespace eddy::test {

struct PipeFaults {
  uint32_t lost = 0;  // of 1,000 frames, as the others
  uint32_t doubled = 0;
  uint32_t delayed = 0;  // by up to 20 us more
  uint32_t marked = 0;
  uint32_t paused = 0;  // the receiver of the frame, for 20 us
};

struct PipeScenario {
  std::string name;
  config::HostConfig config;
  PipeFaults faults;
};

class HostPipe {
 public:
  static constexpr size_t kFlows = 12;

  HostPipe(const PipeScenario& scenario, uint64_t seed)
      : scenario_(scenario), random_(seed, 0, 0), nics_{nic(0), nic(1)} {
    for (uint32_t id = 0; id < kFlows; ++id) {
      Flow flow;
      flow.from = id % 2;
      flow.size = Bytes(1 + random_.below(id < 4 ? 3'000 : 100'000));
      open(id, flow);
      flows_.push_back(flow);
    }
    for (const Flow& flow : flows_)
      counted([&] { nics_[flow.from].start(flow.sender, Instant()); });
  }

  // Until nothing more can happen, or far too late.
  void run() {
    while (now_ < Instant::at(Duration::seconds(2))) {
      step();
      ++steps_;
      const Instant next = next_time();
      if (next == Instant::never()) return;
      ASSERT_GT(next, now_);
      now_ = next;
    }
  }

  void expect_all_done() {
    for (const Flow& flow : flows_) {
      const host::ReceiveOutcome& received =
          nics_[1 - flow.from].outcome_of_receiver(flow.receiver);
      EXPECT_EQ(received.delivered_bytes, static_cast<uint64_t>(flow.size.count()));
    }
    for (host::Nic& nic : nics_) {
      EXPECT_EQ(nic.completions().size(), kFlows);  // each flow ends once at either side
      EXPECT_EQ(nic.counter(host::NicCounter::malformed_packets), 0u);
      EXPECT_EQ(nic.counter(host::NicCounter::not_for_us_packets), 0u);
      EXPECT_EQ(nic.counter(host::NicCounter::invalid_ack_packets), 0u);
    }
  }
  uint64_t counter(host::NicCounter which) const {
    return nics_[0].counter(which) + nics_[1].counter(which);
  }
  uint64_t digest() const { return digest_; }
  uint64_t allocated() const { return allocated_; }
  Instant now() const { return now_; }
  uint64_t steps() const { return steps_; }

 private:
  static constexpr BitRate kSpeed = BitRate::bits_per_second(100'000'000'000);
  static constexpr Duration kDelay = Duration::microseconds(2);
  static constexpr Duration kMicrosecond = Duration::microseconds(1);
  static constexpr int kOverhead = 24;

  struct Flow {
    size_t from = 0;
    Bytes size{0};
    uint32_t sender = 0;
    uint32_t receiver = 0;
  };

  struct InFlight {
    Instant at;
    uint64_t order = 0;
    Packet* packet = nullptr;
    size_t to = 0;
    bool operator>(const InFlight& other) const {
      return at != other.at ? at > other.at : order > other.order;
    }
  };

  static IpAddress address(size_t host) {
    return Ipv4Address{static_cast<uint32_t>(0x0a000001 + host)};
  }
  host::Nic nic(size_t host) const {
    host::NicOptions options;
    options.config = scenario_.config;
    options.mac = {{2, 0, 0, 0, 0, static_cast<uint8_t>(1 + host)}};
    options.gateway = {{2, 0, 0, 0, 0, static_cast<uint8_t>(2 - host)}};
    options.address = address(host);
    options.speed = kSpeed;
    options.senders = options.receivers = kFlows / 2;
    options.reorder_packets = 64;  // so that the rings of bits go round
    return host::Nic(options);
  }

  void open(uint32_t id, Flow& flow) {
    const uint32_t first_psn = random_.next() & 0xffffff;
    // Numbers are given in order, so each side can name the other's before it is opened.
    const uint32_t qpn = id / 2;
    flow.receiver = nics_[1 - flow.from].expect({.flow = id,
                                                 .size = flow.size,
                                                 .source = address(flow.from),
                                                 .source_qpn = qpn,
                                                 .first_psn = first_psn});
    flow.sender = nics_[flow.from].open({.flow = id,
                                         .size = flow.size,
                                         .destination = address(1 - flow.from),
                                         .destination_qpn = flow.receiver,
                                         .first_psn = first_psn,
                                         .base_rtt = kDelay * 2 + kMicrosecond});
    ASSERT_EQ(flow.sender, qpn);
  }

  template <class Call>
  void counted(Call&& call) {
    const uint64_t before = conformance::allocations();
    call();
    allocated_ += conformance::allocations() - before;
  }

  void step() {
    while (!frames_.empty() && frames_.top().at <= now_) {
      const InFlight frame = frames_.top();
      frames_.pop();
      note(frame);
      counted([&] { nics_[frame.to].receive(*frame.packet, now_); });
      pool_.put(frame.packet);
    }
    for (size_t host = 0; host < 2; ++host) {
      counted([&] { nics_[host].on_timers(now_); });
      EXPECT_GT(nics_[host].next_deadline(), now_);
      check_rates(nics_[host]);
      if (line_free_at_[host] <= now_) send(host);
    }
  }

  void send(size_t host) {
    line_free_at_[host] = Instant::never();  // until something is sent
    asleep_[host] = true;
    Packet* blank = pool_.get();
    ASSERT(blank != nullptr);
    bool sent = false;
    counted([&] { sent = nics_[host].transmit(*blank, now_); });
    if (!sent) {
      pool_.put(blank);
      line_free_at_[host] = now_;
      return;
    }
    asleep_[host] = false;
    line_free_at_[host] = now_ + LineRate(kSpeed).time_of(Bytes(blank->wire_len + kOverhead));
    carry(blank, 1 - host, line_free_at_[host] + kDelay);
  }

  void carry(Packet* packet, size_t to, Instant at) {
    const auto one_of = [&](uint32_t of_1000) { return random_.below(1'000) < of_1000; };
    if (one_of(scenario_.faults.marked)) mark_ce(packet->data() + kEthernetHeader);
    if (one_of(scenario_.faults.delayed)) at = at + Duration::nanoseconds(random_.below(20'000));
    if (one_of(scenario_.faults.doubled)) {
      Packet* twin = pool_.get({packet->data(), packet->data_len()}, packet->wire_len);
      ASSERT(twin != nullptr);
      frames_.push({at + kMicrosecond * 3, order_++, twin, to});
    }
    if (one_of(scenario_.faults.paused)) frames_.push({at, order_++, pause(), to});
    if (one_of(scenario_.faults.lost)) return pool_.put(packet);
    frames_.push({at, order_++, packet, to});
  }

  // XOFF of all priorities for 20 us.
  Packet* pause() {
    constexpr uint16_t kQuanta = 3'906;  // of 512 bits at 100 Gb/s
    PauseFrame frame;
    frame.source = {{2, 0, 0, 0, 0, 9}};
    for (size_t priority = 0; priority < kPriorities; ++priority)
      frame.set(Priority(priority), kQuanta);
    std::vector<uint8_t> octets(kMinimumFrame);
    encode(frame, octets);
    Packet* packet = pool_.get(octets, octets.size());
    ASSERT(packet != nullptr);
    return packet;
  }

  void check_rates(const host::Nic& nic) const {
    for (uint32_t qpn = 0; qpn < kFlows / 2; ++qpn) {
      EXPECT_GT(nic.rate_of(qpn, now_).bps(), 0);
      EXPECT_LE(nic.rate_of(qpn, now_), kSpeed);
    }
  }

  Instant next_time() const {
    Instant next = frames_.empty() ? Instant::never() : frames_.top().at;
    for (size_t host = 0; host < 2; ++host) {
      if (!asleep_[host]) next = std::min(next, line_free_at_[host]);
      next = std::min(next, nics_[host].next_deadline());
    }
    return next;
  }

  void note(const InFlight& frame) {
    digest_ = hash_pair(digest_, static_cast<uint64_t>(frame.at.ps()));
    for (uint32_t i = 0; i < frame.packet->data_len(); ++i)
      digest_ = hash_pair(digest_, frame.packet->data()[i]);
  }

  PipeScenario scenario_;
  RandomStream random_;
  std::array<host::Nic, 2> nics_;
  PacketPool pool_{4'096};
  std::vector<Flow> flows_;
  std::priority_queue<InFlight, std::vector<InFlight>, std::greater<>> frames_;
  std::array<Instant, 2> line_free_at_{};
  std::array<bool, 2> asleep_{};
  Instant now_;
  uint64_t order_ = 0;
  uint64_t digest_ = 0;
  uint64_t allocated_ = 0;
  uint64_t steps_ = 0;
};

}  // namespace eddy::test
