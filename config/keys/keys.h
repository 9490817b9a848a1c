// The one table of configuration keys: what each is called, may be, defaults to, and where it
// lives. Loading, printing, JSON Schema, diff and docs/configuration.md all walk it.
//
// A Section is the list of keys of one struct. A Key reaches its member by a pointer or an
// accessor; reading and printing are made from the member's type. Private to the YAML side of
// config/. Immutable after its first use.
#pragma once

#include <functional>
#include <limits>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "config/config.h"
#include "config/keys/key_class.h"
#include "config/keys/positions.h"
#include "config/keys/yaml_tree.h"

namespace eddy::config {

struct Section;

// What a value may be.
struct Type {
  enum class Shape : uint8_t {
    boolean,
    integer,
    real,
    text,
    choice,
    duration,
    size,
    rate,
    mac,
    address,
    prefix,
    path_id,
    list,     // of `element`
    mapping,  // key -> `element`
    section,
    scheme,  // the load balancer's: a scheme and its own parameters
    open,    // whatever it is; text_says says what
  };
  Shape shape = Shape::text;
  int64_t min = 0;  // integers, picoseconds, bytes, bits per second
  int64_t max = std::numeric_limits<int64_t>::max();
  std::string_view absent;  // the word for "not set": auto, none
  std::span<const std::string_view> choices;
  const Section* section = nullptr;
  std::shared_ptr<const Type> element;
  std::string_view key_says;      // mapping: what its keys are
  std::string_view key_pattern;   // mapping: the same as a regular expression
  std::string_view text_pattern;  // text
  std::string_view text_says;     // text: the pattern in words
  bool short_form = false;        // section: a lone word stands for its first key
};
// "a rate such as 100Gbps", "one of host, fabric", "a whole number 0 to 7"
std::string says(const Type& type);
// "0 to 7", "1Mbps to 1600Gbps or none"
std::string range_says(const Type& type);

// A printed value. Kept in the order of the table.
struct Value {
  enum class Kind : uint8_t { word, list, map };
  struct Member;
  Kind kind = Kind::word;
  KeyClass key_class = KeyClass::hot;
  bool flow = false;  // written on one line
  bool text = false;  // a word that is to stay a text for any reader of YAML
  std::string word;
  std::vector<Value> items;
  std::vector<Member> members;

  bool empty() const { return kind != Kind::word && items.empty() && members.empty(); }
};
struct Value::Member {
  std::string key;
  Value value;
};
std::string as_word(const Value& value);  // on one line

// Carries problems and the path of the key being read.
class Reader {
 public:
  class Scope {
   public:
    Scope(Reader& reader, std::string_view step, Position at);
    ~Scope() { reader_.path_.resize(length_); }
    Scope(const Scope&) = delete;
    Scope& operator=(const Scope&) = delete;

   private:
    Reader& reader_;
    size_t length_;
  };

  Reader(std::vector<Problem>& problems, Positions& positions)
      : problems_(problems), positions_(positions) {}
  void problem(Position at, std::string text) { problems_.push_back({at, std::move(text)}); }
  const std::string& path() const { return path_; }

 private:
  std::vector<Problem>& problems_;
  Positions& positions_;
  std::string path_;
};

struct KeyInfo {
  std::string_view name;
  KeyClass key_class = KeyClass::hot;
  int64_t min = 0;
  int64_t max = std::numeric_limits<int64_t>::max();
  std::string_view absent;
  bool required = false;
  bool machine_time = false;      // a time or rate of the machine's own: time_dilation leaves it
  std::string_view pattern;       // text: a regular expression
  std::string_view pattern_says;  // the same in words
  std::string_view default_says;  // when the default depends on where the section stands
  std::string_view class_says;    // when the class depends on the value
  std::string_view help;
  std::string_view source;
  std::string_view former;  // its name once, which is an error that says the new one
  bool (*applies)(const void* object) = nullptr;  // false: the key must not be given here
  std::string_view applies_says;                  // when it applies: "mode: static"

  std::string_view class_text() const {
    return class_says.empty() ? to_string(key_class) : class_says;
  }
};

struct Key {
  KeyInfo info;
  Type type;
  std::function<void(Reader&, const Node&, void*)> read;
  std::function<Value(const void*)> print;
  std::function<void(void*, int64_t)> dilate;  // by time_dilation; every key has one
};

struct Section {
  std::string_view name;
  std::string_view help;
  std::vector<Key> keys;
  Value defaults;  // every key as printed from the struct's defaults
};

// The section that a lone word stands for: its first key has the word as value.
Node expand_short_form(const Section& section, const Node& word);
// A problem unless the node is of the kind; null counts as an empty list or map.
bool expect_kind(Reader& reader, const Node& node, Node::Kind kind, const Type& type);
void read_section(const Section& section, Reader& reader, const Node& node, void* object);
// Every time and rate in it, but those of machine_time.
void dilate_section(const Section& section, void* object, int64_t factor);
// Without the keys that do not apply to the object.
Value print_section(const Section& section, const void* object);
Value print_all_keys(const Section& section, const void* object);

// A scheme's parameters are its own: they are kept as written and checked by its entry in the
// registry. `of` finds the member in the section's object.
Key load_balancer_key(const std::function<LoadBalancerConfig&(void*)>& of);
// What stands beside `scheme` and belongs to none.
const Key& control_key();
const Key& plugin_key();

// The whole file. `base_port` is what a port is before its own keys: qos and port_defaults.
struct Document {
  SwitchConfig config;
  PortConfig base_port;
};
Document default_document();
const Section& document_section();
template <class T>
const Section& section_of();
template <>
const Section& section_of<BufferProfile>();
template <>
const Section& section_of<WredProfile>();
template <>
const Section& section_of<QueueConfig>();
template <>
const Section& section_of<QosMaps>();
template <>
const Section& section_of<WatchdogConfig>();
template <>
const Section& section_of<PfcPortConfig>();
template <>
const Section& section_of<PortConfig>();
template <>
const Section& section_of<PathConfig>();
template <>
const Section& section_of<RouteConfig>();
template <>
const Section& section_of<NeighborConfig>();
template <>
const Section& section_of<BufferConfig>();
template <>
const Section& section_of<DreConfig>();
template <>
const Section& section_of<PredictorConfig>();
template <>
const Section& section_of<WarningConfig>();
template <>
const Section& section_of<GuardConfig>();
template <>
const Section& section_of<RecirculationConfig>();
template <>
const Section& section_of<ResequenceConfig>();
template <>
const Section& section_of<IsolationConfig>();
template <>
const Section& section_of<RlbConfig>();
template <>
const Section& section_of<ControlConfig>();
template <>
const Section& section_of<TelemetryConfig>();
template <>
const Section& section_of<SwitchConfig>();

}  // namespace eddy::config
