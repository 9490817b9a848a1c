#include "lab/model/settings.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "lab/fabric/text_table.h"
#include "net/quantity.h"

namespace eddy::lab {
namespace {

constexpr double kPicosecondsASecond = 1e12;
constexpr size_t kMostValues = 64;
constexpr std::string_view kAuto = "auto";

template <class T, class Scale>
Result<double> scaled(const Result<T>& read, Scale scale) {
  if (!read) return read.problems();
  return scale(read.value());
}

Result<double> read_value(ModelUnit unit, std::string_view text) {
  switch (unit) {
    case ModelUnit::number:
      return scaled(parse_integer(text), [](int64_t value) { return static_cast<double>(value); });
    case ModelUnit::rate:
      return scaled(parse_bit_rate(text),
                    [](BitRate value) { return static_cast<double>(value.bps()); });
    case ModelUnit::time:
      return scaled(parse_duration(text), [](Duration value) {
        return static_cast<double>(value.ps()) / kPicosecondsASecond;
      });
    case ModelUnit::size:
      return scaled(parse_bytes(text),
                    [](Bytes value) { return static_cast<double>(value.count()); });
  }
  return Result<double>::failure("of no unit");
}

std::string valid(const ModelKey& key) {
  return fmt::format("{}{} to {}", key.list ? "a list of values from " : "",
                     model_text(key.unit, key.least), model_text(key.unit, key.most));
}

Result<std::vector<double>> read_values(const ModelKey& key, std::string_view text) {
  std::vector<double> values;
  for (size_t from = 0; from <= text.size();) {
    const size_t to = std::min(text.find(',', from), text.size());
    const std::string_view word = text.substr(from, to - from);
    const Result<double> value = read_value(key.unit, word);
    if (!value) return value.problems();
    if (!(value.value() >= key.least && value.value() <= key.most))
      return Result<std::vector<double>>::failure(
          fmt::format("{} is out of range, valid: {}", in_quotes(word), valid(key)));
    values.push_back(value.value());
    from = to + 1;
  }
  if (values.size() > (key.list ? kMostValues : 1))
    return Result<std::vector<double>>::failure(
        fmt::format("{} values, valid: {}", values.size(),
                    key.list ? fmt::format("at most {}", kMostValues) : "one"));
  return values;
}

}  // namespace

Result<ModelSettings> ModelSettings::read(std::span<const ModelKey> keys,
                                          const std::vector<std::string>& sets) {
  ModelSettings out;
  for (const ModelKey& key : keys) {
    Value& value = out.values_[std::string(key.name)];
    value.text = key.fallback;
    if (key.fallback != kAuto) value.values = read_values(key, key.fallback).value();
  }
  Problems problems;
  for (const std::string& set : sets) {
    const size_t equals = set.find('=');
    const std::string_view name = std::string_view(set).substr(0, equals);
    const auto key = std::ranges::find(keys, name, &ModelKey::name);
    if (equals == std::string::npos || key == keys.end()) {
      std::string known;
      for (const ModelKey& each : keys)
        known += (known.empty() ? "" : ", ") + std::string(each.name);
      problems.push_back(fmt::format("--set {}: valid: KEY=VALUE, of {}", in_quotes(set), known));
      continue;
    }
    const std::string text = set.substr(equals + 1);
    Result<std::vector<double>> values = read_values(*key, text);
    if (!values)
      problems.push_back(fmt::format("--set {}: {}", key->name, values.problems().front()));
    else
      out.values_.find(name)->second = {text, std::move(*values)};
  }
  if (!problems.empty()) return problems;
  return out;
}

double microseconds(double seconds) {
  constexpr double kPicosecondsAMicrosecond = 1e6;
  return std::round(seconds * kPicosecondsASecond) / kPicosecondsAMicrosecond;
}

std::string model_text(ModelUnit unit, double value) {
  switch (unit) {
    case ModelUnit::number:
      return fmt::format("{:.0f}", value);
    case ModelUnit::rate:
      return to_string(BitRate::bits_per_second(std::llround(value)));
    case ModelUnit::time:
      return to_string(Duration::picoseconds(std::llround(value * kPicosecondsASecond)));
    case ModelUnit::size:
      return to_string(Bytes(std::llround(value)));
  }
  return {};
}

}  // namespace eddy::lab
