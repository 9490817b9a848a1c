// JSON that somebody else wrote, within bounds: how large it may be, how deep, of how many values.
//
// A parser that has no bound takes memory without end, whoever walks through what it made runs out
// of stack, and objects that keep the order of their keys take time by the square of them.
// parse_json() looks at the text before it is parsed, so nothing is made of what is refused. Cost:
// linear in the text. Thread: any.
#pragma once

#include <filesystem>
#include <nlohmann/json_fwd.hpp>
#include <string>
#include <string_view>

#include "net/result.h"

namespace eddy {

struct JsonBounds {
  size_t octets;
  size_t values;     // of all kinds, on all levels
  size_t key_pairs;  // of keys of the same object, summed over the objects
  size_t depth = 32;
};
// Of one answer of a switch; every flow of the largest table is far less.
inline constexpr JsonBounds kAnswerBounds{
    .octets = size_t{64} << 20, .values = 4'000'000, .key_pairs = 100'000'000};
// Of a file of results; a sweep of thousands of runs is less.
inline constexpr JsonBounds kFileBounds{
    .octets = size_t{256} << 20, .values = 16'000'000, .key_pairs = 1'000'000'000};

// `name` stands for the text in the problem.
Result<nlohmann::ordered_json> parse_json(const std::string& name, std::string_view text,
                                          const JsonBounds& bounds);
// A regular file: one that another process feeds has no end.
Result<nlohmann::ordered_json> read_json_file(const std::filesystem::path& file,
                                              const JsonBounds& bounds);

// The same value with printable() strings and keys, for what is shown to people.
nlohmann::ordered_json with_printable_texts(const nlohmann::ordered_json& value);

}  // namespace eddy
