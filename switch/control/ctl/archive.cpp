#include "switch/control/ctl/archive.h"

#include <fcntl.h>
#include <unistd.h>
#include <zlib.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstdint>
#include <cstdio>
#include <cstring>
#include <ctime>
#include <filesystem>

namespace eddy::control {
namespace {

constexpr size_t kBlock = 512;
constexpr size_t kNameField = 100;

struct Field {
  size_t at;
  size_t size;
};
// Of ustar's header.
constexpr Field kName{0, 100}, kMode{100, 8}, kUser{108, 8}, kGroup{116, 8}, kSize{124, 12},
    kTime{136, 12}, kSum{148, 8}, kType{156, 1}, kMagic{257, 8}, kPrefix{345, 155};

void put(std::string& header, Field field, std::string_view text) {
  header.replace(field.at, std::min(text.size(), field.size), text.substr(0, field.size));
}

void put_octal(std::string& header, Field field, uint64_t value) {
  std::array<char, 24> text{};
  std::snprintf(text.data(), text.size(), "%0*llo", static_cast<int>(field.size) - 1,
                static_cast<unsigned long long>(value));
  put(header, field, text.data());
}

// Where a name that is too long for its field is cut in two.
size_t cut_of(const std::string& name) {
  return name.size() <= kNameField ? std::string::npos
                                   : name.find('/', name.size() - kNameField - 1);
}

}  // namespace

std::string ustar_header(const std::string& name, size_t size, int64_t modified_at_s) {
  constexpr uint64_t kForAll = 0644;
  std::string header(kBlock, '\0');
  const size_t cut = cut_of(name);
  put(header, kName, cut == std::string::npos ? name : name.substr(cut + 1));
  if (cut != std::string::npos) put(header, kPrefix, name.substr(0, cut));
  put_octal(header, kMode, kForAll);
  put_octal(header, kUser, 0);
  put_octal(header, kGroup, 0);
  put_octal(header, kSize, size);
  put_octal(header, kTime, static_cast<uint64_t>(modified_at_s));
  put(header, kType, "0");
  put(header, kMagic, std::string_view("ustar\00000", 8));
  put(header, kSum, "        ");  // as which it counts in the sum
  uint64_t sum = 0;
  for (const char c : header) sum += static_cast<unsigned char>(c);
  put_octal(header, {kSum.at, kSum.size - 1}, sum);
  return header;
}

Archive::~Archive() {
  if (file_ != nullptr) gzclose(file_);
  std::error_code ignored;
  if (made_) std::filesystem::remove(path_, ignored);
}

Problems Archive::open() {
  const bool is_output = path_ == "-";
  const int fd = is_output ? ::dup(STDOUT_FILENO)
                           : ::open(path_.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
  if (fd < 0 && errno == EEXIST) return {path_ + ": there is such a file; nothing is overwritten"};
  if (fd < 0) return failed(errno);
  made_ = !is_output;
  file_ = gzdopen(fd, "wb6");
  if (file_ != nullptr) return {};
  ::close(fd);
  return failed(ENOMEM);
}

Problems Archive::add(const std::string& name, std::string_view content) {
  if (Problems problems = write(ustar_header(name, content.size(), std::time(nullptr)));
      !problems.empty())
    return problems;
  if (Problems problems = write(content); !problems.empty()) return problems;
  return write(std::string((kBlock - content.size() % kBlock) % kBlock, '\0'));
}

Problems Archive::finish() {
  if (Problems problems = write(std::string(2 * kBlock, '\0')); !problems.empty()) return problems;
  errno = 0;
  const int status = gzclose(file_);
  file_ = nullptr;
  if (status != Z_OK) return failed(errno == 0 ? EIO : errno);
  made_ = false;
  return {};
}

Problems Archive::write(std::string_view octets) {
  errno = 0;
  while (!octets.empty()) {
    constexpr size_t kPiece = 1u << 20;
    const auto piece = static_cast<unsigned>(std::min(octets.size(), kPiece));
    const int written = gzwrite(file_, octets.data(), piece);
    if (written <= 0) return failed(errno == 0 ? EIO : errno);
    octets.remove_prefix(static_cast<size_t>(written));
  }
  return {};
}

Problems Archive::failed(int error) const {
  const std::string where = path_ == "-" ? "standard output" : path_;
  return {where + ": " + std::strerror(error) + (made_ ? "; nothing is kept" : "")};
}

}  // namespace eddy::control
