#include "switch/control/sonic/config_db.h"

#include <algorithm>
#include <iterator>
#include <nlohmann/json.hpp>
#include <utility>

#include "net/quantity.h"
#include "net/text/printable.h"

namespace eddy::control {
namespace {

// Counts the line ends that the parser has gone by.
class CountingIterator {
 public:
  using iterator_category = std::input_iterator_tag;
  using value_type = char;
  using difference_type = std::ptrdiff_t;
  using pointer = const char*;
  using reference = const char&;

  CountingIterator(const char* at, int* line) : at_(at), line_(line) {}
  reference operator*() const { return *at_; }
  CountingIterator& operator++() {
    if (*at_ == '\n') ++*line_;
    ++at_;
    return *this;
  }
  bool operator==(const CountingIterator& other) const { return at_ == other.at_; }
  bool operator!=(const CountingIterator& other) const { return at_ != other.at_; }

 private:
  const char* at_;
  int* line_;
};

constexpr size_t kShownName = 64;

std::string shown(std::string_view text) {
  return "'" + printable(text.substr(0, kShownName)) + "'";
}

}  // namespace

// What nlohmann's parser calls; false ends it.
class ConfigDbReader : public nlohmann::json_sax<nlohmann::json> {
 public:
  ConfigDbReader(const std::string& name, const int& line) : name_(name), line_(line) {}

  bool null() override { return scalar(""); }
  bool boolean(bool value) override { return scalar(value ? "true" : "false"); }
  bool number_integer(number_integer_t value) override { return scalar(std::to_string(value)); }
  bool number_unsigned(number_unsigned_t value) override { return scalar(std::to_string(value)); }
  bool number_float(number_float_t /*value*/, const string_t& text) override {
    return scalar(text);
  }
  bool string(string_t& value) override { return scalar(value); }
  bool binary(binary_t& /*value*/) override { return refuse("no text"); }

  bool start_object(std::size_t /*elements*/) override {
    if (in_list_ || ++depth_ > kTable + 2) return refuse("fields are texts or lists of texts");
    return true;
  }
  bool end_object() override {
    --depth_;
    return true;
  }
  bool key(string_t& value) override {
    if (++values_ > ConfigDb::kMostValues) return refuse("more values than any switch has");
    bool fresh = true;
    if (depth_ == kTable) {
      fresh = !out_.tables_.contains(value);
      table_ = &out_.tables_[value];
      table_->line = line_;
      keys_.clear();
    } else if (depth_ == kTable + 1) {
      fresh = keys_.insert({value, 0}).second;
      table_->entries.push_back({value, line_, {}});
    } else {
      auto& fields = table_->entries.back().fields;
      fresh = !fields.contains(value);
      field_ = &fields[value];
      field_->line = line_;
    }
    return fresh || refuse("the key " + shown(value) + " stands twice");
  }
  bool start_array(std::size_t /*elements*/) override {
    if (depth_ != kTable + 2 || in_list_) return refuse("only a field is a list");
    in_list_ = true;
    first_ = true;
    return true;
  }
  bool end_array() override {
    in_list_ = false;
    return true;
  }
  bool parse_error(std::size_t /*position*/, const std::string& token,
                   const nlohmann::detail::exception& /*error*/) override {
    return refuse("is no JSON at " + shown(token));
  }

  ConfigDb take() { return std::move(out_); }
  const std::string& problem() const { return problem_; }

 private:
  static constexpr int kTable = 1;

  bool scalar(const std::string& text) {
    if (++values_ > ConfigDb::kMostValues) return refuse("more values than any switch has");
    if (depth_ != kTable + 2)
      return refuse("tables of entries of fields are expected, as SONiC's CONFIG_DB has them");
    field_->text += (in_list_ && !first_ ? "," : "") + text;
    first_ = false;
    return true;
  }
  bool refuse(const std::string& what) {
    problem_ = name_ + ":" + std::to_string(line_) + ": " + what;
    return false;
  }

  const std::string& name_;
  const int& line_;
  ConfigDb out_;
  ConfigDb::Table* table_ = nullptr;
  ConfigDb::Field* field_ = nullptr;
  std::map<std::string, int, std::less<>> keys_;  // of the table
  int depth_ = 0;
  bool in_list_ = false;
  bool first_ = true;
  size_t values_ = 0;
  std::string problem_;
};

const ConfigDb::Field* ConfigDb::Entry::find(std::string_view field) const {
  const auto found = fields.find(field);
  return found == fields.end() ? nullptr : &found->second;
}

const ConfigDb::Entry* ConfigDb::Table::find(std::string_view key) const {
  const auto found = std::ranges::find(entries, key, &Entry::key);
  return found == entries.end() ? nullptr : &*found;
}

Result<ConfigDb> ConfigDb::parse(const std::string& name, std::string_view text) {
  if (text.size() > kMostOctets)
    return Result<ConfigDb>::failure(name + ": has more than " + std::to_string(kMostOctets) +
                                     " octets");
  int line = 1;
  ConfigDbReader reader(name, line);
  const CountingIterator begin(text.data(), &line);
  const CountingIterator end(text.data() + text.size(), &line);
  if (!nlohmann::json::sax_parse(begin, end, &reader))
    return Result<ConfigDb>::failure(reader.problem());
  ConfigDb db = reader.take();
  if (!db.tables_.contains("PORT"))
    return Result<ConfigDb>::failure(name +
                                     ":1: there is no table PORT, as every config_db.json has");
  return db;
}

const ConfigDb::Table& ConfigDb::table(std::string_view name) const {
  static const Table kNone;
  const auto found = tables_.find(name);
  return found == tables_.end() ? kNone : found->second;
}

std::string sonic_reference(std::string_view text) {
  if (text.starts_with('[') && text.ends_with(']')) {
    text = text.substr(1, text.size() - 2);
    text.remove_prefix(std::min(text.find('|') + 1, text.size()));
  }
  return std::string(text);
}

std::vector<std::string> sonic_list(std::string_view text) {
  std::vector<std::string> out;
  while (!text.empty()) {
    const size_t comma = std::min(text.find(','), text.size());
    if (comma > 0) out.emplace_back(text.substr(0, comma));
    text.remove_prefix(std::min(comma + 1, text.size()));
  }
  return out;
}

std::optional<std::vector<size_t>> sonic_range(std::string_view text, size_t end) {
  std::vector<size_t> out;
  for (const std::string& part : sonic_list(text)) {
    const size_t dash = part.find('-');
    const auto first = parse_integer(std::string_view(part).substr(0, dash));
    const auto last =
        dash == std::string::npos ? first : parse_integer(std::string_view(part).substr(dash + 1));
    if (!first || !last || first.value() < 0 || last.value() < first.value() ||
        last.value() >= static_cast<int64_t>(end))
      return std::nullopt;
    for (int64_t i = first.value(); i <= last.value(); ++i) out.push_back(static_cast<size_t>(i));
  }
  if (out.empty()) return std::nullopt;
  return out;
}

}  // namespace eddy::control
