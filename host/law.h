// What the laws of hosts share: what one is made from, what it wants to hear, how it is described.
//
// A law is one of a rate control, a recovery, an entropy or a pacing (the headers of those names).
// It is one object a NIC and keeps what it needs of each QP by its number; all memory is taken when
// it is made. A NIC calls it when something happens that it declared to hear, and reads what it has
// decided from plain fields (SendState, Pace): no packet pays a call for a law that stays silent.
// Owner: one Nic. Thread: the NIC's. Source: reference D; decision 0027.
#pragma once

#include <cstdint>
#include <span>
#include <string_view>

#include "host/nic_options.h"
#include "net/text/parameters.h"

namespace eddy::host {

struct LawInit {
  const NicOptions& nic;
  const ParameterValues& parameters;
};

// What a law at the sender is called for. CNPs and timeouts are rare and always told.
struct Hears {
  bool acks = false;    // each reply
  bool rtt = false;     // and its round-trip time: the NIC notes when each packet left
  bool rounds = false;  // a window's worth of replies at once, which the NIC counts
};

// What the registry knows of a law of any kind.
struct LawInfo {
  std::string_view name;
  std::string_view summary;
  std::span<const ParameterInfo> parameters;
};

}  // namespace eddy::host
