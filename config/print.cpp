// The configuration as YAML, and what differs between two of them.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <string>
#include <utility>

#include "config/diff.h"
#include "config/document.h"
#include "config/experiment_load.h"
#include "config/keys/experiment.h"
#include "config/keys/keys.h"
#include "config/load.h"
#include "net/fnv.h"

namespace eddy::config {
namespace {

bool is_letter(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
}
bool is_digit(char c) {
  return c >= '0' && c <= '9';
}

// Words that some reader of YAML takes for something else than a text.
bool is_reserved(std::string_view word) {
  constexpr std::array<std::string_view, 9> kReserved = {"null", "true", "false", "yes", "no",
                                                         "on",   "off",  "y",     "n"};
  std::string lower(word);
  for (char& c : lower)
    if (c >= 'A' && c <= 'Z') c = static_cast<char>(c - 'A' + 'a');
  return std::ranges::find(kReserved, lower) != kReserved.end();
}

bool is_plain(std::string_view word, bool text) {
  const auto is_safe = [](char c) {
    return is_letter(c) || is_digit(c) ||
           std::string_view("_./+-").find(c) != std::string_view::npos;
  };
  if (word.empty() || !std::ranges::all_of(word, is_safe)) return false;
  if (is_letter(word.front())) return !(text && is_reserved(word)) && word != "null";
  const bool is_number =
      is_digit(word.front()) || (word.front() == '-' && word.size() > 1 && is_digit(word[1]));
  return is_number && !text;
}

// Plain where that is safe, else in double quotes.
std::string yaml_word(std::string_view word, bool text) {
  if (is_plain(word, text)) return std::string(word);
  std::string quoted = "\"";
  for (char c : word) {
    if (c == '"' || c == '\\') quoted += '\\';
    if (c == '\n' || c == '\t' || c == '\r')
      quoted += fmt::format("\\x{:02x}", static_cast<unsigned>(c));
    else
      quoted += c;
  }
  return quoted + '"';
}

// Keys are numbers or names.
std::string yaml_key(std::string_view key) {
  return yaml_word(key, !is_digit(key.front()));
}

std::string flow_text(const Value& value) {
  if (value.kind == Value::Kind::word) return yaml_word(value.word, value.text);
  std::vector<std::string> parts;
  for (const Value& item : value.items) parts.push_back(flow_text(item));
  for (const Value::Member& member : value.members)
    parts.push_back(yaml_key(member.key) + ": " + flow_text(member.value));
  const bool is_list = value.kind == Value::Kind::list;
  return fmt::format("{}{}{}", is_list ? "[" : "{", fmt::join(parts, ", "), is_list ? "]" : "}");
}

void write_block(const Value& value, size_t indent, std::string& out) {
  const std::string margin(indent, ' ');
  for (const Value& item : value.items) out += margin + "- " + flow_text(item) + "\n";
  for (const Value::Member& member : value.members) {
    out += margin + yaml_key(member.key) + ":";
    const bool one_line =
        member.value.kind == Value::Kind::word || member.value.flow || member.value.empty();
    out += one_line ? " " + flow_text(member.value) + "\n" : "\n";
    if (!one_line) write_block(member.value, indent + 2, out);
  }
}

const Value* find_member(const Value& map, std::string_view key) {
  const auto found = std::ranges::find(map.members, key, &Value::Member::key);
  return found == map.members.end() ? nullptr : &found->value;
}

bool equal(const Value& a, const Value& b) {
  return flow_text(a) == flow_text(b);
}

// Removes what `base` already says.
void subtract(Value& value, const Value& base) {
  std::erase_if(value.members, [&](Value::Member& member) {
    const Value* same = find_member(base, member.key);
    if (same == nullptr) return false;
    if (equal(member.value, *same)) return true;
    if (member.value.members.empty()) return false;
    subtract(member.value, *same);
    return member.value.members.empty();
  });
}

// Leaves of a port's maps what differs from those of all ports.
void keep_own_maps(Value& port, const Value& maps) {
  std::erase_if(port.members, [&](Value::Member& member) {
    if (member.key != "qos") return false;
    subtract(member.value, maps);
    return member.value.empty();
  });
}

Value document_value(const SwitchConfig& config) {
  Document document = default_document();
  document.config = config;
  if (!config.ports.empty()) document.base_port.maps = config.ports.front().maps;
  return print_section(document_section(), &document);
}

// Leaves what `other` says, too.
void intersect(Value& value, const Value& other) {
  std::erase_if(value.members, [&](Value::Member& member) {
    const Value* counterpart = find_member(other, member.key);
    if (counterpart == nullptr) return true;
    if (equal(member.value, *counterpart)) return false;
    intersect(member.value, *counterpart);
    return member.value.members.empty();
  });
}

Value* find_member(Value& map, std::string_view key) {
  return const_cast<Value*>(find_member(std::as_const(map), key));
}

void erase_member(Value& map, std::string_view key) {
  std::erase_if(map.members, [&](const Value::Member& member) { return member.key == key; });
}

// Of a switch without ports of which nothing is known but its preset of RLB.
Value document_before(const SwitchConfig& config) {
  Document document = default_document();
  document.config = default_switch("");
  document.config.rlb = rlb_preset(config.rlb.preset);
  Value value = print_section(document_section(), &document);
  if (config.rlb.preset != RlbConfig{}.preset) erase_member(*find_member(value, "rlb"), "preset");
  erase_member(value, "load_balancer");  // its defaults are the scheme's; it is short
  return value;
}

// What all ports have beyond the defaults moves to `port_defaults`, which holds the defaults.
void share_between_ports(Value& ports, Value& port_defaults) {
  Value shared = ports.members.front().value;
  for (const Value::Member& port : ports.members) intersect(shared, port.value);
  std::erase_if(shared.members, [&](const Value::Member& member) {
    return find_member(std::as_const(port_defaults), member.key) == nullptr;
  });
  for (Value::Member& port : ports.members) {
    subtract(port.value, shared);
    subtract(port.value, port_defaults);
  }
  subtract(shared, port_defaults);
  port_defaults = std::move(shared);
}

Value brief_value(const SwitchConfig& config) {
  Value document = document_value(config);
  const Value before = document_before(config);
  Value ports = *find_member(document, "ports");
  for (Value::Member& port : ports.members)
    keep_own_maps(port.value, *find_member(document, "qos"));
  erase_member(document, "port_defaults");
  subtract(document, before);
  Value port_defaults = *find_member(before, "port_defaults");
  erase_member(port_defaults, "qos");  // what ports have of it is beyond the maps of all
  if (!ports.members.empty()) {
    share_between_ports(ports, port_defaults);
    *find_member(document, "ports") = std::move(ports);
    const auto place = std::ranges::find(document.members, "ports", &Value::Member::key);
    if (!port_defaults.empty())
      document.members.insert(place, {"port_defaults", std::move(port_defaults)});
  }
  return document;
}

void compare(const Value* before, const Value* after, const Change& place,
             std::vector<Change>& changes);

// Ports that come or go are a change each; see diff().
bool is_port_list(const Change& place) {
  return place.key == "ports";
}

void compare_members(const Value& before, const Value& after, const Change& place,
                     std::vector<Change>& changes) {
  const auto below = [&](const Value::Member& member) {
    Change inner = place;
    inner.key += (place.key.empty() ? "" : ".") + member.key;
    inner.key_class = std::max(place.key_class, member.value.key_class);
    if (is_port_list(place)) inner.port = member.key;
    return inner;
  };
  const bool one_sided = !is_port_list(place);
  for (const Value::Member& member : before.members) {
    const Value* counterpart = find_member(after, member.key);
    if (counterpart != nullptr || one_sided)
      compare(&member.value, counterpart, below(member), changes);
  }
  for (const Value::Member& member : after.members)
    if (one_sided && find_member(before, member.key) == nullptr)
      compare(nullptr, &member.value, below(member), changes);
}

void compare(const Value* before, const Value* after, const Change& place,
             std::vector<Change>& changes) {
  const bool maps = before != nullptr && after != nullptr && before->kind == Value::Kind::map &&
                    after->kind == Value::Kind::map;
  if (maps) return compare_members(*before, *after, place, changes);
  if (before != nullptr && after != nullptr && equal(*before, *after)) return;
  Change change = place;
  change.before = before != nullptr ? flow_text(*before) : "";
  change.after = after != nullptr ? flow_text(*after) : "";
  changes.push_back(std::move(change));
}

}  // namespace

std::string print_config(const SwitchConfig& config) {
  Value document = document_value(config);
  std::erase_if(document.members, [](const auto& each) { return each.key == "port_defaults"; });
  const Value maps = *find_member(document, "qos");
  for (Value::Member& section : document.members)
    if (section.key == "ports")
      for (Value::Member& port : section.value.members) keep_own_maps(port.value, maps);
  std::string text;
  write_block(document, 0, text);
  return text;
}

namespace {

// The plugin that a configuration has already.
class LoadedBefore final : public PluginSource {
 public:
  explicit LoadedBefore(const LoadBalancerConfig& chosen) : loaded_(chosen.loaded) {}
  Result<const LoadedScheme*> find(const PluginWish& wish) override {
    if (loaded_ != nullptr) return loaded_;
    return Result<const LoadedScheme*>::failure(wish.plugin + " is not loaded");
  }

 private:
  const LoadedScheme* loaded_;
};

}  // namespace

std::string print_brief(const SwitchConfig& config) {
  std::string text;
  write_block(brief_value(config), 0, text);
  LoadedBefore plugins(config.load_balancer);
  const auto again = load_text("", text, Purpose::object, &plugins);
  return again.ok() && again.value().config == config ? text : print_config(config);
}

std::string print_experiment(const Experiment& experiment) {
  const ExperimentDocument document = experiment_document(experiment);
  Value value = print_section(experiment_section(), &document);
  // What stands for several variants or sizes; this is one of them.
  constexpr std::array<std::string_view, 3> kOuter = {"sizes", "matrix", "expect"};
  std::erase_if(value.members, [&](const Value::Member& member) {
    return std::ranges::find(kOuter, member.key) != kOuter.end();
  });
  std::string text;
  write_block(value, 0, text);
  return text;
}

uint64_t experiment_digest(const Experiment& experiment) {
  Fnv64 digest;
  digest.add(print_experiment(experiment));
  return digest.value();
}

namespace {

// The same file with other contents.
void compare_plugins(const LoadBalancerConfig& before, const LoadBalancerConfig& after,
                     std::vector<Change>& changes) {
  if (before.loaded == after.loaded || before.plugin != after.plugin) return;
  const auto text = [](const LoadBalancerConfig& chosen) {
    return fmt::format("{} (sha256 {})", chosen.plugin,
                       chosen.loaded == nullptr ? "" : chosen.loaded->sha256);
  };
  changes.push_back({.key = "load_balancer.plugin",
                     .key_class = KeyClass::hot,
                     .before = text(before),
                     .after = text(after)});
}

// Ports that come or go: a change each, of what they are on. In which order ports stand means
// nothing.
void add_ports_that_differ(const SwitchConfig& before, const SwitchConfig& after,
                           std::vector<Change>& changes) {
  const auto add = [&](const PortConfig& port, std::string from, std::string to) {
    changes.push_back({.key = "ports." + port.name,
                       .key_class = KeyClass::port,
                       .before = std::move(from),
                       .after = std::move(to)});
  };
  const auto has = [](const SwitchConfig& config, const PortConfig& port) {
    return std::ranges::find(config.ports, port.name, &PortConfig::name) != config.ports.end();
  };
  for (const PortConfig& port : before.ports)
    if (!has(after, port)) add(port, port.device, "");
  for (const PortConfig& port : after.ports)
    if (!has(before, port)) add(port, "", port.device);
}

}  // namespace

std::vector<Change> diff(const SwitchConfig& before, const SwitchConfig& after) {
  const auto document = [](const SwitchConfig& config) {
    Value value = document_value(config);
    // The ports hold what these two only hand down.
    std::erase_if(value.members, [](const auto& each) {
      return each.key == "port_defaults" || each.key == "qos";
    });
    return value;
  };
  std::vector<Change> changes;
  add_ports_that_differ(before, after, changes);
  compare_members(document(before), document(after), {}, changes);
  compare_plugins(before.load_balancer, after.load_balancer, changes);
  return changes;
}

}  // namespace eddy::config
