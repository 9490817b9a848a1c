// How the suite makes selectors of a scheme.
#pragma once

#include <memory>

#include "lab/conformance/paths.h"
#include "lab/conformance/suite.h"
#include "lb/schemes/probes.h"

namespace eddy::conformance {

// Null: the scheme does not take its own parameters; said in `problems`.
struct Maker {
  const lb::SchemeInfo& scheme;
  const Variant& variant;
  Problems& problems;

  std::unique_ptr<lb::Selector> bare(const lb::test::Paths& paths,
                                     bool control_by_scheme = false) const;
  // As the variant says: bare, or RLB around it.
  std::unique_ptr<lb::Selector> usual(const lb::test::Paths& paths) const;
  // With probes at one of their places.
  std::unique_ptr<lb::Selector> probed(const lb::test::Paths& paths,
                                       lb::MakeProbed lb::SchemeProbes::*place,
                                       lb::ProbeLog& log) const;

 private:
  lb::SelectorInit init(const lb::test::Paths& paths) const;
  std::unique_ptr<lb::Selector> taken(Result<std::unique_ptr<lb::Selector>> made) const;
};

}  // namespace eddy::conformance
