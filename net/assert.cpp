#include "net/assert.h"

#include <cstdio>
#include <cstdlib>

namespace eddy {

void assertion_failed(const char* condition, const char* file, int line) {
  std::fprintf(stderr, "eddy: broken invariant at %s:%d: %s\n", file, line, condition);
  std::abort();
}

}  // namespace eddy
