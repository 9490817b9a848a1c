#include "switch/control/ctl/secrets.h"

#include <algorithm>
#include <array>
#include <cctype>

namespace eddy::control {
namespace {

constexpr std::array<std::string_view, 12> kWords = {
    "password",    "passwd",  "passphrase", "secret",      "token", "credential",
    "credentials", "api_key", "apikey",     "private_key", "auth",  "key"};
constexpr std::string_view kHidden = "***";

bool is_letter(char c) {
  return std::isalnum(static_cast<unsigned char>(c)) != 0;
}

bool starts_with_word(std::string_view text, std::string_view word) {
  return text.size() >= word.size() &&
         std::equal(word.begin(), word.end(), text.begin(), [](char a, char b) {
           return a == std::tolower(static_cast<unsigned char>(b));
         });
}

// Octets from the end of a word up to its value; 0: it has none.
size_t to_value(std::string_view text) {
  size_t at = 0;
  const auto skip = [&](std::string_view which) {
    while (at < text.size() && which.find(text[at]) != std::string_view::npos) ++at;
  };
  skip("\"'\\ ");
  if (at == text.size() || (text[at] != '=' && text[at] != ':')) return 0;
  ++at;
  skip(" ");
  skip("\"'\\");
  return at;
}

// Of a value at the beginning of `text`.
size_t length_of(std::string_view text) {
  return std::min(text.find_first_of(",;\"'\\{}[] \t\r\n"), text.size());
}

// The word that begins here, whose value is to be hidden; empty: none. "key" is too common to count
// within another word, or anywhere but before '='.
std::string_view word_here(std::string_view text, char before) {
  for (const std::string_view word : kWords) {
    if (!starts_with_word(text, word)) continue;
    const std::string_view rest = text.substr(word.size());
    const bool is_common = word == "key" || word == "auth";
    if (is_common && (is_letter(before) || before == '_' || !rest.starts_with('='))) continue;
    if (to_value(rest) != 0) return word;
  }
  return {};
}

// "://name:password@" at the beginning of `text`: octets up to '@'; 0: there is none.
size_t login_length(std::string_view text) {
  if (!text.starts_with("://")) return 0;
  const size_t end = text.find_first_of("/ \t\r\n\"',", 3);
  const size_t at = text.substr(0, end).rfind('@');
  return at == std::string_view::npos ? 0 : at;
}

}  // namespace

std::string without_secrets(std::string_view text) {
  std::string out;
  out.reserve(text.size());
  char before = ' ';
  while (!text.empty()) {
    size_t taken = 1;
    if (const std::string_view word = word_here(text, before); !word.empty()) {
      const size_t value = word.size() + to_value(text.substr(word.size()));
      const size_t length = length_of(text.substr(value));
      out += text.substr(0, value);
      if (length > 0) out += kHidden;
      taken = value + length;
    } else if (const size_t login = login_length(text); login > 0) {
      out += std::string("://") + std::string(kHidden);
      taken = login;
    } else {
      out += text.front();
    }
    before = text[taken - 1];
    text.remove_prefix(taken);
  }
  return out;
}

}  // namespace eddy::control
