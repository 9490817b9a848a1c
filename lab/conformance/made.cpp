#include "lab/conformance/made.h"

namespace eddy::conformance {

std::unique_ptr<lb::Selector> Maker::bare(const lb::test::Paths& paths,
                                          bool control_by_scheme) const {
  lb::SelectorInit with = init(paths);
  with.rlb = nullptr;
  with.control_by_scheme = control_by_scheme;
  return taken(scheme.make(with));
}

std::unique_ptr<lb::Selector> Maker::usual(const lb::test::Paths& paths) const {
  return variant.rlb == nullptr ? bare(paths) : taken(scheme.make_with_rlb(init(paths)));
}

std::unique_ptr<lb::Selector> Maker::probed(const lb::test::Paths& paths,
                                            lb::MakeProbed lb::SchemeProbes::*place,
                                            lb::ProbeLog& log) const {
  return taken((scheme.probes->*place)(init(paths), log));
}

lb::SelectorInit Maker::init(const lb::test::Paths& paths) const {
  return {.sets = paths.sets(),
          .seed = 1,
          .switch_id = SwitchId(1),
          .shard = ShardId(0),
          .parameters = variant.parameters,
          .rlb = variant.rlb == nullptr ? nullptr : &variant.rlb->config,
          .lines = paths.lines(),
          .dre = paths.dre()};
}

std::unique_ptr<lb::Selector> Maker::taken(Result<std::unique_ptr<lb::Selector>> made) const {
  if (made && made.value() == nullptr) problems.emplace_back("it makes nothing");
  if (made) return std::move(made.value());
  for (const std::string& problem : made.problems()) problems.push_back(problem);
  return nullptr;
}

}  // namespace eddy::conformance
