#include "lab/export/clab_file.h"

#include <fmt/format.h>

#include <algorithm>

#include "lab/export/guide.h"
#include "lab/export/users.h"
#include "lab/export/yaml_text.h"

namespace eddy::lab {
namespace {

constexpr const char* kInterfaceOfHost = "eth1";  // eth0 is for management

// A word of a command line that containerlab takes apart as a shell would.
std::string word(const std::string& text) {
  const bool plain = !text.empty() && std::ranges::all_of(text, [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
           std::string_view("-_./=:,@+").find(c) != std::string_view::npos;
  });
  if (plain) return text;
  std::string out = "'";
  for (const char c : text) out += c == '\'' ? std::string("'\\''") : std::string(1, c);
  return out + "'";
}

std::string command(const std::vector<std::string>& words) {
  std::string out;
  for (const std::string& each : words) out += (out.empty() ? "" : " ") + word(each);
  return out;
}

Yaml begin(const FabricExport& fabric, const std::string& node, const std::string& image) {
  Yaml out = Yaml::map();
  out.set("kind", "linux").set("image", image + ":" + fabric.version).set("user", kRoot);
  Yaml labels = Yaml::map();
  labels.set("org.eddy.fabric", fabric.name).set("org.eddy.node", node);
  out.set("labels", std::move(labels));
  return out;
}

std::string shared_folder() {
  return std::string("run:") + kShared;
}

Yaml switch_node(const FabricExport& fabric, const FabricExport::Switch& each) {
  const std::string file = fmt::format("{}/{}.yaml", kConfigured, each.name);
  Yaml out = begin(fabric, each.node, "eddy");
  out.set("cmd", command({"--config", file, "--require-version", fabric.version}));
  out.set("binds",
          Yaml::list({fmt::format("config/{}.yaml:{}:ro", each.name, file), shared_folder()}));
  Yaml environment = Yaml::map();
  environment.set("EDDY_SWITCH", each.name);
  out.set("env", std::move(environment));
  return out;
}

Yaml host_node(const FabricExport& fabric, const FabricExport::Host& host) {
  const std::string device = kInterfaceOfHost;
  const std::vector<std::vector<std::string>> commands = {
      {"ip", "link", "set", device, "address", host.mac, "mtu", std::to_string(host.mtu)},
      {"ip", "address", "add", host.address + "/32", "dev", device},
      {"ip", "link", "set", device, "up"},
      {"ip", "route", "add", fabric.network, "via", host.gateway, "dev", device, "onlink"},
      {"ethtool", "-K", device, "tx", "off"}};
  Yaml lines = Yaml::list();
  for (const std::vector<std::string>& words : commands) lines.add(command(words));
  Yaml out = begin(fabric, host.node, "eddy-host");
  out.set("entrypoint", "sleep").set("cmd", "infinity").set("exec", std::move(lines));
  return out;
}

Yaml eddyhost_node(const FabricExport& fabric) {
  Yaml out = begin(fabric, "hosts", "eddy-host");
  out.set("entrypoint", "eddyhost").set("cmd", command(fabric.eddyhost));
  out.set("binds",
          Yaml::list({fmt::format("experiment:{}/experiment:ro", kConfigured), shared_folder()}));
  return out;
}

Yaml links(const FabricExport& fabric) {
  Yaml out = Yaml::list();
  for (const FabricExport::Host& host : fabric.hosts) {
    Yaml link = Yaml::map();
    link.set("endpoints",
             Yaml::list({host.at + ":" + host.device, host.node + ":" + kInterfaceOfHost}));
    out.add(std::move(link));
  }
  return out;
}

// Containerlab replaces $NAME and ${NAME} in the whole file.
Problems check_texts(const FabricExport& fabric) {
  Problems problems;
  const auto check = [&](const std::string& what, const std::string& text) {
    if (text.find('$') != std::string::npos)
      problems.push_back(what + ": containerlab would replace the $ in \"" + text + "\"");
  };
  check("title", fabric.title);
  for (const FabricExport::Switch& each : fabric.switches) {
    check("switch", each.name);
    if (each.name.find(':') != std::string::npos)
      problems.push_back("switch " + each.name + ": containerlab has no quoting for : in binds");
  }
  for (const std::string& each : fabric.eddyhost) check("eddyhost", each);
  return problems;
}

}  // namespace

Result<std::vector<OutFile>> clab_folder(const FabricExport& fabric) {
  if (Problems problems = check_texts(fabric); !problems.empty()) return problems;
  Yaml nodes = Yaml::map();
  for (const FabricExport::Switch& each : fabric.switches)
    nodes.set(each.node, switch_node(fabric, each));
  for (const FabricExport::Host& host : fabric.hosts) nodes.set(host.node, host_node(fabric, host));
  if (fabric.kind == ExportedHosts::eddyhost) nodes.set("hosts", eddyhost_node(fabric));
  Yaml topology = Yaml::map();
  topology.set("nodes", std::move(nodes));
  if (!fabric.hosts.empty()) topology.set("links", links(fabric));
  Yaml document = Yaml::map();
  document.set("name", fabric.name).set("topology", std::move(topology));
  std::vector<OutFile> out = config_files(fabric);
  out.insert(out.end(), fabric.experiment_files.begin(), fabric.experiment_files.end());
  out.push_back({fabric.name + ".clab.yml", heading(fabric) + document.text()});
  out.push_back({"run/.gitignore", "*\n!.gitignore\n"});  // the folder has to be there
  out.push_back({"README.md", guide(fabric, Target::clab)});
  return out;
}

}  // namespace eddy::lab
