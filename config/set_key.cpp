#include "config/set_key.h"

#include <algorithm>
#include <array>
#include <utility>
#include <vector>

#include "config/diff.h"
#include "config/keys/keys.h"

namespace eddy::config {
namespace {

constexpr std::string_view kPorts = "ports.";
constexpr std::string_view kPortDefaults = "port_defaults.";
constexpr std::string_view kQos = "qos.";
constexpr std::string_view kScheme = "load_balancer.scheme";

// "a.b.c" around a value, as maps in maps.
Node nest(std::string_view path, Node value) {
  const size_t dot = path.find('.');
  Node node{.kind = Node::Kind::map};
  const std::string key(path.substr(0, dot));
  node.members.push_back({key,
                          {},
                          dot == std::string_view::npos
                              ? std::move(value)
                              : nest(path.substr(dot + 1), std::move(value))});
  return node;
}

Problems texts_of(const std::string& path, const std::vector<Problem>& problems) {
  Problems texts;
  for (const Problem& problem : problems) texts.push_back(path + ": " + problem.text);
  return texts;
}

void set_in(const Section& section, std::string_view path, const Node& value, void* object,
            std::vector<Problem>& problems) {
  Positions positions;
  Reader reader(problems, positions);
  read_section(section, reader, nest(path, value), object);
}

// The port that the path begins with, whose name may have dots in it; the longest name wins.
PortConfig* port_of(SwitchConfig& config, std::string_view path) {
  PortConfig* found = nullptr;
  for (PortConfig& port : config.ports)
    if (path.starts_with(port.name + ".") &&
        (found == nullptr || found->name.size() < port.name.size()))
      found = &port;
  return found;
}

void set_anywhere(Document& document, std::string_view path, const Node& value,
                  std::vector<Problem>& problems) {
  constexpr std::array<std::string_view, 4> kLists = {"ports", "leaves", "routes", "neighbors"};
  SwitchConfig& config = document.config;
  const Section& port_section = section_of<PortConfig>();
  if (path.starts_with(kPortDefaults) || path.starts_with(kQos)) {
    if (path.starts_with(kPortDefaults)) path.remove_prefix(kPortDefaults.size());
    for (PortConfig& port : config.ports)
      if (problems.empty()) set_in(port_section, path, value, &port, problems);
  } else if (path.starts_with(kPorts)) {
    const std::string_view rest = path.substr(kPorts.size());
    PortConfig* port = port_of(config, rest);
    if (port == nullptr)
      problems.push_back({{}, "no such port, write ports.NAME.KEY or port_defaults.KEY"});
    else
      set_in(port_section, rest.substr(port->name.size() + 1), value, port, problems);
  } else if (std::ranges::find(kLists, path.substr(0, path.find('.'))) != kLists.end()) {
    problems.push_back({{}, "a list cannot be set, only single keys can"});
  } else {
    LoadBalancerConfig& balancer = config.load_balancer;
    if (path == kScheme) balancer = {.scheme = balancer.scheme, .control = balancer.control};
    set_in(document_section(), path, value, &document, problems);
  }
}

}  // namespace

Problems set_key(SwitchConfig& config, const std::string& path, std::string_view value) {
  std::vector<Problem> problems;
  const Node node = parse_yaml(value, problems);
  Document document{config, {}};
  if (problems.empty()) set_anywhere(document, path, node, problems);
  if (!problems.empty()) return texts_of(path, problems);
  const std::string& plugin = document.config.load_balancer.plugin;
  if (!plugin.empty() && plugin != config.load_balancer.plugin)
    return {path +
            ": a plugin is named in the file that the switch or the experiment is read from"};
  for (const Change& change : diff(config, document.config))
    if (change.key_class == KeyClass::restart)
      return {path + ": only a restart would apply it, such a key cannot be set"};
  config = std::move(document.config);
  return {};
}

}  // namespace eddy::config
