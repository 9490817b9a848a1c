// ECMP: a flow's hash picks its path, all members alike; oblivious to load. Source: reference A.1.
#include "lb/schemes/bucket_scheme.h"

namespace eddy::lb {
namespace {

class Ecmp : public BucketScheme<BucketShare::equal> {
 public:
  static constexpr std::string_view kSummary =
      "one path a flow, by hash over equal shares; resilient when members come and go";
  using BucketScheme::BucketScheme;
};

}  // namespace

EDDY_SCHEME(ecmp, Ecmp)

}  // namespace eddy::lb
