#include "lab/import/ns3_config.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <utility>

#include "lab/fabric/text_table.h"
#include "lab/import/ns3_units.h"
#include "net/quantity.h"

namespace eddy::lab {
namespace {

using Word = WordLines::Word;

enum Reads : uint8_t { kHpcc = 1, kConweave = 2, kBoth = 3 };
enum class Shape : uint8_t { one, three, by_rate };

struct Key {
  std::string_view name;
  uint8_t reads;
  Shape shape = Shape::one;
};

constexpr auto kKeys = std::to_array<Key>({
    {"ACK_HIGH_PRIO", kHpcc},
    {"ALPHA_RESUME_INTERVAL", kBoth},
    {"BUFFER_SIZE", kBoth},
    {"CC_MODE", kBoth},
    {"CLAMP_TARGET_RATE", kBoth},
    {"CNP_OUTPUT_FILE", kConweave},
    {"CONN_MON_FILE", kConweave},
    {"CONWEAVE_DEFAULT_VOQ_WAITING_TIME", kConweave},
    {"CONWEAVE_EXTRA_VOQ_FLUSH_TIME", kConweave},
    {"CONWEAVE_PATH_PAUSE_TIME", kConweave},
    {"CONWEAVE_REPLY_TIMEOUT_EXTRA", kConweave},
    {"CONWEAVE_TX_EXPIRY_TIME", kConweave},
    {"DATA_RATE", kBoth},
    {"DCTCP_RATE_AI", kBoth},
    {"ENABLE_IRN", kConweave},
    {"ENABLE_PFC", kConweave},
    {"ENABLE_QCN", kBoth},
    {"ENABLE_TRACE", kHpcc},
    {"ERROR_RATE_PER_LINK", kBoth},
    {"EST_ERROR_MON_FILE", kConweave},
    {"EWMA_GAIN", kBoth},
    {"FAST_REACT", kBoth},
    {"FAST_RECOVERY_TIMES", kBoth},
    {"FCT_OUTPUT_FILE", kBoth},
    {"FLOWGEN_START_TIME", kConweave},
    {"FLOWGEN_STOP_TIME", kConweave},
    {"FLOW_FILE", kBoth},
    {"FLOW_INPUT_FILE", kConweave},
    {"GLOBAL_T", kBoth},
    {"HAS_WIN", kBoth},
    {"INT_MULTI", kBoth},
    {"KMAX_MAP", kBoth, Shape::by_rate},
    {"KMIN_MAP", kBoth, Shape::by_rate},
    {"L2_ACK_INTERVAL", kBoth},
    {"L2_BACK_TO_ZERO", kBoth},
    {"L2_CHUNK_SIZE", kBoth},
    {"LB_MODE", kConweave},
    {"LINK_DELAY", kBoth},
    {"LINK_DOWN", kBoth, Shape::three},
    {"LOAD", kConweave},
    {"MIN_RATE", kBoth},
    {"MI_THRESH", kBoth},
    {"MULTI_RATE", kBoth},
    {"PACKET_PAYLOAD_SIZE", kBoth},
    {"PAUSE_TIME", kBoth},
    {"PFC_OUTPUT_FILE", kBoth},
    {"PINT_LOG_BASE", kHpcc},
    {"PINT_PROB", kHpcc},
    {"PMAX_MAP", kBoth, Shape::by_rate},
    {"QLEN_MON_END", kBoth},
    {"QLEN_MON_FILE", kBoth},
    {"QLEN_MON_START", kBoth},
    {"RANDOM_SEED", kConweave},
    {"RATE_AI", kBoth},
    {"RATE_BOUND", kBoth},
    {"RATE_DECREASE_INTERVAL", kBoth},
    {"RATE_HAI", kBoth},
    {"RP_TIMER", kBoth},
    {"SAMPLE_FEEDBACK", kBoth},
    {"SIMULATOR_STOP_TIME", kHpcc},
    {"SW_MONITORING_INTERVAL", kConweave},
    {"TOPOLOGY_FILE", kBoth},
    {"TRACE_FILE", kHpcc},
    {"TRACE_OUTPUT_FILE", kHpcc},
    {"UPLINK_MON_FILE", kConweave},
    {"USE_DYNAMIC_PFC_THRESHOLD", kBoth},
    {"U_TARGET", kBoth},
    {"VAR_WIN", kBoth},
    {"VOQ_MON_DETAIL_FILE", kConweave},
    {"VOQ_MON_FILE", kConweave},
});

uint8_t bit_of(Ns3Dialect dialect) {
  return dialect == Ns3Dialect::hpcc ? kHpcc : kConweave;
}

const Key* key_named(std::string_view name) {
  const auto found = std::ranges::find(kKeys, name, &Key::name);
  return found == kKeys.end() ? nullptr : &*found;
}

std::string joined(const WordLines::Line& line, size_t from, size_t to) {
  std::string out;
  for (size_t i = from; i < to; ++i) out += (i > from ? " " : "") + std::string(line[i].text);
  return out;
}

constexpr size_t kMostUnknown = 20;

}  // namespace

std::string_view name_of(Ns3Dialect dialect) {
  return dialect == Ns3Dialect::hpcc ? "HPCC's simulator" : "ConWeave's simulator";
}

std::vector<std::string_view> Ns3Config::keys(Ns3Dialect dialect) {
  std::vector<std::string_view> out;
  for (const Key& key : kKeys)
    if ((key.reads & bit_of(dialect)) != 0) out.push_back(key.name);
  return out;
}

Ns3Config::Ns3Config(WordLines& file, std::string name, Ns3Dialect dialect, ImportReport& report)
    : file_(file), name_(std::move(name)), dialect_(dialect) {
  for (const WordLines::Line& line : file_.lines()) read(line, report);
  if (unknown_ > kMostUnknown)
    report.add({Treatment::ignored, name_, 0,
                std::to_string(unknown_ - kMostUnknown) + " more lines",
                "no keys of " + std::string(lab::name_of(dialect_))});
  if (entries_.empty() && file_.problems().empty())
    file_.problem(1, "there is no key of " + std::string(lab::name_of(dialect_)) +
                         " in this file, such as CC_MODE or BUFFER_SIZE");
}

void Ns3Config::read(const WordLines::Line& line, ImportReport& report) {
  size_t at = 0;
  while (at < line.size()) {
    const Key* key = key_named(line[at].text);
    if (key == nullptr || (key->reads & bit_of(dialect_)) == 0) return note_rest(line, at, report);
    const size_t end = at + 1 + words_of(line, at);
    if (end > line.size()) {
      file_.problem(line[at], std::string(key->name) + " has too few values");
      return;
    }
    Entry entry{line[at], {}, joined(line, at, end)};
    entry.values.assign(line.begin() + static_cast<ptrdiff_t>(at) + 1,
                        line.begin() + static_cast<ptrdiff_t>(end));
    if (const Entry* before = find(key->name); before != nullptr)
      report.add({Treatment::ignored, name_, before->key.line, before->text,
                  "line " + std::to_string(entry.key.line) + " has this key again, which counts"});
    entries_.insert_or_assign(std::string(key->name), std::move(entry));
    at = end;
  }
}

// How many words the value has that the key at `at` is to have.
size_t Ns3Config::words_of(const WordLines::Line& line, size_t at) {
  const Key* key = key_named(line[at].text);
  if (key->shape == Shape::one) return 1;
  if (key->shape == Shape::three) return 3;
  if (at + 1 >= line.size()) return 1;
  const auto count = parse_integer(line[at + 1].text);
  const auto left = static_cast<int64_t>(line.size());  // more is too many in any case
  if (count && count.value() >= 0)
    return static_cast<size_t>(1 + 2 * std::min(count.value(), left));
  return line.size();  // said where the map is read
}

// From `at` on there is no key: a comment, or what those programs would skip.
void Ns3Config::note_rest(const WordLines::Line& line, size_t at, ImportReport& report) {
  if (line[at].text.starts_with('{')) return;
  if (++unknown_ > kMostUnknown) return;
  const Key* key = key_named(line[at].text);
  const std::string_view other =
      name_of(dialect_ == Ns3Dialect::hpcc ? Ns3Dialect::conweave : Ns3Dialect::hpcc);
  report.add({Treatment::ignored, name_, line[at].line, joined(line, at, line.size()),
              key != nullptr ? "a key of " + std::string(other) + " alone"
                             : "no key of " + std::string(name_of(dialect_))});
}

const Ns3Config::Entry* Ns3Config::find(std::string_view key) const {
  const auto found = entries_.find(key);
  return found == entries_.end() ? nullptr : &found->second;
}

std::optional<int64_t> Ns3Config::integer(std::string_view key, int64_t least, int64_t most) {
  const Entry* entry = find(key);
  if (entry == nullptr) return std::nullopt;
  const auto parsed = parse_real(entry->values.front().text);
  if (parsed && std::trunc(parsed.value()) >= static_cast<double>(least) &&
      std::trunc(parsed.value()) <= static_cast<double>(most))
    return static_cast<int64_t>(parsed.value());
  file_.problem(entry->values.front(), std::string(key) + " " +
                                           in_quotes(entry->values.front().text) +
                                           " is no whole number from " + std::to_string(least) +
                                           " to " + std::to_string(most));
  return std::nullopt;
}

std::optional<double> Ns3Config::real(std::string_view key, double least, double most) {
  const Entry* entry = find(key);
  if (entry == nullptr) return std::nullopt;
  const auto parsed = parse_real(entry->values.front().text);
  if (parsed && parsed.value() >= least && parsed.value() <= most) return parsed.value();
  const auto bound = [](double value) {
    std::string text = std::to_string(value);
    text.erase(text.find_last_not_of('0') + 1);
    if (text.ends_with('.')) text.pop_back();
    return text;
  };
  file_.problem(entry->values.front(),
                std::string(key) + " " + in_quotes(entry->values.front().text) +
                    " is no number from " + bound(least) + " to " + bound(most));
  return std::nullopt;
}

std::optional<BitRate> Ns3Config::rate(std::string_view key) {
  const Entry* entry = find(key);
  if (entry == nullptr) return std::nullopt;
  return file_.quantity(entry->values.front(), &parse_ns3_rate);
}

std::optional<std::string> Ns3Config::text(std::string_view key) const {
  const Entry* entry = find(key);
  if (entry == nullptr) return std::nullopt;
  return std::string(entry->values.front().text);
}

std::optional<std::map<int64_t, Word>> Ns3Config::by_rate(std::string_view key) {
  const Entry* entry = find(key);
  if (entry == nullptr) return std::nullopt;
  constexpr int64_t kMostRates = 1'000;
  if (!file_.number(entry->values.front(), 1, kMostRates)) return std::nullopt;
  std::map<int64_t, Word> out;
  for (size_t i = 1; i + 1 < entry->values.size(); i += 2) {
    const auto rate = file_.quantity(entry->values[i], &parse_ns3_rate);
    if (!rate) return std::nullopt;
    out.insert_or_assign(rate->bps(), entry->values[i + 1]);
  }
  return out;
}

void Ns3Config::problem(std::string_view key, const std::string& text) {
  const Entry* entry = find(key);
  if (entry != nullptr)
    file_.problem(entry->values.front(), text);
  else
    file_.problem(file_.last_line(), text);
}

}  // namespace eddy::lab
