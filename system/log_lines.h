// What a program says on stderr: lines for people, or one JSON object a line.
//
// After log_as_json() every line that anything in this process writes to stderr is an object with
// time, level and message: our own by log_line(), those of libraries because stderr itself is
// another stream then. A line that is such an object already stays as it is. Nothing runs beside:
// a line is written by whoever has ended it, so the last words of a process that aborts are not
// lost. Threads: any; log_as_json() before there is a second. Cost: one system call a line.
#pragma once

#include <cstdio>
#include <functional>
#include <string>
#include <string_view>

namespace eddy {

enum class LogLevel : uint8_t { debug, info, warning, error };

// Once, first of all.
void log_as_json();
bool logs_json();
// What libraries print on stdout from now on becomes an object, too, and goes to stderr. For a
// process whose stdout says nothing else any more.
void log_stdout_as_json();

// The line, or its object.
void log_line(LogLevel level, std::string_view line);

// Each of these lines, without what a terminal would obey; empty ones only for people.
void say_lines(LogLevel level, std::string_view lines);

// The object of a line, without its end.
std::string json_line(LogLevel level, std::string_view message);

// A stream that makes an object of each line that is written to it, of the level that is told then.
// Never null, never closed.
std::FILE* json_stream(std::function<LogLevel()> level);

}  // namespace eddy
