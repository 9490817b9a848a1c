#include "plugin/hosted_scheme.h"

#include <cxxabi.h>

#include <exception>
#include <utility>

#include "plugin/guarded_selector.h"

namespace eddy::plugin {
namespace {

using Made = Result<std::unique_ptr<lb::Selector>>;

Made make_guarded(const lb::SchemeInfo& info, const lb::SelectorInit& init) {
  const auto& scheme = static_cast<const HostedScheme&>(info);
  const auto failed = [&](const std::string& what) {
    return Made::failure(scheme.file + ": scheme " + std::string(scheme.name) + " " + what);
  };
  try {
    Made made = init.rlb == nullptr ? scheme.make(init) : scheme.make_with_rlb(init);
    if (!made)
      return failed("refuses: " + (made.problems().empty() ? std::string("it says not why")
                                                           : made.problems().front()));
    if (made.value() == nullptr) return failed("makes nothing");
    return std::unique_ptr<lb::Selector>(
        std::make_unique<GuardedSelector>(std::move(made.value()), init, scheme.trouble));
  } catch (abi::__forced_unwind&) {
    throw;
  } catch (const std::exception& thrown) {
    return failed(std::string("throws when it is made: ") + thrown.what());
  } catch (...) {
    return failed("throws something that is no std::exception when it is made");
  }
}

}  // namespace

HostedScheme::HostedScheme(const lb::SchemeInfo& info, std::string from)
    : lb::SchemeInfo(info), file(std::move(from)) {
  hosted = &make_guarded;
}

}  // namespace eddy::plugin
