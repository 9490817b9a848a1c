// eddyd --clock pcap: the configured switch fed from the captures that its net_pcap ports name, in
// virtual time; no root, no EAL, no thread. Source: architecture, section 11.
#pragma once

#include <string>

#include "config/config.h"
#include "net/units.h"

namespace eddy {

struct PcapOptions {
  config::SwitchConfig config;  // as loaded, before scaled()
  std::string events_path;      // events and counters, JSON lines (event_record.h); empty = none
  Duration drain_time = Duration::milliseconds(10);  // after the last frame of the captures
};

// Exit code of eddyd. Every port is net_pcapN[,rx_pcap=FILE][,tx_pcap=FILE].
int run_pcap(const PcapOptions& options);

}  // namespace eddy
