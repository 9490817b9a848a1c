// SackBoard: what the sending QPs of a NIC know of packets that have arrived behind a gap, from the
// bitmaps of selective ACKs, and which of the others to send again.
//
// A packet counts as lost when one `reorder` later, or a later one, has arrived. Lost ones are sent
// again once in a pass, lowest first. When a packet has arrived that was sent `reorder` after the
// last one of the pass, what is still missing has been lost again, and a new pass begins. A timeout
// makes all that is in flight and not known to have arrived count as lost; a second one without
// progress between forgets what was known, because a receiver may have been misunderstood (or
// somebody has lied in its name). Sequences are PSNs that do not wrap. Owner: one Nic. Bounds: a
// bit a packet of the window. Cost: a few words an ACK. Source: reference D.9.
#pragma once

#include <algorithm>
#include <bit>
#include <cstdint>
#include <vector>

#include "host/send_state.h"
#include "host/sequence_sets.h"

namespace eddy::host {

class SackBoard {
 public:
  SackBoard(size_t queue_pairs, size_t packets)
      : arrived_(queue_pairs, packets), boards_(queue_pairs) {}

  uint64_t window() const { return arrived_.size(); }

  void open(uint32_t qpn, uint64_t reorder, const SendState& state) {
    boards_[qpn] = {.reorder = reorder,
                    .from = state.next,
                    .known_end = state.next,
                    .cursor = state.next,
                    .timed_out_at = UINT64_MAX};
  }

  // The packets of the bits, the first of which is `base`, have arrived, and all below
  // state.unacked. True when something was new.
  bool on_arrived(uint32_t qpn, uint64_t base, uint64_t bits, const SendState& state) {
    Board& board = boards_[qpn];
    bool news = advance(qpn, board, state.unacked);
    for (; bits != 0; bits &= bits - 1) {
      const uint64_t sequence = base + static_cast<uint64_t>(std::countr_zero(bits));
      if (sequence < state.unacked || sequence >= state.sent_end) continue;
      if (arrived_.add(qpn, sequence)) {
        ++board.beyond;
        news = true;
      }
      board.known_end = std::max(board.known_end, sequence + 1);
    }
    const bool passed = board.cursor > state.unacked;
    if (passed && board.pass_end != 0 && board.known_end > board.pass_end + board.reorder) {
      board.cursor = state.unacked;
      board.pass_end = 0;
    }
    return news;
  }

  void on_timeout(uint32_t qpn, const SendState& state) {
    Board& board = boards_[qpn];
    advance(qpn, board, state.unacked);
    if (board.timed_out_at == state.unacked) forget(qpn, board);
    remove(qpn, board, state.unacked);  // a receiver that has it would have moved over it
    board.timed_out_at = state.unacked;
    board.cursor = state.unacked;
    board.pass_end = 0;
    board.forced_end = state.next;
  }

  // Packets known to have arrived behind a gap.
  uint32_t beyond(uint32_t qpn) const { return boards_[qpn].beyond; }
  bool has_lost(uint32_t qpn) {
    Board& board = boards_[qpn];
    const uint64_t end = lost_end(board);
    while (board.cursor < end && arrived_.has(qpn, board.cursor)) ++board.cursor;
    return board.cursor < end;
  }
  // The packet to send again; only after has_lost().
  uint64_t take_lost(uint32_t qpn, const SendState& state) {
    boards_[qpn].pass_end = state.sent_end;
    return boards_[qpn].cursor++;
  }

 private:
  struct Board {
    uint64_t reorder = 1;
    uint64_t from = 0;       // the bits below are clear
    uint64_t known_end = 0;  // one past the highest known to have arrived
    uint64_t cursor = 0;     // the next that may be lost
    uint64_t pass_end = 0;   // one past the highest sent when the pass sent its last; 0: it has not
    uint64_t forced_end = 0;    // by a timeout: all below counts as lost
    uint64_t timed_out_at = 0;  // state.unacked of the last timeout
    uint32_t beyond = 0;
  };

  static uint64_t lost_end(const Board& board) {
    const uint64_t known = board.known_end > board.reorder ? board.known_end - board.reorder : 0;
    return std::max(known, board.forced_end);
  }

  // All below `to` has arrived.
  bool advance(uint32_t qpn, Board& board, uint64_t to) {
    if (to <= board.from) return false;
    const uint64_t end = std::min(to, board.known_end);
    for (uint64_t sequence = board.from; sequence < end; ++sequence) remove(qpn, board, sequence);
    board.from = to;
    board.known_end = std::max(board.known_end, to);
    board.cursor = std::max(board.cursor, to);
    return true;
  }

  void forget(uint32_t qpn, Board& board) {
    for (uint64_t sequence = board.from; sequence < board.known_end; ++sequence)
      remove(qpn, board, sequence);
    board.known_end = board.from;
  }
  void remove(uint32_t qpn, Board& board, uint64_t sequence) {
    if (arrived_.remove(qpn, sequence)) --board.beyond;
  }

  SequenceSets arrived_;
  std::vector<Board> boards_;
};

}  // namespace eddy::host
