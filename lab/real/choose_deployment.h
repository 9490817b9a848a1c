// Which Deployment a word stands for. Control plane only.
#pragma once

#include <memory>
#include <string>

#include "lab/real/deployment.h"

namespace eddy::lab {

std::unique_ptr<Deployment> make_deployment(const DeploymentKind& kind);

// Of --containers: docker, podman, or empty: the first of these that is on PATH. docker's daemon is
// the one that DOCKER_HOST names.
DeploymentKind container_kind(const std::string& word);

}  // namespace eddy::lab
