// go_back_n: the receiver drops what is out of order, and the sender goes back. Source: reference
// D.2.
#include "host/recovery/go_back_n.h"

#include "host/describe.h"

namespace eddy::host {
namespace {

class Sender final : public GoBackN {
 public:
  static constexpr std::string_view kSummary =
      "packets out of order are dropped, and the sender goes back to the first that is missing";
  static constexpr bool kDropsAhead = true;
  using GoBackN::GoBackN;
};

class Dropper : public ReceiveRecovery {
 public:
  explicit Dropper(const LawInit& init) : names_(init.nic.config.nak_timer) {}

  Disposal on_ahead(uint32_t, uint64_t, ReceiveState& state, Instant now) override {
    return {.reply = names_.name(state, now)};
  }

 private:
  const GapNames names_;
};

}  // namespace

EDDY_RECOVERY(go_back_n, Sender, Dropper)

}  // namespace eddy::host
