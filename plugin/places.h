// Where a plugin is looked for.
//
// A name with a slash is a path; one that does not begin at the root is relative to the folder of
// the file that names it. A plain name is looked for in `schemes` below $EDDY_DATA, beside the file
// that names it, and in PREFIX/lib/TRIPLET/eddy/schemes of a program in PREFIX/bin; the first that
// is there counts. Control plane. Source: docs/adr/0028-plugins.md.
#pragma once

#include <filesystem>
#include <string>

#include "net/result.h"

namespace eddy::plugin {

struct Surroundings {
  std::filesystem::path program;  // of the running process; empty: unknown
  std::string data;               // what $EDDY_DATA says
};
Surroundings surroundings();

struct Place {
  std::filesystem::path file;  // absolute; only a plain name's is known to be there
  bool packaged = false;       // by a plain name, where packages put schemes
};
Result<Place> place_of(const std::string& plugin, const std::filesystem::path& folder,
                       const Surroundings& around);

}  // namespace eddy::plugin
