// ModelSettings: what a model is computed for, as KEY=VALUE of the command line say it.
//
// A value is a quantity with its unit, or a list of them with commas between. What is wrong is said
// in one line a key, with what would be valid. Owner: the caller. Control plane only.
#pragma once

#include <cstdint>
#include <map>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "net/result.h"

namespace eddy::lab {

enum class ModelUnit : uint8_t { number, rate, time, size };

struct ModelKey {
  std::string_view name;
  ModelUnit unit{};
  bool list = false;
  // Smallest and largest value: numbers, bits a second, seconds, octets.
  double least = 0;
  double most = 0;
  std::string_view fallback;  // "auto": the model knows
  std::string_view help;
};

class ModelSettings {
 public:
  static Result<ModelSettings> read(std::span<const ModelKey> keys,
                                    const std::vector<std::string>& sets);

  // In the units of ModelKey. `name` is that of a key.
  const std::vector<double>& all(std::string_view name) const {
    return values_.find(name)->second.values;
  }
  double one(std::string_view name) const { return all(name).front(); }
  // It was given or has a value of its own, not "auto".
  bool has(std::string_view name) const { return !all(name).empty(); }
  // In the words of the command line.
  const std::string& text(std::string_view name) const { return values_.find(name)->second.text; }

 private:
  struct Value {
    std::string text;
    std::vector<double> values;
  };
  std::map<std::string, Value, std::less<>> values_;
};

// To the picosecond, so that 10 us are 10.
double microseconds(double seconds);
// A value in the words of the command line: "50us", "40Gbps".
std::string model_text(ModelUnit unit, double value);

}  // namespace eddy::lab
