#include "lab/export/guide.h"

#include <fmt/format.h>

#include <algorithm>

namespace eddy::lab {
namespace {

// On one line, without what would end a comment or a heading.
std::string one_line(std::string text) {
  std::ranges::replace_if(
      text, [](char c) { return static_cast<unsigned char>(c) < 0x20; }, ' ');
  return text;
}

std::string code(const std::string& lines) {
  return "```\n" + lines + "```\n";
}

std::string compose_guide(const FabricExport& fabric) {
  const std::string& first = fabric.switches.front().node;
  std::string look = fmt::format("docker exec -it {} eddyctl top\n", first);
  if (fabric.kind == ExportedHosts::linux)
    look += fmt::format("docker exec {} ping -c 3 {}\n", fabric.hosts.front().node,
                        fabric.hosts.back().node);
  else
    look +=
        "docker-compose logs -f hosts                 # the traffic, and when it has ended\n"
        "docker cp hosts:/run/eddy/results results    # for eddylab show\n";
  std::string out = code("docker-compose up -d\n" + look + "docker-compose down -v\n");
  out +=
      "\n`docker compose` (version 2) does as well as `docker-compose`. `EDDY_TAG` chooses another "
      "version of the images, `EDDY_PREFIX` begins the containers' names, so that a second fabric "
      "fits beside the first.\n";
  if (fabric.kind == ExportedHosts::linux)
    out +=
        "\nThe container `wire` holds the switches' interfaces. Leave it running: any other "
        "container may be killed, started again, or replaced.\n";
  return out;
}

std::string clab_guide(const FabricExport& fabric) {
  const std::string file = fabric.name + ".clab.yml";
  const std::string first = fmt::format("clab-{}-{}", fabric.name, fabric.switches.front().node);
  std::string look = fmt::format("docker exec -it {} eddyctl top\n", first);
  if (fabric.kind == ExportedHosts::linux)
    look += fmt::format("docker exec clab-{}-{} ping -c 3 {}\n", fabric.name,
                        fabric.hosts.front().node, fabric.hosts.back().address);
  else
    look += fmt::format("docker logs -f clab-{}-hosts\n", fabric.name);
  return code(fmt::format("containerlab deploy -t {0}\n{1}containerlab destroy -t {0} --cleanup\n",
                          file, look)) +
         "\nThe switches' sockets are in `run`, which all containers share.\n";
}

std::string kube_guide(const FabricExport& fabric) {
  const std::string& first = fabric.switches.front().node;
  const std::string file = fabric.name + ".k8s.yaml";
  std::string out =
      code(fmt::format("kubectl apply -f {0}\nkubectl exec -it {1}-{2} -- eddyctl top\n"
                       "kubectl logs -f {1}-hosts\nkubectl delete -f {0}\n",
                       file, fabric.name, first));
  std::string volumes = fmt::format("podman volume rm {}-run {}-hosts", fabric.name, fabric.name);
  for (const FabricExport::Switch& each : fabric.switches)
    volumes += fmt::format(" {}-{}", fabric.name, each.node);
  out += "\nOn one machine without a cluster:\n\n";
  out += code(fmt::format("podman play kube --network none {0}\npodman play kube --down {0}\n{1}\n",
                          file, volumes));
  out +=
      "\nAll Pods of the fabric are on one node, because they share memory; the claim "
      "`" +
      fabric.name + "-run` is for their sockets.\n";
  return out;
}

}  // namespace

std::string heading(const FabricExport& fabric) {
  return fmt::format("# {}: {}\n# Made by eddylab export; README.md says how to use it.\n",
                     fabric.name, one_line(fabric.title));
}

std::string guide(const FabricExport& fabric, Target target) {
  std::string out = fmt::format(
      "# {}\n\n{}: {} switches. Made by `eddylab export` for version {} of the images eddy and "
      "eddy-host.\n\n",
      fabric.name, one_line(fabric.title), fabric.switches.size(), fabric.version);
  if (target == Target::compose) return out + compose_guide(fabric);
  if (target == Target::clab) return out + clab_guide(fabric);
  return out + kube_guide(fabric);
}

}  // namespace eddy::lab
