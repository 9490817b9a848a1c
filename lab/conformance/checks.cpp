// The checks by name. Those of a scheme alone come first, then those of its tokens and of RLB.
#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "lab/conformance/made.h"
#include "lab/conformance/run.h"
#include "lab/conformance/suite.h"

namespace eddy::conformance {
namespace {

using namespace literals;
using lb::MemberIndex;
using lb::MemberMask;
using lb::ProbeLog;
using lb::ProbeMode;
using lb::SchemeInfo;
using lb::SchemeProbes;
using lb::Selector;
using lb::test::make_packet;
using lb::test::make_set;
using lb::test::Paths;
using Over = Check::Over;

// With RLB there is something to do for it.
RunPlan busy(const Variant& variant) {
  const bool rlb = variant.rlb != nullptr;
  return {.warned = rlb, .loop = rlb};
}
RunPlan quiet(const Variant& variant) {
  return {.warned = false, .loop = variant.rlb != nullptr};
}

void say_if(bool wrong, Problems& problems, std::string what) {
  if (wrong) problems.push_back(std::move(what));
}

void expect_same(const RunResult& one, const RunResult& other, std::string_view what,
                 Problems& problems) {
  if (one.octets == other.octets) return;
  const auto differs =
      std::mismatch(one.octets.begin(), one.octets.end(), other.octets.begin(), other.octets.end());
  problems.push_back(fmt::format("{}: not the same from octet {} of {} on", what,
                                 differs.first - one.octets.begin(), one.octets.size()));
}

void expect_sound(const RunResult& result, Problems& problems) {
  say_if(result.packets == 0, problems, "no packet was sent");
  say_if(result.not_live != 0, problems,
         fmt::format("{} of {} packets took a member that does not live", result.not_live,
                     result.packets));
  say_if(result.too_long != 0, problems,
         fmt::format("{} packets went round more often than the loop allows", result.too_long));
  say_if(result.not_told != 0, problems,
         fmt::format("{} packets have a port or path that is not their member's", result.not_told));
}

// Of a log that was reserved, after a run.
void expect_kept(const ProbeLog& log, Problems& problems) {
  size_t wavering = 0, foreign = 0;
  for (const ProbeLog::Entry& each : log.commits) {
    wavering += each.steady ? 0 : 1;
    foreign += each.own_token ? 0 : 1;
  }
  say_if(log.commits.empty(), problems, "nothing was committed");
  say_if(wavering != 0, problems,
         fmt::format("asked again, it answered otherwise {} times", wavering));
  say_if(foreign != 0, problems,
         fmt::format("{} packets were committed with another's token", foreign));
}

Problems live_members_only(const SchemeInfo& scheme, const Variant& variant) {
  Problems problems;
  const auto selector = Maker{scheme, variant, problems}.usual(six_sets());
  if (selector) expect_sound(run(*selector, busy(variant)), problems);
  return problems;
}

Problems same_twice(const SchemeInfo& scheme, const Variant& variant, const RunPlan& second) {
  Problems problems;
  const Maker maker{scheme, variant, problems};
  const auto one = maker.usual(six_sets());
  const auto other = maker.usual(six_sets());
  if (one && other)
    expect_same(run(*one, busy(variant)), run(*other, second), "two runs of one seed", problems);
  return problems;
}

Problems same_seed_same_choices(const SchemeInfo& scheme, const Variant& variant) {
  return same_twice(scheme, variant, busy(variant));
}

Problems clock_is_rebased(const SchemeInfo& scheme, const Variant& variant) {
  RunPlan plan = busy(variant);
  plan.rebases = true;
  return same_twice(scheme, variant, plan);
}

Problems allocates_nothing(const SchemeInfo& scheme, const Variant& variant) {
  Problems problems;
  const auto selector = Maker{scheme, variant, problems}.usual(six_sets());
  if (!selector) return problems;
  const uint64_t allocations = run(*selector, busy(variant)).allocations;
  say_if(allocations != 0, problems, fmt::format("it allocated {} times", allocations));
  return problems;
}

// Queues and lines fill where packets go and time passes, so every scheme has reason to move on.
MemberMask used_members(Selector& selector, Paths& paths, Instant& now) {
  MemberMask used = 0;
  Burst burst;
  for (uint64_t flow = 0; flow < 150 * kBurst; flow += kBurst) {
    now = now + 21_s;
    for (size_t i = 0; i < burst.size(); ++i)
      paths.load(burst.packet(i).egress_port.index(), 100, now);
    for (size_t i = 0; i < kBurst; ++i) burst.put(i, flow + i, 0);
    burst.select(selector, paths.measured_view(now));
    for (size_t i = 0; i < burst.size(); ++i) {
      const Packet& packet = burst.packet(i);
      used |= lb::bit_of(packet.member);
      lb::PortSignals& port = paths.port(packet.egress_port.index());
      paths.queue(packet.egress_port.index(), port.queued_bytes[3] + packet.wire_len);
    }
  }
  return used;
}

void expect_used(Selector& selector, Paths& paths, Instant& now, Problems& problems) {
  const MemberMask used = used_members(selector, paths, now);
  say_if(used != paths.live(), problems,
         fmt::format("of members {:#x} it used {:#x}", paths.live(), used));
}

Problems one_member_and_sixty_four(const SchemeInfo& scheme, const Variant& variant) {
  Problems problems;
  Instant now;
  for (const size_t count : {size_t{1}, size_t{64}}) {
    Paths paths({make_set(count)});
    const auto selector = Maker{scheme, variant, problems}.bare(paths);
    if (selector) expect_used(*selector, paths, now, problems);
  }
  return problems;
}

Problems member_leaves_and_returns(const SchemeInfo& scheme, const Variant& variant) {
  Problems problems;
  Paths paths({make_set(5)});
  const auto selector = Maker{scheme, variant, problems}.bare(paths);
  Instant now;
  for (const MemberMask live : {0b11111u, 0b10111u, 0b11111u}) {
    paths.live() = live;
    if (selector) expect_used(*selector, paths, now, problems);
  }
  return problems;
}

// Flows start, send back to back and never pause; each set keeps its live members.
Problems flow_keeps_its_path(const SchemeInfo& scheme, const Variant& variant) {
  Problems problems;
  Paths paths({make_set(16), make_set(16, 16)});
  paths.live(0) = 0b1010'1111'0000'1111;
  const auto selector = Maker{scheme, variant, problems}.bare(paths);
  if (!selector) return problems;
  Burst burst;
  std::array<MemberIndex, kBurst> first{};
  Instant now;
  for (uint32_t round = 0; round < 200 && problems.empty(); ++round) {
    for (size_t i = 0; i < kBurst; ++i) burst.put(i, i, i % 2, round);
    burst.select(*selector, paths.measured_view(now));
    for (size_t i = 0; i < kBurst; ++i) {
      const MemberIndex member = burst.packet(i).member;
      if (round == 0) first[i] = member;
      say_if(
          member != first[i], problems,
          fmt::format("flow {} went from member {} to {} at burst {}", i, first[i], member, round));
    }
    now = now + 1_us;
    paths.queue(round % 32, 1'000'000);
  }
  return problems;
}

size_t differing(Burst& one, Burst& other) {
  size_t count = 0;
  for (size_t i = 0; i < one.size(); ++i)
    count += one.packet(i).member != other.packet(i).member ? 1 : 0;
  return count;
}

// ACK, NAK and CNP go as plain ECMP would send them, and leave no trace in the scheme.
Problems roce_control_by_ecmp(const SchemeInfo& scheme, const Variant& variant) {
  Problems problems;
  World world({});
  const Maker maker{scheme, variant, problems};
  const auto selector = maker.bare(world.paths());
  const auto undisturbed = maker.bare(world.paths());
  const auto ecmp = lb::test::make("ecmp", world.paths());
  if (!selector || !undisturbed) return problems;
  Burst data, same;
  size_t others = 0, traces = 0;
  for (int round = 0; round < kBursts; ++round) {
    world.next(data);
    const lb::PathView view = world.view();
    for (uint16_t set = 0; set < world.paths().sets().size(); ++set) {
      Packet ack = make_packet(1'000u + set);
      ack.set(kPacketRoceControl);
      const MemberIndex member = lb::test::select_one(*selector, view, ack, set);
      others += member != lb::test::select_one(*ecmp, view, ack, set) ? 1 : 0;
    }
    same = data;
    data.select(*selector, view);
    same.select(*undisturbed, view);
    traces += differing(data, same);
  }
  say_if(others != 0, problems, fmt::format("{} went another way than by ecmp", others));
  say_if(traces != 0, problems,
         fmt::format("{} packets of data went another way because of them", traces));
  return problems;
}

// Or as data, if asked; control frames between leaves still go by ECMP.
Problems roce_control_by_scheme(const SchemeInfo& scheme, const Variant& variant) {
  Problems problems;
  World world({});
  const Maker maker{scheme, variant, problems};
  const auto asked = maker.bare(world.paths(), /*control_by_scheme=*/true);
  const auto usual = maker.bare(world.paths());
  const auto ecmp = lb::test::make("ecmp", world.paths());
  if (!asked || !usual) return problems;
  Burst data, control;
  size_t others = 0, different = 0;
  for (int round = 0; round < kBursts; ++round) {
    world.next(data);
    const lb::PathView view = world.view();
    Packet between_leaves = make_packet(2'000u);
    between_leaves.flags = kPacketShim | kPacketShimControl | kPacketRoceControl;
    const MemberIndex member = lb::test::select_one(*asked, view, between_leaves, 5);
    others += member != lb::test::select_one(*ecmp, view, between_leaves, 5) ? 1 : 0;
    control = data;
    for (size_t i = 0; i < control.size(); ++i) {
      control.packet(i).set(kPacketRoceControl);
      data.packet(i).flags &= static_cast<uint16_t>(~kPacketRoce);
      control.packet(i).flags &= static_cast<uint16_t>(~kPacketRoce);
    }
    control.select(*asked, view);
    data.select(*usual, view);
    different += differing(control, data);
  }
  say_if(others != 0, problems, fmt::format("{} frames between leaves went by it", others));
  say_if(different != 0, problems, fmt::format("{} went another way than data", different));
  return problems;
}

// Runs with a probe at the place, and what it saw.
RunResult probed_run(const Maker& maker, lb::MakeProbed SchemeProbes::*place, ProbeMode mode,
                     const RunPlan& plan) {
  ProbeLog log{.mode = mode, .commits = {}};
  log.commits.reserve(4 * kBursts * kBurst);
  const auto selector = maker.probed(six_sets(), place, log);
  if (!selector) return {};
  RunResult result = run(*selector, plan);
  expect_sound(result, maker.problems);
  expect_kept(log, maker.problems);
  return result;
}

// A probe is asked packet by packet: so this compares select_burst() with the three steps, too.
Problems proposing_changes_nothing(const SchemeInfo& scheme, const Variant& variant) {
  Problems problems;
  const Maker maker{scheme, variant, problems};
  const auto alone = maker.usual(six_sets());
  if (!alone) return problems;
  const auto place =
      variant.rlb == nullptr ? &SchemeProbes::around_scheme : &SchemeProbes::around_rlb;
  expect_same(run(*alone, busy(variant)),
              probed_run(maker, place, ProbeMode::asks_again, busy(variant)),
              "asked once and asked again", problems);
  return problems;
}

Problems wrapper_may_take_the_second(const SchemeInfo& scheme, const Variant& variant) {
  Problems problems;
  World world({});
  ProbeLog log{.mode = ProbeMode::takes_second, .commits = {}};
  const auto selector =
      Maker{scheme, variant, problems}.probed(world.paths(), &SchemeProbes::around_scheme, log);
  if (!selector) return problems;
  Burst burst;
  size_t lost = 0, dead = 0, firsts = 0;
  for (int round = 0; round < kBursts; ++round) {
    world.next(burst);
    log.commits.clear();
    burst.select(*selector, world.view());
    for (size_t i = 0; i < burst.size() && i < log.commits.size(); ++i) {
      const ProbeLog::Entry& each = log.commits[i];
      const MemberMask live = world.paths().live(burst.set_of(i));
      lost += burst.packet(i).member != each.committed ? 1 : 0;
      dead += lb::contains(live, each.committed) ? 0 : 1;
      firsts += (each.committed == each.proposed) != (lb::count_of(live) == 1) ? 1 : 0;
    }
    lost += burst.size() - std::min(burst.size(), log.commits.size());
  }
  say_if(lost != 0, problems, fmt::format("{} packets went elsewhere than committed", lost));
  say_if(dead != 0, problems, fmt::format("{} alternatives do not live", dead));
  say_if(firsts != 0, problems, fmt::format("{} alternatives are what was tried", firsts));
  return problems;
}

// Nothing is warned, and no flow is watched.
Problems quiet_rlb_is_the_scheme(const SchemeInfo& scheme, const Variant& variant) {
  Problems problems;
  const Maker maker{scheme, variant, problems};
  const auto bare = maker.bare(six_sets());
  const auto wrapped = maker.usual(six_sets());
  if (bare && wrapped)
    expect_same(run(*bare, {.watched = false}), run(*wrapped, {.watched = false}),
                "the scheme and RLB around it", problems);
  return problems;
}

// A wrapper that passes everything on is not there.
Problems same_with_probe(const SchemeInfo& scheme, const Variant& variant,
                         lb::MakeProbed SchemeProbes::*place) {
  Problems problems;
  const Maker maker{scheme, variant, problems};
  for (const RunPlan& plan : {busy(variant), quiet(variant)}) {
    const auto rlb = maker.usual(six_sets());
    if (!rlb) return problems;
    expect_same(run(*rlb, plan), probed_run(maker, place, ProbeMode::passes, plan),
                plan.warned ? "warned, without the wrapper and with it"
                            : "not warned, without the wrapper and with it",
                problems);
  }
  return problems;
}

Problems rlb_inside_a_wrapper(const SchemeInfo& scheme, const Variant& variant) {
  return same_with_probe(scheme, variant, &SchemeProbes::around_rlb);
}

Problems rlb_around_a_wrapper(const SchemeInfo& scheme, const Variant& variant) {
  return same_with_probe(scheme, variant, &SchemeProbes::inside_rlb);
}

Problems rlb_around_rlb(const SchemeInfo& scheme, const Variant& variant) {
  Problems problems;
  const Maker maker{scheme, variant, problems};
  const auto between = [&](ProbeMode mode) {
    return probed_run(maker, &SchemeProbes::between_rlbs, mode, busy(variant));
  };
  const RunResult usual = between(ProbeMode::passes);
  expect_same(usual, between(ProbeMode::passes), "two runs of one seed", problems);
  expect_same(usual, between(ProbeMode::asks_again), "the inner one asked once and again",
              problems);
  expect_same(
      usual,
      probed_run(maker, &SchemeProbes::around_two_rlbs, ProbeMode::asks_again, busy(variant)),
      "both asked once and again", problems);
  return problems;
}

constexpr std::array kChecks = {
    Check{.name = "live_members_only",
          .summary = "only members that live are chosen, and their port and path told",
          .over = Over::bare,
          .essential = true,
          .problems = &live_members_only},
    Check{.name = "wrapper_may_take_the_second",
          .summary = "an alternative is another live member, and is committed",
          .over = Over::bare,
          .probes = true,
          .essential = true,
          .problems = &wrapper_may_take_the_second},
    Check{.name = "same_seed_same_choices",
          .summary = "two runs of one seed are the same octet for octet",
          .over = Over::both,
          .problems = &same_seed_same_choices},
    Check{.name = "clock_is_rebased",
          .summary = "choices stay the same when the clock of the switch begins anew",
          .over = Over::both,
          .problems = &clock_is_rebased},
    Check{.name = "allocates_nothing",
          .summary = "nothing is allocated after construction",
          .over = Over::both,
          .problems = &allocates_nothing},
    Check{.name = "one_member_and_sixty_four",
          .summary = "a set of one member and one of 64 are used, all of them",
          .over = Over::bare,
          .problems = &one_member_and_sixty_four},
    Check{.name = "member_leaves_and_returns",
          .summary = "a member that dies is left, and used when it is back",
          .over = Over::bare,
          .problems = &member_leaves_and_returns},
    Check{.name = "flow_keeps_its_path",
          .summary = "a flow that does not pause stays, where that is promised",
          .over = Over::bare,
          .ordered = true,
          .problems = &flow_keeps_its_path},
    Check{.name = "roce_control_by_ecmp",
          .summary = "ACK, NAK and CNP go by ecmp and leave no trace",
          .over = Over::bare,
          .problems = &roce_control_by_ecmp},
    Check{.name = "roce_control_by_scheme",
          .summary = "or as data, if asked",
          .over = Over::bare,
          .problems = &roce_control_by_scheme},
    Check{.name = "proposing_changes_nothing",
          .summary = "asked again, and for others, it goes on as asked once",
          .over = Over::both,
          .probes = true,
          .problems = &proposing_changes_nothing},
    Check{.name = "rlb_live_members_only",
          .summary = "with RLB, too, and none waits for longer than it may",
          .over = Over::with_rlb,
          .problems = &live_members_only},
    Check{.name = "quiet_rlb_is_the_scheme",
          .summary = "with RLB and nothing to do for it, the scheme decides",
          .over = Over::with_rlb,
          .problems = &quiet_rlb_is_the_scheme},
    Check{.name = "rlb_inside_a_wrapper",
          .summary = "a wrapper that does nothing around RLB changes nothing",
          .over = Over::with_rlb,
          .probes = true,
          .problems = &rlb_inside_a_wrapper},
    Check{.name = "rlb_around_a_wrapper",
          .summary = "a wrapper that does nothing inside RLB changes nothing",
          .over = Over::with_rlb,
          .probes = true,
          .problems = &rlb_around_a_wrapper},
    Check{.name = "rlb_around_rlb",
          .summary = "RLB around a wrapper around RLB keeps the rules",
          .over = Over::with_rlb,
          .probes = true,
          .problems = &rlb_around_rlb},
};

}  // namespace

std::span<const Check> checks() {
  return kChecks;
}

}  // namespace eddy::conformance
