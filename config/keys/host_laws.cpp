#include "config/keys/host_laws.h"

#include <fmt/format.h>

#include <algorithm>
#include <memory>
#include <set>

#include "config/keys/makers.h"
#include "host/registry.h"

namespace eddy::config {
namespace {

template <class Info>
std::vector<std::string_view> names_of(std::span<const Info> laws) {
  std::vector<std::string_view> names;
  for (const Info& law : laws) names.push_back(law.name);
  return names;
}

std::span<const std::string_view> names_of(LawKind kind) {
  static const std::array<std::vector<std::string_view>, 4> names = {
      names_of(host::rate_controls()), names_of(host::recoveries()), names_of(host::entropies()),
      names_of(host::pacings())};
  return names[static_cast<size_t>(kind)];
}

const ValueKind kName = {
    [](std::string_view text, const Type& type, void* out) {
      size_t index = 0;
      std::string wrong = parse_choice(text, type, index);
      if (wrong.empty()) *static_cast<std::string*>(out) = type.choices[index];
      return wrong;
    },
    [](const void* value, const Type&) { return *static_cast<const std::string*>(value); }};

Type::Shape shape_of(ParameterKind kind) {
  switch (kind) {
    case ParameterKind::count:
      return Type::Shape::integer;
    case ParameterKind::duration:
      return Type::Shape::duration;
    case ParameterKind::size:
      return Type::Shape::size;
    case ParameterKind::flag:
      return Type::Shape::boolean;
    case ParameterKind::choice:
      return Type::Shape::choice;
    case ParameterKind::rate:
      return Type::Shape::rate;
  }
  return Type::Shape::text;
}

template <class T, class Base>
std::string parse_as(std::string_view text, const Type& type, int64_t& out, Base base) {
  T value{};
  std::string wrong = Codec<T>::parse(text, type, value);
  if (wrong.empty()) out = base(value);
  return wrong;
}

// What is wrong with the word, or nothing and the value in the base unit.
std::string parse_parameter(const ParameterInfo& info, std::string_view text, const Type& type,
                            int64_t& out) {
  if (!info.automatic.empty() && text == info.automatic) {
    out = kAutomatic;
    return {};
  }
  switch (info.kind) {
    case ParameterKind::count:
      return parse_as<int64_t>(text, type, out, [](int64_t value) { return value; });
    case ParameterKind::duration:
      return parse_as<Duration>(text, type, out, [](Duration value) { return value.ps(); });
    case ParameterKind::size:
      return parse_as<Bytes>(text, type, out, [](Bytes value) { return value.count(); });
    case ParameterKind::flag:
      return parse_as<bool>(text, type, out, [](bool value) { return int64_t{value}; });
    case ParameterKind::choice: {
      size_t index = 0;
      std::string wrong = parse_choice(text, type, index);
      if (wrong.empty()) out = static_cast<int64_t>(index);
      return wrong;
    }
    case ParameterKind::rate:
      return parse_as<BitRate>(text, type, out, [](BitRate value) { return value.bps(); });
  }
  return {};
}

// One parameter; the object is the HostConfig. A value that is as declared is not kept.
class Parameter {
 public:
  Parameter(std::string_view law, const ParameterInfo& info)
      : name_(host::parameter_key(law, info.name)), info_(info) {}

  int64_t value(const void* object) const {
    const auto& all = static_cast<const HostConfig*>(object)->law_parameters;
    const auto found = all.find(name_);
    return found == all.end() ? info_.fallback : found->second;
  }
  void set(void* object, int64_t value) const {
    auto& all = static_cast<HostConfig*>(object)->law_parameters;
    if (value == info_.fallback)
      all.erase(name_);
    else
      all[name_] = value;
  }

  Key key() const {
    const Type type{.shape = shape_of(info_.kind),
                    .min = info_.min,
                    .max = info_.max,
                    .absent = info_.automatic,
                    .choices = info_.choices};
    const Parameter self = *this;
    return {{.name = info_.name, .help = info_.help, .source = info_.source},
            type,
            [=](Reader& reader, const Node& node, void* object) {
              self.read(reader, node, type, object);
            },
            [=](const void* object) {
              return Value{.word = value_text(self.info_, self.value(object))};
            },
            [=](void* object, int64_t factor) { self.dilate(object, factor); }};
  }

 private:
  void read(Reader& reader, const Node& node, const Type& type, void* object) const {
    if (!expect_kind(reader, node, Node::Kind::scalar, type)) return;
    int64_t value = 0;
    const std::string wrong = parse_parameter(info_, node.text, type, value);
    if (!wrong.empty()) return reader.problem(node.at, fmt::format("{}: {}", reader.path(), wrong));
    set(object, value);
  }
  void dilate(void* object, int64_t factor) const {
    const int64_t before = value(object);
    if (before == kAutomatic) return;
    if (info_.kind == ParameterKind::duration)
      set(object, dilated(Duration::picoseconds(before), factor).ps());
    if (info_.kind == ParameterKind::rate)
      set(object, dilated(BitRate::bits_per_second(before), factor).bps());
  }

  std::string name_;
  ParameterInfo info_;
};

// The first law of each name that has parameters.
std::vector<const host::LawInfo*> named_laws() {
  std::vector<const host::LawInfo*> laws;
  for (const host::LawInfo* law : host::all_laws()) {
    const auto same = [law](const host::LawInfo* other) { return other->name == law->name; };
    if (!law->parameters.empty() && std::ranges::none_of(laws, same)) laws.push_back(law);
  }
  return laws;
}

// Of all laws of the name; what two of them declare stands there once.
Section section_of_law(const host::LawInfo& named) {
  std::vector<Key> keys;
  std::set<std::string_view> names;
  for (const host::LawInfo* law : host::all_laws()) {
    if (law->name != named.name) continue;
    for (const ParameterInfo& info : law->parameters)
      if (names.insert(info.name).second) keys.push_back(Parameter(law->name, info).key());
  }
  return make_section(named.name, named.summary, std::move(keys), HostConfig{});
}

HostConfig* config_of(void* host) {
  return &static_cast<HostKeys*>(host)->config;
}
const HostConfig* config_of(const void* host) {
  return &static_cast<const HostKeys*>(host)->config;
}

Key section_key(const host::LawInfo& law, const Section& section) {
  Type type{.shape = Type::Shape::section, .section = &section};
  return {
      {.name = law.name, .help = law.summary},
      type,
      [&section](Reader& reader, const Node& node, void* host) {
        read_section(section, reader, node, config_of(host));
      },
      [&section](const void* host) { return print_section(section, config_of(host)); },
      [&section](void* host, int64_t factor) { dilate_section(section, config_of(host), factor); }};
}

}  // namespace

Key law_key(std::string HostConfig::*member, LawKind kind, const KeyInfo& info) {
  const Type type{.shape = Type::Shape::choice, .choices = names_of(kind)};
  const auto place =
      Place::of<HostKeys>([member](auto& host) -> auto& { return host.config.*member; });
  return value_key(info, type, place, kName);
}

std::vector<Key> law_sections() {
  static const std::vector<std::unique_ptr<Section>> sections = [] {
    std::vector<std::unique_ptr<Section>> made;
    for (const host::LawInfo* law : named_laws())
      made.push_back(std::make_unique<Section>(section_of_law(*law)));
    return made;
  }();
  std::vector<Key> keys;
  size_t next = 0;
  for (const host::LawInfo* law : named_laws())
    keys.push_back(section_key(*law, *sections[next++]));
  return keys;
}

std::vector<std::string> law_problems(const HostConfig& host) {
  const host::Laws laws = host::laws_of(host);
  std::vector<std::string> problems;
  if (laws.entropy.law->spreads && laws.recovery.law->drops_ahead)
    problems.push_back(fmt::format(
        "host.entropy: {} lets packets overtake each other, and host.recovery: {} drops those that "
        "do, write one that keeps them, such as selective_ack",
        laws.entropy.law->name, laws.recovery.law->name));
  if (laws.entropy.law->drains && host.ack_every != 1)
    problems.push_back(fmt::format(
        "host.entropy: {} knows by ACKs what has arrived, and host.ack_every is {}, write 1",
        laws.entropy.law->name, host.ack_every));
  return problems;
}

}  // namespace eddy::config
