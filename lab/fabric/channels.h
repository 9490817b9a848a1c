// The virtual channels of a fabric's lossless priorities: which priorities they take, and what a
// port's maps are then.
//
// The first channel of a lossless priority is the priority itself. The others take priorities that
// are free, the next higher ones first: not lossless themselves, not that of the hosts' answers,
// and not 7, where the switches' own frames are. Plain values. Source: reference A.16.
#pragma once

#include <vector>

#include "config/config.h"
#include "config/experiment.h"
#include "net/ids.h"
#include "net/result.h"

namespace eddy::lab {

// By lossless priority the priorities of its channels, itself first; empty where `channels` is at
// most 1. Refused where no lossy priority would be left.
using ChannelPlan = std::vector<std::vector<Priority>>;
[[nodiscard]] Result<ChannelPlan> plan_channels(const config::Experiment& experiment, int channels);

// Group, queue and profile of each channel as its first one has them.
void give_channels(config::PortConfig& port, const ChannelPlan& plan);

}  // namespace eddy::lab
