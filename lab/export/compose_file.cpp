#include "lab/export/compose_file.h"

#include <fmt/format.h>

#include <string>

#include "lab/export/guide.h"
#include "lab/export/users.h"
#include "lab/export/yaml_text.h"

namespace eddy::lab {
namespace {

constexpr int kAhead = 4'096;  // of the processor, where 1,024 is usual: late polls lose packets
constexpr const char* kInterfaceOfHost = "eth0";

// Compose replaces $NAME in texts; two of them are one.
std::string verbatim(const std::string& text) {
  std::string out;
  for (const char c : text) {
    if (c == '$') out += '$';
    out += c;
  }
  return out;
}

Yaml verbatim(const std::vector<std::string>& words) {
  Yaml out = Yaml::list();
  for (const std::string& word : words) out.add(verbatim(word));
  return out;
}

Yaml shared_volume() {
  Yaml volume = Yaml::map();
  volume.set("type", "volume").set("source", "run").set("target", kShared);
  return volume;
}

Yaml own_file(const std::string& source, const std::string& target) {
  Yaml volume = Yaml::map();
  volume.set("type", "bind").set("source", verbatim("./" + source));
  volume.set("target", verbatim(target)).set("read_only", true);
  return volume;
}

Yaml only(Yaml item) {
  Yaml out = Yaml::list();
  out.add(std::move(item));
  return out;
}

struct Service {
  std::string node;
  std::string image;
  std::string user;
  std::string network = "none";
  std::vector<std::string> capabilities;
};

// What every container has: nothing that it does not need.
Yaml begin(const FabricExport& fabric, const Service& service) {
  Yaml out = Yaml::map();
  out.set("image", fmt::format("{}:${{EDDY_TAG:-{}}}", service.image, fabric.version));
  out.set("container_name", "${EDDY_PREFIX:-}" + service.node);
  out.set("user", service.user).set("network_mode", service.network);
  out.set("cap_drop", Yaml::list({"ALL"}));
  if (!service.capabilities.empty()) out.set("cap_add", Yaml::list(service.capabilities));
  out.set("security_opt", Yaml::list({"no-new-privileges:true"}));
  out.set("read_only", true).set("tmpfs", Yaml::list({kOwnFiles, kEalFiles}));
  Yaml labels = Yaml::map();
  labels.set("org.eddy.fabric", fabric.name).set("org.eddy.node", service.node);
  out.set("labels", std::move(labels));
  return out;
}

Yaml switch_service(const FabricExport& fabric, const FabricExport::Switch& each) {
  const std::string file = each.name + ".yaml";
  Yaml out = begin(fabric, {.node = each.node,
                            .image = "eddy",
                            .user = each.capabilities.empty() ? kOwnUser : kRoot,
                            .network = each.has_links ? "service:wire" : "none",
                            .capabilities = each.capabilities});
  out.set("command", verbatim({"--config", fmt::format("{}/{}", kConfigured, file),
                               "--require-version", fabric.version}));
  Yaml environment = Yaml::map();
  environment.set("EDDY_SWITCH", verbatim(each.name));
  out.set("environment", std::move(environment));
  Yaml volumes = Yaml::list();
  volumes.add(own_file("config/" + file, fmt::format("{}/{}", kConfigured, file)));
  volumes.add(shared_volume());
  out.set("volumes", std::move(volumes));
  if (each.has_links) out.set("depends_on", Yaml::list({"wire"}));
  out.set("cpu_shares", kAhead).set("restart", "unless-stopped");
  return out;
}

Yaml no_ipv6() {
  Yaml out = Yaml::map();
  out.set("net.ipv6.conf.all.disable_ipv6", "1").set("net.ipv6.conf.default.disable_ipv6", "1");
  return out;
}

Yaml wire_service(const FabricExport& fabric) {
  Yaml out = begin(
      fabric, {.node = "wire", .image = "eddy-host", .user = kRoot, .capabilities = {"NET_ADMIN"}});
  std::vector<std::string> words = {"serve"};
  for (const FabricExport::Host& host : fabric.hosts)
    words.insert(words.end(), {"--pair", fmt::format("{}={},mac={},mtu={}", host.node, host.device,
                                                     host.mac, host.mtu)});
  out.set("entrypoint", Yaml::list({"eddywire"})).set("command", verbatim(words));
  out.set("volumes", only(shared_volume()));
  out.set("sysctls", no_ipv6());  // the kernel is not to speak on the switches' lines
  return out;
}

Yaml host_service(const FabricExport& fabric, const FabricExport::Host& host) {
  Yaml out = begin(fabric, {.node = host.node,
                            .image = "eddy-host",
                            .user = kRoot,
                            .capabilities = {"NET_ADMIN", "NET_RAW"}});
  out.set("entrypoint", Yaml::list({"eddywire"}));
  out.set("command", verbatim({"join", host.node, "--device", kInterfaceOfHost, "--address",
                               host.address, "--gateway", host.gateway}));
  out.set("volumes", only(shared_volume()));
  Yaml names = Yaml::list();
  for (const FabricExport::Host& each : fabric.hosts) names.add(each.node + ":" + each.address);
  out.set("extra_hosts", std::move(names));
  Yaml sysctls = no_ipv6();
  sysctls.set("net.ipv4.tcp_ecn", "1");
  out.set("sysctls", std::move(sysctls));
  out.set("depends_on", Yaml::list({"wire"})).set("restart", "unless-stopped");
  return out;
}

Yaml eddyhost_service(const FabricExport& fabric) {
  Yaml out = begin(fabric, {.node = "hosts", .image = "eddy-host", .user = kOwnUser});
  out.set("entrypoint", Yaml::list({"eddyhost"})).set("command", verbatim(fabric.eddyhost));
  Yaml volumes = Yaml::list();
  volumes.add(own_file("experiment", fmt::format("{}/experiment", kConfigured)));
  volumes.add(shared_volume());
  out.set("volumes", std::move(volumes));
  std::vector<std::string> switches;
  for (const FabricExport::Switch& each : fabric.switches) switches.push_back(each.node);
  out.set("depends_on", Yaml::list(switches)).set("cpu_shares", kAhead);
  return out;
}

std::string compose_text(const FabricExport& fabric) {
  Yaml services = Yaml::map();
  if (fabric.kind == ExportedHosts::linux) services.set("wire", wire_service(fabric));
  for (const FabricExport::Switch& each : fabric.switches)
    services.set(each.node, switch_service(fabric, each));
  for (const FabricExport::Host& host : fabric.hosts)
    services.set(host.node, host_service(fabric, host));
  if (fabric.kind == ExportedHosts::eddyhost) services.set("hosts", eddyhost_service(fabric));
  Yaml document = Yaml::map();
  document.set("services", std::move(services));
  Yaml volumes = Yaml::map();
  volumes.set("run", Yaml::map());
  document.set("volumes", std::move(volumes));
  return heading(fabric) + document.text();
}

}  // namespace

std::vector<OutFile> compose_folder(const FabricExport& fabric) {
  std::vector<OutFile> out = config_files(fabric);
  out.insert(out.end(), fabric.experiment_files.begin(), fabric.experiment_files.end());
  out.push_back({"compose.yaml", compose_text(fabric)});
  out.push_back({".env", "COMPOSE_PROJECT_NAME=" + fabric.name + "\n"});
  out.push_back({"README.md", guide(fabric, Target::compose)});
  return out;
}

}  // namespace eddy::lab
