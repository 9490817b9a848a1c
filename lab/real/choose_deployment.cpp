#include "lab/real/choose_deployment.h"

#include <cstdlib>

#include "lab/real/containers.h"
#include "lab/real/namespaces.h"
#include "lab/real/programs.h"

namespace eddy::lab {

std::unique_ptr<Deployment> make_deployment(const DeploymentKind& kind) {
  const bool contained = kind.word == "docker" || kind.word == "podman";
  return contained ? make_containers(kind) : make_namespaces();
}

DeploymentKind container_kind(const std::string& word) {
  const bool podman = word == "podman" ||
                      (word != "docker" && on_path("docker").empty() && !on_path("podman").empty());
  if (podman) return {.word = "podman"};
  const char* host = std::getenv("DOCKER_HOST");
  return {.word = "docker", .host = host != nullptr ? host : ""};
}

}  // namespace eddy::lab
