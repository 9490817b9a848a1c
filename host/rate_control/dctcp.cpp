// dctcp: a window that follows the fraction of marked ACKs. The receiver's ACKs echo marks.
// A window is at least ack_every packets: a smaller one would wait for an ACK that nobody owes it.
// Source: DCTCP, section 3.3.
#include <algorithm>

#include "host/describe.h"
#include "host/rate_control/marked_window.h"

namespace eddy::host {
namespace {

class Dctcp : public RateControl {
 public:
  static constexpr std::string_view kSummary =
      "a window that shrinks by the fraction of packets marked, once a window";
  static constexpr Hears kHears = {.rounds = true};
  static constexpr bool kEchoesMarks = true;

  explicit Dctcp(const LawInit& init)
      : config_(init.nic.config.dctcp),
        mtu_(init.nic.config.mtu),
        smallest_(std::max(init.nic.config.ack_every, 1)),
        line_(init.nic.speed),
        queue_pairs_(init.nic.senders) {}

  void open(uint32_t qpn, const RateOpening& opening, SendState& state) override {
    const Bytes initial =
        config_.initial_window.count() != 0 ? config_.initial_window : opening.bdp;
    const int64_t octets = std::max<int64_t>(initial.count(), mtu_);
    const int64_t whole = std::min<int64_t>(octets / mtu_, opening.full_window);
    state.window = static_cast<uint32_t>(whole);
    queue_pairs_[qpn] = {.window = MarkedWindow(octets), .full = opening.full_window};
  }

  void on_round(uint32_t qpn, const Round& round, SendState& state) override {
    QueuePair& qp = queue_pairs_[qpn];
    const MarkedWindow::Limits limits = {config_.g_shift, mtu_, smallest_ * mtu_,
                                         int64_t{qp.full} * mtu_};
    qp.window.end_round(limits, round.acked, round.marked);
    state.window = static_cast<uint32_t>(qp.window.octets() / mtu_);
  }

  BitRate rate(uint32_t, Instant) const override { return line_; }

 private:
  struct QueuePair {
    MarkedWindow window;
    uint32_t full{};  // packets
  };

  const config::DctcpConfig config_;
  const int64_t mtu_;
  const int64_t smallest_;  // packets
  const BitRate line_;
  std::vector<QueuePair> queue_pairs_;
};

}  // namespace

EDDY_RATE_CONTROL(dctcp, Dctcp)

}  // namespace eddy::host
