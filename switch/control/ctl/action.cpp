#include "switch/control/ctl/action.h"

#include <span>
#include <string_view>

#include "switch/control/sonic/sonic_show.h"

namespace eddy::control {
namespace {

std::string described(const std::string& command, std::string_view help) {
  constexpr size_t kWidth = 28;
  const std::string gap = command.size() < kWidth ? std::string(kWidth - command.size(), ' ')
                                                  : "\n" + std::string(kWidth + 2, ' ');
  return "  " + command + gap + std::string(help) + "\n";
}

// The word at `position`, or what would be valid there.
Result<std::string> word_at(const std::vector<std::string>& words, size_t position,
                            std::span<const Word> valid) {
  const std::string after = position == 0 ? "" : " after \"" + words[position - 1] + "\"";
  if (position >= words.size())
    return Result<std::string>::failure("a word is missing" + after +
                                        "; valid are: " + join_words(valid));
  for (const Word& word : valid)
    if (word.name == words[position]) return words[position];
  return Result<std::string>::failure("\"" + words[position] + "\" is not valid" + after +
                                      "; valid are: " + join_words(valid));
}

constexpr Word kPfcwdKeys[] = {{"enabled true|false", "watch lossless queues"},
                               {"action drop|forward|alert", "what to do in a storm"},
                               {"detection_time TIME", "stopped this long is a storm"},
                               {"restoration_time TIME", "over when not paused this long"},
                               {"poll_interval TIME", "how often it looks"},
                               {"detect stalled|paused", "what counts as stopped"}};

std::string_view key_of(const Word& word) {
  return word.name.substr(0, word.name.find(' '));
}

// set pfcwd KEY VALUE, of the port that --port names, or of all.
Result<Action> parse_set_pfcwd(const std::vector<std::string>& words) {
  std::vector<Word> keys;
  for (const Word& word : kPfcwdKeys) keys.push_back({key_of(word), ""});
  const Result<std::string> key = word_at(words, 2, keys);
  if (!key.ok()) return key.problems();
  if (words.size() < 4)
    return Result<Action>::failure("a value is missing after \"" + words[2] + "\"");
  return Action{{}, Json{{"command", "set"}, {"pfcwd", {{words[2], words[3]}}}}};
}

// set port P tx on|off, set port P admin up|down, set pfcwd KEY VALUE
Result<Action> parse_set(const std::vector<std::string>& words) {
  static constexpr Word kObjects[] = {{"port", ""}, {"pfcwd", ""}};
  static constexpr Word kAttributes[] = {{"tx", ""}, {"admin", ""}};
  static constexpr Word kOnOff[] = {{"on", ""}, {"off", ""}};
  static constexpr Word kUpDown[] = {{"up", ""}, {"down", ""}};
  const Result<std::string> object = word_at(words, 1, kObjects);
  if (!object.ok()) return object.problems();
  if (object.value() == "pfcwd") return parse_set_pfcwd(words);
  if (words.size() < 3) return Result<Action>::failure("name of the port missing after \"port\"");
  const Result<std::string> attribute = word_at(words, 3, kAttributes);
  if (!attribute.ok()) return attribute.problems();
  const Result<std::string> value =
      attribute.value() == "tx" ? word_at(words, 4, kOnOff) : word_at(words, 4, kUpDown);
  if (!value.ok()) return value.problems();
  return Action{{},
                Json{{"command", "set"}, {"port", words[2]}, {attribute.value(), value.value()}}};
}

size_t length_of(const std::vector<std::string>& words) {
  if (words[0] == "set") return words.size() > 1 && words[1] == "pfcwd" ? 4 : 5;
  if (words[0] == "explain") return words.size();
  if (words[0] == "clear") return words.size() > 1 && words[1] != "counters" ? 3 : 2;
  return words[0] == "show" || words[0] == "watch" || words[0] == "capture" ? 2 : 1;
}

// clear counters | clear [persistent-]watermarks [KIND]
Result<Action> parse_clear(const std::vector<std::string>& words) {
  const Result<std::string> what = word_at(words, 1, clear_words());
  if (!what.ok()) return what.problems();
  Json request{{"command", "clear"}, {"what", what.value()}};
  if (words.size() > 2) {
    const Result<std::string> kind = word_at(words, 2, watermark_words());
    if (!kind.ok()) return kind.problems();
    request["kind"] = kind.value();
  }
  return Action{{}, std::move(request)};
}

Result<Action> parse_capture(const std::vector<std::string>& words) {
  if (words.size() < 2)
    return Result<Action>::failure("name of the port missing after \"capture\", or all");
  return Action{{}, Json{{"command", "capture"}, {"port", words[1]}}};
}

// show REPORT, show config, watch REPORT
Result<Action> parse_show(const std::vector<std::string>& words) {
  std::vector<Word> valid(report_words().begin(), report_words().end());
  if (words[0] == "show") valid.push_back({"config", ""});
  const Result<std::string> what = word_at(words, 1, valid);
  if (!what.ok()) return what.problems();
  const bool config = what.value() == "config";
  const std::string command = config ? "show config" : words[0];
  return Action{config ? std::nullopt : parse_report(what.value()), Json{{"command", command}}};
}

// The description may be one word or many.
Result<Action> parse_explain(const std::vector<std::string>& words) {
  std::string packet;
  for (size_t i = 1; i < words.size(); ++i) packet += (i == 1 ? "" : " ") + words[i];
  if (packet.empty())
    return Result<Action>::failure(
        "a packet is missing after \"explain\", as in \"src=10.0.1.5 dst=10.0.3.7 dscp=26\"");
  return Action{{}, Json{{"command", "explain"}, {"packet", packet}}};
}

}  // namespace

std::string footer() {
  std::string out = "Commands:\n";
  for (const Word& word : report_words())
    out += described("show " + std::string(word.name), word.help);
  out += described("show config", "the configuration in force, as a file; --all: defaults, too");
  std::string reports;
  for (const Word& word : report_words())
    reports += (reports.empty() ? "" : "|") + std::string(word.name);
  out += described("watch " + reports,
                   "what show REPORT shows, again and again, with what has changed marked");
  for (const Word& word : clear_words())
    out += described("clear " + std::string(word.name), word.help);
  out += "  clear watermarks KIND, clear persistent-watermarks KIND: of one kind, which is\n";
  for (const Word& word : watermark_words())
    out += described("    " + std::string(word.name), word.help);
  out += described("set port P tx on|off", "start or stop transmission of a port") +
         described("set port P admin up|down", "take a port up or down, until the next reload");
  for (const Word& word : kPfcwdKeys)
    out += described("set pfcwd " + std::string(word.name),
                     "of --port, or all; until the next reload: " + std::string(word.help));
  return out + described("reload", "apply the configuration file again, all or nothing") +
         described("reload --check", "what that would change, and what it takes") +
         described("top", "ports, queues, PFC, drops, workers, live; --fabric, --all: every link") +
         described("web", "the same as a page for a browser on this machine; --listen ADDR:PORT") +
         described("healthy", "exit code 0: the ports that have to be up are, workers advance") +
         described("capture P",
                   "packets of port P, or of all, as pcapng: -w FILE, -w - | tshark -r -") +
         described("explain PACKET",
                   "what would become of a packet, as \"src=A dst=B dport=4791 dscp=26\"") +
         described("trace", "the next packets that match --filter, explained as they come") +
         described("techsupport",
                   "one archive of all that helps to find a fault, without secrets") +
         described("list", "names of the running switches") +
         described("counters", "every counter and its meaning");
}

Result<Action> parse_words(const std::vector<std::string>& words) {
  static constexpr Word kCommands[] = {
      {"show", ""},    {"clear", ""},       {"set", ""},   {"reload", ""},   {"top", ""},
      {"healthy", ""}, {"techsupport", ""}, {"list", ""},  {"counters", ""}, {"capture", ""},
      {"explain", ""}, {"trace", ""},       {"watch", ""}, {"web", ""}};
  if (parse_sonic_table(words).ok())
    return Result<Action>::failure("these are words of SONiC: they go with --style sonic");
  const Result<std::string> command = word_at(words, 0, kCommands);
  if (!command.ok()) return command.problems();
  if (words.size() > length_of(words))
    return Result<Action>::failure("\"" + words[length_of(words)] + "\" is too much");
  if (command.value() == "set") return parse_set(words);
  if (command.value() == "show" || command.value() == "watch") return parse_show(words);
  if (command.value() == "clear") return parse_clear(words);
  if (command.value() == "capture") return parse_capture(words);
  if (command.value() == "explain") return parse_explain(words);
  return Action{{}, Json{{"command", command.value()}}};
}

std::string wrong_word(const std::vector<std::string>& words) {
  if (words.empty()) return "";
  const Result<Action> action = parse_words(words);
  return action.ok() || !action.problems().front().starts_with('"') ? ""
                                                                    : action.problems().front();
}

}  // namespace eddy::control
