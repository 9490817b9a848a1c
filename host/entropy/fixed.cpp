// fixed: a QP's packets carry the source port that it was opened with. Source: reference D.1.
#include "host/describe.h"

namespace eddy::host {
namespace {

class Fixed : public Entropy {
 public:
  static constexpr std::string_view kSummary = "the port of the flow, always";
  static constexpr bool kKeepsPort = true;

  explicit Fixed(const LawInit&) {}
};

}  // namespace

EDDY_ENTROPY(fixed, Fixed)

}  // namespace eddy::host
