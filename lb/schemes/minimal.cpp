// Minimal: ECMP among the shortest paths of a dragonfly, in two virtual channels, so that lossless
// frames cannot wait in a circle: before the link between groups and after it. Source: reference
// A.16.
#include "lb/schemes/bucket_scheme.h"

namespace eddy::lb {
namespace {

class Minimal : public BucketScheme<BucketShare::equal> {
 public:
  static constexpr std::string_view kSummary =
      "dragonflies: one shortest path a flow, by hash, in virtual channels without deadlock";
  static constexpr Grouped kGrouped = {.channels = 2};
  using BucketScheme::BucketScheme;
};

}  // namespace

EDDY_SCHEME(minimal, Minimal)

}  // namespace eddy::lb
