#include "switch/control/sonic/sonic_tables.h"

#include <algorithm>
#include <utility>

#include "net/quantity.h"
#include "net/text/printable.h"

namespace eddy::control {

SonicTables::SonicTables(const std::string& file, const ConfigDb& db)
    : file_(file), db_(db), config_(config::default_switch("switch")) {}

void SonicTables::translate() {
  metadata();
  ports();
  roles();
  addresses();
  loopbacks();
  cables();
  pools();
  profiles();
  priority_groups();
  queue_buffers();
  wred();
  schedulers();
  port_maps();
  lossless_by_pfc();
  watchdogs();
  drop_unused_profiles();
  unread_fields();
  others();
}

void SonicTables::look_for(const std::vector<config::PortConfig*>& ports) {
  looked_for_.clear();
  for (const config::PortConfig* port : ports) looked_for_.push_back(port->name);
}

void SonicTables::problem(int line, const std::string& text) {
  constexpr size_t kMost = 50;
  auto at = wrong_at_.find(text);
  if (at == wrong_at_.end()) {
    if (wrong_.size() == kMost) return;
    at = wrong_at_.emplace(text, wrong_.size()).first;
    wrong_.push_back({line, text, {}});
  }
  Wrong& wrong = wrong_[at->second];
  for (const std::string& port : looked_for_)
    if (std::ranges::find(wrong.ports, port) == wrong.ports.end()) wrong.ports.push_back(port);
}

Problems SonicTables::problems() const {
  constexpr size_t kMostNamed = 8;
  Problems out;
  for (const Wrong& wrong : wrong_) {
    std::string of;
    for (size_t i = 0; i < std::min(wrong.ports.size(), kMostNamed); ++i)
      of += (i == 0 ? "" : ", ") + wrong.ports[i];
    if (wrong.ports.size() > kMostNamed)
      of += " and " + std::to_string(wrong.ports.size() - kMostNamed) + " more";
    out.push_back(file_ + ":" + std::to_string(wrong.line) + ": " +
                  printable(wrong.text + (wrong.ports.size() > 1 ? " (of ports " + of + ")" : "")));
  }
  return out;
}

void SonicTables::note(Treatment treatment, std::string_view what, std::string text, int line) {
  const auto key = std::tuple(treatment, std::string(what), text);
  const auto [at, fresh] = note_at_.emplace(key, notes_.size());
  if (fresh)
    notes_.push_back({treatment, std::string(what), std::move(text), line, 1});
  else
    ++notes_[at->second].times;
}

void SonicTables::report(ImportReport& to) const {
  for (const Note& note : notes_) {
    const std::string times = note.times > 1 ? " (" + std::to_string(note.times) + " times)" : "";
    to.add({note.treatment, file_, note.line, note.what + times, note.text});
  }
}

SonicTables::Members SonicTables::members(std::string_view table, const Entry& entry, size_t end) {
  Members out;
  const size_t bar = entry.key.rfind('|');
  const std::string where = std::string(table) + "|" + entry.key;
  if (bar == std::string::npos) {
    problem(entry.line, where + ": PORTS|NUMBERS is expected, such as Ethernet0|3-4");
    return out;
  }
  const auto numbers = sonic_range(std::string_view(entry.key).substr(bar + 1), end);
  if (!numbers) {
    problem(entry.line,
            where + ": the numbers are 0 to " + std::to_string(end - 1) + ", such as 3-4");
    return out;
  }
  for (const size_t number : *numbers)
    if (number < kPriorities)
      out.numbers.push_back(number);
    else
      note(Treatment::ignored, std::string(table) + " beyond 7",
           "a port has 8 queues; those are of multicast, or of an ASIC's own", entry.line);
  for (const std::string& name : sonic_list(std::string_view(entry.key).substr(0, bar)))
    if (config::PortConfig* port = port_of(table, entry, name)) out.ports.push_back(port);
  return out;
}

config::PortConfig* SonicTables::port_named(std::string_view name) {
  const auto found = port_at_.find(name);
  return found == port_at_.end() ? nullptr : &config_.ports[found->second];
}

config::PortConfig* SonicTables::port_of(std::string_view table, const Entry& entry,
                                         std::string_view name) {
  config::PortConfig* port = port_named(name);
  if (port == nullptr && !beyond_.contains(name))
    problem(entry.line, std::string(table) + "|" + entry.key + ": there is no port " +
                            std::string(name) + " in PORT");
  return port;
}

const ConfigDb::Entry* SonicTables::refer(std::string_view table, const Field& field) {
  const std::string name = sonic_reference(field.text);
  const Entry* found = db_.table(table).find(name);
  if (found == nullptr) problem(field.line, "there is no " + std::string(table) + "|" + name);
  return found;
}

std::optional<int64_t> SonicTables::number(std::string_view what, const Field& field, int64_t least,
                                           int64_t most) {
  const auto parsed = parse_integer(field.text);
  if (parsed && parsed.value() >= least && parsed.value() <= most) return parsed.value();
  problem(field.line, std::string(what) + ": '" + field.text.substr(0, 40) +
                          "' is no whole number from " + std::to_string(least) + " to " +
                          std::to_string(most));
  return std::nullopt;
}

std::optional<int64_t> SonicTables::number(std::string_view table, const Entry& entry,
                                           std::string_view field, int64_t least, int64_t most) {
  const Field* found = entry.find(field);
  if (found == nullptr) return std::nullopt;
  return number(std::string(table) + "|" + entry.key + " " + std::string(field), *found, least,
                most);
}

std::string SonicTables::profile_name(const std::string& name) {
  constexpr size_t kLongest = 32;
  const auto found = profile_names_.find(name);
  if (found != profile_names_.end()) return found->second;
  std::string out;
  for (const char c : name.substr(0, kLongest)) {
    const bool plain = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
                       c == '_' || c == '-' || c == '/';
    out += plain ? c : '_';
  }
  if (out.empty() || out == "lossless" || out == "lossy" ||
      std::ranges::any_of(profile_names_, [&](const auto& each) { return each.second == out; }))
    out = "profile" + std::to_string(profile_names_.size() + 1);
  return profile_names_.emplace(name, out).first->second;
}

void SonicTables::ignore_fields(std::string_view table,
                                const std::map<std::string_view, std::string_view>& why) {
  for (const Entry& entry : db_.table(table).entries)
    for (const auto& [name, field] : entry.fields)
      if (const auto found = why.find(name); found != why.end())
        note(Treatment::ignored, std::string(table) + " " + name, std::string(found->second),
             field.line);
}

}  // namespace eddy::control
