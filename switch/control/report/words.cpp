#include "switch/control/report/words.h"

namespace eddy::control {
namespace {

#define EDDY_REPORT_WORD(name, help) Word{#name, help},
constexpr Word kReports[] = {EDDY_REPORTS(EDDY_REPORT_WORD)};
#undef EDDY_REPORT_WORD

constexpr Word kClear[] = {
    {"counters", "counters start again from zero, for every reader of this switch"},
    {"watermarks", "user watermarks start again from the present use"},
    {"persistent-watermarks", "the same of persistent watermarks"},
};

constexpr Word kWatermarks[] = {
    {"pg-shared", "of priority groups, beside their headroom"},
    {"pg-headroom", "of priority groups, in their headroom"},
    {"queue", "of egress queues"},
    {"pool", "of the shared pool"},
    {"headroom-pool", "of the headroom of all groups together"},
    {"stages", "of the buffer of the flow stages"},
};

}  // namespace

std::span<const Word> report_words() {
  return kReports;
}
std::span<const Word> clear_words() {
  return kClear;
}

std::span<const Word> watermark_words() {
  return kWatermarks;
}

std::optional<Report> parse_report(std::string_view word) {
  for (size_t i = 0; i < std::size(kReports); ++i)
    if (kReports[i].name == word) return static_cast<Report>(i);
  return std::nullopt;
}

std::string_view to_string(Report report) {
  return kReports[static_cast<size_t>(report)].name;
}

std::string join_words(std::span<const Word> words) {
  std::string out;
  for (const Word& word : words) {
    if (!out.empty()) out += ", ";
    out += word.name;
  }
  return out;
}

std::string default_socket_path(std::string_view switch_name) {
  return std::string(kSocketDirectory) + "/" + std::string(switch_name) + ".sock";
}

std::string switch_of_prefix(std::string_view file_prefix) {
  if (!file_prefix.starts_with(kFilePrefix)) return "";
  return std::string(file_prefix.substr(kFilePrefix.size()));
}

}  // namespace eddy::control
