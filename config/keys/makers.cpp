#include "config/keys/makers.h"

#include "net/quantity.h"

namespace eddy::config {

std::optional<size_t> read_index(Reader& reader, const Node::Member& member, size_t first,
                                 size_t last) {
  const Result<int64_t> parsed = parse_integer(member.key);
  const bool canonical = parsed && std::to_string(parsed.value()) == member.key;
  const auto value = static_cast<size_t>(canonical ? parsed.value() : -1);
  if (canonical && value >= first && value <= last) return value;
  reader.problem(member.key_at, fmt::format("'{}' is not a number of this map, valid is {} to {}",
                                            member.key.substr(0, 64), first, last));
  return std::nullopt;
}

void check_name(Reader& reader, const Node::Member& member) {
  const Type name{.max = kLongestText, .text_pattern = kNamePattern, .text_says = kNameSays};
  std::string ignored;
  std::string wrong = Codec<std::string>::parse(member.key, name, ignored);
  if (member.key == "none" || member.key == "auto")
    wrong = fmt::format("'{}' cannot be a name, it is a word of its own", member.key);
  if (!wrong.empty()) reader.problem(member.key_at, wrong);
}

}  // namespace eddy::config
