#include "pfc/class_pair.h"

#include <algorithm>
#include <optional>
#include <string>

namespace eddy::pfc {
namespace {

using config::IsolationConfig;
using config::PortConfig;
using config::QosMaps;

std::string text_of(TrafficClass tc) {
  return std::to_string(tc.index());
}

// The lowest that leads to the class.
std::optional<uint8_t> dscp_of(const QosMaps& maps, TrafficClass tc) {
  const auto found = std::ranges::find(maps.dscp_to_tc, tc);
  if (found == maps.dscp_to_tc.end()) return std::nullopt;
  return static_cast<uint8_t>(found - maps.dscp_to_tc.begin());
}

ClassPair::Class class_of(const QosMaps& maps, TrafficClass tc, std::optional<int> dscp) {
  const int chosen = dscp.value_or(dscp_of(maps, tc).value_or(0));
  return {tc, maps.tc_to_pg[tc.index()], maps.tc_to_queue[tc.index()],
          static_cast<uint8_t>(chosen)};
}

class PairCheck {
 public:
  PairCheck(const config::SwitchConfig& config, const PortConfig& first, const ClassPair& pair)
      : config_(config), first_(first), pair_(pair) {}

  Problems run() {
    if (pair_.normal.traffic_class == pair_.isolated.traffic_class)
      refuse("class and isolated_class are both " + text_of(pair_.normal.traffic_class) +
             "; two different lossless classes would be valid, as 3 and 4");
    for (const PortConfig& port : config_.ports)
      if (!port.absent()) check(port);
    return std::move(problems_);
  }

 private:
  void refuse(const std::string& what) { problems_.push_back("isolation: " + what); }
  void check(const PortConfig& port) {
    check_maps(port, pair_.normal);
    check_maps(port, pair_.isolated);
    if (port.maps.channels_of(pair_.normal.traffic_class).size() > 1)
      refuse("port " + port.name + ": class " + text_of(pair_.normal.traffic_class) +
             " has virtual channels (tc_to_next); it would be valid without them");
    if (port.role != config::PortRole::fabric) return;
    check_lossless(port, pair_.normal);
    check_lossless(port, pair_.isolated);
    check_apart(port);
  }
  void check_maps(const PortConfig& port, const ClassPair::Class& own) {
    const size_t tc = own.traffic_class.index();
    if (port.maps.dscp_to_tc[own.dscp] != own.traffic_class)
      refuse("port " + port.name + ": DSCP " + std::to_string(own.dscp) + " is of class " +
             text_of(port.maps.dscp_to_tc[own.dscp]) + ", and would have to be of class " +
             text_of(own.traffic_class) + " on every port (qos.dscp_to_tc)");
    if (port.maps.tc_to_pg[tc] != own.pg || port.maps.tc_to_queue[tc] != own.queue)
      refuse("port " + port.name + ": class " + text_of(own.traffic_class) +
             " has another priority group or queue than on port " + first_.name +
             "; the same on every port would be valid (qos.tc_to_pg, qos.tc_to_queue)");
  }
  void check_lossless(const PortConfig& port, const ClassPair::Class& own) {
    const std::string& profile = port.pg_profiles[own.pg.index()];
    const auto found = config_.buffer.profiles.find(profile);
    if (found == config_.buffer.profiles.end() || !found->second.lossless)
      refuse("port " + port.name + ": class " + text_of(own.traffic_class) + " leads to PG " +
             std::to_string(own.pg.index()) + " with profile '" + profile +
             "', which is not lossless; a lossless one would be valid, with the headroom that it "
             "takes");
    const Priority priority = port.maps.pg_to_pfc[own.pg.index()];
    if ((port.pfc.priorities(UINT8_MAX) >> priority.index() & 1) == 0)
      refuse("port " + port.name + ": pfc.enable leaves out priority " +
             std::to_string(priority.index()) + ", which pauses class " +
             text_of(own.traffic_class) + "; with it, it would be valid");
  }
  // What would fill or pause the isolated class, or be held up with it.
  void check_apart(const PortConfig& port) {
    const QosMaps& maps = port.maps;
    const ClassPair::Class& own = pair_.isolated;
    for (size_t tc = 0; tc < kPriorities; ++tc) {
      if (TrafficClass(tc) == own.traffic_class) continue;
      if (maps.tc_to_pg[tc] == own.pg || maps.tc_to_queue[tc] == own.queue)
        refuse("port " + port.name + ": class " + std::to_string(tc) +
               " shares the priority group or the queue of class " + text_of(own.traffic_class) +
               ", which is for isolated packets; groups and queues of their own would be valid");
    }
    const Priority priority = maps.pg_to_pfc[own.pg.index()];
    if (priority == maps.pg_to_pfc[pair_.normal.pg.index()] ||
        maps.pfc_to_queue[priority.index()] != own.queue)
      refuse("port " + port.name + ": priority " + std::to_string(priority.index()) +
             " has to pause queue " + std::to_string(own.queue.index()) +
             " and nothing else for isolated packets (qos.pg_to_pfc, qos.pfc_to_queue)");
  }

  const config::SwitchConfig& config_;
  const PortConfig& first_;
  const ClassPair& pair_;
  Problems problems_;
};

}  // namespace

Result<ClassPair> class_pair_of(const config::SwitchConfig& config) {
  const IsolationConfig& wanted = config.isolation;
  const auto first = std::ranges::find_if_not(config.ports, &PortConfig::absent);
  if (first == config.ports.end())
    return Problems{"isolation: a switch without ports has no classes"};
  const QosMaps& maps = first->maps;
  ClassPair pair{.normal = class_of(maps, wanted.normal, wanted.dscp),
                 .isolated = class_of(maps, wanted.isolated, wanted.isolated_dscp)};
  pair.priority = maps.pg_to_pfc[pair.normal.pg.index()];
  Problems problems = PairCheck(config, *first, pair).run();
  if (!problems.empty()) return problems;
  return pair;
}

}  // namespace eddy::pfc
