#include "switch/dataplane/object/capture.h"

#include "switch/dataplane/object/capture_tap.h"
#include "switch/dataplane/object/shard_impl.h"

namespace eddy {

void capture(Shard& shard, const CaptureOrder* order) {
  static_cast<ShardImpl&>(shard).capture(order);
}

void ShardImpl::DeleteTap::operator()(CaptureTap* tap) const {
  delete tap;
}

struct ShardImpl::Explains final : PacketExplainer {
  explicit Explains(ShardImpl& asked) : shard(asked) {}
  // Queues say what they hold.
  void explain_received(Explanation& explanation) override {
    shard.departures_.settle_all();
    shard.explain(explanation);
  }
  ShardImpl& shard;
};

void ShardImpl::DeleteExplains::operator()(Explains* explains) const {
  delete explains;
}

ShardImpl::OwnExplains ShardImpl::make_explains() {
  return OwnExplains(std::make_unique<Explains>(*this).release());
}

ShardImpl::Tap ShardImpl::make_tap(ShardContext& context) {
  return Tap(std::make_unique<CaptureTap>(context, *explains_).release());
}

Io* ShardImpl::through_tap(Io& io) {
  return &tap_->over(io);
}

void ShardImpl::rebase_tap(const Rebase& rebase) {
  tap_->rebase(rebase);
}

lb::Selector* ShardImpl::selector() const {
  return context_.selector == &tap_->selector() ? tap_->selector().inner() : context_.selector;
}

// What follows in this poll sees the tap, or the world, already.
void ShardImpl::capture(const CaptureOrder* order) {
  Io* const world = capturing_ ? &tap_->world() : context_.io;
  context_.selector = selector();
  capturing_ = order != nullptr;
  buffer_.tell_drops(capturing_ ? tap_.get() : nullptr);
  if (world != nullptr) context_.io = capturing_ ? &tap_->over(*world) : world;
  if (!capturing_) return;
  tap_->start(*order);
  capture_choices();
}

void ShardImpl::capture_choices() {
  if (context_.selector == nullptr) return;  // it has never been polled
  tap_->selector().stand_before(*context_.selector);
  context_.selector = &tap_->selector();
}

}  // namespace eddy
