#include "lab/results/pfc_log.h"

#include <fmt/format.h>

#include "net/pause_frame.h"

namespace eddy::lab {

void PfcLog::attach(const BuiltRun& run) {
  world_ = &run.world;
  origin_ = run.file_origin;
  numbers_ = run.topology.switch_nodes;
  for (const Topology::Host& host : run.topology.hosts) numbers_.push_back(host.node);
}

void PfcLog::on_frame(uint32_t line, Step step, const Packet& packet) {
  if (step != Step::delivered) return;
  PauseFrame frame;
  if (decode({packet.data(), packet.data_len()}, frame) != CodecVerdict::ok) return;
  const Line& of = world_->lines()[line];
  const int64_t at = (origin_ + world_->now().since_zero() / time_dilation_).ns();
  const bool is_switch = of.to < world_->switch_count();
  for (size_t priority = 0; priority < kPriorities; ++priority)
    if ((frame.enabled >> priority & 1) != 0)
      text_ += fmt::format("{} {} {} {} {}\n", at, numbers_[of.to], is_switch ? 1 : 0,
                           of.to_port.index() + 1, frame.quanta[priority] != 0 ? 1 : 0);
}

}  // namespace eddy::lab
