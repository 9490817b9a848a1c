#include "config/plugin_source.h"

#include <fmt/format.h>

#include <array>

#include "lb/registry.h"
#include "lb/selector_init.h"

namespace eddy::config {
namespace {

constexpr const char* kKey = "load_balancer.plugin";

Finding finding(const std::string& text) {
  return {kKey, fmt::format("{}: {}", kKey, text)};
}

// One destination with two paths.
lb::PathSet sample_set() {
  lb::PathSet set;
  set.leaf = LeafId(1);
  set.count = 2;
  for (size_t i = 0; i < set.count; ++i) set.members[i].port = PortId(i);
  return set;
}

}  // namespace

std::optional<Finding> load_plugin(LoadBalancerConfig& chosen, PluginSource* source,
                                   const std::filesystem::path& folder) {
  if (chosen.plugin.empty()) return std::nullopt;
  if (source == nullptr) return finding("nothing is loaded here");
  const auto found = source->find({chosen.plugin, chosen.scheme, folder});
  if (!found) return finding(found.problems().front());
  chosen.loaded = found.value();
  chosen.scheme = std::string(chosen.loaded->info->name);
  // Wherever this configuration goes, it is to mean the same.
  if (!chosen.loaded->packaged) chosen.plugin = chosen.loaded->file;
  return std::nullopt;
}

std::optional<Finding> try_plugin(const LoadBalancerConfig& chosen, const RlbConfig& rlb) {
  if (chosen.loaded == nullptr) return std::nullopt;
  const std::array sets = {sample_set()};
  const std::array lines = {lb::PortLine{1_Gbps, Bytes(0)}, lb::PortLine{1_Gbps, Bytes(0)}};
  const lb::SelectorInit init{.sets = sets,
                              .seed = 1,
                              .switch_id = SwitchId(1),
                              .shard = ShardId(0),
                              .parameters = chosen.parameters,
                              .rlb = rlb.enabled() ? &rlb : nullptr,
                              .lines = lines};
  const auto made = lb::make_selector(chosen, init);
  if (made) return std::nullopt;
  return finding(made.problems().front());
}

}  // namespace eddy::config
