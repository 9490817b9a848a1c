#include "switch/explain/story.h"

#include "switch/dataplane/state/counters.h"
#include "switch/explain/step_lines.h"

namespace eddy::explain {
namespace {

using Step = Explanation::Step;

std::string reason_name(DropReason reason) {
  return std::string(drop_reason_infos()[static_cast<size_t>(reason)].name);
}
std::string reason_help(DropReason reason) {
  return std::string(drop_reason_infos()[static_cast<size_t>(reason)].help);
}

struct At {
  const char* number;
  const char* name;
};
// As docs/packet_walk.md numbers them.
At where(Step step) {
  switch (step) {
    case Step::receive:
      return {"1", "receive"};
    case Step::parse:
      return {"2", "parse"};
    case Step::vlan:
      return {"2a", "vlan"};
    case Step::serve:
      return {"3", "take out"};
    case Step::classify:
      return {"4", "classify"};
    case Step::accept:
      return {"4b", "accept"};
    case Step::route:
      return {"5", "route"};
    case Step::lead:
      return {"6", "turn away"};
    case Step::isolate:
      return {"6a", "isolate"};
    case Step::admit:
      return {"7", "admit"};
    case Step::steer:
      return {"7a", "steer"};
    case Step::stage:
      return {"7b", "stage"};
    case Step::choose:
      return {"8", "select"};
    case Step::channel:
      return {"8b", "channel"};
    case Step::depart:
      return {"9", "hand over"};
    case Step::resolve:
      return {"10", "resolve"};
    case Step::enqueue:
      return {"12", "enqueue"};
  }
  return {"", ""};
}

Json packet_of(const Explanation& of) {
  Json packet{{"len", of.wire_len}};
  if (of.source == IpAddress{} && of.destination == IpAddress{}) return packet;
  packet["src"] = to_string(of.source);
  packet["dst"] = to_string(of.destination);
  packet["proto"] = of.frame.l4_protocol;
  packet["dscp"] = of.frame.dscp;
  packet["ecn"] = of.frame.ecn;
  packet["ttl"] = of.frame.ttl;
  if (of.frame.source_port != 0 || of.frame.destination_port != 0) {
    packet["sport"] = of.frame.source_port;
    packet["dport"] = of.frame.destination_port;
  }
  if ((of.frame.flags & kPacketRoce) != 0) {
    packet["qp"] = of.frame.destination_qpn;
    packet["opcode"] = of.frame.bth_opcode;
  }
  if ((of.frame.flags & kPacketTagged) != 0) {
    packet["vlan"] = of.frame.vlan_id;
    packet["pcp"] = of.frame.pcp;
  }
  return packet;
}

const char* fate_word(Fate fate) {
  switch (fate) {
    case Fate::queued:
      return "queued";
    case Fate::dropped:
      return "dropped";
    case Fate::consumed:
      return "consumed";
    case Fate::loops:
      return "loops";
    case Fate::held:
      return "held";
    case Fate::staged:
      return "staged";
    case Fate::drains:
      return "drains";
  }
  return "";
}

std::string fate_text(const Explanation& of, const Names& names) {
  const std::string queue = "queue " + std::to_string(of.queue.queue.index()) + " of " +
                            (of.egress.is_none() ? "no port" : names.port(of.egress));
  switch (of.fate) {
    case Fate::queued:
      return "it goes into " + queue;
    case Fate::dropped:
      return "it is dropped, " + reason_name(of.reason) + ": " + reason_help(of.reason);
    case Fate::consumed:
      return "it ends here: it is for the switch itself";
    case Fate::loops:
      return "it goes round RLB's loop, and is looked at again when it is back";
    case Fate::held:
      return "it waits until the host answers ARP or ND, and is dropped if it does not";
    case Fate::staged:
      return "a flow stage takes it; if that lets it go at once, it goes into " + queue;
    case Fate::drains:
      return "it waits until what its flow sent before has arrived, and then takes the quicker "
             "path";
  }
  return "";
}

// Those of the steps that concern the packet, up to where it ends.
Json steps_of(const Explanation& of, const Names& names) {
  Json steps = Json::array();
  const auto reached = [&](Step which) { return of.last >= which; };
  const auto passed = [&](Step which) { return of.last > which; };
  if (reached(Step::parse)) steps.push_back(parse_step(of));
  if (passed(Step::classify) || (of.last == Step::classify && of.fate != Fate::dropped))
    steps.push_back(classify_step(of));
  if (reached(Step::route)) steps.push_back(route_step(of, names));
  if (reached(Step::isolate) && of.isolation != IsolationStep::none)
    steps.push_back(isolate_step(of));
  if (reached(Step::admit)) steps.push_back(admit_step(of));
  if (of.staged && reached(Step::stage))
    steps.push_back(step("7b", "stage", "a flow stage stands at the ports of hosts"));
  if (of.chooses) steps.push_back(select_step(of, names));
  if (passed(Step::depart))
    steps.push_back(step("9", "hand over",
                         grouped(of.wire_len - of.frame.l2_len) +
                             " octets behind the frame's head, " + grouped(of.mtu) +
                             " may leave by " + names.port(of.egress)));
  if (reached(Step::resolve)) steps.push_back(resolve_step(of));
  if (reached(Step::enqueue)) steps.push_back(enqueue_step(of, names));
  return steps;
}

// A word of a story that may be anybody's.
std::string word(const Json& of, const char* key) {
  if (!of.is_object()) return "";
  const auto found = of.find(key);
  return found != of.end() && found->is_string() ? found->get<std::string>() : "";
}

std::string padded(std::string text, size_t width) {
  if (text.size() < width) text.append(width - text.size(), ' ');
  return text;
}

}  // namespace

Json story_of(const Explanation& of, const Names& names) {
  Json story{{"switch", names.name},        {"at_ns", of.at.since_zero().ns()},
             {"generation", of.generation}, {"port", names.port(of.port)},
             {"packet", packet_of(of)},     {"steps", steps_of(of, names)},
             {"fate", fate_word(of.fate)},  {"text", fate_text(of, names)}};
  if (!of.egress.is_none()) story["egress"] = names.port(of.egress);
  if (of.fate == Fate::dropped) {
    const At at = where(of.last);
    story["reason"] = reason_name(of.reason);
    story["steps"].push_back(step(at.number, at.name, "dropped: " + reason_name(of.reason)));
  }
  return story;
}

std::string lines_of(const Json& story) {
  std::string out = word(story, "switch") + ", in by " + word(story, "port") + "\n";
  const auto steps = story.find("steps");
  if (steps != story.end() && steps->is_array())
    for (const Json& each : *steps) {
      out += padded("  " + word(each, "number"), 6) + padded(word(each, "step"), 11) +
             word(each, "text") + "\n";
      if (each.is_object() && each.contains("paths")) out += path_table(each["paths"]);
    }
  return out + "  => " + word(story, "text") + "\n";
}

}  // namespace eddy::explain
