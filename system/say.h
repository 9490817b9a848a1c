// say(): lines of a program on standard error, whatever is in them; end_of_output(): whether all of
// its standard output has been written.
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

// What a program that ends with `code` returns: what is left of its standard output is written, and
// where that cannot be (a full disk) one line says so and it has failed. Who closes a pipe has seen
// what he wanted.
int end_of_output(std::string_view before, int code);

}  // namespace eddy
