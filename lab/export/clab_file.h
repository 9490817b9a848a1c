// clab_folder(): a fabric as a folder for containerlab, with the keys that all of its releases
// know.
//
// Containerlab makes the veth pairs of Linux hosts; a switch waits for as many interfaces as
// CLAB_INTFS says. Sockets are in the folder `run`, which every container has. Containerlab runs
// containers as root with all capabilities unless told otherwise in words that only new releases
// know; so nothing is asked of it here. Problems: a text with "$", for which it has no quoting.
// Cost: linear in switches and hosts. Source: docs/containers.md.
#pragma once

#include <vector>

#include "lab/export/fabric_export.h"
#include "net/result.h"

namespace eddy::lab {

// Of a fabric with numbered devices.
Result<std::vector<OutFile>> clab_folder(const FabricExport& fabric);

}  // namespace eddy::lab
