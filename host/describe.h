// What host/<kind>/<name>.cpp builds on: a law's entry in the registry.
//
// A law is the class of its sender's half, which has kSummary and may have
//   Parameters and parameters() (net/text/parameters.h),
//   kHears (what acks and round-trip times it is told of), kEchoesMarks, kEchoesPort,
//   kKeepsPort, kDrains, kEachPacket and kSpreads (Entropy), kNaksName, kBitmaps and kDropsAhead
//   (SendRecovery), kAlways (Pacing);
// it, and its receiver's half, are made from a LawInit and, where it has them, the parameters. The
// file ends with EDDY_RATE_CONTROL(name, Sender), EDDY_RATE_CONTROL(name, Sender, Notifier),
// EDDY_RECOVERY(name, Sender, Receiver), EDDY_ENTROPY(name, Sender) or EDDY_PACING(name, Sender).
// Randomness comes from stream_of(). Control plane only.
#pragma once

#include <memory>
#include <string_view>
#include <type_traits>

#include "host/registry.h"
#include "net/random.h"

namespace eddy::host {

// The random stream of a law of a NIC; `purpose` is the law's own.
inline RandomStream stream_of(const LawInit& init, uint32_t purpose) {
  return {init.nic.seed, init.nic.host, purpose};
}

namespace detail {

template <class Law>
concept HasParameters = requires {
  typename Law::Parameters;
};

template <class Law>
constexpr std::span<const ParameterInfo> parameters_of() {
  if constexpr (HasParameters<Law>)
    return kParameterInfos<Law>;
  else
    return {};
}

// One half of the law.
template <class Base, class Half, class Law>
std::unique_ptr<Base> make_half(const LawInit& init) {
  if constexpr (HasParameters<Law>)
    return std::make_unique<Half>(init, parameters_from<Law>(init.parameters));
  else
    return std::make_unique<Half>(init);
}

template <class Law>
LawInfo law_info(std::string_view name) {
  return {name, Law::kSummary, parameters_of<Law>()};
}

// What a law declares, or what is so where it does not.
template <class Law>
constexpr Hears hears_of() {
  if constexpr (requires { Law::kHears; })
    return Law::kHears;
  else
    return {};
}
#define EDDY_DECLARED(function, constant)      \
  template <class Law>                         \
  constexpr bool function() {                  \
    if constexpr (requires { Law::constant; }) \
      return Law::constant;                    \
    else                                       \
      return false;                            \
  }
EDDY_DECLARED(echoes_marks, kEchoesMarks)
EDDY_DECLARED(echoes_port, kEchoesPort)
EDDY_DECLARED(keeps_port, kKeepsPort)
EDDY_DECLARED(drains, kDrains)
EDDY_DECLARED(each_packet, kEachPacket)
EDDY_DECLARED(spreads, kSpreads)
EDDY_DECLARED(naks_name, kNaksName)
EDDY_DECLARED(bitmaps, kBitmaps)
EDDY_DECLARED(drops_ahead, kDropsAhead)
EDDY_DECLARED(always, kAlways)
#undef EDDY_DECLARED

}  // namespace detail

template <class Law, class NotifierOfLaw = void>
RateControlInfo describe_rate_control(std::string_view name) {
  RateControlInfo info;
  static_cast<LawInfo&>(info) = detail::law_info<Law>(name);
  info.hears = detail::hears_of<Law>();
  info.echoes_marks = detail::echoes_marks<Law>();
  info.make = &detail::make_half<RateControl, Law, Law>;
  if constexpr (!std::is_void_v<NotifierOfLaw>)
    info.make_notifier = &detail::make_half<Notifier, NotifierOfLaw, Law>;
  return info;
}

template <class Law, class Receiver>
RecoveryInfo describe_recovery(std::string_view name) {
  RecoveryInfo info;
  static_cast<LawInfo&>(info) = detail::law_info<Law>(name);
  info.naks_name = detail::naks_name<Law>();
  info.bitmaps = detail::bitmaps<Law>();
  info.drops_ahead = detail::drops_ahead<Law>();
  info.make_sender = &detail::make_half<SendRecovery, Law, Law>;
  info.make_receiver = &detail::make_half<ReceiveRecovery, Receiver, Law>;
  return info;
}

template <class Law>
EntropyInfo describe_entropy(std::string_view name) {
  EntropyInfo info;
  static_cast<LawInfo&>(info) = detail::law_info<Law>(name);
  info.hears = detail::hears_of<Law>();
  info.keeps_port = detail::keeps_port<Law>();
  info.drains = detail::drains<Law>();
  info.each_packet = detail::each_packet<Law>();
  info.spreads = detail::spreads<Law>();
  info.echoes_marks = detail::echoes_marks<Law>();
  info.echoes_port = detail::echoes_port<Law>();
  info.make = &detail::make_half<Entropy, Law, Law>;
  return info;
}

template <class Law>
PacingInfo describe_pacing(std::string_view name) {
  PacingInfo info;
  static_cast<LawInfo&>(info) = detail::law_info<Law>(name);
  info.always = detail::always<Law>();
  info.make = &detail::make_half<Pacing, Law, Law>;
  return info;
}

}  // namespace eddy::host

// Each defines the function that the generated registry calls for the law `name`.
#define EDDY_RATE_CONTROL(name, ...)                                \
  ::eddy::host::RateControlInfo name##_rate_control() {             \
    return ::eddy::host::describe_rate_control<__VA_ARGS__>(#name); \
  }
#define EDDY_RECOVERY(name, ...)                                \
  ::eddy::host::RecoveryInfo name##_recovery() {                \
    return ::eddy::host::describe_recovery<__VA_ARGS__>(#name); \
  }
#define EDDY_ENTROPY(name, Type)                        \
  ::eddy::host::EntropyInfo name##_entropy() {          \
    return ::eddy::host::describe_entropy<Type>(#name); \
  }
#define EDDY_PACING(name, Type)                        \
  ::eddy::host::PacingInfo name##_pacing() {           \
    return ::eddy::host::describe_pacing<Type>(#name); \
  }
