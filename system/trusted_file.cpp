#include "system/trusted_file.h"

#include <fcntl.h>
#include <sys/stat.h>

#include <array>
#include <cerrno>
#include <climits>
#include <cstring>
#include <deque>
#include <string>
#include <vector>

namespace eddy {
namespace {

namespace fs = std::filesystem;

constexpr int kMostLinks = 40;  // as many as the kernel follows

class Walk {
 public:
  Walk(const fs::path& path, uid_t user) : asked_(path.string()), user_(user) { add(path); }

  Result<Descriptor> run() {
    if (!at_root() || !enter_root()) return failed();
    while (!steps_.empty() && problem_.empty()) {
      const std::string step = std::move(steps_.front());
      steps_.pop_front();
      take(step);
    }
    if (problem_.empty() && !file_) problem_ = asked_ + ": this is a folder, name a file";
    if (!problem_.empty()) return failed();
    return std::move(file_);
  }

 private:
  struct Folder {
    Descriptor fd;
    std::string name;  // from the root
  };

  Result<Descriptor> failed() { return Result<Descriptor>::failure(problem_); }
  bool at_root() {
    if (asked_.starts_with('/')) return true;
    problem_ = asked_ + ": the path does not begin at the root";
    return false;
  }
  bool enter_root() {
    folders_.clear();
    Descriptor root(::open("/", O_PATH | O_DIRECTORY | O_CLOEXEC));
    if (!root) return refuse("/", std::strerror(errno));
    if (!is_safe(root.get(), "/")) return false;
    folders_.push_back({std::move(root), ""});
    return true;
  }
  void add(const fs::path& path) {
    std::vector<std::string> names;
    for (const fs::path& part : path)
      if (!part.empty() && part != "/" && part != ".") names.push_back(part.string());
    steps_.insert(steps_.begin(), names.begin(), names.end());
  }
  bool refuse(const std::string& where, const std::string& why) {
    problem_ = where == asked_ ? where + ": " + why : asked_ + ": " + where + ": " + why;
    return false;
  }
  bool is_safe(int fd, const std::string& name);
  void take(const std::string& step);
  void follow(const Descriptor& link, const std::string& name);
  void open_file(const std::string& step, const std::string& name);

  const std::string asked_;
  const uid_t user_;
  std::deque<std::string> steps_;
  std::vector<Folder> folders_;  // from the root to where the walk is
  Descriptor file_;
  int links_ = 0;
  std::string problem_;
};

bool Walk::is_safe(int fd, const std::string& name) {
  struct stat seen {};
  if (::fstat(fd, &seen) != 0) return refuse(name, std::strerror(errno));
  const bool folder = S_ISDIR(seen.st_mode);
  const std::string what = folder ? "this folder" : "it";
  if (seen.st_uid != 0 && seen.st_uid != user_)
    return refuse(name, what + " belongs to user " + std::to_string(seen.st_uid) +
                            ", who could change what is loaded; it must be root's" +
                            (user_ == 0 ? "" : " or the own user's"));
  if ((seen.st_mode & (S_IWGRP | S_IWOTH)) == 0) return true;
  const std::string whom = (seen.st_mode & S_IWOTH) != 0 ? "everybody" : "its group";
  return refuse(name, what + " can be written to by " + whom +
                          ", who could change what is loaded; " +
                          "only its owner may (chmod go-w)");
}

void Walk::take(const std::string& step) {
  if (file_) {
    refuse(asked_, "a file is no folder");
    return;
  }
  if (step == "..") {
    if (folders_.size() > 1) folders_.pop_back();
    return;
  }
  const std::string name = folders_.back().name + "/" + step;
  Descriptor next(
      ::openat(folders_.back().fd.get(), step.c_str(), O_PATH | O_NOFOLLOW | O_CLOEXEC));
  struct stat seen {};
  if (!next || ::fstat(next.get(), &seen) != 0) {
    refuse(name, errno == ENOENT ? "there is no such file" : std::strerror(errno));
    return;
  }
  if (S_ISLNK(seen.st_mode)) return follow(next, name);
  if (S_ISREG(seen.st_mode)) return open_file(step, name);
  if (!S_ISDIR(seen.st_mode)) {
    refuse(name, "this is no regular file");
    return;
  }
  if (is_safe(next.get(), name)) folders_.push_back({std::move(next), name});
}

// Its folder was looked at; where it leads to will be.
void Walk::follow(const Descriptor& link, const std::string& name) {
  std::array<char, PATH_MAX> target{};
  const ssize_t length = ::readlinkat(link.get(), "", target.data(), target.size());
  if (length <= 0 || ++links_ > kMostLinks) {
    refuse(name, length <= 0 ? std::strerror(errno) : "too many symbolic links");
    return;
  }
  const fs::path to(std::string(target.data(), static_cast<size_t>(length)));
  add(to);
  if (to.is_absolute()) enter_root();
}

void Walk::open_file(const std::string& step, const std::string& name) {
  Descriptor file(
      ::openat(folders_.back().fd.get(), step.c_str(), O_RDONLY | O_NOFOLLOW | O_CLOEXEC));
  struct stat seen {};
  if (!file || ::fstat(file.get(), &seen) != 0) {
    refuse(name, std::strerror(errno));
    return;
  }
  if (is_safe(file.get(), name)) file_ = std::move(file);
}

}  // namespace

Result<Descriptor> open_trusted(const fs::path& path, uid_t user) {
  return Walk(path, user).run();
}

}  // namespace eddy
