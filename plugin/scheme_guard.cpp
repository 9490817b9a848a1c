#include "plugin/scheme_guard.h"

#include <algorithm>

namespace eddy::plugin {

SchemeGuard::~SchemeGuard() {
  if (failed_) trouble_.selectors.fetch_sub(1, std::memory_order_relaxed);
}

void SchemeGuard::fail(std::string_view what) {
  failed_ = true;
  trouble_.selectors.fetch_add(1, std::memory_order_relaxed);
  if (trouble_.claimed.exchange(true, std::memory_order_relaxed)) return;
  std::copy_n(what.begin(), std::min(what.size(), trouble_.what.size() - 1), trouble_.what.begin());
  trouble_.written.store(true, std::memory_order_release);
}

}  // namespace eddy::plugin
