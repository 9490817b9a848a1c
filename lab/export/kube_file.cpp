#include "lab/export/kube_file.h"

#include <fmt/format.h>

#include "lab/export/guide.h"
#include "lab/export/users.h"
#include "lab/export/yaml_text.h"

namespace eddy::lab {
namespace {

constexpr size_t kLargestMap = size_t{1'000} << 10;  // a ConfigMap has at most 1 MiB

// Kubernetes replaces $(NAME) in commands; $$(NAME) stays $(NAME).
std::string verbatim(const std::string& text) {
  std::string out;
  for (size_t i = 0; i < text.size(); ++i) {
    if (text.compare(i, 2, "$(") == 0) out += '$';
    out += text[i];
  }
  return out;
}

Yaml verbatim(const std::vector<std::string>& words) {
  Yaml out = Yaml::list();
  for (const std::string& each : words) out.add(verbatim(each));
  return out;
}

Yaml only(Yaml item) {
  Yaml out = Yaml::list();
  out.add(std::move(item));
  return out;
}

Yaml labels(const FabricExport& fabric, const std::string& node) {
  Yaml out = Yaml::map();
  out.set("org.eddy.fabric", fabric.name).set("org.eddy.node", node);
  return out;
}

Yaml metadata(const FabricExport& fabric, const std::string& node) {
  Yaml out = Yaml::map();
  out.set("name", fabric.name + "-" + node).set("labels", labels(fabric, node));
  return out;
}

Yaml begin(const std::string& version, const std::string& kind, Yaml metadata) {
  Yaml out = Yaml::map();
  out.set("apiVersion", version).set("kind", kind).set("metadata", std::move(metadata));
  return out;
}

// Of files in one folder: a ConfigMap's keys have no '/'.
Yaml config_map(const FabricExport& fabric, const std::string& node,
                const std::vector<OutFile>& files) {
  Yaml data = Yaml::map();
  for (const OutFile& file : files) data.set(file.path.filename().string(), Yaml::block(file.text));
  Yaml out = begin("v1", "ConfigMap", metadata(fabric, node));
  out.set("data", std::move(data));
  return out;
}

Yaml claim(const FabricExport& fabric) {
  Yaml requests = Yaml::map();
  requests.set("storage", "64Mi");
  Yaml resources = Yaml::map();
  resources.set("requests", std::move(requests));
  Yaml spec = Yaml::map();
  spec.set("accessModes", Yaml::list({"ReadWriteOnce"})).set("resources", std::move(resources));
  Yaml out = begin("v1", "PersistentVolumeClaim", metadata(fabric, "run"));
  out.set("spec", std::move(spec));
  return out;
}

// Beside the fabric's other Pods, wherever the first of them went.
Yaml affinity(const FabricExport& fabric) {
  Yaml match = Yaml::map();
  match.set("org.eddy.fabric", fabric.name);
  Yaml selector = Yaml::map();
  selector.set("matchLabels", std::move(match));
  Yaml term = Yaml::map();
  term.set("labelSelector", std::move(selector)).set("topologyKey", "kubernetes.io/hostname");
  Yaml pods = Yaml::map();
  pods.set("requiredDuringSchedulingIgnoredDuringExecution", only(std::move(term)));
  Yaml out = Yaml::map();
  out.set("podAffinity", std::move(pods));
  return out;
}

Yaml container_security() {
  Yaml capabilities = Yaml::map();
  capabilities.set("drop", Yaml::list({"ALL"}));
  Yaml out = Yaml::map();
  out.set("runAsUser", kEddyId).set("runAsGroup", kEddyId).set("runAsNonRoot", true);
  out.set("allowPrivilegeEscalation", false).set("readOnlyRootFilesystem", true);
  out.set("capabilities", std::move(capabilities));
  return out;
}

Yaml mount(const std::string& name, const std::string& path, bool read_only) {
  Yaml out = Yaml::map();
  out.set("name", name).set("mountPath", path);
  if (read_only) out.set("readOnly", true);
  return out;
}

Yaml mounts(const std::string& configured) {
  Yaml out = Yaml::list();
  out.add(mount("config", configured, true)).add(mount("run", kShared, false));
  out.add(mount("tmp", kOwnFiles, false)).add(mount("eal", kEalFiles, false));
  return out;
}

Yaml volumes(const FabricExport& fabric, const std::string& node) {
  const auto named = [](const std::string& name, const std::string& kind, Yaml what) {
    Yaml out = Yaml::map();
    out.set("name", name).set(kind, std::move(what));
    return out;
  };
  Yaml map = Yaml::map();
  map.set("name", fabric.name + "-" + node);
  Yaml claimed = Yaml::map();
  claimed.set("claimName", fabric.name + "-run");
  Yaml out = Yaml::list();
  out.add(named("config", "configMap", std::move(map)));
  out.add(named("run", "persistentVolumeClaim", std::move(claimed)));
  for (const char* own : {"tmp", "eal"}) out.add(named(own, "emptyDir", Yaml::map()));
  return out;
}

Yaml probe(const std::vector<std::string>& words, int period, int failures) {
  Yaml exec = Yaml::map();
  exec.set("command", Yaml::list(words));
  Yaml out = Yaml::map();
  out.set("exec", std::move(exec)).set("initialDelaySeconds", period).set("periodSeconds", period);
  out.set("timeoutSeconds", period).set("failureThreshold", failures);
  return out;
}

Yaml pod(const FabricExport& fabric, const std::string& node, Yaml container,
         const std::string& restart) {
  Yaml group = Yaml::map();
  group.set("fsGroup", kEddyId);
  Yaml spec = Yaml::map();
  spec.set("restartPolicy", restart).set("affinity", affinity(fabric));
  spec.set("securityContext", std::move(group)).set("automountServiceAccountToken", false);
  spec.set("containers", only(std::move(container))).set("volumes", volumes(fabric, node));
  Yaml out = begin("v1", "Pod", metadata(fabric, node));
  out.set("spec", std::move(spec));
  return out;
}

Yaml switch_pod(const FabricExport& fabric, const FabricExport::Switch& each) {
  Yaml variable = Yaml::map();
  variable.set("name", "EDDY_SWITCH").set("value", verbatim(each.name));
  Yaml container = Yaml::map();
  container.set("name", "eddyd").set("image", "eddy:" + fabric.version);
  container.set("args", verbatim({"--config", fmt::format("{}/{}.yaml", kConfigured, each.name),
                                  "--require-version", fabric.version}));
  container.set("env", only(std::move(variable)));
  container.set("securityContext", container_security());
  container.set("volumeMounts", mounts(kConfigured));
  // A switch whose neighbor is away is not ready, but is not to be started again for it.
  constexpr int kOften = 5;
  constexpr int kSeldom = 10;
  container.set("readinessProbe", probe({"eddyctl", "healthy"}, kOften, 1));
  container.set("livenessProbe", probe({"eddyctl", "healthy", "--ports", "none"}, kSeldom, 3));
  return pod(fabric, each.node, std::move(container), "Always");
}

Yaml eddyhost_pod(const FabricExport& fabric) {
  Yaml container = Yaml::map();
  container.set("name", "eddyhost").set("image", "eddy-host:" + fabric.version);
  container.set("command", Yaml::list({"eddyhost"})).set("args", verbatim(fabric.eddyhost));
  container.set("securityContext", container_security());
  container.set("volumeMounts", mounts(fmt::format("{}/experiment", kConfigured)));
  return pod(fabric, "hosts", std::move(container), "Never");
}

// The experiment's files lie beside it, since a ConfigMap has no folders. Workloads are found
// there.
Problems check_files(const FabricExport& fabric) {
  Problems problems;
  size_t size = 0;
  for (const OutFile& file : fabric.experiment_files) {
    size += file.text.size();
    const std::string below = file.path.parent_path().string();
    if (below != "experiment" && below != "experiment/workloads")
      problems.push_back(file.path.string() +
                         ": a ConfigMap has no folders; --to compose would be valid");
  }
  if (size > kLargestMap)
    problems.push_back(
        fmt::format("the experiment's files have {} octets, a ConfigMap holds at most {}; --to "
                    "compose would be "
                    "valid",
                    size, kLargestMap));
  return problems;
}

}  // namespace

Result<std::vector<OutFile>> kube_folder(const FabricExport& fabric) {
  if (Problems problems = check_files(fabric); !problems.empty()) return problems;
  const std::vector<OutFile> configs = config_files(fabric);
  std::string text = heading(fabric) + claim(fabric).text();
  const auto add = [&](const Yaml& document) { text += "---\n" + document.text(); };
  for (size_t i = 0; i < configs.size(); ++i) {
    add(config_map(fabric, fabric.switches[i].node, {configs[i]}));
    add(switch_pod(fabric, fabric.switches[i]));
  }
  add(config_map(fabric, "hosts", fabric.experiment_files));
  add(eddyhost_pod(fabric));
  std::vector<OutFile> out = configs;
  out.insert(out.end(), fabric.experiment_files.begin(), fabric.experiment_files.end());
  out.push_back({fabric.name + ".k8s.yaml", text});
  out.push_back({"README.md", guide(fabric, Target::k8s)});
  return out;
}

}  // namespace eddy::lab
