// docs/schemes/README.md: every path selection scheme in a line, and where its sheet is.
//
// Made from the registry, so that a new scheme is in it. Owner: the caller; control plane only.
#pragma once

#include <span>
#include <string>

namespace eddy::config {

// `sheets`: the names of the files in docs/schemes, without .md, README left out. Those that are no
// scheme's are listed for themselves.
std::string scheme_index(std::span<const std::string> sheets);

}  // namespace eddy::config
