#include "plugin/plugins.h"

#include <unistd.h>

#include <algorithm>
#include <deque>
#include <utility>

#include "lb/registry.h"
#include "plugin/hosted_scheme.h"
#include "plugin/sealed_copy.h"
#include "plugin/shared_object.h"
#include "plugin/trial.h"
#include "system/trusted_file.h"

namespace eddy::plugin {

namespace fs = std::filesystem;

// A file with these contents. Its memory stays open: the C library knows it by this path.
struct Plugins::Module {
  fs::path file;
  SealedCopy copy;
  std::deque<HostedScheme> hosted;
  std::deque<config::LoadedScheme> schemes;
};

Plugins::Plugins(Surroundings around, uid_t user) : around_(std::move(around)), user_(user) {}
Plugins::~Plugins() = default;

Result<Plugins::Module*> Plugins::load_file(const Place& place) {
  const fs::path& file = place.file;
  const auto failed = [&](const std::string& what) {
    return Result<Module*>::failure(file.string() + ": " + what);
  };
  const auto opened = open_trusted(file, user_);
  if (!opened) return opened.problems();
  auto copy = seal(opened.value());
  if (!copy) return failed(copy.problems().front());
  for (const auto& module : modules_)
    if (module->file == file && module->copy.sha256 == copy->sha256) return module.get();

  if (const std::string problem = try_plugin(*copy); !problem.empty()) return failed(problem);
  auto object = SharedObject::open(copy->path());
  if (!object) {
    copy->memory.release();  // the C library may know it by its number yet
    return failed(object.problems().front());
  }
  auto module = std::make_unique<Module>(Module{file, std::move(*copy), {}, {}});
  for (const lb::SchemeInfo& info : object->contents().schemes) {
    HostedScheme& hosted = module->hosted.emplace_back(info, file.string());
    module->schemes.push_back({file.string(), place.packaged, object->contents().version,
                               module->copy.sha256, &hosted, &hosted.trouble});
  }
  object->keep();
  return modules_.emplace_back(std::move(module)).get();
}

Result<std::vector<const config::LoadedScheme*>> Plugins::load(const std::string& plugin,
                                                               const fs::path& folder) {
  const auto place = place_of(plugin, folder, around_);
  if (!place) return place.problems();
  const std::lock_guard lock(mutex_);
  const auto module = load_file(place.value());
  if (!module) return module.problems();
  std::vector<const config::LoadedScheme*> schemes;
  for (const config::LoadedScheme& scheme : module.value()->schemes) schemes.push_back(&scheme);
  return schemes;
}

Result<const config::LoadedScheme*> Plugins::find(const config::PluginWish& wish) {
  using Found = Result<const config::LoadedScheme*>;
  const auto schemes = load(wish.plugin, wish.folder);
  if (!schemes) return schemes.problems();
  if (wish.scheme.empty() && schemes.value().size() == 1) return schemes.value().front();
  std::string names;
  for (const config::LoadedScheme* each : schemes.value()) {
    if (each->info->name == wish.scheme) return each;
    names += (names.empty() ? "" : ", ") + std::string(each->info->name);
  }
  const std::string& file = schemes.value().front()->file;
  return Found::failure(wish.scheme.empty()
                            ? file + ": it has several schemes, name one by scheme: " + names
                            : file + ": it has no scheme '" + wish.scheme + "', but " + names);
}

Plugins& plugins_of_process() {
  static Plugins plugins(surroundings(), ::geteuid());
  return plugins;
}

}  // namespace eddy::plugin
