// What a scheme out of the tree includes to become a plugin: a shared object that eddyd and eddylab
// load by `load_balancer: {plugin: my_scheme.so}`.
//
// Its file ends with EDDY_PLUGIN(name, Type) in place of EDDY_SCHEME(name, Type). A plugin has one
// symbol that others see, `eddy_plugin`: a constant that says what it was built with and leads to
// its schemes. Whoever loads it compares that with itself before anything else of it is called.
// Owner: the plugin; constants. Source: docs/plugins.md, docs/adr/0028-plugins.md.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <map>
#include <span>
#include <string>
#include <string_view>

#include "config/rlb.h"
#include "lb/agent.h"
#include "lb/flow_paths.h"
#include "lb/path_set.h"
#include "lb/path_table.h"
#include "lb/path_view.h"
#include "lb/schemes/probes.h"
#include "lb/schemes/scheme.h"
#include "lb/warning_table.h"
#include "net/packet.h"

namespace eddy::lb {

// Goes up by one whenever a header of lb/ or net/ that a scheme sees changes what it means, or a
// class its functions. A change of layout alone is seen by the facts below.
inline constexpr uint32_t kPluginAbi = 3;
inline constexpr char kPluginSymbol[] = "eddy_plugin";
inline constexpr std::array<char, 8> kPluginMagic = {'E', 'D', 'D', 'Y', 'P', 'L', 'U', 'G'};

#ifdef EDDY_FAULT_SITES
inline constexpr uint32_t kFaultSitesHere = 1;
#else
inline constexpr uint32_t kFaultSitesHere = 0;
#endif

// What both sides of a call must agree about, besides the number: what it is, its value here.
#define EDDY_PLUGIN_FACTS(X)                                             \
  X("the compiler's ABI version", __GXX_ABI_VERSION)                     \
  X("fault sites", kFaultSitesHere)                                      \
  X("the size of std::string", sizeof(std::string))                      \
  X("the size of std::map", sizeof(ParameterMap))                        \
  X("the size of Packet", sizeof(Packet))                                \
  X("the alignment of Packet", alignof(Packet))                          \
  X("the place of Packet::flags", offsetof(Packet, flags))               \
  X("the place of Packet::member", offsetof(Packet, member))             \
  X("the place of Packet::egress_port", offsetof(Packet, egress_port))   \
  X("the place of Packet::path", offsetof(Packet, path))                 \
  X("the place of Packet::wire_len", offsetof(Packet, wire_len))         \
  X("the place of Packet::balance_hash", offsetof(Packet, balance_hash)) \
  X("the size of PathView", sizeof(PathView))                            \
  X("the size of PathAids", sizeof(PathAids))                            \
  X("the size of PathSet", sizeof(PathSet))                              \
  X("the size of PathMember", sizeof(PathMember))                        \
  X("the size of PortSignals", sizeof(PortSignals))                      \
  X("the place of PortSignals::up", offsetof(PortSignals, up))           \
  X("the size of PathTable", sizeof(PathTable))                          \
  X("the size of WarningTable", sizeof(WarningTable))                    \
  X("the size of FlowPaths", sizeof(FlowPaths))                          \
  X("the size of WaitingRoom", sizeof(WaitingRoom))                      \
  X("the size of Speech", sizeof(Speech))                                \
  X("the size of PathAgent", sizeof(PathAgent))                          \
  X("the size of Dressing", sizeof(Dressing))                            \
  X("the size of Arrival", sizeof(Arrival))                              \
  X("the size of Feedback", sizeof(Feedback))                            \
  X("the size of HeardFrame", sizeof(HeardFrame))                        \
  X("the size of Reply", sizeof(Reply))                                  \
  X("the size of Utterance", sizeof(Utterance))                          \
  X("the size of StageView", sizeof(StageView))                          \
  X("the size of FlowStage", sizeof(FlowStage))                          \
  X("the size of Selector", sizeof(Selector))                            \
  X("the size of SelectorInit", sizeof(SelectorInit))                    \
  X("the size of RlbConfig", sizeof(config::RlbConfig))                  \
  X("the size of ParameterInfo", sizeof(ParameterInfo))                  \
  X("the size of SchemeInfo", sizeof(SchemeInfo))                        \
  X("the most paths of a set", kMaxPaths)                                \
  X("the priorities", kPriorities)

inline constexpr size_t kPluginFactPlaces = 64;  // more than there are: PluginHeader keeps its size

// Magic, ABI and size stand where they are in every version.
struct PluginHeader {
  std::array<char, 8> magic = kPluginMagic;
  uint32_t abi = kPluginAbi;
  uint32_t size = 0;                // of this struct
  std::array<char, 16> version{};   // of Eddy, whose headers it was compiled with: "0.1.0"
  std::array<char, 64> compiler{};  // in its own words
  std::array<uint32_t, kPluginFactPlaces> facts{};
  std::span<const SchemeInfo> (*schemes)() = nullptr;
};

namespace detail {
template <size_t N>
constexpr std::array<char, N> text_in(std::string_view text) {
  std::array<char, N> out{};
  for (size_t i = 0; i + 1 < N && i < text.size(); ++i) out[i] = text[i];
  return out;
}
}  // namespace detail

#define EDDY_PLUGIN_TEXT_OF(word) #word
#define EDDY_PLUGIN_TEXT(word) EDDY_PLUGIN_TEXT_OF(word)
#ifdef EDDY_HEADERS_VERSION  // said by the package's files for CMake and pkg-config
inline constexpr std::string_view kHeadersVersion = EDDY_PLUGIN_TEXT(EDDY_HEADERS_VERSION);
#else
inline constexpr std::string_view kHeadersVersion = "unknown";
#endif

constexpr PluginHeader plugin_header(std::span<const SchemeInfo> (*schemes)()) {
  PluginHeader header;
  header.size = sizeof(PluginHeader);
  header.version = detail::text_in<sizeof(header.version)>(kHeadersVersion);
#ifdef __clang__
  header.compiler = detail::text_in<sizeof(header.compiler)>(__VERSION__);
#else
  header.compiler = detail::text_in<sizeof(header.compiler)>("g++ " __VERSION__);
#endif
  size_t count = 0;
#define EDDY_PLUGIN_FACT(name, value) header.facts[count++] = static_cast<uint32_t>(value);
  EDDY_PLUGIN_FACTS(EDDY_PLUGIN_FACT)
#undef EDDY_PLUGIN_FACT
  header.schemes = schemes;
  return header;
}

}  // namespace eddy::lb

// A plugin of several schemes: EDDY_PLUGIN_OF(eddy::lb::describe_with_probes<One>("one"), ...).
#define EDDY_PLUGIN_OF(...)                                                                  \
  static std::span<const ::eddy::lb::SchemeInfo> eddy_schemes_of_plugin() {                  \
    static const std::array list = {__VA_ARGS__};                                            \
    return list;                                                                             \
  }                                                                                          \
  extern "C"                                                                                 \
      [[gnu::visibility("default"), gnu::used]] const ::eddy::lb::PluginHeader eddy_plugin = \
          ::eddy::lb::plugin_header(&eddy_schemes_of_plugin);

// With the probes of the conformance suite, which `eddylab conformance` runs on it.
#define EDDY_PLUGIN(name, Type) EDDY_PLUGIN_OF(::eddy::lb::describe_with_probes<Type>(#name))
