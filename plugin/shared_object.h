// SharedObject: a plugin as the C library has loaded it, and what it says of itself, checked.
//
// Loading runs the object's static constructors, which may do anything: trial.h has another process
// do it first. Owner: plugins.h, for as long as the program runs; what is refused is unloaded.
// Thread: one at a time. Source: docs/plugins.md.
#pragma once

#include <span>
#include <string>

#include "lb/schemes/plugin.h"
#include "net/result.h"

namespace eddy::plugin {

// What a plugin has, once it is found to be one of ours.
struct Contents {
  std::string version;  // of Eddy, as its headers say
  std::span<const lb::SchemeInfo> schemes;
};

// What is wrong with a header that begins with so many octets of an object's data, or empty: magic,
// ABI, size, then what the two compilers made of our classes.
std::string header_problem(const lb::PluginHeader& header, size_t octets);
// What is wrong with the list of schemes: none, a name twice, that of one in the library, a
// function or a text that is missing.
std::string schemes_problem(std::span<const lb::SchemeInfo> schemes);

class SharedObject {
 public:
  // Of a path below /proc/self/fd; all symbols are resolved at once and seen by nobody else.
  static Result<SharedObject> open(const std::string& path);
  SharedObject(SharedObject&& other) noexcept;
  SharedObject& operator=(SharedObject&&) = delete;
  ~SharedObject();

  const Contents& contents() const { return contents_; }
  // It stays loaded.
  void keep() { handle_ = nullptr; }

 private:
  explicit SharedObject(void* handle) : handle_(handle) {}
  std::string inspect();

  void* handle_;
  Contents contents_;
};

}  // namespace eddy::plugin
