// ASSERT: a broken invariant of our own ends the process, in every build. Packet contents never
// trip one. It names its file without folders, so that no program says where it was built.
#pragma once

namespace eddy {
[[noreturn, gnu::cold]] void assertion_failed(const char* condition, const char* file, int line);
}  // namespace eddy

#define ASSERT(condition)             \
  ((condition) ? static_cast<void>(0) \
               : ::eddy::assertion_failed(#condition, __FILE_NAME__, __LINE__))
