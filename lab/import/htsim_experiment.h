// An experiment of this lab from a connection matrix and a topology file of htsim.
//
// Which transport, queues and path selection htsim runs stands on its command line: here they are
// this lab's own, and the report says so. Problems of both files are told at once. Nothing is
// written here. Owner: the caller; control plane only. Cost: linear in the texts and the fabric.
// Source: docs/import.md.
#pragma once

#include <string>

#include "lab/fabric/text_table.h"
#include "lab/import/imported.h"
#include "net/result.h"

namespace eddy::lab {

Result<Imported> import_htsim(NamedText matrix, NamedText topology, const std::string& id);

}  // namespace eddy::lab
