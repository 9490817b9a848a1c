// The commands of eddyctl that print one report or the configuration, or change one thing. Each
// returns an exit code.
#pragma once

#include <string>

#include "net/result.h"
#include "switch/control/ctl/arguments.h"
#include "switch/control/report/json.h"
#include "switch/control/report/words.h"

namespace eddy::control {

int show(const Arguments& arguments, Report report);
int show_config(const Arguments& arguments);
int change(const Arguments& arguments, const Json& request);
int check_reload(const Arguments& arguments);
// What is wrong with the options; no switch is asked.
Problems check_top(const Arguments& arguments);
int top(const Arguments& arguments);

// What show() asks for, and how it prints it: with --json one line, else tables.
Result<Json> read_shown(const Arguments& arguments, Report report);
std::string shown_text(const Arguments& arguments, const Json& value);

}  // namespace eddy::control
