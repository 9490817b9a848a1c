// say(): lines of a program on standard error, whatever is in them.
//
// Problems quote names and files of others, so they pass printable(): a line stays one line, and a
// terminal obeys nothing in it. Thread: any. Cost: linear in the text.
#pragma once

#include <string_view>

#include "net/result.h"

namespace eddy {

// `before` stands before each, "eddyd: ".
void say(std::string_view before, const Problems& lines);

}  // namespace eddy
