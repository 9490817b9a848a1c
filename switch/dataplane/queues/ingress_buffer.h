// IngressBuffer: charges packets to their ingress (port, PG), gives the charge back to the byte,
// and tells the pause sender when a PG crosses XOFF or XON. Also where every drop is counted.
//
// What a poll releases is summed by (port, PG) and settled at its end: on the shard that owns the
// ingress port at once, on another as a credit. Credits that find their lane full stay in the sums
// and go with a later poll. A PG that is paused and holds nothing is looked at again every kLook
// until it resumes. Every packet that ends here without having been sent or used up goes through
// drop(), which counts it by its reason and, if its class is lossless, as a lossless loss. Owner:
// the shard. Cost: a release is an addition and a branch that is taken once a (port, PG) and poll.
// Source: reference C.2, C.3.
#pragma once

#include <cstdint>
#include <span>
#include <utility>
#include <vector>

#include "net/deadlines.h"
#include "net/ids.h"
#include "net/packet.h"
#include "net/rebase.h"
#include "net/units.h"
#include "pfc/buffer_pool.h"
#include "pfc/pause_sender.h"
#include "pfc/predictor.h"
#include "switch/dataplane/state/command.h"
#include "switch/dataplane/state/shard_context.h"

namespace eddy {

// Of Packet::charged_bytes: they are charged to the buffer of the flow stages, not to the PG.
inline constexpr uint32_t kStageCharge = 1u << 31;

// What a packet owes its ingress PG, or the buffer of the stages; kept when the packet itself is
// gone.
struct Charge {
  PortId port;
  PriorityGroupId pg;
  uint32_t bytes;
  static Charge of(const Packet& packet) {
    return {packet.ingress_port, packet.pg, packet.charged_bytes};
  }
  // Neither: to nobody.
  bool to_group() const { return static_cast<int32_t>(bytes) > 0; }
  bool to_stages() const { return static_cast<int32_t>(bytes) < 0; }
};

// Is told of drops; for captures.
class DropObserver {
 public:
  virtual ~DropObserver() = default;
  virtual void on_drop(const Packet& packet, DropReason reason) = 0;
};

class IngressBuffer {
 public:
  IngressBuffer(ShardContext& context, pfc::PauseSender& pause_sender, pfc::Predictor& predictor,
                size_t ports);

  static constexpr Duration kLook = Duration::microseconds(1);

  void begin_poll() {
    ++poll_;
    pool_.begin_poll();
  }
  // What is readable on the port and not read yet, as octets that it will be charged at most: a
  // lossless PG pauses its sender if it would be above its threshold with it, and does not resume
  // into it. It is good until the next poll has read, which comes upon the rest.
  int64_t note_backlog(const Received& received) {
    Arrivals& arrivals = arrivals_[received.port.index()];
    arrivals.poll = poll_;
    arrivals.backlog = received.backlog.count();
    if (arrivals.backlog != 0) [[unlikely]] {
      arrivals.backlog += int64_t{received.backlog_packets} * most_rounding();
      look_ahead(received.port, arrivals.backlog);
    }
    return arrivals.backlog;
  }
  // As pfc::PauseSender has it.
  bool ask_pause(PortId port, PriorityGroupId pg, bool on);
  void forget_asked_pauses() { pause_sender_.forget_asked(); }
  // PGs of the port whose arriving packets are discarded during a storm, as a mask.
  void set_discarding(PortId port, uint8_t pgs) { arrivals_[port.index()].discarding = pgs; }
  uint8_t discarding(PortId port) const { return arrivals_[port.index()].discarding; }
  // `backlog` as note_backlog() has it; the packet may grow by `reserve` octets. False: dropped and
  // counted.
  [[nodiscard]] bool admit(Packet* packet, int64_t backlog, uint32_t reserve = 0) {
    const PortId port = packet->ingress_port;
    const PriorityGroupId pg = packet->pg;
    if (port != admitted_.port || pg != admitted_.pg) [[unlikely]]
      start_admitted_run(port, pg);
    const int64_t charge = cell_.charge_of(packet->wire_len + reserve);
    const pfc::Admission admission =
        pool_.admit(*admitted_.buffer, *admitted_.buffer->limits, charge, backlog);
    if (admission.xoff_edge) [[unlikely]]
      begin_pause(port, pg);
    if (admission.verdict != pfc::AdmitVerdict::accepted) [[unlikely]] {
      refuse(packet, admission.verdict);
      return false;
    }
    packet->charged_bytes = static_cast<uint32_t>(charge);
    ++admitted_.packets;
    admitted_.bytes += packet->wire_len;
    return true;
  }
  // The same, counted at once: for a packet that comes alone.
  [[nodiscard]] bool admit_alone(Packet* packet, int64_t backlog, uint32_t reserve) {
    const PortId port = packet->ingress_port;
    const PriorityGroupId pg = packet->pg;
    if (predicts_) [[unlikely]]
      return admit(packet, backlog, reserve);
    pfc::PgBuffer& buffer = context_.pg(port, pg);
    const int64_t charge = cell_.charge_of(packet->wire_len + reserve);
    const pfc::Admission admission = pool_.admit(buffer, *buffer.limits, charge, backlog);
    if (admission.xoff_edge) [[unlikely]]
      begin_pause(port, pg);
    if (admission.verdict != pfc::AdmitVerdict::accepted) [[unlikely]] {
      refuse(packet, admission.verdict);
      return false;
    }
    packet->charged_bytes = static_cast<uint32_t>(charge);
    const auto counters = context_.counters[port].pg[pg.index()];
    counters[PgCounter::pg_rx_packets].add(1);
    counters[PgCounter::pg_rx_bytes].add(packet->wire_len);
    pool_.mark_shared();  // nothing goes out before flush()
    return true;
  }
  const pfc::CellSize& cell() const { return cell_; }
  // Packets of a port at once, each with its charged_bytes set: `charge` and `octets` are those of
  // all of them, `pgs` a mask of their groups. The same as to admit() them in their order; false:
  // that may do more than accept them, or comes upon several groups of which a predictor takes
  // samples between packets, and nothing is done.
  [[nodiscard]] bool admit_burst(std::span<Packet* const> packets, uint8_t pgs, int64_t charge,
                                 uint32_t octets, int64_t backlog) {
    if ((pgs & (pgs - 1)) != 0) [[unlikely]]
      return admit_groups(packets, backlog);
    const PortId port = packets[0]->ingress_port;
    const PriorityGroupId pg = packets[0]->pg;
    if (port != admitted_.port || pg != admitted_.pg) [[unlikely]]
      start_admitted_run(port, pg);
    const pfc::BufferPool::Demand demand{admitted_.buffer, charge};
    if (!pool_.admit_all({&demand, 1}, backlog)) [[unlikely]]
      return false;
    admitted_.packets += packets.size();
    admitted_.bytes += octets;
    return true;
  }
  // Giving the charge back may resume a sender, or is sampled: it is to happen in its time.
  bool is_watched(const Charge& charge) const {
    if (predicts_) return true;
    if (!charge.to_group()) return false;
    return context_.pg(charge.port, charge.pg).pausing();
  }
  // A PG has begun to pause its sender since this was last asked. Never while ShardContext::timers
  // has not moved.
  bool took_pause() { return std::exchange(took_pause_, false); }
  void release(const Charge& charge) {
    if (!charge.to_group()) [[unlikely]] {
      if (charge.to_stages()) give_back_to_stages(charge.bytes & ~kStageCharge);
      return;
    }
    add_released(index_of(charge.port, charge.pg), charge.bytes);
  }
  // The same, settled at once; where this shard is the only one.
  void release_now(const Charge& charge) {
    if (!charge.to_group()) [[unlikely]]
      return release(charge);
    give_back(charge.port, charge.pg, charge.bytes);
  }
  // What packets that leave in a row owe: one (port, PG), or the buffer of the stages.
  static constexpr uint32_t kStagesRow = UINT32_MAX - 1;
  static constexpr uint32_t kNoRow = UINT32_MAX;  // of no packet
  struct Owed {
    uint32_t row;
    uint32_t bytes;  // all their charged_bytes, together with what those before it owe
  };
  static uint32_t row_of(const Charge& charge) {
    if (charge.to_stages()) [[unlikely]]
      return kStagesRow;
    return static_cast<uint32_t>(index_of(charge.port, charge.pg));
  }
  static uint32_t row_of(const Packet& packet) { return row_of(Charge::of(packet)); }
  // As release(), of at most 2 * kBurst packets and one that was on a line.
  void release_rows(std::span<const Owed> rows) {
    // Arithmetic, not a branch: whether a row owes already is what no predictor can know.
    int64_t* const released = released_.data();
    uint16_t* const unsettled = unsettled_.data();
    size_t count = unsettled_count_;
    uint32_t before = 0;
    for (const Owed& owed : rows) {
      const uint32_t bytes = owed.bytes - std::exchange(before, owed.bytes);
      if (bytes == 0) continue;  // of frames of our own, whose row may be nobody's
      if (owed.row == kStagesRow) [[unlikely]] {
        give_back_to_stages(bytes & ~kStageCharge);
        continue;
      }
      const int64_t sum = released[owed.row];
      unsettled[count] = static_cast<uint16_t>(owed.row);
      count += sum == 0 ? 1 : 0;
      released[owed.row] = sum + bytes;
    }
    unsettled_count_ = count;
  }
  // What a stage holds is charged to the buffer of the stages instead of its PG, until it has left.
  // False: that has no room, and the charge stays where it is.
  bool set_aside(Packet& packet);
  // Settles what was released, without counting or looking at anything else.
  void settle_released() {
    if (unsettled_count_ != 0) settle();
  }
  // Counts what was admitted and settles what was released; once a poll has read.
  void flush() {
    if (admitted_.packets != 0) end_admitted_run();
    settle_released();
    if (context_.timers.moved() && looks_.has_due(context_.now)) [[unlikely]]
      look_again();
    if (losing_count_ != 0) [[unlikely]]
      tell_losses();
  }
  void take_credit(const Credit& credit) {
    give_back_watched(credit.port, credit.pg, credit.bytes);
  }
  // Between polls: other shards are owed credits that their lanes had no room for.
  bool credits_wait() const { return unsettled_count_ != 0; }

  // Gives the packet back, with its charge.
  void drop(Packet* packet, DropReason reason) { drop_(*this, packet, reason); }
  // Who is told of each drop before the packet is given back; null: nobody.
  void tell_drops(DropObserver* observer) {
    observer_ = observer;
    drop_ = observer == nullptr ? drop_untold : drop_told;
  }

  void adopt(const Snapshot& now);
  // Of the groups of a port of ours: those of `scope`, but for the pools.
  void clear_watermarks(PortId port, const WatermarkScope& scope);
  void rebase(const Rebase& rebase) { looks_.rebase(rebase); }
  // What a PG holds beside its headroom, and where it pauses its sender now.
  pfc::PgLevel level(PortId port, PriorityGroupId pg) const;
  // What the port has that this poll, or the last, has seen and not read; as note_backlog().
  int64_t unread_on(PortId port) const { return unread(port); }
  pfc::BufferPool& pool() { return pool_; }
  const pfc::BufferPool& pool() const { return pool_; }
  void clear_stage_watermark(pfc::WatermarkKind kind);

 private:
  // Packets of one (port, PG) admitted in a row, not counted yet.
  struct AdmittedRun {
    PortId port = PortId::none();
    PriorityGroupId pg;
    pfc::PgBuffer* buffer = nullptr;
    uint64_t packets = 0;
    uint64_t bytes = 0;
  };
  void sample(PortId port, PriorityGroupId pg) {
    if (predictor_.watches(port, pg) && predictor_.is_due(port, pg, context_.now))
      take_sample(port, pg);
  }
  void take_sample(PortId port, PriorityGroupId pg);
  void add_released(size_t index, uint32_t bytes) {
    if (released_[index] == 0) unsettled_[unsettled_count_++] = static_cast<uint16_t>(index);
    released_[index] += bytes;
  }
  void begin_pause(PortId port, PriorityGroupId pg);
  void give_back_to_stages(uint32_t bytes);
  bool admit_groups(std::span<Packet* const> packets, int64_t backlog);
  int64_t stages_use() const;
  void start_admitted_run(PortId port, PriorityGroupId pg);
  void end_admitted_run();
  void settle();
  bool send_credit(PortId port, PriorityGroupId pg, int64_t bytes);
  void give_back(PortId port, PriorityGroupId pg, int64_t bytes) {
    pfc::PgBuffer& buffer = context_.pg(port, pg);
    if (!pool_.release_plain(buffer, *buffer.limits, bytes)) [[unlikely]]
      give_back_watched(port, pg, bytes);
    else if (predicts_) [[unlikely]]
      sample(port, pg);
  }
  void give_back_watched(PortId port, PriorityGroupId pg, int64_t bytes);
  void refuse(Packet* packet, pfc::AdmitVerdict verdict);
  void look_later(PortId port, PriorityGroupId pg, const pfc::PgBuffer& buffer);
  void look_again();
  void look_ahead(PortId port, int64_t backlog);
  // Which of the two drop() is, so that it asks nothing while nobody is to be told.
  using Drop = void (*)(IngressBuffer&, Packet*, DropReason);
  static void drop_untold(IngressBuffer& self, Packet* packet, DropReason reason);
  static void drop_told(IngressBuffer& self, Packet* packet, DropReason reason);
  void count_loss(PortId port, PriorityGroupId pg);
  void tell_losses();
  // Readable on the port: what this poll found there, or the last one, if this one has not read.
  int64_t unread(PortId port) const {
    const Arrivals& arrivals = arrivals_[port.index()];
    return poll_ - arrivals.poll <= 1 ? arrivals.backlog : 0;
  }
  // By how much a packet's charge may be above its length.
  int64_t most_rounding() const { return cell_.bytes() - 1 + context_.shim_reserve; }
  static size_t index_of(PortId port, PriorityGroupId pg) {
    return port.index() * kPriorities + pg.index();
  }

  ShardContext& context_;
  pfc::PauseSender& pause_sender_;
  pfc::Predictor& predictor_;
  bool predicts_ = false;  // PGs are watched
  pfc::BufferPool pool_;
  pfc::CellSize cell_;
  AdmittedRun admitted_;
  size_t unsettled_count_ = 0;
  bool took_pause_ = false;
  struct Arrivals {          // of a port
    int64_t backlog = 0;     // as of its last burst
    uint32_t poll = 0;       // that brought it
    uint8_t discarding = 0;  // PGs
  };
  std::vector<int64_t> released_;  // and not settled yet, by (port, PG)
  // The first unsettled_count_: those that are not zero; with a place more, which may be written.
  std::vector<uint16_t> unsettled_;
  size_t losing_count_ = 0;
  std::vector<uint8_t> has_lost_;   // in this poll, by (port, PG)
  std::vector<uint16_t> losing_;    // the first losing_count_: those that have
  uint32_t poll_ = 0;               // number of the poll
  Deadlines looks_;                 // by (port, PG): paused, and holding nothing
  std::vector<Arrivals> arrivals_;  // by port
  int64_t stages_size_ = 0;
  std::vector<int64_t> reserved_;  // in force, by (port, PG): the last snapshot may be gone
  Drop drop_ = drop_untold;
  DropObserver* observer_ = nullptr;
};

}  // namespace eddy
