// Action: what the words of eddyctl's command line ask for: one report, or one request that changes
// something, or a command of eddyctl's own.
//
// Pure functions of their arguments. A problem names the word and says what would be valid there.
#pragma once

#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <vector>

#include "net/result.h"
#include "switch/control/report/json.h"
#include "switch/control/report/words.h"

namespace eddy::control {

struct Action {
  std::optional<Report> report;   // of show and watch
  Json request = Json::object();  // "command": its first word, or show config

  std::string command() const { return request.value("command", ""); }
};

Result<Action> parse_words(const std::vector<std::string>& words);
// Of words beside --help: one that is wrong has no help; words may be missing.
std::string wrong_word(const std::vector<std::string>& words);
// Of --help: every command in a line.
std::string footer();

}  // namespace eddy::control
