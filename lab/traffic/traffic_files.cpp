#include "lab/traffic/traffic_files.h"

#include <array>
#include <fstream>
#include <system_error>

#include "system/data_folders.h"

namespace eddy::lab {
namespace {

namespace fs = std::filesystem;

bool is_path(const std::string& name) {
  return name.find_first_of("./") != std::string::npos;
}

Result<NamedText> read_file(const fs::path& path) {
  NamedText file{path.lexically_normal().string(), {}};
  std::ifstream stream(path, std::ios::binary);
  std::array<char, 65'536> part;
  while (stream && file.text.size() <= kMaxTrafficFile) {
    stream.read(part.data(), part.size());
    file.text.append(part.data(), static_cast<size_t>(stream.gcount()));
  }
  if (!stream.eof() && file.text.size() <= kMaxTrafficFile)
    return Result<NamedText>::failure(file.name + " cannot be read");
  if (file.text.size() > kMaxTrafficFile)
    return Result<NamedText>::failure(file.name + " has more than " +
                                      std::to_string(kMaxTrafficFile) + " octets");
  return file;
}

}  // namespace

std::vector<fs::path> TrafficFiles::candidates(const std::string& name) const {
  if (is_path(name)) return {folder_ / name};
  const std::string file = name + ".csv";
  std::vector<fs::path> out = {folder_ / file, folder_ / "workloads" / file,
                               folder_ / ".." / "workloads" / file};
  for (const fs::path& data : data_folders()) out.push_back(data / "workloads" / file);
  return out;
}

Result<NamedText> TrafficFiles::operator()(const std::string& name) const {
  std::string looked;
  for (const fs::path& path : candidates(name)) {
    std::error_code error;
    if (fs::is_regular_file(path, error)) return read_file(path);
    looked += (looked.empty() ? "" : ", ") + path.lexically_normal().string();
  }
  return Result<NamedText>::failure("no file for " + in_quotes(name) + ", looked for " + looked);
}

}  // namespace eddy::lab
