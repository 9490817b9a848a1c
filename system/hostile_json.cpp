#include "system/hostile_json.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <nlohmann/json.hpp>
#include <vector>

#include "net/text/printable.h"

namespace eddy {
namespace {

using Json = nlohmann::ordered_json;

// Looks at a text from its beginning to its end or to what is beyond the bounds. Of text that is no
// JSON it may say anything.
class Scan {
 public:
  explicit Scan(const JsonBounds& bounds) : bounds_(bounds) {}

  // What is beyond the bounds; empty: nothing is.
  std::string excess_of(std::string_view text) {
    if (text.size() > bounds_.octets) return more_than(bounds_.octets, "octets");
    for (size_t i = 0; i < text.size(); ++i) {
      if (text[i] == '"')
        i = end_of_string(text, i);
      else
        take(text[i]);
      if (keys_of_.size() > bounds_.depth)
        return "it is nested more than " + std::to_string(bounds_.depth) + " deep";
      if (values_ > bounds_.values) return more_than(bounds_.values, "values");
      if (key_pairs_ > bounds_.key_pairs) return "it has objects of too many keys";
    }
    return "";
  }

 private:
  static std::string more_than(size_t count, const char* what) {
    return "it has more than " + std::to_string(count) + " " + what;
  }
  // The quotation mark that ends the string which begins at `i`.
  static size_t end_of_string(std::string_view text, size_t i) {
    for (++i; i < text.size() && text[i] != '"'; ++i)
      if (text[i] == '\\') ++i;
    return i;
  }
  void take(char c) {
    if (c == '[' || c == '{') {
      ++values_;
      keys_of_.push_back(0);
    } else if (c == ',') {
      ++values_;
    } else if (c == ':' && !keys_of_.empty()) {
      key_pairs_ += keys_of_.back()++;
    } else if ((c == ']' || c == '}') && !keys_of_.empty()) {
      keys_of_.pop_back();
    }
  }

  const JsonBounds& bounds_;
  size_t values_ = 1;
  size_t key_pairs_ = 0;
  std::vector<size_t> keys_of_;  // by level: keys so far
};

class File {
 public:
  explicit File(const std::filesystem::path& path)
      : fd_(::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY)) {}
  ~File() {
    if (fd_ >= 0) ::close(fd_);
  }
  File(const File&) = delete;
  File& operator=(const File&) = delete;
  int get() const { return fd_; }

 private:
  int fd_;
};

// At most one octet more than `most`.
Result<std::string> read_file(const std::filesystem::path& path, size_t most) {
  using Text = Result<std::string>;
  const auto failed = [&](const std::string& why) {
    return Text::failure(path.string() + ": cannot be read: " + why);
  };
  const File file(path);
  struct stat status {};
  if (file.get() < 0 || ::fstat(file.get(), &status) != 0) return failed(std::strerror(errno));
  if (!S_ISREG(status.st_mode)) return failed("this is no regular file");
  std::string text(std::min(static_cast<size_t>(status.st_size), most) + 1, '\0');
  size_t size = 0;
  while (size < text.size()) {
    const ssize_t got = ::read(file.get(), text.data() + size, text.size() - size);
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) return failed(std::strerror(errno));
    if (got == 0) break;
    size += static_cast<size_t>(got);
  }
  text.resize(size);
  return text;
}

}  // namespace

Result<Json> parse_json(const std::string& name, std::string_view text, const JsonBounds& bounds) {
  if (const std::string excess = Scan(bounds).excess_of(text); !excess.empty())
    return Result<Json>::failure(name + ": " + excess);
  Json value = Json::parse(text, nullptr, false);
  if (value.is_discarded()) return Result<Json>::failure(name + ": this is no JSON");
  return value;
}

Result<Json> read_json_file(const std::filesystem::path& file, const JsonBounds& bounds) {
  const Result<std::string> text = read_file(file, bounds.octets);
  if (!text) return text.problems();
  return parse_json(file.string(), text.value(), bounds);
}

Json with_printable_texts(const Json& value) {
  if (value.is_string()) return printable(value.get_ref<const std::string&>());
  if (!value.is_structured()) return value;
  Json out = value.is_array() ? Json::array() : Json::object();
  for (const auto& [key, member] : value.items())
    if (value.is_array())
      out.push_back(with_printable_texts(member));
    else
      out[printable(key)] = with_printable_texts(member);
  return out;
}

}  // namespace eddy
