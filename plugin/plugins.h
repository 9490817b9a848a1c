// Plugins: schemes out of the tree, found, checked, loaded and kept.
//
// A file is loaded from a place that nobody else can write to, as a sealed copy, after another
// process has tried it; its scheme runs behind a guard (guarded_selector.h). What is loaded once
// stays, so selectors, names and parameters of it are good for as long as the program runs;
// contents that were loaded before are not loaded again, and a file with other contents is another
// plugin. Owner: the program, one. Thread: any. Cost: a start of the program for contents not seen
// before. Source: docs/plugins.md, docs/adr/0028-plugins.md.
#pragma once

#include <sys/types.h>

#include <memory>
#include <mutex>
#include <span>
#include <vector>

#include "config/plugin_source.h"
#include "plugin/places.h"

namespace eddy::plugin {

class Plugins final : public config::PluginSource {
 public:
  // Files of `user` are trusted beside root's.
  Plugins(Surroundings around, uid_t user);
  ~Plugins() override;

  Result<const config::LoadedScheme*> find(const config::PluginWish& wish) override;
  // All schemes of a file.
  Result<std::vector<const config::LoadedScheme*>> load(const std::string& plugin,
                                                        const std::filesystem::path& folder);

 private:
  struct Module;
  Result<Module*> load_file(const Place& place);

  const Surroundings around_;
  const uid_t user_;
  std::mutex mutex_;
  std::vector<std::unique_ptr<Module>> modules_;
};

// The process's own: of the user that started it, before it gives up any rights.
Plugins& plugins_of_process();

}  // namespace eddy::plugin
