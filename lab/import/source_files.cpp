#include "lab/import/source_files.h"

#include <fmt/format.h>

#include <array>
#include <fstream>
#include <string_view>
#include <system_error>
#include <vector>

#include "net/text/printable.h"

namespace eddy::lab {
namespace {

namespace fs = std::filesystem;

constexpr int kFoldersAbove = 4;

bool is_file(const fs::path& path) {
  std::error_code error;
  return fs::is_regular_file(path, error);
}

std::vector<fs::path> candidates(const SourceWish& wish) {
  if (wish.named.empty()) return {wish.beside / wish.usual};
  const fs::path named = wish.named;
  std::vector<fs::path> out;
  fs::path folder = wish.beside;
  for (int i = 0; i <= kFoldersAbove; ++i, folder /= "..") out.push_back(folder / named);
  out.push_back(wish.beside / named.filename());
  if (named.filename() != wish.usual) out.push_back(wish.beside / wish.usual);
  return out;
}

}  // namespace

Result<NamedText> read_source_file(const fs::path& path, size_t most) {
  NamedText file{printable(path.lexically_normal().string()), {}};
  std::error_code error;
  if (!fs::exists(path, error))
    return Result<NamedText>::failure(file.name + ": there is no such file");
  if (!is_file(path)) return Result<NamedText>::failure(file.name + ": is no regular file");
  std::ifstream stream(path, std::ios::binary);
  std::array<char, 65'536> part;
  while (stream && file.text.size() <= most) {
    stream.read(part.data(), part.size());
    file.text.append(part.data(), static_cast<size_t>(stream.gcount()));
  }
  if (file.text.size() > most)
    return Result<NamedText>::failure(fmt::format("{}: has more than {} octets", file.name, most));
  if (!stream.eof()) return Result<NamedText>::failure(file.name + ": cannot be read");
  constexpr std::string_view kByteOrderMark = "\xEF\xBB\xBF";  // of editors of Windows
  if (file.text.starts_with(kByteOrderMark)) file.text.erase(0, kByteOrderMark.size());
  if (const size_t zero = file.text.find('\0'); zero != std::string::npos)
    return Result<NamedText>::failure(
        fmt::format("{}: is no text, octet {} is zero", file.name, zero));
  return file;
}

Result<NamedText> read_source(const SourceWish& wish) {
  if (!wish.given.empty()) return read_source_file(wish.given, wish.most);
  std::string looked;
  for (const fs::path& path : candidates(wish)) {
    if (is_file(path)) return read_source_file(path, wish.most);
    const std::string name = printable(path.lexically_normal().string());
    if (looked.find(name) == std::string::npos) looked += (looked.empty() ? "" : ", ") + name;
  }
  return Result<NamedText>::failure(
      fmt::format("{} is not there, {}looked for {}; {} FILE names it", wish.what,
                  wish.named.empty() ? wish.key + " does not name it, " : "", looked, wish.option));
}

}  // namespace eddy::lab
