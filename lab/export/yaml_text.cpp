#include "lab/export/yaml_text.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>

namespace eddy::lab {
namespace {

constexpr size_t kStep = 2;
constexpr size_t kLongestLine = 96;

bool is_letter(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_';
}

// What some version of YAML takes for something else than a text.
bool is_reserved(std::string_view word) {
  constexpr std::array<std::string_view, 10> kReserved = {"true", "false", "null", "yes", "no",
                                                          "on",   "off",   "y",    "n",   "nan"};
  std::string lower(word);
  std::ranges::transform(lower, lower.begin(), [](char c) {
    return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
  });
  return std::ranges::find(kReserved, lower) != kReserved.end();
}

std::string quoted_text(std::string_view text) {
  std::string out = "\"";
  for (const char c : text) {
    const auto octet = static_cast<unsigned char>(c);
    if (c == '"' || c == '\\')
      out += {'\\', c};
    else if (c == '\n')
      out += "\\n";
    else if (octet < 0x20 || octet == 0x7f)
      out += fmt::format("\\x{:02x}", octet);
    else
      out += c;
  }
  return out + '"';
}

std::string key_text(const std::string& key) {
  const bool plain =
      !key.empty() && is_letter(key.front()) && !is_reserved(key) &&
      std::ranges::all_of(key, [](char c) {
        return is_letter(c) || (c >= '0' && c <= '9') || c == '-' || c == '.' || c == '/';
      });
  return plain ? key : quoted_text(key);
}

}  // namespace

Yaml::Yaml(std::string text) : kind_(Kind::quoted), text_(std::move(text)) {}
Yaml::Yaml(int number) : kind_(Kind::plain), text_(std::to_string(number)) {}
Yaml::Yaml(bool truth) : kind_(Kind::plain), text_(truth ? "true" : "false") {}

Yaml Yaml::list(const std::vector<std::string>& texts) {
  Yaml out = list();
  for (const std::string& text : texts) out.add(text);
  return out;
}

Yaml Yaml::block(std::string lines) {
  const bool clean = !lines.empty() && lines.front() != ' ' && lines.front() != '\n' &&
                     !lines.ends_with("\n\n") && std::ranges::all_of(lines, [](char c) {
                       const auto octet = static_cast<unsigned char>(c);
                       return c == '\n' || (octet >= 0x20 && octet != 0x7f);
                     });
  Yaml out(clean ? Kind::block : Kind::quoted);
  out.text_ = std::move(lines);
  return out;
}

Yaml& Yaml::set(const std::string& key, Yaml value) {
  items_.emplace_back(key, std::move(value));
  return *this;
}

Yaml& Yaml::add(Yaml value) {
  items_.emplace_back(std::string(), std::move(value));
  return *this;
}

std::string Yaml::text() const {
  std::string out;
  if (is_scalar() || items_.empty())
    out = scalar() + "\n";
  else
    write(out, 0);
  return out;
}

std::string Yaml::scalar() const {
  if (kind_ == Kind::map) return "{}";
  if (kind_ == Kind::list) {
    std::string out = "[";
    for (const auto& [key, item] : items_) out += (out.size() > 1 ? ", " : "") + item.scalar();
    return out + "]";
  }
  return kind_ == Kind::plain ? text_ : quoted_text(text_);
}

bool Yaml::fits_on_a_line() const {
  if (items_.empty()) return true;
  if (kind_ != Kind::list) return false;
  const bool flat =
      std::ranges::all_of(items_, [](const auto& item) { return item.second.is_scalar(); });
  return flat && scalar().size() <= kLongestLine;
}

// The items of a map or a list, a line each.
void Yaml::write(std::string& out, size_t indent) const {
  for (const auto& [key, item] : items_) {
    out.append(indent, ' ');
    if (kind_ == Kind::map) {
      out += key_text(key) + ":";
      item.write_after_key(out, indent);
    } else if (item.kind_ == Kind::map && !item.items_.empty()) {
      std::string inside;
      item.write(inside, indent + kStep);
      out += "- " + inside.substr(indent + kStep);
    } else {
      out += "- " + item.scalar() + "\n";
    }
  }
}

void Yaml::write_after_key(std::string& out, size_t indent) const {
  if (kind_ == Kind::block) return write_block(out, indent + kStep);
  if (is_scalar() || fits_on_a_line()) {
    out += " " + scalar() + "\n";
    return;
  }
  out += "\n";
  write(out, indent + kStep);
}

void Yaml::write_block(std::string& out, size_t indent) const {
  out += text_.ends_with('\n') ? " |\n" : " |-\n";
  for (size_t at = 0; at < text_.size();) {
    const size_t end = std::min(text_.find('\n', at), text_.size());
    if (end > at) out.append(indent, ' ').append(text_, at, end - at);
    out += '\n';
    at = end + 1;
  }
}

}  // namespace eddy::lab
