#include "config/keys/key_class.h"

#include <array>
#include <cstddef>

namespace eddy::config {

std::string_view to_string(KeyClass key_class) {
  constexpr std::array<std::string_view, 3> kNames = {"hot", "port", "restart"};
  return kNames[static_cast<size_t>(key_class)];
}

}  // namespace eddy::config
