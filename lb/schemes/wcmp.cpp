// WCMP: ECMP with buckets in proportion to the members' static weights. A weight below half a
// bucket's share may get none, and then only carries what dead members leave. Source: reference
// A.2.
#include "lb/schemes/bucket_scheme.h"

namespace eddy::lb {
namespace {

class Wcmp : public BucketScheme<BucketShare::weighted> {
 public:
  static constexpr std::string_view kSummary =
      "one path a flow, by hash over shares in proportion to static weights";
  using BucketScheme::BucketScheme;
};

}  // namespace

EDDY_SCHEME(wcmp, Wcmp)

}  // namespace eddy::lb
