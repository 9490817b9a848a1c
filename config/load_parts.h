// What loading a switch's file and an experiment's have in common. Private to the YAML side.
//
// Problems are collected by position and become lines at the end: "file:line:column: text", or
// "--set KEY=VALUE: text" where the position is in an argument of the command line.
#pragma once

#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

#include "config/keys/positions.h"
#include "config/validate.h"
#include "net/result.h"

namespace eddy::config {

// What Position::source counts: the file, then the arguments.
struct Sources {
  std::string file;
  std::vector<std::string> sets;
};

std::string located(const Sources& sources, Position at, std::string_view text);
// In the order of the text, the file before the arguments; each once, and not more than anybody
// reads at once.
Problems printed(const Sources& sources, std::vector<Problem> problems);
// Adds findings by the positions of their keys; a value that is wrong in itself is not judged a
// second time.
void add_findings(const std::vector<Finding>& findings, const Positions& positions,
                  std::vector<Problem>& problems, std::string_view prefix = "");

// At most one octet more than kMaxFileBytes, which tells that it is too long.
Result<std::string> read_text(const std::filesystem::path& path);

}  // namespace eddy::config
