// SVG as PDF, for papers, by rsvg-convert of Debian's librsvg2-bin.
//
// The same figure gives the same file: the stamp in it is fixed. Owner: the caller. Cost: a
// process.
#pragma once

#include <filesystem>

#include "net/result.h"

namespace eddy::lab {

// The problems; empty when it is written.
[[nodiscard]] Problems write_pdf(const std::filesystem::path& svg,
                                 const std::filesystem::path& pdf);

}  // namespace eddy::lab
