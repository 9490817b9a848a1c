// Plugins that are refused, each for what its name says: one REFUSED_... is defined.
#include <unistd.h>

#include <csignal>
#include <stdexcept>

#include "lb/schemes/plugin.h"

using namespace eddy;
using namespace eddy::lb;

namespace {

[[maybe_unused]] constexpr std::array<ParameterInfo, 1> kReserved = {
    ParameterInfo{.name = "plugin", .help = "a word of the configuration's own"}};

Result<std::unique_ptr<Selector>> make(const SelectorInit&) {
  return Problems{"nobody gets this far"};
}

SchemeInfo named(std::string_view name) {
  SchemeInfo info{.name = name, .summary = "none", .make = &make, .make_with_rlb = &make};
#ifdef REFUSED_BAD_PARAMETER
  info.parameters = kReserved;
#endif
  return info;
}

std::span<const SchemeInfo> list() {
#ifdef REFUSED_LIST_THROWS
  throw std::runtime_error("the list is lost");
#endif
#ifdef REFUSED_TAKEN_NAME
  static const std::array all = {named("letflow")};
#elif defined(REFUSED_TWICE)
  static const std::array all = {named("one"), named("one")};
#else
  static const std::array all = {named("one")};
#endif
#ifdef REFUSED_NO_SCHEMES
  return {};
#endif
  return all;
}

[[maybe_unused]] constexpr PluginHeader header() {
  PluginHeader out = plugin_header(&list);
#ifdef REFUSED_OTHER_ABI
  out.abi = kPluginAbi + 41;
#endif
#ifdef REFUSED_OTHER_LAYOUT
  out.facts[4] += 8;  // the size of Packet
#endif
#ifdef REFUSED_OTHER_HEADER
  out.size += 8;
#endif
  return out;
}

[[maybe_unused]] int in_a_constructor() {
#ifdef REFUSED_THROWS_EXCEPTION
  throw std::runtime_error("not before breakfast");
#elif defined(REFUSED_THROWS_NUMBER)
  throw 7;
#elif defined(REFUSED_CRASHES)
  std::raise(SIGSEGV);
#elif defined(REFUSED_LEAVES)
  _exit(3);
#elif defined(REFUSED_HANGS)
  for (;;) pause();
#endif
  return 0;
}
[[gnu::used]] const int constructed = in_a_constructor();

}  // namespace

#ifdef REFUSED_UNRESOLVED
extern "C" int nobody_has_this();
extern "C" int call_it() {
  return nobody_has_this();
}
#endif

#ifdef REFUSED_FOREIGN_SYMBOL
extern "C" [[gnu::visibility("default"), gnu::used]] const int eddy_plugin = 7;
#elif !defined(REFUSED_NO_SYMBOL)
extern "C" [[gnu::visibility("default"), gnu::used]] const PluginHeader eddy_plugin = header();
#endif
