// Path sets, port signals and packets for tests of schemes; the conformance suite has them.
#pragma once

#include "lab/conformance/paths.h"  // IWYU pragma: export
