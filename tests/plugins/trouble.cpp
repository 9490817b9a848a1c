// A plugin with two schemes. `trouble` does what its parameter says, after so many packets; else it
// is ECMP without resilience. `calm` never does anything wrong.
#include <stdexcept>

#include "lb/schemes/plugin.h"

namespace {

using namespace eddy;
using namespace eddy::lb;

enum class When : uint8_t {
  never,
  make_throws,
  make_throws_number,
  make_nothing,
  make_refuses,
  select_throws,
  select_throws_number,
  stage_throws
};
constexpr std::array<std::string_view, 8> kWhenNames = {
    "never",        "make_throws",   "make_throws_number",   "make_nothing",
    "make_refuses", "select_throws", "select_throws_number", "stage_throws"};

// Holds each packet from a host for a while, and throws while it holds one.
class Holder final : public FlowStage {
 public:
  explicit Holder(int64_t after) : after_(after) {}
  StageBounds bounds() const override { return {1 << 20, Duration::milliseconds(50)}; }
  void take(StageView& view, std::span<Packet* const> burst) override {
    for (Packet* packet : burst) {
      view.hold(packet);
      held_.push(packet);
      due_ = view.now() + Duration::milliseconds(1);
      if (count_++ == after_) throw std::runtime_error("out of places");
    }
  }
  Instant next_deadline() const override { return held_.empty() ? Instant::never() : due_; }
  void on_timers(StageView& view) override { release_all(view); }
  void release_all(StageView& view) override {
    while (!held_.empty()) view.release(held_.pop());
  }
  void rebase(const Rebase& rebase) override { rebase.shift(due_); }

 private:
  const int64_t after_;
  int64_t count_ = 0;
  PacketFifo held_;
  Instant due_;
};

class Trouble {
 public:
  static constexpr std::string_view kSummary = "what a scheme should not do";
  static constexpr bool kPromisesOrder = true;
  using Token = NoToken;

  struct Parameters {
    When when = When::never;
    int64_t after = 0;
  };
  static constexpr auto parameters() {
    return std::array{
        choice<&Parameters::when>("when", kWhenNames, {"what it does", "tests"}),
        ranged<&Parameters::after>("after", 0, 1'000'000, {"packets before", "tests"})};
  }

  Trouble(const SelectorInit&, const Parameters& parameters)
      : parameters_(parameters), holder_(parameters.after) {
    if (parameters.when == When::make_throws) throw std::runtime_error("no luck today");
    if (parameters.when == When::make_throws_number) throw 7;
  }

  Proposal<NoToken> propose(const PathView& view, const Packet& packet, uint16_t set) const {
    if (count_ >= parameters_.after) {
      if (parameters_.when == When::select_throws) throw std::runtime_error("out of ideas");
      if (parameters_.when == When::select_throws_number) throw 7;
    }
    return {random_of(view.live(set), static_cast<uint32_t>(mix64(packet.balance_hash)))};
  }
  MemberIndex alternative(const PathView& view, const Packet& packet, uint16_t set,
                          MemberMask tried) const {
    return random_of(view.live(set) & ~tried, static_cast<uint32_t>(mix64(packet.balance_hash)));
  }
  void commit(const PathView&, const Packet&, uint16_t, MemberIndex, NoToken) { ++count_; }
  FlowStage* stage(StagePlace place) {
    const bool wanted = parameters_.when == When::stage_throws && place == StagePlace::from_hosts;
    return wanted ? &holder_ : nullptr;
  }

 private:
  const Parameters parameters_;
  Holder holder_;
  int64_t count_ = 0;
};

class Calm {
 public:
  static constexpr std::string_view kSummary = "a path by hash";
  static constexpr bool kPromisesOrder = true;
  using Token = NoToken;
  struct Parameters {};
  static constexpr auto parameters() { return std::array<Declared<Parameters>, 0>{}; }
  Calm(const SelectorInit&, const Parameters&) {}
  Proposal<NoToken> propose(const PathView& view, const Packet& packet, uint16_t set) const {
    return {pick(packet, view.live(set))};
  }
  MemberIndex alternative(const PathView& view, const Packet& packet, uint16_t set,
                          MemberMask tried) const {
    return pick(packet, view.live(set) & ~tried);
  }
  void commit(const PathView&, const Packet&, uint16_t, MemberIndex, NoToken) {}

 private:
  static MemberIndex pick(const Packet& packet, MemberMask of) {
    return random_of(of, static_cast<uint32_t>(mix64(packet.balance_hash)));
  }
};

Result<std::unique_ptr<Selector>> make(const SelectorInit& init) {
  const auto when = init.parameters.find("when");
  if (when != init.parameters.end() && when->second == "make_nothing")
    return std::unique_ptr<Selector>();
  if (when != init.parameters.end() && when->second == "make_refuses")
    return Problems{"there are too few paths"};
  return describe<Trouble>("trouble").make(init);
}

SchemeInfo troubled() {
  SchemeInfo info = describe_with_probes<Trouble>("trouble");
  info.make = &make;
  return info;
}

}  // namespace

EDDY_PLUGIN_OF(troubled(), describe_with_probes<Calm>("calm"))
