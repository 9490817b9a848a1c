#include "pfc/advice.h"

#include <algorithm>

#include "net/quantity.h"
#include "pfc/buffer_plan.h"
#include "pfc/class_pair.h"
#include "pfc/headroom.h"
#include "pfc/predictor.h"

namespace eddy::pfc {
namespace {

constexpr double kUsualPmax = 0.2;
constexpr int64_t kRounding = 1'000;
constexpr int64_t kPartOfBdp = 7;  // DCTCP: a queue that is cut from here on does not run empty

// One lossless priority group of one port, and what its limits come to.
struct Group {
  const config::SwitchConfig& config;
  const config::PortConfig& port;
  const FabricFacts& facts;
  size_t pg = 0;
  const PgLimits& limits;
  Bytes shared;  // the pool

  const config::BufferProfile& profile() const {
    return config.buffer.profiles.at(port.pg_profiles[pg]);
  }
  bool dynamic() const { return profile().mode != config::BufferMode::fixed; }
  // The queue that the group's traffic leaves by, at a port like this one.
  const config::QueueConfig& queue() const {
    size_t tc = 0;
    while (tc + 1 < kPriorities && port.maps.tc_to_pg[tc].index() != pg) ++tc;
    return port.queues[port.maps.tc_to_queue[tc].index()];
  }
  const config::WredProfile* wred() const {
    const auto& name = queue().wred;
    if (!name) return nullptr;
    const auto found = config.buffer.wred.find(*name);
    return found == config.buffer.wred.end() || !found->second.ecn ? nullptr : &found->second;
  }
  Bytes bdp() const { return bytes_in(facts.base_rtt, port.speed); }
  // A dynamic threshold is a times what is free: groups that fill together meet it at
  // a S / (1 + n a), n of them holding as much each.
  Bytes xoff(int64_t together) const {
    if (!dynamic()) return Bytes(limits.base);
    const int shift = profile().dynamic_th;
    const __int128 pool = shared.count();
    const __int128 up = shift > 0 ? __int128{1} << shift : 1;
    const __int128 down = shift < 0 ? __int128{1} << -shift : 1;
    return Bytes(limits.base + static_cast<int64_t>(pool * up / (down + together * up)));
  }
  Bytes resume() const { return xoff(1) - Bytes(limits.xon_offset); }
  // Until the line is busy again after a resume: there, the peer's response, and back.
  Bytes loop() const {
    return bytes_in(port.cable_delay * 2, port.speed) + peer_response(port.speed);
  }
  Bytes frame() const { return longest_frame(port.mtu); }
};

Bytes rounded(Bytes size) {
  return size.rounded_up(kRounding);
}

// Marking begins where a mark can be back before XOFF, and no earlier than the line needs.
Recommended recommended(const Group& group) {
  const Bytes xoff = group.xoff(1);
  const Bytes bdp = group.bdp();
  const Bytes least = std::max(bdp / kPartOfBdp, group.frame() * 2);
  const Bytes most = std::max(xoff - bdp, xoff / 2);
  Recommended out{.port = group.port.name,
                  .pg = static_cast<int>(group.pg),
                  .speed = group.port.speed,
                  .bdp = bdp,
                  .xoff = xoff};
  out.kmin = rounded(std::min(std::max(bdp, least), most) - Bytes(kRounding - 1));
  out.kmax = std::max(out.kmin, rounded(std::min(out.kmin * 4, xoff) - Bytes(kRounding - 1)));
  out.pmax = kUsualPmax;
  out.headroom =
      auto_headroom(group.port, group.config.pause_gap(group.port), group.config.buffer.cell_bytes);
  out.resume = std::min(group.loop(), xoff / 2);
  config::RlbConfig rlb = config::rlb_preset(config::RlbPreset::standard);
  rlb.warning.relays = group.config.rlb.warning.relays;
  out.horizon = PredictorPlan::of(rlb, group.port, static_cast<uint8_t>(1U << group.pg)).horizon;
  return out;
}

class Adviser {
 public:
  explicit Adviser(const config::SwitchConfig& config) : config_(config) {}

  void group(const Group& group) {
    marking(group);
    resume(group);
    headroom(group);
    if (is_isolated_from(group)) isolation(group);
  }
  void rlb_of(const config::PortConfig& port, uint8_t lossless) {
    if (config_.rlb.enabled() && lossless != 0) horizon(port, lossless);
  }
  void rlb_times() {
    const config::RlbConfig& rlb = config_.rlb;
    if (!rlb.enabled()) return;
    if (rlb.warning.life <= rlb.warning.refresh)
      say(AdviceSubject::rlb, true,
          "a warning is forgotten after " + to_string(rlb.warning.life) +
              ", before it is repeated each " + to_string(rlb.warning.refresh),
          "paths seem free while their pause lasts; rlb.warning.life has to be longer than "
          "rlb.warning.refresh",
          "");
  }
  void buffer(const BufferPlan& plan) {
    if (plan.shortfall.empty()) return;
    say(AdviceSubject::buffer, true, "the buffer is overcommitted: " + plan.shortfall,
        "XOFF and headroom hold only while not all ports are paused at once", "");
  }
  // In which a last leaf puts packets in order.
  void stages(const BufferPlan& plan, const FabricFacts& facts) {
    if (!config_.resequence.enabled) return;
    Bytes wanted{0};
    for (const config::PortConfig& port : config_.ports)
      if (port.role == config::PortRole::host) wanted += bytes_in(facts.base_rtt, port.speed);
    if (plan.stages >= wanted) return;
    say(AdviceSubject::buffer, true,
        "the last leaf has " + readable(plan.stages) +
            " to put packets in order in, where a BDP of each host port is " + readable(wanted),
        "what finds no room fills priority groups, and PFC stops the links by which what is "
        "missing has to come; buffer.stages is to be larger, or buffer.size",
        "");
  }
  std::vector<Advice> take() {
    std::ranges::stable_sort(all_, [](const Advice& a, const Advice& b) {
      return a.warning != b.warning ? a.warning : a.subject < b.subject;
    });
    return std::move(all_);
  }

 private:
  void say(AdviceSubject subject, bool warning, std::string says, std::string because,
           const std::string& where) {
    auto found = std::ranges::find_if(
        all_, [&](const Advice& each) { return each.subject == subject && each.says == says; });
    if (found == all_.end())
      found = all_.insert(all_.end(), {subject, warning, std::move(says), std::move(because), {}});
    if (!where.empty() && std::ranges::find(found->where, where) == found->where.end())
      found->where.push_back(where);
  }

  void marking(const Group& group) {
    const config::WredProfile* wred = group.wred();
    const std::string& port = group.port.name;
    const Bytes xoff = group.xoff(1);
    if (wred == nullptr) {
      say(AdviceSubject::marking, true,
          "the lossless queue is never marked: senders hear of congestion by PFC alone",
          "without ECN a queue grows until XOFF pauses whatever else comes by the same link", port);
      return;
    }
    too_small(group, *wred);
    const std::string begins =
        "marking begins at " + readable(wred->kmin) + ", XOFF is at " + readable(xoff);
    if (wred->kmin >= xoff)
      say(AdviceSubject::marking, true, begins + ": PFC will act before DCQCN",
          "a queue that one port feeds reaches XOFF before a packet of it is marked; kmin " +
              readable(recommended(group).kmin) + " or less would be marked in time",
          port);
    else if (wred->kmin + group.bdp() > xoff)
      say(AdviceSubject::marking, true,
          begins + ", less than a BDP (" + readable(group.bdp()) +
              ") above: a burst is paused before its marks are answered",
          "a mark needs a round trip until its sender is slower, and two senders at the line's "
          "rate fill a BDP meanwhile",
          port);
    else
      say(AdviceSubject::marking, false,
          begins + ", a BDP (" + readable(group.bdp()) + ") or more above: DCQCN acts first",
          "marks are answered before one port alone can fill the queue up to XOFF", port);
    crowded(group, *wred);
  }

  // Dynamic thresholds shrink where many groups fill.
  void crowded(const Group& group, const config::WredProfile& wred) {
    const auto ports = static_cast<int64_t>(config_.ports.size());
    if (!group.dynamic() || wred.kmin >= group.xoff(1) || wred.kmin < group.xoff(ports)) return;
    int64_t together = 2;
    while (group.xoff(together) > wred.kmin) ++together;
    say(AdviceSubject::marking, false,
        "the threshold is dynamic: where " + std::to_string(together) +
            " groups fill at once, XOFF is at " + readable(group.xoff(together)) +
            " and PFC acts before DCQCN",
        "each of n groups may hold a / (1 + n a) of the shared buffer, a being 2^dynamic_th",
        group.port.name);
  }

  void too_small(const Group& group, const config::WredProfile& wred) {
    if (wred.kmin < group.frame() * 2)
      say(AdviceSubject::marking, false,
          "marking begins at " + readable(wred.kmin) + ", less than two frames of " +
              readable(group.frame()) + ": two flows that meet are marked at once",
          "a queue of one frame is no congestion; rates fall below what the line could carry",
          group.port.name);
  }

  void resume(const Group& group) {
    const Bytes needed = std::min(group.loop(), group.xoff(1) / 2);
    if (group.resume() >= needed) return;
    say(AdviceSubject::xoff, true,
        "a pause ends at " + readable(group.resume()) + ", and the line behind it is busy again " +
            readable(group.loop()) + " later: it idles after each pause",
        "what is left at XON has to last until the sender's next packet is there; xon_offset " +
            readable(group.xoff(1) - needed) + " or less",
        group.port.name);
  }

  void headroom(const Group& group) {
    const Bytes needed = recommended(group).headroom;
    const auto given = group.profile().headroom;
    if (!given) return;
    const std::string asks =
        readable(*given) + " of headroom, where " + readable(needed) + " may arrive behind a pause";
    if (*given < needed)
      say(AdviceSubject::headroom, true, asks + ": packets of a lossless class can be lost",
          "cable, response, frames in transmission and poll gap of the sender, at the worst frame "
          "size; headroom: auto computes it",
          group.port.name);
    else if (*given > needed * 2)
      say(AdviceSubject::headroom, false, asks + ": half of it is never used",
          "what is set aside for headroom is missing in the shared buffer", group.port.name);
  }

  void horizon(const config::PortConfig& port, uint8_t lossless) {
    config::RlbConfig automatic = config_.rlb;
    automatic.predictor.horizon.reset();
    const PredictorPlan set = PredictorPlan::of(config_.rlb, port, lossless);
    const PredictorPlan should = PredictorPlan::of(automatic, port, lossless);
    if (!set.notifies || set.mode == config::PredictorMode::fixed) return;
    if (set.horizon < should.horizon - set.interval)
      say(AdviceSubject::rlb, true,
          "RLB predicts a pause " + to_string(set.horizon) + " ahead, and a warning needs " +
              to_string(should.horizon - set.interval) + " to have an effect: it comes too late",
          "the control loop is there and back and a reaction for each relay; "
          "rlb.predictor.horizon " +
              to_string(should.horizon) + " or unset",
          port.name);
  }

  // On a fabric port, the group whose packets isolation puts apart, or would.
  bool is_isolated_from(const Group& group) const {
    const TrafficClass normal = config_.isolation.normal;
    return group.port.role != config::PortRole::host &&
           group.port.maps.tc_to_pg[normal.index()].index() == group.pg;
  }
  // What was measured stands in docs/isolation.md.
  void isolation(const Group& group) {
    const std::optional<Bytes> incast = group.facts.incast;
    const Bytes xoff = group.xoff(1);
    const bool pays = incast && *incast > xoff;
    if (!config_.isolation.enabled) {
      if (pays) isolation_would_pay(group, *incast);
      return;
    }
    isolation_takes(group);
    isolation_threshold(group);
    if (pays)
      say(AdviceSubject::isolation, false,
          "isolation pays: an incast brings " + readable(*incast) + " to one host, XOFF is at " +
              readable(xoff) + ", and what PFC stops then is packets to that host",
          kIncastGains, "");
    else
      isolation_without_incast(group);
  }
  void isolation_without_incast(const Group& group) {
    const Bytes xoff = group.xoff(1);
    const bool long_queues = group.wred() == nullptr || group.wred()->kmin >= xoff;
    if (long_queues && config_.isolation.long_flows)
      say(AdviceSubject::isolation, false,
          "isolation pays: marking begins above XOFF, queues of the fabric grow long, and short "
          "flows do not wait in them behind long ones",
          kLongFlowsGain, "");
    else if (!group.facts.incast)
      say(AdviceSubject::isolation, false,
          "isolation pays where many senders meet at one host, and changes little elsewhere",
          std::string(kIncastGains) + "; " + kShortQueues, "");
    else
      say(AdviceSubject::isolation, long_queues,
          std::string(long_queues ? "isolation does not pay" : "isolation changes little") +
              ": no incast brings more than XOFF (" + readable(xoff) + ") to one host",
          long_queues ? kEverybodyHot : kShortQueues, "");
  }
  void isolation_would_pay(const Group& group, Bytes incast) {
    say(AdviceSubject::isolation, false,
        "isolation would keep what PFC stops to packets to congested hosts: an incast brings " +
            readable(incast) + " to one host, XOFF is at " + readable(group.xoff(1)),
        std::string(kIncastGains) +
            "; it takes a second lossless class, which doubles the headroom (" +
            readable(recommended(group).headroom) + ") of each fabric port",
        "");
  }
  void isolation_takes(const Group& group) {
    say(AdviceSubject::isolation, false,
        "isolation's class takes " + readable(Bytes(group.limits.headroom)) +
            " more of headroom on each fabric port, as much as the class that it is beside",
        "a second lossless class has a headroom of its own; that is missing in the shared buffer",
        "");
  }
  // A queue of a host that one link feeds holds what that link's group holds.
  void isolation_threshold(const Group& group) {
    if (!config_.isolation.threshold || *config_.isolation.threshold < group.xoff(1)) return;
    say(AdviceSubject::isolation, true,
        "isolation.threshold is " + readable(*config_.isolation.threshold) + ", XOFF is at " +
            readable(group.xoff(1)) + ": links are stopped before anybody is told of their host",
        "what one link brings to a host fills that link's group as it fills the host's queue; auto "
        "is "
        "what the host's port sends in 12us",
        "");
  }

  static constexpr const char* kIncastGains =
      "measured beside incasts of 16 senders, flows to other hosts had a mean slowdown 19 to 35 % "
      "lower with marking below XOFF and 15 to 25 % lower with marking above it";
  static constexpr const char* kLongFlowsGain =
      "measured with web search alone, the mean slowdown was 16 to 18 % lower and the p99 slowdown "
      "of short flows 19 to 34 % lower";
  static constexpr const char* kShortQueues =
      "measured with web search alone and marking below XOFF, the mean slowdown was 6 to 8 % lower";
  static constexpr const char* kEverybodyHot =
      "measured with web search alone, marking above XOFF and isolation.long_flows off, the mean "
      "slowdown was 2 % lower and the p99 slowdown of short flows 3 % higher, both within what "
      "seeds differ by: short flows share a class with long ones that are stopped";

  const config::SwitchConfig& config_;
  std::vector<Advice> all_;
};

// Calls visit(group) for every lossless PG of every port.
template <class Visit>
void for_each_group(const config::SwitchConfig& config, const FabricFacts& facts,
                    const BufferPlan& plan, Visit visit) {
  for (size_t i = 0; i < config.ports.size(); ++i)
    for (size_t pg = 0; pg < kPriorities; ++pg)
      if ((plan.ports[i].lossless_pgs >> pg & 1) != 0)
        visit(Group{config, config.ports[i], facts, pg, plan.ports[i].pgs[pg], plan.shared});
}

// Sentences that are one setting's, though they are several ports', in few words.
std::string where_text(const std::vector<std::string>& where) {
  constexpr size_t kShown = 4;
  std::string text;
  for (size_t i = 0; i < std::min(kShown, where.size()); ++i)
    text += (i == 0 ? "" : ", ") + where[i];
  if (where.size() > kShown) text += " and " + std::to_string(where.size() - kShown) + " more";
  return text;
}

}  // namespace

std::string_view name_of(AdviceSubject subject) {
  switch (subject) {
    case AdviceSubject::marking:
      return "marking";
    case AdviceSubject::xoff:
      return "xoff";
    case AdviceSubject::headroom:
      return "headroom";
    case AdviceSubject::buffer:
      return "buffer";
    case AdviceSubject::window:
      return "window";
    case AdviceSubject::rlb:
      return "rlb";
    case AdviceSubject::isolation:
      return "isolation";
  }
  return "";
}

FabricFacts guessed_facts(const config::SwitchConfig& config) {
  Duration host;
  Duration fabric;
  Duration frames;
  for (const config::PortConfig& port : config.ports) {
    Duration& longest = port.role == config::PortRole::host ? host : fabric;
    longest = std::max(longest, port.cable_delay);
    frames = std::max(frames, LineRate(port.speed).time_of(longest_frame(port.mtu)));
  }
  constexpr int kLinks = 4;  // host, leaf, spine, leaf, host
  if (host == Duration{}) host = fabric;
  return {.base_rtt = (host + fabric) * kLinks + frames * kLinks, .windows = {}};
}

Result<std::vector<Recommended>> recommend(const config::SwitchConfig& config,
                                           const FabricFacts& facts) {
  Result<BufferPlan> plan = plan_buffer(config);
  if (!plan) return plan.problems();
  std::vector<Recommended> all;
  for_each_group(config, facts, *plan, [&](const Group& group) {
    const Recommended one = recommended(group);
    const bool known = std::ranges::any_of(all, [&](const Recommended& other) {
      Recommended same = one;
      same.port = other.port;
      same.pg = other.pg;
      return same == other;
    });
    if (!known) all.push_back(one);
  });
  return all;
}

Result<std::vector<Advice>> advise(const config::SwitchConfig& config, const FabricFacts& facts) {
  Result<BufferPlan> plan = plan_buffer(config);
  if (!plan) return plan.problems();
  Adviser adviser(config);
  adviser.buffer(*plan);
  adviser.stages(*plan, facts);
  for_each_group(config, facts, *plan, [&](const Group& group) { adviser.group(group); });
  for (size_t i = 0; i < config.ports.size(); ++i)
    adviser.rlb_of(config.ports[i], plan->ports[i].lossless_pgs);
  adviser.rlb_times();
  return adviser.take();
}

std::string readable(Bytes size) {
  constexpr int64_t kKib = 1'024;
  constexpr int64_t kThousand = 1'000;
  constexpr int64_t kTenth = 100;
  if (size.count() < kThousand || size.count() % kKib == 0) return to_string(size);
  const int64_t tenths = (size.count() + kTenth / 2) / kTenth;
  const std::string rest = tenths % 10 == 0 ? "" : "." + std::to_string(tenths % 10);
  return std::to_string(tenths / 10) + rest + "kB";
}

std::string text_of(const Advice& advice) {
  std::string text = advice.says;
  if (!advice.where.empty()) text += " (" + where_text(advice.where) + ")";
  return text;
}

}  // namespace eddy::pfc
