// ASSERT: a broken invariant of our own ends the process, in every build. Packet contents never
// trip one.
#pragma once

namespace eddy {
[[noreturn, gnu::cold]] void assertion_failed(const char* condition, const char* file, int line);
}  // namespace eddy

#define ASSERT(condition) \
  ((condition) ? static_cast<void>(0) : ::eddy::assertion_failed(#condition, __FILE__, __LINE__))
