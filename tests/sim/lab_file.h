// Labs in files: NAME.yaml is the experiment with the lab's seed in run.seeds, NAME.csv beside it
// its flows, a line each: start, source and destination as numbers of hosts from 0, payload, and
// UDP source port.
//
// A lab that was drawn once stays as it is in a file, whatever the generator draws later. Owner:
// the caller. Cost: linear in the files.
#pragma once

#include <filesystem>

#include "net/result.h"
#include "tests/sim/lab.h"

namespace eddy::test {

// "file:line: what, what would be valid", all of them.
Result<Lab> read_lab(const std::filesystem::path& yaml);
// Empty: both files are written. `comment` becomes the first line of each.
Problems write_lab(const Lab& lab, const std::filesystem::path& yaml, const std::string& comment);

}  // namespace eddy::test
