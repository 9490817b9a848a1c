#include "lab/real/containers.h"

#include <fmt/format.h>
#include <unistd.h>
#include <algorithm>
#include <sstream>

#include "lab/real/container_words.h"
#include "lab/real/programs.h"
#include "net/version.h"

namespace eddy::lab {
namespace {

namespace fs = std::filesystem;
using Words = std::vector<std::string>;

constexpr Duration kAnswer = Duration::seconds(30);
constexpr const char* kBuild = "scripts/images builds it";

class Containers : public Deployment {
 public:
  explicit Containers(const DeploymentKind& kind) : engine_{on_path(kind.word), kind} {}

  const DeploymentKind& kind() const override { return engine_.kind; }
  Problems check(const Words& programs) override;
  Problems claim(const std::string& fabric, const fs::path& folder,
                 const Words& nodes) const override;
  fs::path inside(const fs::path&) const override { return kFolderInside; }
  fs::path seen(const fs::path& path) const override {
    return fs::absolute(path).lexically_normal();
  }
  ChildProcess::Start start(const std::string& fabric, const fs::path& folder,
                            const RealNode& node) const override;
  Problems clear(const std::string& fabric) const override;
  Words fabrics() const override;
  std::string look_into(const std::string& fabric, const fs::path& folder,
                        const std::string& node) const override;

 private:
  Result<std::string> ask(const Words& words) const;
  Result<std::string> version_of(const std::string& image) const;
  Problems check_client() const;
  std::string image_trouble(const std::string& program) const;
  Result<std::vector<FoundContainer>> containers_of(const std::string& fabric) const;
  ContainerUser user() const;
  bool is_rootless() const;

  const Engine engine_;
  ContainerUser user_;
};

// What it prints, or the line that says why it fails, with its own words.
Result<std::string> Containers::ask(const Words& words) const {
  Words all = client_words(engine_);
  all.insert(all.end(), words.begin(), words.end());
  return output_of(all, kAnswer);
}

Problems Containers::check_client() const {
  if (engine_.client.empty())
    return {engine_.kind.word + ": there is no such program on PATH; --containers needs docker " +
            "20.10 or podman 4.0, or newer"};
  if (std::string trouble = host_trouble(engine_); !trouble.empty()) return {trouble};
  const Result<std::string> said = ask({"version", "--format", "{{.Client.Version}}"});
  if (!said) return {engine_trouble(engine_, said.problems().front())};
  if (std::string trouble = version_trouble(engine_, said.value()); !trouble.empty())
    return {trouble};
  return {};
}

Problems Containers::check(const Words& programs) {
  Problems problems = check_client();
  for (const std::string& program : programs)
    if (problems.empty())
      if (std::string trouble = image_trouble(program); !trouble.empty())
        problems.push_back(std::move(trouble));
  if (problems.empty()) user_ = user();
  return problems;
}

// The last line that is said: warnings come first.
Result<std::string> Containers::version_of(const std::string& image) const {
  const Result<std::string> said =
      ask({"image", "inspect", "--format",
           R"({{index .Config.Labels "org.opencontainers.image.version"}})", image});
  if (!said) return said;
  std::istringstream stream(said.value());
  std::string last;
  for (std::string line; std::getline(stream, line);) last = line;
  return last;
}

std::string Containers::image_trouble(const std::string& program) const {
  const std::string wanted = image_of(program, build_version());
  std::string image = wanted;
  Result<std::string> found = version_of(image);
  if (!found) {
    const std::string said = found.problems().front();
    if (said.find("o such image") == std::string::npos &&
        said.find("image not known") == std::string::npos)
      return engine_trouble(engine_, said);
    image = image_of(program, "latest");
    found = version_of(image);
    if (!found)
      return fmt::format("{}: there is no image {}; {}", engine_.kind.word, wanted, kBuild);
  }
  if (found.value() == build_version()) return {};
  return fmt::format("{}: image {} is of version {}, this eddylab is {}; {} anew, as {}",
                     engine_.kind.word, image, found.value().empty() ? "unknown" : found.value(),
                     build_version(), kBuild, wanted);
}

Result<std::vector<FoundContainer>> Containers::containers_of(const std::string& fabric) const {
  const Result<std::string> said = output_of(list_words(engine_, fabric), kAnswer);
  if (!said) return Problems{engine_trouble(engine_, said.problems().front())};
  return listed(said.value());
}

Problems Containers::clear(const std::string& fabric) const {
  const auto found = containers_of(fabric);
  if (!found) return found.problems();
  Words words = {"rm", "--force", "--volumes"};
  const size_t none = words.size();
  for (const FoundContainer& each : found.value())
    if (each.by == owner_label() && each.fabric == fabric) words.push_back(each.id);
  if (words.size() == none) return {};
  const Result<std::string> done = ask(words);
  // One that was just ending may have gone meanwhile.
  if (done || done.problems().front().find("o such container") != std::string::npos) return {};
  return {engine_trouble(engine_, done.problems().front())};
}

Words Containers::fabrics() const {
  Words names;
  const auto found = containers_of("");
  for (const FoundContainer& each : found ? found.value() : std::vector<FoundContainer>())
    if (each.by == owner_label() && std::ranges::find(names, each.fabric) == names.end())
      names.push_back(each.fabric);
  return names;
}

Problems Containers::claim(const std::string& fabric, const fs::path& folder,
                           const Words& nodes) const {
  std::error_code error;
  fs::create_directories(folder / kDpdkFolder, error);
  if (error) return {(folder / kDpdkFolder).string() + ": " + error.message()};
  if (Problems problems = clear(fabric); !problems.empty()) return problems;
  const auto found = containers_of(fabric);
  if (!found) return found.problems();
  for (const FoundContainer& each : found.value())
    for (const std::string& node : nodes)
      if (each.name == container_name(fabric, node))
        return {fmt::format(
            "{}: a container named {} is there already and is not of this user's eddylab; --name "
            "gives the fabric another name, {} rm -f {} removes it",
            engine_.kind.word, each.name, engine_.kind.word, each.name)};
  return {};
}

// The caller's own, so that the results are his; in a rootless engine that is user 0.
ContainerUser Containers::user() const {
  if (geteuid() == 0) return {.user = 0, .group = getegid(), .is_root = true};
  if (is_rootless()) return {};
  return {.user = geteuid(), .group = getegid()};
}

bool Containers::is_rootless() const {
  if (engine_.kind.word == "podman") return true;  // its containers are children of the caller
  const Result<std::string> said = ask({"info", "--format", "{{.SecurityOptions}}"});
  return said.ok() && said.value().find("rootless") != std::string::npos;
}

ChildProcess::Start Containers::start(const std::string& fabric, const fs::path& folder,
                                      const RealNode& node) const {
  return {.words = run_words(engine_, {.fabric = fabric, .folder = folder, .user = user_}, node),
          .log = node.log};
}

std::string Containers::look_into(const std::string& fabric, const fs::path&,
                                  const std::string& node) const {
  return engine_.kind.word + " exec -it " + container_name(fabric, node) + " eddyctl top";
}

}  // namespace

std::unique_ptr<Deployment> make_containers(const DeploymentKind& kind) {
  return std::make_unique<Containers>(kind);
}

}  // namespace eddy::lab
