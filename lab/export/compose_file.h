// compose_folder(): a fabric as a folder for `docker compose up`, as versions 1.29 and 2 read it.
//
// A switch whose ports are all memif has no network and no capability, and its own user. Those with
// Linux hosts share the network namespace of the service `wire`, which makes the veth pairs and
// hands their other ends to the hosts; so a switch can be replaced and finds its interfaces where
// they were. Cost: linear in switches and hosts. Source: docs/containers.md.
#pragma once

#include <vector>

#include "lab/export/fabric_export.h"

namespace eddy::lab {

std::vector<OutFile> compose_folder(const FabricExport& fabric);

}  // namespace eddy::lab
