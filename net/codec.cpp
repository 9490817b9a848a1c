#include "net/codec.h"

#include <array>

namespace eddy {

std::string_view to_string(CodecVerdict verdict) {
  static constexpr std::array<std::string_view, kCodecVerdicts> kNames = {
      "ok",           "truncated",   "wrong_type", "bad_version", "bad_length",
      "bad_checksum", "bad_address", "bad_value",  "bad_option",
  };
  return kNames[static_cast<size_t>(verdict)];
}

}  // namespace eddy
