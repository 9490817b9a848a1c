#include "switch/explain/step_lines.h"

#include <array>
#include <cstdio>

#include "net/protocols.h"
#include "pfc/wred.h"

namespace eddy::explain {
namespace {

constexpr std::array<const char*, 4> kEcnTexts = {"not ECN-capable", "ECT(1)", "ECT(0)", "CE"};

std::string octets(int64_t number) {
  return (number < 0 ? "-" : "") + grouped(static_cast<uint64_t>(number < 0 ? -number : number)) +
         " octets";
}

std::string protocol_text(uint8_t protocol) {
  if (protocol == kProtocolUdp) return "UDP";
  if (protocol == kProtocolTcp) return "TCP";
  if (protocol == kProtocolIcmp) return "ICMP";
  if (protocol == kProtocolIcmpv6) return "ICMPv6";
  return "protocol " + std::to_string(protocol);
}

const char* kind_text(FrameKind kind) {
  switch (kind) {
    case FrameKind::other:
      return "no kind of frame that is known here";
    case FrameKind::ipv4:
      return "IPv4";
    case FrameKind::ipv6:
      return "IPv6";
    case FrameKind::arp:
      return "ARP";
    case FrameKind::mac_control:
      return "PFC or PAUSE";
    case FrameKind::cnm:
      return "a CNM";
    case FrameKind::cim:
      return "a CIM";
    case FrameKind::lldp:
      return "LLDP";
    case FrameKind::shim_control:
      return "a control frame between leaves";
    case FrameKind::link_local:
      return "a link-local frame";
  }
  return "";
}

std::string ports_text(const ParsedFrame& frame) {
  if (frame.source_port == 0 && frame.destination_port == 0) return "";
  return " " + std::to_string(frame.source_port) + " to " + std::to_string(frame.destination_port);
}

std::string roce_text(const ParsedFrame& frame) {
  if ((frame.flags & kPacketRoce) == 0) return "";
  return ", RoCEv2 to queue pair " + std::to_string(frame.destination_qpn) +
         ((frame.flags & kPacketRoceControl) != 0 ? ", an ACK, NAK or CNP" : "");
}

// Why the scheme wants its path.
const char* reason_text(lb::Reason reason) {
  switch (reason) {
    case lb::Reason::unsaid:
      return "does not say why";
    case lb::Reason::hash:
      return "by the hash of the flow";
    case lb::Reason::keeps:
      return "the flow goes on where it is";
    case lb::Reason::begins:
      return "a flow or flowlet begins, and is placed";
    case lb::Reason::leaves:
      return "the flow leaves the path that it was on";
    case lb::Reason::packet:
      return "each packet is placed by itself";
  }
  return "";
}
const char* reason_word(lb::Reason reason) {
  static constexpr std::array<const char*, lb::kReasons> kWords = {"unsaid", "hash",   "keeps",
                                                                   "begins", "leaves", "packet"};
  return kWords[static_cast<size_t>(reason)];
}

const char* decision_word(lb::Decision decision) {
  static constexpr std::array<const char*, lb::kDecisions> kWords = {
      "direct",       "rerouted", "all-warned", "suspended",
      "recirculated", "forced",   "placed",     "culprit"};
  return kWords[static_cast<size_t>(decision)];
}
const char* decision_text(lb::Decision decision) {
  switch (decision) {
    case lb::Decision::direct:
      return "";
    case lb::Decision::rerouted:
      return "; RLB takes it off that path, which is warned";
    case lb::Decision::all_warned:
      return "; all paths are warned, and RLB takes the least bad one";
    case lb::Decision::suspended:
      return "; that path is warned, but so are most, by one switch: no other path helps";
    case lb::Decision::waits:
      return "; that path is warned, and RLB has the packet wait for it in its loop";
    case lb::Decision::forced:
      return "; RLB would have it wait in its loop, but a limit forbids";
    case lb::Decision::placed:
      return "; that path is warned, and RLB puts the new flow where the delay is least";
    case lb::Decision::culprit:
      return "; that path is warned because of this destination, which no other path helps";
  }
  return "";
}

const char* hold_word(lb::Hold hold) {
  static constexpr std::array<const char*, lb::kHolds> kWords = {
      "none", "first", "free", "stays", "pinned", "placeless", "drains"};
  return kWords[static_cast<size_t>(hold)];
}
std::string hold_text(const Explanation& of, const Names& names) {
  const auto port = [&](lb::MemberIndex member) {
    return member < of.options ? names.port(of.paths[member].port) : std::string("its path");
  };
  switch (of.choice.hold) {
    case lb::Hold::none:
      return "";
    case lb::Hold::first:
      return "; order guard: nothing of the flow is on its way";
    case lb::Hold::free:
      return "; order guard: the flow was on " + port(of.choice.last) + ", and may leave it";
    case lb::Hold::stays:
      return "; order guard: the flow must stay on " + port(of.member) +
             ", where packets of it may be on their way";
    case lb::Hold::pinned:
      return "; order guard: it must stay on " + port(of.member) +
             ", as it shares its slot with flows to other leaves";
    case lb::Hold::placeless:
      return "; order guard: no place for the flow, it goes by its hash";
    case lb::Hold::drains:
      return "; order guard: the flow waits until its packets on " + port(of.choice.last) +
             ", which is slower, have arrived";
  }
  return "";
}

std::string choice_text(const Explanation& of, const Names& names) {
  if (of.pinned) return "an earlier switch has chosen";
  const lb::Preview& choice = of.choice;
  if (choice.by == lb::Preview::By::unknown)
    return names.scheme + " does not say what it would choose";
  if (choice.by == lb::Preview::By::ecmp)
    return "by ECMP and not by " + names.scheme +
           ", as it is control traffic or the scheme has failed";
  const std::string wanted = choice.wanted < of.options
                                 ? " wants " + names.port(of.paths[choice.wanted].port) + ": "
                                 : " ";
  return names.scheme + wanted + reason_text(choice.reason) +
         (choice.tied ? ", among equals" : "") + decision_text(choice.decision) +
         hold_text(of, names);
}

}  // namespace

std::string grouped(uint64_t number) {
  std::string text = std::to_string(number);
  for (size_t at = text.size(); at > 3;) text.insert(at -= 3, ",");
  return text;
}

std::string time_text(Duration time) {
  struct Unit {
    int64_t ps;
    const char* name;
  };
  constexpr std::array<Unit, 4> kUnits = {
      {{1'000'000'000'000, "s"}, {1'000'000'000, "ms"}, {1'000'000, "us"}, {1'000, "ns"}}};
  std::array<char, 48> text{};
  for (const Unit& unit : kUnits) {
    if (time.ps() < unit.ps && unit.ps != 1'000) continue;
    std::snprintf(text.data(), text.size(), "%.4g %s",
                  static_cast<double>(time.ps()) / static_cast<double>(unit.ps), unit.name);
    break;
  }
  return text.data();
}

std::string percent_text(uint64_t part, uint64_t whole) {
  std::array<char, 32> text{};
  std::snprintf(text.data(), text.size(), "%.3g %%",
                whole == 0 ? 0.0 : 100.0 * static_cast<double>(part) / static_cast<double>(whole));
  return text.data();
}

Json step(const char* number, const char* name, std::string text) {
  return {{"number", number}, {"step", name}, {"text", std::move(text)}};
}

Json parse_step(const Explanation& of) {
  if (of.verdict != ParseVerdict::ok)
    return step("2", "parse", "refused: " + std::string(to_string(of.verdict)));
  std::string text = kind_text(of.frame.kind);
  if (of.source != IpAddress{} || of.destination != IpAddress{}) {
    text += " " + to_string(of.source) + " to " + to_string(of.destination) + ", " +
            protocol_text(of.frame.l4_protocol) + ports_text(of.frame) + roce_text(of.frame) +
            ", " + kEcnTexts[of.frame.ecn & 3u];
  }
  Json out = step("2", "parse", text + ", " + octets(of.wire_len));
  out["verdict"] = std::string(to_string(of.verdict));
  return out;
}

Json classify_step(const Explanation& of) {
  const bool by_pcp = of.class_by == ClassBy::pcp;
  const std::string by =
      by_pcp ? "PCP " + std::to_string(of.frame.pcp) : "DSCP " + std::to_string(of.frame.dscp);
  Json out = step("4", "classify",
                  by + ": traffic class " + std::to_string(of.traffic_class.index()) + ", PG " +
                      std::to_string(of.pg.index()) + (of.admission.lossless ? ", lossless" : ""));
  out["by"] = by_pcp ? "pcp" : "dscp";
  out["tc"] = of.traffic_class.index();
  out["pg"] = of.pg.index();
  return out;
}

Json route_step(const Explanation& of, const Names& names) {
  const std::string prefix = names.prefix_of(of.destination);
  const std::string by = prefix.empty() ? "" : prefix + ": ";
  Json out;
  switch (of.next_hop.kind) {
    case NextHop::Kind::none:
      out = step("5", "route", "no route covers " + to_string(of.destination));
      out["to"] = "none";
      break;
    case NextHop::Kind::local:
      out = step("5", "route", to_string(of.destination) + " is an address of the switch itself");
      out["to"] = "local";
      break;
    case NextHop::Kind::port:
      out = step("5", "route", by + "by port " + names.port(of.next_hop.port));
      out["to"] = "port";
      out["port"] = names.port(of.next_hop.port);
      break;
    case NextHop::Kind::path_set:
      out = step("5", "route",
                 by + "a path set" +
                     (of.chooses ? " to leaf " + std::to_string(of.leaf.index()) : std::string()));
      out["to"] = "path_set";
      if (of.chooses) out["leaf"] = of.leaf.index();
      break;
  }
  if (!prefix.empty()) out["prefix"] = prefix;
  return out;
}

Json isolate_step(const Explanation& of) {
  switch (of.isolation) {
    case IsolationStep::none:
      break;
    case IsolationStep::begins:
      return step("6a", "isolate", "its destination is congested: into the isolated class");
    case IsolationStep::keeps:
      return step("6a", "isolate", "it stays in the isolated class");
    case IsolationStep::ends:
      return step("6a", "isolate", "back into the normal class");
  }
  return step("6a", "isolate", "");
}

Json admit_step(const Explanation& of) {
  const AdmissionOutlook& admission = of.admission;
  const int64_t left = admission.threshold - admission.used - admission.charge - admission.unread;
  std::string text = octets(admission.charge) + " to the " +
                     grouped(static_cast<uint64_t>(admission.used)) + " that PG " +
                     std::to_string(of.pg.index()) + " holds";
  if (admission.verdict.verdict != pfc::AdmitVerdict::accepted)
    text += ": no room";
  else if (admission.verdict.in_headroom)
    text += ", in its headroom of " + octets(admission.headroom);
  if (!admission.lossless)
    text += "; lossy, limit " + octets(admission.threshold);
  else if (admission.pausing)
    text += "; it pauses its sender already";
  else if (admission.verdict.pauses)
    text += "; this packet makes it pause its sender (XOFF at " + octets(admission.threshold) + ")";
  else
    text += "; " + octets(left) + " until XOFF";
  Json out = step("7", "admit", std::move(text));
  out["admitted"] = admission.verdict.verdict == pfc::AdmitVerdict::accepted;
  out["charge_bytes"] = admission.charge;
  out["held_bytes"] = admission.used;
  out["threshold_bytes"] = admission.threshold;
  out["unread_bytes"] = admission.unread;
  out["headroom_used_bytes"] = admission.headroom_used;
  out["headroom_bytes"] = admission.headroom;
  out["shared_free_bytes"] = admission.shared_free;
  out["in_headroom"] = admission.verdict.in_headroom;
  out["lossless"] = admission.lossless;
  out["pausing"] = admission.pausing;
  out["xoff"] = admission.verdict.pauses;
  if (admission.lossless) out["until_xoff_bytes"] = left;
  return out;
}

Json select_step(const Explanation& of, const Names& names) {
  const lb::Preview& choice = of.choice;
  std::string text = choice_text(of, names);
  if (of.joins)
    text += "; packets of its flow are in RLB's loop, and it may have to go behind them";
  Json out = step("8", "select", std::move(text));
  out["scheme"] = names.scheme;
  out["by"] = of.pinned                              ? "earlier switch"
              : choice.by == lb::Preview::By::scheme ? "scheme"
              : choice.by == lb::Preview::By::ecmp   ? "ecmp"
                                                     : "unknown";
  out["reason"] = reason_word(choice.reason);
  out["tied"] = choice.tied;
  out["rlb"] = decision_word(choice.decision);
  out["guard"] = hold_word(choice.hold);
  if (of.member < of.options) {
    out["member"] = of.member;
    out["port"] = names.port(of.paths[of.member].port);
  }
  if (choice.wanted < of.options) out["wanted_member"] = choice.wanted;
  if (choice.last < of.options) out["last_member"] = choice.last;
  out["paths"] = path_rows(of, names);
  return out;
}

Json resolve_step(const Explanation& of) {
  Json out;
  switch (of.next_mac) {
    case NextMac::not_asked:
      break;
    case NextMac::peer:
      out = step("10", "resolve", "to " + to_string(of.mac) + ", the switch at the other end");
      break;
    case NextMac::neighbor:
      out = step("10", "resolve", "to " + to_string(of.mac) + ", the host");
      break;
    case NextMac::unknown:
      out = step("10", "resolve", "the MAC of the next hop is not known");
      break;
    case NextMac::other_shard:
      out = step("10", "resolve", "by the worker of the port, which was not asked");
      break;
  }
  const bool known = of.next_mac == NextMac::peer || of.next_mac == NextMac::neighbor;
  if (known) out["mac"] = to_string(of.mac);
  return out;
}

Json enqueue_step(const Explanation& of, const Names& names) {
  const QueueOutlook& queue = of.queue;
  std::string text = "queue " + std::to_string(queue.queue.index()) + " of " +
                     names.port(of.egress) + ", " + octets(queue.queued) + " there";
  if (queue.backlog != 0)
    text += ", " + time_text(queue.drain) + " of the line for all that may go first";
  if (queue.stopped) text += "; it is stopped";
  if (queue.was_marked)
    text += "; marked CE already";
  else if (queue.can_mark)
    text += "; ECN mark with " + percent_text(queue.mark, pfc::WredCurve::kCertain) +
            (queue.late ? ", asked again as it leaves" : "");
  else
    text += "; no ECN mark";
  Json out = step("12", "enqueue", std::move(text));
  out["port"] = names.port(of.egress);
  out["queue"] = queue.queue.index();
  out["queued_bytes"] = queue.queued;
  out["backlog_bytes"] = queue.backlog;
  out["drain_ns"] = queue.drain.ns();
  out["lossless"] = queue.lossless;
  out["stopped"] = queue.stopped;
  out["mark_probability"] =
      static_cast<double>(queue.mark) / static_cast<double>(pfc::WredCurve::kCertain);
  return out;
}

}  // namespace eddy::explain
