// dctcp: a window that follows the fraction of marked ACKs. The receiver's ACKs echo marks.
// A window is at least ack_every packets: a smaller one would wait for an ACK that nobody owes it.
// Source: DCTCP, section 3.3.
#include <algorithm>
#include <optional>

#include "host/describe.h"
#include "host/rate_control/marked_window.h"

namespace eddy::host {
namespace {

class Dctcp : public RateControl {
 public:
  struct Parameters {
    int64_t g_shift = 4;
    std::optional<Bytes> initial_window;  // empty or none: one bandwidth-delay product
  };
  static constexpr auto parameters() {
    using P = Parameters;
    return std::array{
        ranged<&P::g_shift>("g_shift", 0, 16, {"g = 2^-g_shift", "DCTCP, section 3.3"}),
        ranged<&P::initial_window>("initial_window", Bytes(0), Bytes(1'000'000'000),
                                   {"auto, or 0B: one bandwidth-delay product", "as host.bdp"})};
  }
  static constexpr std::string_view kSummary =
      "a window that shrinks by the fraction of packets marked, once a window";
  static constexpr Hears kHears = {.rounds = true};
  static constexpr bool kEchoesMarks = true;

  Dctcp(const LawInit& init, const Parameters& parameters)
      : g_shift_(static_cast<int>(parameters.g_shift)),
        initial_window_(parameters.initial_window.value_or(Bytes(0))),
        mtu_(init.nic.config.mtu),
        smallest_(std::max(init.nic.config.ack_every, 1)),
        line_(init.nic.speed),
        queue_pairs_(init.nic.senders) {}

  void open(uint32_t qpn, const RateOpening& opening, SendState& state) override {
    const Bytes initial = initial_window_.count() != 0 ? initial_window_ : opening.bdp;
    const int64_t octets = std::max<int64_t>(initial.count(), mtu_);
    const int64_t whole = std::min<int64_t>(octets / mtu_, opening.full_window);
    state.window = static_cast<uint32_t>(whole);
    queue_pairs_[qpn] = {.window = MarkedWindow(octets), .full = opening.full_window};
  }

  void on_round(uint32_t qpn, const Round& round, SendState& state) override {
    QueuePair& qp = queue_pairs_[qpn];
    const MarkedWindow::Limits limits = {g_shift_, mtu_, smallest_ * mtu_, int64_t{qp.full} * mtu_};
    qp.window.end_round(limits, round.acked, round.marked);
    state.window = static_cast<uint32_t>(qp.window.octets() / mtu_);
  }

  BitRate rate(uint32_t, Instant) const override { return line_; }

 private:
  struct QueuePair {
    MarkedWindow window;
    uint32_t full{};  // packets
  };

  const int g_shift_;
  const Bytes initial_window_;  // 0: of the path
  const int64_t mtu_;
  const int64_t smallest_;  // packets
  const BitRate line_;
  std::vector<QueuePair> queue_pairs_;
};

}  // namespace

EDDY_RATE_CONTROL(dctcp, Dctcp)

}  // namespace eddy::host
