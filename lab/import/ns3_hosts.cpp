// Hosts: windows, recovery and congestion control.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>

#include "lab/import/ns3_translation.h"
#include "net/quantity.h"

namespace eddy::lab {
namespace {

struct OfHpcc {
  std::string_view key;
  std::string_view what;
};
// What only HPCC (and its PINT variant) read of it.
constexpr auto kOfHpcc = std::to_array<OfHpcc>({
    {"FAST_REACT", "how often HPCC reacts"},
    {"U_TARGET", "HPCC's target use of links"},
    {"MI_THRESH", "HPCC's stages of additive increase"},
    {"INT_MULTI", "the unit of HPCC's telemetry"},
    {"MULTI_RATE", "HPCC's rates for each hop"},
    {"SAMPLE_FEEDBACK", "how often HPCC samples its telemetry"},
    {"PINT_LOG_BASE", "PINT's coding of HPCC's telemetry"},
    {"PINT_PROB", "how often PINT samples HPCC's telemetry"},
});

constexpr auto kOfRateControls = std::to_array<std::string_view>(
    {"ALPHA_RESUME_INTERVAL", "RATE_DECREASE_INTERVAL", "CLAMP_TARGET_RATE", "RP_TIMER",
     "FAST_RECOVERY_TIMES", "RATE_AI", "RATE_HAI", "MIN_RATE"});

}  // namespace

void Ns3Translation::hosts() {
  constexpr int64_t kSmallest = 256;
  constexpr int64_t kLargest = 4'096;
  const int64_t payload = integer("PACKET_PAYLOAD_SIZE", 1'000, kSmallest, kLargest);
  take("PACKET_PAYLOAD_SIZE", "host.mtu", std::to_string(payload));
  reach_ = ns3_reach(topology_.plan, Bytes(payload));
  congestion_control();
  recovery();
  window();
  const bool urgent = !conweave_ && flag("ACK_HIGH_PRIO", false);
  if (urgent)
    finding(Treatment::taken, "ACK_HIGH_PRIO",
            "host.control_dscp: 48, the queue before all others");
  else if (!conweave_)
    take("ACK_HIGH_PRIO", "host.control_dscp", "3", "ACKs wait among data");
  const bool paced = flag("RATE_BOUND", true);
  finding(
      paced ? Treatment::taken : Treatment::approximated, "RATE_BOUND",
      paced ? "host.pacing: by_rate" : "packets are paced all the same: the window is kept, too");
  report_.add({Treatment::approximated,
               {},
               0,
               "headers of packets",
               "real frames have 58 octets of them, that program counts 48"});
  if (uses(Control::dcqcn))
    report_.add({Treatment::approximated,
                 {},
                 0,
                 "CNPs",
                 "are frames of their own; that program has them as a flag of ACKs"});
}

void Ns3Translation::window() {
  const bool irn = conweave_ && flag("ENABLE_IRN", false);
  const bool has = flag("HAS_WIN", true);
  const bool global = flag("GLOBAL_T", true);
  const bool varies = flag("VAR_WIN", false);
  if (irn && !has)
    approximate("HAS_WIN", "host.window", "true", "IRN keeps a bandwidth-delay product in flight");
  else
    take("HAS_WIN", "host.window", has ? "true" : "false");
  take("VAR_WIN", "host.variable_window", varies ? "true" : "false");
  if (!has && !irn)
    ignore("GLOBAL_T", "of windows, which HAS_WIN 0 leaves out");
  else if (global || irn)
    take("GLOBAL_T", "host.bdp", to_string(std::max(reach_.bdp, Bytes(1))),
         fmt::format("the largest of all pairs, in {}", to_string(reach_.rtt)));
  else
    take("GLOBAL_T", "host.bdp", "auto");
}

void Ns3Translation::recovery() {
  const bool irn = conweave_ && flag("ENABLE_IRN", false);
  if (conweave_) {
    take("ENABLE_IRN", "host.recovery", irn ? "irn" : "go_back_n");
    if (irn) {
      always("host.irn.rto_low", "100us", "");
      always("host.irn.rto_high", "320us", "");
    }
    always("host.nak_timer", "4us", "a gap has one NAK in each");
    always("host.nak_cuts_rate", "true", "a NAK counts as a CNP");
  } else {
    settings_.set("host.recovery", "go_back_n");
  }
  const bool to_zero = flag("L2_BACK_TO_ZERO", false);
  finding(to_zero ? Treatment::approximated : Treatment::taken, "L2_BACK_TO_ZERO",
          to_zero ? "host.recovery: go_back_n; there is no going back to the start of a chunk"
                  : "host.recovery: go_back_n");
  ignore("L2_CHUNK_SIZE", "of going back to the start of a chunk");
  constexpr int64_t kMost = 1'024;
  const int64_t every = integer("L2_ACK_INTERVAL", 0, 0, INT32_MAX);
  if (every <= 1)
    take("L2_ACK_INTERVAL", "host.ack_every", "1");
  else
    approximate("L2_ACK_INTERVAL", "host.ack_every", std::to_string(std::min(every, kMost)),
                "packets, as that program's documentation says; its code counts octets");
}

void Ns3Translation::congestion_control() {
  const int64_t mode = integer("CC_MODE", 1, 0, INT32_MAX);
  switch (mode) {
    case 1:
    case 3:
    case 7:
    case 8:
    case 10:
      control_ = static_cast<Control>(mode);
      break;
    default:
      config_.problem("CC_MODE", fmt::format("CC_MODE {}, valid are 1 DCQCN, 3 HPCC, 7 TIMELY, 8 "
                                             "DCTCP, 10 HPCC-PINT",
                                             mode));
  }
  constexpr const char* kSetting = "host.congestion_control";
  switch (control_) {
    case Control::dcqcn:
      take("CC_MODE", kSetting, "dcqcn");
      break;
    case Control::hpcc:
    case Control::hpcc_pint:
      approximate("CC_MODE", kSetting, "swift",
                  "a window by delay, in the place of HPCC's by the telemetry of switches, which "
                  "is not there");
      break;
    case Control::timely:
      take("CC_MODE", kSetting, "timely", "with the thresholds that are in that program");
      break;
    case Control::dctcp:
      approximate("CC_MODE", kSetting, "dctcp",
                  "a window that shrinks once a round trip, where that program has a rate");
      break;
  }
  if (uses(Control::timely))
    timely();
  else
    dcqcn();
  for (const OfHpcc& key : kOfHpcc) ignore(key.key, std::string(key.what));
  if (uses(Control::dctcp)) {
    gain("host.dctcp.g_shift");
    if (config_.find("DCTCP_RATE_AI") != nullptr)
      finding(Treatment::approximated, "DCTCP_RATE_AI",
              "the window grows by a packet a round trip");
  } else {
    ignore("DCTCP_RATE_AI", "of DCTCP, which CC_MODE does not choose");
  }
}

void Ns3Translation::dcqcn() {
  if (!uses(Control::dcqcn)) {
    for (const std::string_view key : kOfRateControls)
      ignore(key, "of a rate control that is not there, or that CC_MODE does not choose");
    if (!uses(Control::dctcp)) ignore("EWMA_GAIN", "of DCQCN and DCTCP");
    return;
  }
  always("host.dcqcn.preset", "vendor", "DCQCN as NICs have it");
  microseconds("ALPHA_RESUME_INTERVAL", "host.dcqcn.alpha_timer", 55);
  microseconds("RATE_DECREASE_INTERVAL", "host.dcqcn.decrease_interval", 4);
  microseconds("RP_TIMER", "host.dcqcn.increase_timer", 300);
  take("FAST_RECOVERY_TIMES", "host.dcqcn.fast_recovery",
       std::to_string(integer("FAST_RECOVERY_TIMES", conweave_ ? 1 : 5, 1, 100)));
  take("CLAMP_TARGET_RATE", "host.dcqcn.clamp_target_rate",
       flag("CLAMP_TARGET_RATE", false) ? "true" : "false");
  gain("host.dcqcn.g_shift");
  rate("RATE_AI", "host.dcqcn.additive_increase");
  rate("RATE_HAI", "host.dcqcn.hyper_increase");
  least_rate("host.dcqcn.min_rate");
}

// Thresholds and shares are attributes of that program which no key sets; they are the law's own.
void Ns3Translation::timely() {
  for (const std::string_view key : kOfRateControls)
    if (key != "RATE_AI" && key != "RATE_HAI" && key != "MIN_RATE")
      ignore(key, "of DCQCN, which CC_MODE does not choose");
  ignore("EWMA_GAIN", "of DCQCN and DCTCP");
  always("host.timely.hyper_below_low", "true", "every increase counts for the row");
  rate("RATE_AI", "host.timely.additive_increase");
  rate("RATE_HAI", "host.timely.hyper_increase");
  least_rate("host.timely.min_rate");
}

void Ns3Translation::least_rate(std::string_view setting) {
  if (config_.find("MIN_RATE") != nullptr)
    rate("MIN_RATE", setting);
  else
    take("MIN_RATE", setting, "100Mbps");
}

// g as a power of two.
void Ns3Translation::gain(std::string_view setting) {
  const double usual = uses(Control::dctcp) ? 1.0 / 16 : 1.0 / 256;  // as the scripts have it
  constexpr double kMostShift = 16;
  const double g = config_.real("EWMA_GAIN", 0, 1).value_or(usual);
  if (g <= 0) return config_.problem("EWMA_GAIN", "EWMA_GAIN is above 0 and at most 1");
  const double exact = -std::log2(g);
  const double shift = std::clamp(std::round(exact), 0.0, kMostShift);
  const std::string value = std::to_string(static_cast<int>(shift));
  if (shift == exact)
    take("EWMA_GAIN", setting, value);
  else
    approximate("EWMA_GAIN", setting, value, fmt::format("{}, a power of two", std::exp2(-shift)));
}

}  // namespace eddy::lab
