#include "lab/conformance/world.h"

namespace eddy::conformance {

using namespace literals;
using lb::test::make_set;
using lb::test::Paths;

namespace {

constexpr size_t kPorts = 94;  // of the six sets

}  // namespace

Paths six_sets() {
  const std::array<uint16_t, 4> uneven = {40, 40, 10, 10};
  std::vector<lb::PathSet> sets = {make_set(1),    make_set(2, 1),   make_set(uneven, 3),
                                   make_set(7, 7), make_set(16, 14), make_set(64, 30)};
  for (size_t i = 0; i < sets.size(); ++i) sets[i].leaf = LeafId(i);
  return Paths(std::move(sets));
}
Paths six_alike_sets() {
  std::vector<lb::PathSet> sets;
  for (size_t i = 0; i < 6; ++i) {
    sets.push_back(make_set(7, 7 * i));
    sets.back().leaf = LeafId(i);
  }
  return Paths(std::move(sets));
}

World::World(const Plan& plan, std::shared_ptr<lb::FlowSlots> slots)
    : paths_(plan.alike ? six_alike_sets() : six_sets()),
      warnings_(paths_.sets(), kMaxPorts),
      flows_(256),
      slots_(slots != nullptr ? std::move(slots) : std::make_shared<lb::FlowSlots>(256)),
      plan_(plan) {}

void World::next(Burst& burst, bool with_deaths) {
  const bool pauses = random_.below(4) == 0;
  now_ = now_ + Duration::nanoseconds(random_.below(pauses ? 80'000 : 4'000));
  for (size_t i = 0; i < burst.size(); ++i) {
    const uint64_t flow = random_.below(300);
    const uint32_t other = random_.below(8) == 0 ? random_.below(6) : 0;
    const uint64_t set = (flow + (plan_.settled ? 0 : other)) % 6;
    burst.put(i, flow, static_cast<uint16_t>(set),
              random_.below(16) == 0 ? packets_ / 2 : packets_);
    ++packets_;
  }
  change_ports();
  for (uint16_t set = 0; set < paths_.sets().size(); ++set) measure(set);
  for (int i = 0; i < 12; ++i) warn();
  while (warnings_.expire_one(now())) {
  }
  for (size_t set = 0; set < paths_.sets().size(); ++set) {
    const lb::MemberMask all = lb::test::first_members(paths_.sets()[set].count);
    const lb::MemberMask some = random_.next64() & all;
    const bool changes = random_.below(8) == 0;
    if (with_deaths && changes) paths_.live(set) = some != 0 ? some : all;
  }
}

void World::change_ports() {
  for (int i = 0; i < 8; ++i) paths_.queue(random_.below(kPorts), random_.below(100'000));
  paths_.port(random_.below(kPorts)).paused_queues = static_cast<uint8_t>(random_.next());
  const uint32_t loaded = random_.below(kPorts);
  paths_.load(loaded, random_.below(120), now_);
  if (ahead_ != Duration{}) Rebase(Rebase::Way::forward).shift(paths_.port(loaded).dre_since_ps);
}

void World::measure(uint16_t set) {
  lb::PathTable& table = paths_.measured();
  for (int i = 0; i < 4; ++i) {
    const auto member = static_cast<lb::MemberIndex>(random_.below(paths_.sets()[set].count));
    lb::PathRecord& record = table.at(set, member);
    const Instant at = table.record_time(now());
    table.take_delay(set, member, Duration::nanoseconds(8'000 + random_.below(100'000)), at);
    record.take_marks(100, random_.below(101));
    record.take_congestion(static_cast<uint8_t>(random_.next()), at);
    if (random_.below(2) == 0) table.take_echo(set, member, now() - 500_ns, /*proves=*/true);
  }
  const auto member = static_cast<lb::MemberIndex>(random_.below(paths_.sets()[set].count));
  table.set_failed(set, member,
                   random_.below(8) == 0 ? lb::PathFailure::silent : lb::PathFailure::none);
}

void World::warn() {
  const lb::WarningMark mark{.port = PortId(random_.below(kPorts)),
                             .queue = QueueId(3),
                             .severity = static_cast<uint8_t>(random_.below(3) * 30),
                             .sequence = ++packets_,
                             .source = 1 + random_.below(4),
                             .origin = 1 + random_.below(4),
                             .expiry = now() + 24_us};
  if (plan_.warned) warnings_.mark(mark);
}

void World::move_clock(lb::Selector& selector) {
  const Rebase rebase(ahead_ == Duration{} ? Rebase::Way::forward : Rebase::Way::back);
  ahead_ -= rebase.back();
  selector.rebase(rebase);
  paths_.rebase(rebase);
  warnings_.rebase(rebase);
}

lb::PathView World::view(lb::WaitingRoom* loop) {
  return paths_.view_with(now(), {.warnings = &warnings_,
                                  .paths = &paths_.measured(),
                                  .flows = plan_.watched ? &flows_ : nullptr,
                                  .slots = plan_.watched ? slots_.get() : nullptr,
                                  .loop = loop});
}

}  // namespace eddy::conformance
