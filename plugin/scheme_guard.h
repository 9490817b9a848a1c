// SchemeGuard: whether a plugin's scheme still runs, for all of it that a switch calls.
//
// What one of its functions throws ends the use of all: selector, agent and stages share their
// state, which may be half changed. Owner: the selector's guard. Thread: the selector's. Cost: a
// branch a call. Source: docs/plugins.md.
#pragma once

#include <cxxabi.h>

#include <exception>
#include <string_view>
#include <utility>

#include "config/loaded_scheme.h"

namespace eddy::plugin {

class SchemeGuard {
 public:
  explicit SchemeGuard(config::SchemeTrouble& trouble) : trouble_(trouble) {}
  ~SchemeGuard();
  SchemeGuard(const SchemeGuard&) = delete;
  SchemeGuard& operator=(const SchemeGuard&) = delete;

  // Whether the call was made and came back; what it threw is noted.
  template <class Call>
  bool survives(Call&& call) {
    if (failed_) [[unlikely]]
      return false;
    try {
      std::forward<Call>(call)();
      return true;
    } catch (abi::__forced_unwind&) {  // the thread is being cancelled
      throw;
    } catch (const std::exception& thrown) {
      fail(thrown.what());
    } catch (...) {
      fail("something that is no std::exception");
    }
    return false;
  }
  bool failed() const { return failed_; }
  // From now on; `what` is kept for reports if it is the first of the scheme's.
  void fail(std::string_view what);

 private:
  config::SchemeTrouble& trouble_;
  bool failed_ = false;
};

}  // namespace eddy::plugin
