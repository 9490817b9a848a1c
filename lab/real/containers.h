// Containers: the Deployment in docker or podman, by their clients.
//
// Each node is a client that runs its container in the foreground. When it is killed, or when we
// are, a container may stay behind: clear() finds it by its labels. Owner and thread: one. Cost:
// each question to the engine is a process. Source: container_words.h.
#pragma once

#include <memory>

#include "lab/real/deployment.h"

namespace eddy::lab {

std::unique_ptr<Deployment> make_containers(const DeploymentKind& kind);

}  // namespace eddy::lab
