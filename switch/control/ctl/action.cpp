#include "switch/control/ctl/action.h"

#include <span>
#include <string_view>

namespace eddy::control {
namespace {

std::string described(const std::string& command, std::string_view help) {
  constexpr size_t kWidth = 28;
  return "  " + command + std::string(kWidth - command.size(), ' ') + std::string(help) + "\n";
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

Result<Action> parse_set(const std::vector<std::string>& words) {
  static constexpr Word kObjects[] = {{"port", ""}};
  static constexpr Word kAttributes[] = {{"tx", ""}};
  static constexpr Word kValues[] = {{"on", ""}, {"off", ""}};
  if (Result<std::string> object = word_at(words, 1, kObjects); !object.ok())
    return object.problems();
  if (words.size() < 3) return Result<Action>::failure("name of the port missing after \"port\"");
  if (Result<std::string> attribute = word_at(words, 3, kAttributes); !attribute.ok())
    return attribute.problems();
  const Result<std::string> value = word_at(words, 4, kValues);
  if (!value.ok()) return value.problems();
  return Action{{}, Json{{"command", "set"}, {"port", words[2]}, {"tx", value.value()}}};
}

size_t length_of(const std::vector<std::string>& words) {
  if (words[0] == "set") return 5;
  if (words[0] == "explain") return words.size();
  if (words[0] == "clear") return words.size() > 1 && words[1] != "counters" ? 3 : 2;
  return words[0] == "show" || words[0] == "capture" ? 2 : 1;
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
  for (const Word& word : clear_words())
    out += described("clear " + std::string(word.name), word.help);
  out += "  clear watermarks KIND, clear persistent-watermarks KIND: of one kind, which is\n";
  for (const Word& word : watermark_words())
    out += described("    " + std::string(word.name), word.help);
  return out + described("set port P tx on|off", "start or stop transmission of a port") +
         described("reload", "apply the configuration file again, all or nothing") +
         described("top", "ports, queues, PFC, drops, workers, live; --fabric, --all: every link") +
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
  static constexpr Word kCommands[] = {{"show", ""},        {"clear", ""},   {"set", ""},
                                       {"reload", ""},      {"top", ""},     {"healthy", ""},
                                       {"techsupport", ""}, {"list", ""},    {"counters", ""},
                                       {"capture", ""},     {"explain", ""}, {"trace", ""}};
  const Result<std::string> command = word_at(words, 0, kCommands);
  if (!command.ok()) return command.problems();
  if (words.size() > length_of(words))
    return Result<Action>::failure("\"" + words[length_of(words)] + "\" is too much");
  if (command.value() == "set") return parse_set(words);
  if (command.value() == "show") {
    const Result<std::string> report = word_at(words, 1, report_words());
    if (!report.ok()) return report.problems();
    return Action{parse_report(report.value()), Json::object()};
  }
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
