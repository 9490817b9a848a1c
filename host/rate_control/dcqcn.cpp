// dcqcn: a rate that CNPs cut and timers and octets raise, by the paper's rules or by those of
// NICs. The receiver sends at most one CNP a QP in each cnp_interval. Source: reference D.3.
#include "host/describe.h"
#include "host/rate_control/reaction_point.h"

namespace eddy::host {
namespace {

class Dcqcn : public RateControl {
 public:
  static constexpr std::string_view kSummary =
      "a rate that notifications cut, and that timers and octets sent raise";

  explicit Dcqcn(const LawInit& init)
      : config_(config::for_line(init.nic.config.dcqcn, init.nic.speed)),
        nak_cuts_rate_(init.nic.config.nak_cuts_rate),
        line_(init.nic.speed),
        points_(init.nic.senders) {
    pace_all(init.nic.senders, line_);
  }

  void open(uint32_t qpn, const RateOpening&, SendState&) override {
    points_[qpn].start(line_);
    show(qpn);
  }
  bool on_cnp(uint32_t qpn, SendState&, Instant now) override {
    count_sent(qpn);
    points_[qpn].on_cnp(config_, line_, now);
    points_[qpn].catch_up(config_, line_, now);
    show(qpn);
    return true;
  }
  bool on_nak(uint32_t qpn, const Ack& ack, SendState& state) override {
    return nak_cuts_rate_ && on_cnp(qpn, state, ack.now);
  }
  void on_due(uint32_t qpn, SendState&, Instant now) override {
    count_sent(qpn);
    points_[qpn].catch_up(config_, line_, now);
    show(qpn);
  }
  BitRate rate(uint32_t qpn, Instant now) const override {
    ReactionPoint point = points_[qpn];
    point.catch_up(config_, line_, now);
    return BitRate::bits_per_second(point.rate_bps());
  }

 private:
  // The NIC counts octets down in the pace.
  void count_sent(uint32_t qpn) {
    ReactionPoint& point = points_[qpn];
    point.on_sent(config_, line_, point.octets_left() - pace(qpn).octets_left);
  }
  void show(uint32_t qpn) {
    const ReactionPoint& point = points_[qpn];
    Pace& shown = pace(qpn);
    shown.rate_bps = point.rate_bps();
    shown.due = point.next_event();
    shown.grows = point.next_increase();
    shown.octets_left = point.octets_left();
  }

  const config::DcqcnConfig config_;
  const bool nak_cuts_rate_;
  const BitRate line_;
  std::vector<ReactionPoint> points_;
};

class NotificationPoint : public Notifier {
 public:
  explicit NotificationPoint(const LawInit& init)
      : interval_(init.nic.config.dcqcn.cnp_interval), next_(init.nic.receivers) {}

  bool on_mark(uint32_t qpn, Instant now) override {
    if (now < next_[qpn]) return false;
    next_[qpn] = now + interval_;
    return true;
  }

 private:
  const Duration interval_;
  std::vector<Instant> next_;  // no CNP before
};

}  // namespace

EDDY_RATE_CONTROL(dcqcn, Dcqcn, NotificationPoint)

}  // namespace eddy::host
