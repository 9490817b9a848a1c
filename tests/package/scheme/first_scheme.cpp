// The smallest scheme there can be, always the first live path, and its test.
#include <array>
#include <cstdio>

#include "lb/schemes/scheme.h"
#include "tests/support/paths.h"

namespace eddy::lb {
namespace {

class First {
 public:
  static constexpr std::string_view kSummary = "the first path that lives";
  static constexpr bool kPromisesOrder = true;
  using Token = NoToken;  // commit() asks nothing of propose()

  struct Parameters {
    int64_t skipped = 0;
  };
  static constexpr auto parameters() {
    return std::array{
        ranged<&Parameters::skipped>("skipped", 0, 8, {"paths that are never first", "nowhere"})};
  }

  First(const SelectorInit&, const Parameters& parameters) : skipped_(parameters.skipped) {}

  Proposal<Token> propose(const PathView& view, const Packet&, uint16_t set) const {
    return {first_of(view.live(set))};
  }
  MemberIndex alternative(const PathView& view, const Packet&, uint16_t set,
                          MemberMask tried) const {
    return first_of(view.live(set) & ~tried);
  }
  void commit(const PathView&, const Packet&, uint16_t, MemberIndex, const Token&) const {}

 private:
  MemberIndex first_of(MemberMask mask) const {
    for (int64_t i = 0; i < skipped_ && (mask & (mask - 1)) != 0; ++i) mask &= mask - 1;
    return static_cast<MemberIndex>(std::countr_zero(mask));
  }

  const int64_t skipped_;
};

}  // namespace

EDDY_SCHEME(first, First)

}  // namespace eddy::lb

int main() {
  using namespace eddy;
  const lb::SchemeInfo scheme = lb::first_scheme();
  lb::test::Paths paths({lb::test::make_set(4)});
  const lb::ParameterMap parameters{{"skipped", "1"}};
  const lb::SelectorInit init{
      .sets = paths.sets(), .seed = 1, .parameters = parameters, .lines = paths.lines()};
  const auto selector = scheme.make(init);
  if (!selector) return 1;
  Packet packet = lb::test::make_packet(7);
  std::array<Packet*, 1> burst = {&packet};
  const std::array<uint16_t, 1> sets = {0};
  selector.value()->select(paths.view(), burst, sets);
  std::printf("%s takes path %d; %zu schemes come with the library\n", scheme.name.data(),
              packet.member, lb::schemes().size());
  return packet.member == 1 ? 0 : 1;
}
