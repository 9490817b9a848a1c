// Namespaces: the Deployment as programs beside this one, each in a network namespace of its own.
//
// A namespace has no name and goes with its process, so nothing is left to clear. Needs root. Owner
// and thread: one.
#pragma once

#include <memory>

#include "lab/real/deployment.h"

namespace eddy::lab {

std::unique_ptr<Deployment> make_namespaces();

}  // namespace eddy::lab
