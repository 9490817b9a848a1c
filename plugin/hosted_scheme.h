// HostedScheme: a plugin's scheme as the program makes it: behind a guard, and with whatever making
// it throws turned into a problem.
//
// Owner: plugins.h; it never goes. Source: docs/plugins.md.
#pragma once

#include <string>

#include "config/loaded_scheme.h"
#include "lb/registry.h"

namespace eddy::plugin {

struct HostedScheme : lb::SchemeInfo {
  HostedScheme(const lb::SchemeInfo& info, std::string from);
  HostedScheme(const HostedScheme&) = delete;
  HostedScheme& operator=(const HostedScheme&) = delete;

  const std::string file;
  mutable config::SchemeTrouble trouble;
};

}  // namespace eddy::plugin
