// say(): lines of a program on standard error, whatever is in them.
//
// Problems quote names and files of others, so they pass printable(): a line stays one line, and a
// terminal obeys nothing in it. Thread: any. Cost: linear in the text.
#pragma once

#include <string_view>

#include "net/result.h"
#include "system/log_lines.h"

namespace eddy {

// `before` stands before each, "eddyd: ". The level is that of a log of JSON lines.
void say(std::string_view before, const Problems& lines, LogLevel level = LogLevel::error);

}  // namespace eddy
