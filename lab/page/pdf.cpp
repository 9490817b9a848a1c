#include "lab/page/pdf.h"

#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <string>
#include <vector>

namespace eddy::lab {

Problems write_pdf(const std::filesystem::path& svg, const std::filesystem::path& pdf) {
  std::vector<std::string> words = {
      "rsvg-convert", "--format=pdf", "--output", std::filesystem::absolute(pdf).string(),
      std::filesystem::absolute(svg).string()};  // absolute: no name looks like an option
  std::vector<char*> arguments;
  arguments.reserve(words.size() + 1);
  for (std::string& word : words) arguments.push_back(word.data());
  arguments.push_back(nullptr);
  std::vector<char*> environment;
  std::string stamp = "SOURCE_DATE_EPOCH=0";
  for (char** each = environ; *each != nullptr; ++each)
    if (!std::string_view(*each).starts_with("SOURCE_DATE_EPOCH=")) environment.push_back(*each);
  environment.push_back(stamp.data());
  environment.push_back(nullptr);
  pid_t child = 0;
  const int failed = posix_spawnp(&child, words[0].c_str(), nullptr, nullptr, arguments.data(),
                                  environment.data());
  if (failed != 0)
    return {"rsvg-convert cannot be started: " + std::string(std::strerror(failed)) +
            "; it makes PDFs, and Debian's package librsvg2-bin has it (scripts/setup)"};
  int status = 0;
  while (waitpid(child, &status, 0) < 0 && errno == EINTR) {
  }
  if (WIFEXITED(status) && WEXITSTATUS(status) == 0) return {};
  return {svg.string() + ": rsvg-convert could not make a PDF of it"};
}

}  // namespace eddy::lab
