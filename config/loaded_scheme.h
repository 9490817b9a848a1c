// LoadedScheme: a path selection scheme of a plugin, as a configuration leads to it.
//
// Made when the plugin is loaded and never taken away, so whoever has a pointer keeps it. Owner:
// the program (plugin/). Reader: any thread. Source: docs/plugins.md.
#pragma once

#include <array>
#include <atomic>
#include <cstdint>
#include <string>

namespace eddy::lb {
struct SchemeInfo;
}  // namespace eddy::lb

namespace eddy::config {

// What the scheme did wrong while packets were sent by it: one for all switches of a process.
// Writers: workers. Reader: control.
struct SchemeTrouble {
  std::atomic<uint32_t> selectors{0};  // that failed and are in use yet: theirs go by ECMP
  std::atomic<bool> claimed{false};    // `what` has its writer: of the first failure
  std::atomic<bool> written{false};    // and is whole
  std::array<char, 160> what{};
};

struct LoadedScheme {
  std::string file;       // where it was found
  bool packaged = false;  // by its plain name, where packages put schemes
  std::string version;    // of Eddy, whose headers it was compiled with
  std::string sha256;     // of the file, in hexadecimal
  const lb::SchemeInfo* info = nullptr;
  SchemeTrouble* trouble = nullptr;
};

}  // namespace eddy::config
