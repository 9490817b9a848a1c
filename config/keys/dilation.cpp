#include "config/keys/dilation.h"

#include "net/quantity.h"

namespace eddy::config {

Duration dilated(Duration time, int64_t factor) {
  constexpr Duration kEndless = Duration::seconds(1'000'000);
  return time > kEndless / factor ? kEndless : time * factor;
}

BitRate dilated(BitRate rate, int64_t factor) {
  return BitRate::bits_per_second(rate.bps() / factor);
}

void dilate_words(std::map<std::string, std::string>& words, int64_t factor) {
  for (auto& [name, text] : words) {
    if (const auto time = parse_duration(text)) text = to_string(dilated(time.value(), factor));
    if (const auto rate = parse_bit_rate(text)) text = to_string(dilated(rate.value(), factor));
  }
}

}  // namespace eddy::config
