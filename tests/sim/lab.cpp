#include "tests/sim/lab.h"

#include <algorithm>
#include <array>
#include <cstdio>
#include <utility>

#include "config/set_key.h"
#include "lab/check/fabric_checker.h"
#include "lab/fabric/build_topology.h"
#include "lab/faults/faults.h"
#include "lab/run/rank_report.h"
#include "lab/world/watcher_pair.h"
#include "lab/world/world.h"
#include "net/hash.h"
#include "net/quantity.h"

namespace eddy::test {
namespace {

using namespace eddy::literals;

constexpr Instant kLabLimit = Instant() + 60_ms;
constexpr Duration kSettling = 3_ms;

// Stops a world that will not end by itself.
class Bounds final : public lab::Watcher {
 public:
  Bounds(lab::World& world, const lab::Faults& faults, const LabOptions& options)
      : world_(world), faults_(faults), options_(options) {}

  uint64_t turns() const { return turns_; }
  uint64_t idle_turns() const { return longest_idle_; }
  const std::string& problem() const { return problem_; }  // empty: they hold

  void on_frame(uint32_t, Step, const Packet&) override {}
  void on_turn(uint32_t node) override {
    if (++turns_ > options_.most_turns)
      stop("still running after " + std::to_string(options_.most_turns) + " turns");
    if (turns_ % kLookEvery == 0) look_for_progress();
    if (node < world_.switch_count() &&
        world_.switch_node(node).io->waiting() > options_.most_unread)
      stop(world_.switch_at(node).config().name + ": more than " +
           std::to_string(options_.most_unread) + " frames are unread");
  }
  void on_instant() override {}

 private:
  static constexpr uint64_t kLookEvery = 1'024;

  void look_for_progress() {
    const uint64_t progress = progress_of_flows() + link_cuts();
    if (std::exchange(progress_, progress) != progress) progress_at_ = turns_;
    const uint64_t idle = turns_ - progress_at_;
    longest_idle_ = std::max(longest_idle_, idle);
    if (idle > options_.most_idle_turns)
      stop("no flow has got on for " + std::to_string(options_.most_idle_turns) + " turns");
  }
  // Octets that have arrived, each once, and flows that have begun or ended.
  uint64_t progress_of_flows() const {
    uint64_t sum = world_.book().started() + world_.flows_ended();
    for (size_t flow = 0; flow < world_.flows().size(); ++flow)
      sum += world_.receive_outcome(flow).delivered_bytes;
    return sum;
  }
  // A link that is down each time the hosts' timers send again keeps a flow where it is for long:
  // lab 4307 has a retransmission time-out of 15 periods of its link.
  uint64_t link_cuts() const {
    uint64_t cuts = 0;
    for (const lab::FaultReport& report : faults_.report())
      if (report.type == config::FaultType::link_flap) cuts += report.begun;
    return cuts;
  }
  void stop(const std::string& problem) {
    if (problem_.empty())
      problem_ =
          to_string(world_.now().since_zero()) + " " + problem + "; again: " + options_.replay;
    world_.stop();
  }

  lab::World& world_;
  const lab::Faults& faults_;
  const LabOptions& options_;
  uint64_t turns_ = 0;
  uint64_t progress_ = 0;
  uint64_t progress_at_ = 0;  // turns, when it was last seen
  uint64_t longest_idle_ = 0;
  std::string problem_;
};

// For whom every instant is made.
class Onlooker final : public lab::Watcher {
 public:
  void on_frame(uint32_t /*line*/, Step /*step*/, const Packet& /*packet*/) override {}
  void on_turn(uint32_t /*node*/) override {}
  void on_instant() override {}
};

uint64_t sum_of(const Counters& counters, PortCounter which) {
  uint64_t total = 0;
  for (size_t port = 0; port < counters.port_count(); ++port)
    total += counters[PortId(port)].port.read(which);
  return total;
}

// What the lab promises while its fault sites do what they stand for.
lab::CheckRules rules_of(const Lab& lab, const lab::Topology& topology, const FaultSites& sites) {
  lab::CheckRules rules = lab::CheckRules::of(lab.experiment, topology);
  for (const FaultSite site : {FaultSite::pool_empty, FaultSite::device_full}) {
    if (!kHasFaultSites || !sites.on(site)) continue;
    rules.lossless = false;
    rules.exempt.push_back("lossless: pauses cannot be sent in time where a fault site is on");
  }
  if (rules.watchdog) rules.watchdog->late += lab.latest * 2;
  if (rules.pause_in_time) *rules.pause_in_time += lab.latest;
  return rules;
}

Result<std::unique_ptr<lab::World>> make_world(const Lab& lab, const lab::Topology& topology,
                                               FaultSites& sites, const LabOptions& options) {
  const config::RunConfig& run = lab.experiment.run;
  const bool wraps = options.watched && FaultProbe(&sites).fires(FaultSite::clock_wraps);
  const Duration ahead = wraps ? lab.clock_ahead : Duration{};
  return lab::World::create(topology, lab.flows, [](uint32_t, uint32_t) { return 20_us; },
                            {.host = lab.experiment.host,
                             .seed = lab.seed,
                             .poll_model = run.poll_model,
                             .poll_period = run.poll_period,
                             .poll_jitter = run.poll_jitter,
                             .poll_burst = run.poll_burst,
                             .division = options.division,
                             .waits = &lab.waits,
                             .exchange = options.exchange,
                             .sites = options.watched ? &sites : nullptr,
                             .clock_ahead = ahead,
                             .latest = lab.latest,
                             .rebase_every = options.rebase_every});
}

void collect(lab::World& world, LabResult& result) {
  result.flows_ended = world.flows_ended();
  result.packet_hops = world.counts().packet_hops;
  result.windows = world.windows();
  result.threads = world.threads();
  result.moves = world.moves();
  result.events = world.counts().events;
  result.polls = world.counts().polls;
  for (uint32_t i = 0; i < world.switch_count(); ++i) {
    const Counters& counters = world.counters_of(i);
    result.paths_failed += sum_of(counters, PortCounter::paths_failed);
    result.isolated += sum_of(counters, PortCounter::isolation_begun_packets);
    result.long_flows += sum_of(counters, PortCounter::isolation_long_flows);
    result.warned += sum_of(counters, PortCounter::path_warnings_begun);
  }
  if (world.ranks() != nullptr) {
    result.flows_ended = static_cast<size_t>(
        std::ranges::count_if(world.records(), [](const lab::FlowRecord& record) {
          return record.sender_done != Instant::never() && record.receiver_done != Instant::never();
        }));
    result.meetings = world.ranks()->traffic().windows;
    result.frames = world.ranks()->traffic().frames;
  }
  result.digest = world.digest();
}

// What each flow that has not ended got and sent, for whoever looks into the lab.
std::vector<std::string> tell_unended(const lab::World& world) {
  std::vector<std::string> lines;
  for (size_t i = 0; i < world.flows().size(); ++i) {
    if (world.book().has_ended(i)) continue;
    const lab::Flow& flow = world.flows()[i];
    const host::SendOutcome sent = world.send_outcome(i);
    const host::ReceiveOutcome got = world.receive_outcome(i);
    lines.push_back(
        "flow " + std::to_string(i) + ", host " + std::to_string(flow.source) + " to " +
        std::to_string(flow.destination) + ", from " + to_string(flow.start.since_zero()) + ": " +
        std::to_string(got.delivered_bytes) + " of " + std::to_string(flow.size.count()) +
        " octets arrived; " + std::to_string(sent.sent_packets) + " packets sent, " +
        std::to_string(sent.retransmitted_packets) + " again, " +
        std::to_string(got.received_packets) + " received; " + std::to_string(sent.timeouts) +
        " time-outs");
  }
  return lines;
}

void collect(const lab::Faults& faults, lab::Exchange* exchange, LabResult& result) {
  lab::RunResult run;
  run.violations = faults.problems();
  run.faults = faults.report();
  if (exchange != nullptr) gather_reports(*exchange, {}, run);
  for (const std::string& problem : run.violations) result.problems.push_back(problem);
  for (const lab::FaultReport& report : run.faults) {
    if (report.begun != 0) result.faults.push_back(report.type);
    result.digest =
        hash_pair(result.digest, report.begun ^ report.frames << 16 ^ report.lost << 32);
  }
}

LabResult run_rank(lab::World& world, const lab::Faults& faults, const LabOptions& options) {
  LabResult result{.flows = world.flows().size()};
  world.run_to_completion(kLabLimit);
  world.run_until(world.now() + kSettling);
  world.gather_facts();
  collect(world, result);
  collect(faults, options.exchange, result);
  return result;
}

}  // namespace

LabResult run_lab(const Lab& lab, const LabOptions& options) {
  LabResult result{.flows = lab.flows.size()};
  auto topology = lab::build_topology(lab.experiment);
  if (!topology) return {.problems = topology.problems()};
  FaultSites sites(lab.seed, lab.sites);
  auto made = make_world(lab, *topology, sites, options);
  if (!made) return {.problems = made.problems()};
  lab::World& world = **made;
  const auto set_key = [](config::SwitchConfig& config, const std::string& key,
                          const std::string& value) { return config::set_key(config, key, value); };
  auto faults = lab::Faults::install(lab.experiment, *topology, world, lab.seed, set_key);
  if (!faults) return {.problems = faults.problems()};
  if (options.exchange != nullptr) return run_rank(world, **faults, options);
  const lab::CheckRules rules = rules_of(lab, *topology, sites);
  result.lossless = rules.lossless;
  result.in_order = rules.in_order;
  lab::Checker checker(world, *topology, rules, options.replay);
  Bounds bounds(world, **faults, options);
  lab::WatcherPair both(checker, bounds);
  Onlooker onlooker;
  lab::Watcher* const unwatched = options.every_turn ? &onlooker : nullptr;
  world.set_watcher(options.watched ? &both : unwatched);
  world.run_to_completion(kLabLimit);
  world.run_until(world.now() + kSettling);
  if (options.watched && bounds.problem().empty()) checker.finish();
  result.problems = checker.problems();
  if (!bounds.problem().empty()) result.problems.push_back(bounds.problem());
  result.checks = checker.checks();
  result.excused = checker.excused();
  result.turns = bounds.turns();
  result.idle_turns = bounds.idle_turns();
  for (size_t site = 0; site < kFaultSites; ++site) {
    result.sites_on[site] = sites.on(static_cast<FaultSite>(site));
    result.sites[site] = sites.use(static_cast<FaultSite>(site));
  }
  collect(world, result);
  result.unended = tell_unended(world);
  collect(**faults, nullptr, result);
  return result;
}

std::string digest_line(uint64_t seed, const LabResult& result) {
  std::array<char, 96> line{};
  std::snprintf(line.data(), line.size(), "%llu %016llx: %zu of %zu flows, %llu hops",
                static_cast<unsigned long long>(seed),
                static_cast<unsigned long long>(result.digest), result.flows_ended, result.flows,
                static_cast<unsigned long long>(result.packet_hops));
  const std::string failed = ", paths failed " + std::to_string(result.paths_failed) + " times";
  return line.data() + (result.paths_failed != 0 ? failed : "");
}

}  // namespace eddy::test
