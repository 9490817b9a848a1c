#include "lab/export/write_files.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <system_error>

namespace eddy::lab {
namespace {

namespace fs = std::filesystem;

constexpr mode_t kFileMode = 0644;  // containers read them as another user
constexpr mode_t kFolderMode = 0755;

std::string why(int error) {
  return std::strerror(error);
}

// 0, or errno.
int write_all(int fd, const std::string& text) {
  for (size_t done = 0; done < text.size();) {
    const ssize_t count = write(fd, text.data() + done, text.size() - done);
    if (count < 0 && errno == EINTR) continue;
    if (count < 0) return errno;
    done += static_cast<size_t>(count);
  }
  return 0;
}

// Whatever the umask is.
Problems write_file(const fs::path& path, const std::string& text) {
  const int fd = open(path.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, kFileMode);
  if (fd < 0) return {path.string() + ": " + why(errno)};
  int error = write_all(fd, text);
  if (error == 0 && fchmod(fd, kFileMode) != 0) error = errno;
  if (close(fd) != 0 && error == 0) error = errno;
  if (error == 0) return {};
  return {path.string() + ": " + why(error)};
}

Problems make_parents(const fs::path& base, const fs::path& below) {
  fs::path path = base;
  for (const fs::path& part : below) {
    path /= part;
    if (mkdir(path.c_str(), kFolderMode) != 0 && errno != EEXIST)
      return {path.string() + ": " + why(errno)};
    if (chmod(path.c_str(), kFolderMode) != 0) return {path.string() + ": " + why(errno)};
  }
  return {};
}

Problems write_below(const fs::path& base, const std::vector<OutFile>& files) {
  if (chmod(base.c_str(), kFolderMode) != 0) return {base.string() + ": " + why(errno)};
  for (const OutFile& file : files) {
    if (Problems problems = make_parents(base, file.path.parent_path()); !problems.empty())
      return problems;
    if (Problems problems = write_file(base / file.path, file.text); !problems.empty())
      return problems;
  }
  return {};
}

}  // namespace

Problems write_folder(const fs::path& folder, const std::vector<OutFile>& files,
                      const FolderCheck& check) {
  if (folder.empty()) return {"--out: a folder is needed"};
  fs::path target = folder.lexically_normal();
  if (!target.has_filename()) target = target.parent_path();  // "x/"
  std::error_code error;
  const fs::file_status found = fs::symlink_status(target, error);
  if (fs::exists(found) && !fs::is_directory(found))
    return {"--out " + folder.string() + ": is there, and is no folder"};
  if (fs::exists(found) && !fs::is_empty(target, error))
    return {"--out " + folder.string() + ": is there and is not empty; name another, or remove it"};
  if (const fs::path parent = target.parent_path();
      !parent.empty() && !fs::is_directory(parent, error))
    return {"--out " + folder.string() + ": there is no folder " + parent.string()};
  std::string beside = target.string() + ".XXXXXX";
  if (mkdtemp(beside.data()) == nullptr) return {"--out " + folder.string() + ": " + why(errno)};
  Problems problems = write_below(beside, files);
  if (problems.empty() && check) problems = check(beside);
  if (problems.empty() && rename(beside.c_str(), target.c_str()) != 0)
    problems = {"--out " + folder.string() + ": " + why(errno)};
  if (!problems.empty()) fs::remove_all(beside, error);
  return problems;
}

}  // namespace eddy::lab
