// kube_folder(): a fabric as Kubernetes' Pods and ConfigMaps, which `podman play kube` runs, too.
//
// A Pod for each switch and one for eddyhost, all of them on one node (memif is shared memory) and
// with a claim for the folder of their sockets. No Pod has a capability. Hosts are eddyhost's.
// Problems: files that no ConfigMap holds. Cost: linear in switches. Source: docs/containers.md.
#pragma once

#include <vector>

#include "lab/export/fabric_export.h"
#include "net/result.h"

namespace eddy::lab {

Result<std::vector<OutFile>> kube_folder(const FabricExport& fabric);

}  // namespace eddy::lab
