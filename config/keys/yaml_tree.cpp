#include "config/keys/yaml_tree.h"

#include <fmt/format.h>
#include <yaml-cpp/eventhandler.h>
#include <yaml-cpp/exceptions.h>
#include <yaml-cpp/parser.h>

#include <algorithm>
#include <optional>
#include <sstream>
#include <unordered_set>
#include <utility>

namespace eddy::config {
namespace {

struct TooDeep {};

// Builds the tree from the parser's events. Open lists and maps wait on a stack.
class TreeBuilder final : public YAML::EventHandler {
 public:
  explicit TreeBuilder(std::vector<Problem>& problems) : problems_(problems) {}
  Node take_root() { return std::move(root_); }
  // Where the document begins, also of one that is not whole.
  Position begin() const { return open_.empty() ? root_.at : open_.front().node.at; }

  void OnDocumentStart(const YAML::Mark&) override {}
  void OnDocumentEnd() override {}
  void OnNull(const YAML::Mark& mark, YAML::anchor_t anchor) override {
    refuse_anchor(mark, anchor);
    attach({.kind = Node::Kind::null, .at = position(mark)});
  }
  void OnAlias(const YAML::Mark& mark, YAML::anchor_t) override {
    problem(mark, "an alias (*) is not allowed, write the value out");
    attach({.kind = Node::Kind::null, .at = position(mark)}, /*reported=*/true);
  }
  void OnScalar(const YAML::Mark& mark, const std::string& tag, YAML::anchor_t anchor,
                const std::string& value) override {
    refuse_anchor(mark, anchor);
    refuse_tag(mark, tag);
    attach({.kind = Node::Kind::scalar, .at = position(mark), .text = value});
  }
  void OnSequenceStart(const YAML::Mark& mark, const std::string& tag, YAML::anchor_t anchor,
                       YAML::EmitterStyle::value) override {
    open(mark, tag, anchor, Node::Kind::list);
  }
  void OnSequenceEnd() override { close(); }
  void OnMapStart(const YAML::Mark& mark, const std::string& tag, YAML::anchor_t anchor,
                  YAML::EmitterStyle::value) override {
    open(mark, tag, anchor, Node::Kind::map);
  }
  void OnMapEnd() override { close(); }

 private:
  struct Frame {
    Node node;
    std::optional<Node::Member> pending;  // a map's key that waits for its value
    std::unordered_set<std::string> seen;
    bool skip_value = false;
  };

  static Position position(const YAML::Mark& mark) { return {mark.line + 1, mark.column + 1}; }
  void problem(const YAML::Mark& mark, std::string text) {
    problems_.push_back({position(mark), std::move(text)});
  }
  void refuse_anchor(const YAML::Mark& mark, YAML::anchor_t anchor) {
    if (anchor != YAML::NullAnchor)
      problem(mark, "an anchor (&) is not allowed, write the value out where it is needed");
  }
  void refuse_tag(const YAML::Mark& mark, const std::string& tag) {
    if (!tag.empty() && tag != "?" && tag != "!")
      problem(mark, fmt::format("the tag \"{}\" is not allowed, leave it out", tag));
  }

  void open(const YAML::Mark& mark, const std::string& tag, YAML::anchor_t anchor,
            Node::Kind kind) {
    refuse_anchor(mark, anchor);
    refuse_tag(mark, tag);
    if (open_.size() == kMaxDepth) {
      problem(mark, fmt::format("nested too deep, at most {} levels", kMaxDepth));
      throw TooDeep{};
    }
    open_.push_back({.node = {.kind = kind, .at = position(mark)}});
  }
  void close() {
    Node node = std::move(open_.back().node);
    open_.pop_back();
    attach(std::move(node));
  }

  void attach(Node node, bool reported = false) {
    if (open_.empty()) {
      root_ = std::move(node);
    } else if (Frame& frame = open_.back(); frame.node.kind == Node::Kind::list) {
      frame.node.items.push_back(std::move(node));
    } else if (frame.pending) {
      attach_value(frame, std::move(node));
    } else {
      attach_key(frame, node, reported);
    }
  }

  void attach_key(Frame& frame, Node& node, bool reported) {
    frame.pending = Node::Member{.key = node.text, .key_at = node.at};
    frame.skip_value = true;
    if (node.kind != Node::Kind::scalar) {
      if (!reported) problems_.push_back({node.at, "a key must be one word, such as \"name\""});
    } else if (!frame.seen.insert(node.text).second) {
      problems_.push_back({node.at, duplicate_text(frame, node.text)});
    } else {
      frame.skip_value = false;
    }
  }
  static std::string duplicate_text(const Frame& frame, const std::string& key) {
    const auto first = std::ranges::find(frame.node.members, key, &Node::Member::key);
    if (first == frame.node.members.end()) return fmt::format("duplicate key \"{}\"", key);
    return fmt::format("duplicate key \"{}\", it already stands in line {}", key,
                       first->key_at.line);
  }
  static void attach_value(Frame& frame, Node node) {
    if (node.kind == Node::Kind::null) node.at = frame.pending->key_at;
    frame.pending->value = std::move(node);
    if (!frame.skip_value) frame.node.members.push_back(std::move(*frame.pending));
    frame.pending.reset();
  }

  std::vector<Problem>& problems_;
  std::vector<Frame> open_;
  Node root_;
};

// The length of the UTF-8 sequence that starts `rest`; 0 when it is not one (RFC 3629).
size_t utf8_length(std::string_view rest) {
  const auto octet = [&](size_t i) { return static_cast<uint8_t>(rest[i]); };
  const uint8_t lead = octet(0);
  if (lead < 0x80) return 1;
  const size_t length = lead >= 0xf0 ? 4 : lead >= 0xe0 ? 3 : 2;
  if (lead < 0xc2 || lead > 0xf4 || rest.size() < length) return 0;
  for (size_t i = 1; i < length; ++i)
    if ((octet(i) & 0xc0) != 0x80) return 0;
  const bool overlong = (lead == 0xe0 && octet(1) < 0xa0) || (lead == 0xf0 && octet(1) < 0x90);
  const bool surrogate = lead == 0xed && octet(1) > 0x9f;
  const bool beyond = lead == 0xf4 && octet(1) > 0x8f;
  return overlong || surrogate || beyond ? 0 : length;
}

// The first octet that does not belong in a configuration file.
std::optional<Problem> find_bad_octet(std::string_view text) {
  Position at{1, 1};
  for (size_t i = 0; i < text.size();) {
    const size_t length = utf8_length(text.substr(i));
    const auto octet = static_cast<uint8_t>(text[i]);
    if (length == 0)
      return Problem{at, fmt::format("octet 0x{:02x} is not UTF-8, save the file as UTF-8", octet)};
    const bool control =
        (octet < 0x20 && octet != '\n' && octet != '\r' && octet != '\t') || octet == 0x7f;
    if (control) return Problem{at, fmt::format("control character 0x{:02x}, remove it", octet)};
    ++at.column;
    if (octet == '\n') at = {at.line + 1, 1};
    i += length;
  }
  return std::nullopt;
}

void run_parser(std::string_view text, TreeBuilder& builder, std::vector<Problem>& problems) {
  std::istringstream stream{std::string(text)};
  YAML::Parser parser(stream);
  if (!parser.HandleNextDocument(builder)) return;
  std::vector<Problem> ignored;
  TreeBuilder second(ignored);
  bool another = true;
  try {
    another = parser.HandleNextDocument(second);
  } catch (const TooDeep&) {  // it is a second one all the same
  }
  if (another) problems.push_back({second.begin(), "a second document, a configuration is one"});
}

}  // namespace

Node parse_yaml(std::string_view text, std::vector<Problem>& problems) {
  if (text.size() > kMaxFileBytes) {
    problems.push_back(
        {{1, 1},
         fmt::format("the file has {} octets, at most {} are read", text.size(), kMaxFileBytes)});
    return {};
  }
  if (auto bad = find_bad_octet(text)) {
    problems.push_back(std::move(*bad));
    return {};
  }
  TreeBuilder builder(problems);
  try {
    run_parser(text, builder, problems);
  } catch (const TooDeep&) {
    return {};
  } catch (const YAML::Exception& error) {
    problems.push_back(
        {{error.mark.line + 1, error.mark.column + 1}, fmt::format("not YAML: {}", error.msg)});
    return {};
  } catch (const std::exception& error) {
    problems.push_back({{1, 1}, fmt::format("not YAML: {}", error.what())});
    return {};
  }
  return builder.take_root();
}

}  // namespace eddy::config
