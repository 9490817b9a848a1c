#include "lab/run/request_results.h"

#include <algorithm>
#include <functional>
#include <map>
#include <queue>
#include <utility>

#include "lab/traffic/wire_cost.h"

namespace eddy::lab {
namespace {

using Key = std::pair<uint16_t, uint32_t>;  // traffic item, number

std::map<Key, std::vector<uint32_t>> flows_by_request(const FlowBook& book) {
  std::map<Key, std::vector<uint32_t>> found;
  for (uint32_t i = 0; i < book.flows().size(); ++i)
    if (const Flow& flow = book.flows()[i]; flow.request != kNoRequest)
      found[{flow.traffic, flow.request}].push_back(i);
  return found;
}

// The flows of one request on lines that have nothing else to do.
class IdealRequest {
 public:
  IdealRequest(const FlowAccount& account, const std::vector<uint32_t>& flows)
      : account_(account), flows_(flows), places_(flows.size()) {
    for (uint32_t i = 0; i < flows.size(); ++i) place_of_[flows[i]] = i;
  }

  // Those that wait, whose flows are all of this request.
  void add_wait(const FlowWait& wait) {
    const auto on = place_of_.find(wait.on);
    const auto flow = place_of_.find(wait.flow);
    if (on == place_of_.end() || flow == place_of_.end()) return;
    places_[on->second].followers.push_back({flow->second, wait.what});
    ++places_[flow->second].waits;
  }
  Duration time() {
    for (uint32_t i = 0; i < places_.size(); ++i)
      if (places_[i].waits == 0) ready_.push({Duration{}, i});
    Duration last;
    while (!ready_.empty()) {
      const auto [at, place] = ready_.top();
      ready_.pop();
      last = std::max(last, carry(place, at));
    }
    return last;
  }

 private:
  struct Follower {
    uint32_t place = 0;
    FlowWait::For what{};
  };
  struct Place {  // a flow
    uint32_t waits = 0;
    Duration ready;
    std::vector<Follower> followers;
  };

  // Returns when it has arrived.
  Duration carry(uint32_t place, Duration at) {
    const Flow& flow = account_.book.flows()[flows_[place]];
    const Topology& topology = account_.topology;
    const bool ipv6 = !topology.hosts[flow.source].address.is_v4();
    const WireCost cost(account_.experiment.host.mtu, topology.line_overhead, ipv6);
    const FabricPaths::Path path = account_.paths.path(flow.source, flow.destination);
    const Duration line = LineRate(path.bottleneck).time_of(Bytes(cost.of(flow.size)));
    const Bytes packet(cost.of(std::min(flow.size, Bytes(cost.mtu))));
    const Duration on_way =
        path.delay + LineRate(path.bottleneck).time_of(packet) * std::max(path.links - 1, 0);
    Duration& sender = sends_until_[flow.source];
    const Duration left = std::max(at, sender) + line;
    sender = left;
    Duration& receiver = receives_until_[flow.destination];
    const Duration arrived = std::max(left + on_way, receiver + line);
    receiver = arrived;
    for (const Follower& follower : places_[place].followers)
      follow(follower, follower.what == FlowWait::For::arrival ? arrived : left);
    return arrived;
  }
  void follow(const Follower& follower, Duration at) {
    Place& place = places_[follower.place];
    place.ready = std::max(place.ready, at);
    if (--place.waits == 0) ready_.push({place.ready, follower.place});
  }

  const FlowAccount& account_;
  const std::vector<uint32_t>& flows_;
  std::vector<Place> places_;
  std::map<uint32_t, uint32_t> place_of_;
  std::map<uint32_t, Duration> sends_until_;  // by host
  std::map<uint32_t, Duration> receives_until_;
  using Ready = std::pair<Duration, uint32_t>;  // when, place
  std::priority_queue<Ready, std::vector<Ready>, std::greater<>> ready_;
};

Duration ideal_of(const FlowAccount& account, const std::vector<uint32_t>& flows,
                  const std::vector<FlowWait>& waits) {
  IdealRequest ideal(account, flows);
  for (const uint32_t flow : flows)
    for (auto wait = std::ranges::lower_bound(waits, flow, {}, &FlowWait::flow);
         wait != waits.end() && wait->flow == flow; ++wait)
      ideal.add_wait(*wait);
  return ideal.time();
}

// Whether any of its flows has started.
bool measure(const FlowAccount& account, const std::vector<uint32_t>& flows, RequestResult& out) {
  Instant first = Instant::never();
  Instant last;
  out.finished = true;
  for (const uint32_t i : flows) {
    const Instant done = account.book.records()[i].receiver_done;
    first = std::min(first, account.book.flows()[i].start);
    out.finished &= done != Instant::never();
    last = std::max(last, done);
  }
  if (first > account.now) return false;
  out.flows = flows.size();
  out.measured = is_measured(account.experiment, {.start = first, .traffic = out.traffic});
  out.start = Instant() + first.since_zero() / account.dilation;
  out.time = ((out.finished ? last : account.now) - first) / account.dilation;
  return true;
}

}  // namespace

std::vector<RequestResult> request_results(const FlowAccount& account) {
  std::vector<FlowWait> waits;  // by flow
  if (account.waits != nullptr) waits = account.waits->flows;
  std::ranges::stable_sort(waits, {}, &FlowWait::flow);
  std::vector<RequestResult> out;
  for (const auto& [key, flows] : flows_by_request(account.book)) {
    RequestResult request{.traffic = key.first, .number = key.second};
    if (!measure(account, flows, request)) continue;
    request.ideal = ideal_of(account, flows, waits) / account.dilation;
    request.slowdown = std::max(
        1.0, static_cast<double>(request.time.ps()) / static_cast<double>(request.ideal.ps()));
    out.push_back(request);
  }
  return out;
}

}  // namespace eddy::lab
