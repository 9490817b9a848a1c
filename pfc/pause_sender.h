// PauseSender: which PFC frames the ports of one shard owe their peers, and when.
//
// The buffer reports by mark() that a priority group has crossed XOFF or XON, and whoever else
// wants one stopped asks for it. flush() turns all that changed on a port into one frame, so
// several priorities share it. An XOFF is sent again before it runs out at the peer: every min(half
// the pause time, refresh_limit). Two XOFFs of a PG leave at least 1 us apart, unless its state
// changed in between. An XON is sent once; if it is lost, the peer's pause runs out by itself.
// Several PGs may pause one priority: it resumes when the last of them does. A frame that could not
// be sent stays owed; it is tried again at every flush, and 1 us later at the latest. Pause times
// are counted at the configured port speed. Owner: one shard. Bounds: `ports` port states, taken at
// construction. Cost: flush is two loads when nothing is owed; a mark a few cycles. Source:
// reference C.1, C.3; 802.1Q 36.
#pragma once

#include <array>
#include <bit>
#include <cstdint>
#include <optional>
#include <vector>

#include "net/deadlines.h"
#include "net/ids.h"
#include "net/rebase.h"
#include "net/units.h"

namespace eddy::config {
struct PortConfig;
}

namespace eddy::pfc {

// What a port owes its peer, the body of one PFC frame: bit i of `enable` says that times[i]
// (quanta of 512 bit times; 0 = resume) is valid.
struct OwedPause {
  PortId port;
  uint8_t enable = 0;
  std::array<uint16_t, kPriorities> times{};

  uint8_t xoff() const {
    uint8_t mask = 0;
    for (size_t i = 0; i < kPriorities; ++i)
      if ((enable >> i & 1) != 0 && times[i] != 0) mask = static_cast<uint8_t>(mask | 1u << i);
    return mask;
  }
  uint8_t xon() const { return static_cast<uint8_t>(enable & ~xoff()); }
};

// A port's side of the configuration.
struct PauseTxPlan {
  Duration refresh;  // between XOFFs of a priority that stays paused
  std::array<Priority, kPriorities> pg_to_pfc{};
  uint16_t quanta = 65'535;
  uint8_t enabled = kAllPriorities;  // priorities that are paused

  static PauseTxPlan of(const config::PortConfig& port);
};

class PauseSender {
 public:
  static constexpr Duration kMinGap = Duration::microseconds(1);

  // `next`: as of Deadlines.
  explicit PauseSender(size_t ports, std::optional<DeadlinePlace> next = std::nullopt);

  // Adopts a configuration; a port whose PFC was turned off owes XON for what it had paused.
  void configure(PortId port, const PauseTxPlan& plan);
  // A PG crossed XOFF (on) or XON (off).
  void mark(PortId port, PriorityGroupId pg, bool on);
  // It is to be paused, or no longer, however full it is. False: the port sends no PFC for it.
  bool ask(PortId port, PriorityGroupId pg, bool on);
  void forget_asked();
  void forget_asked(PortId port);
  // Links are up at first. A peer that went away has forgotten its pauses: they are sent again when
  // it comes back.
  void set_link(PortId port, bool up);
  // Everything paused is to be resumed: shutdown. flush() then sends the XONs.
  void resume_all();
  void rebase(const Rebase& rebase);

  // Whether flush() has anything to do.
  bool owes(Instant now) const { return owing_count_ != 0 || refreshes_.has_due(now); }
  // Calls bool send(const OwedPause&) once for each port that owes a frame, in port order; false
  // means not sent, and the frame stays owed.
  template <class Send>
  void flush(Instant now, Send&& send) {
    if (!owes(now)) [[likely]]
      return;
    note_due_refreshes(now);
    for (size_t word = 0; word < owing_.size(); ++word) {
      for (uint64_t bits = owing_[word]; bits != 0; bits &= bits - 1) {
        const PortId port(word * 64 + static_cast<size_t>(std::countr_zero(bits)));
        const OwedPause frame = owed(port, now);
        if (frame.enable == 0 || send(frame))
          sent(frame, now);
        else
          refreshes_.set(id_of(port), now + kMinGap);
      }
    }
  }

  // The next refresh or retry; long past while a frame is owed that no flush() has tried to send.
  Instant next_deadline() const { return refreshes_.next(); }
  // Priorities that the peer has been told to pause.
  uint8_t paused(PortId port) const { return ports_[port.index()].sent; }

 private:
  struct Port {
    [[no_unique_address]] PauseTxPlan plan;  // what is left of its last word has the next ones
    uint8_t above = 0;                       // by PG: above XOFF
    uint8_t asked = 0;                       // by PG: somebody wants it
    uint8_t wanted = 0;                      // by priority: should be paused
    uint8_t sent = 0;                        // by priority: the peer was told to pause
    bool up = true;
    Instant refresh_at = Instant::never();            // of the priority that is due first
    std::array<Instant, kPriorities> xoff_sent_at{};  // valid for priorities in `sent`
  };

  static Deadlines::Id id_of(PortId port) { return static_cast<Deadlines::Id>(port.index()); }
  void note_due_refreshes(Instant now);
  OwedPause owed(PortId port, Instant now) const;
  void sent(const OwedPause& frame, Instant now);
  void decide(PortId port);
  void set_owing(PortId port, bool on);

  size_t owing_count_ = 0;
  Deadlines refreshes_;
  std::vector<Port> ports_;
  std::vector<uint64_t> owing_;  // bit a port
};

}  // namespace eddy::pfc
