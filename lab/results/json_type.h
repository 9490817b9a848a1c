// Json as results have it, and what a key of theirs may hold.
//
// Values.
#pragma once

#include <cstdint>
#include <nlohmann/json.hpp>
#include <string_view>

namespace eddy::lab {

using Json = nlohmann::ordered_json;

enum class JsonType : uint8_t { boolean, integer, number, string, array, object };

// One key of a bin of flow sizes, for the documents.
struct BinKey {
  std::string_view name;
  JsonType type;
  std::string_view unit;
  std::string_view help;
};

}  // namespace eddy::lab
