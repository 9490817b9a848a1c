// Ns3Translation: each key of a simulator's config.txt to keys of an experiment.
//
// A key that is missing has the simulator's default, and the report says so. Keys of a congestion
// control or a load balancing that is not chosen are ignored, and said. Owner: import_ns3().
#pragma once

#include <functional>
#include <optional>
#include <set>
#include <string>
#include <string_view>

#include "lab/import/ns3_config.h"
#include "lab/import/ns3_flows.h"
#include "lab/import/ns3_topology.h"
#include "lab/import/settings.h"
#include "system/import_report.h"

namespace eddy::lab {

class Ns3Translation {
 public:
  struct Inputs {
    Ns3Config& config;
    const Ns3Topology& topology;
    const Ns3Flows& flows;
    Ns3Dialect dialect;
  };
  Ns3Translation(const Inputs& inputs, Settings& settings, ImportReport& report)
      : config_(inputs.config),
        topology_(inputs.topology),
        flows_(inputs.flows),
        conweave_(inputs.dialect == Ns3Dialect::conweave),
        settings_(settings),
        report_(report) {}

  void translate();

 private:
  // Of a lossless group in HPCC's simulator.
  static constexpr const char* kOwnOfAGroup = "4KiB";
  static constexpr const char* kXonOffset = "3KiB";

  enum class Control : uint8_t { dcqcn = 1, hpcc = 3, timely = 7, dctcp = 8, hpcc_pint = 10 };

  void fabric();
  void buffer();
  void ecn();
  void ports_by_rate();
  void lossless_of(BitRate rate, int dynamic_th);
  void pfc();
  void hosts();
  void window();
  void recovery();
  void congestion_control();
  void dcqcn();
  void timely();
  void least_rate(std::string_view setting);
  void gain(std::string_view setting);
  void balancer();
  void conweave();
  void traffic();
  void faults();
  void link_down();
  void run();
  void outputs();

  void set(std::string_view key, std::string_view setting, const std::string& value);
  // Both report the key's line; the setting has it as its comment.
  void take(std::string_view key, std::string_view setting, const std::string& value,
            const std::string& note = {});
  void approximate(std::string_view key, std::string_view setting, const std::string& value,
                   const std::string& note);
  void ignore(std::string_view key, const std::string& why);
  // What that program does whatever its configuration says.
  void always(std::string_view setting, const std::string& value, const std::string& why);
  void finding(Treatment treatment, std::string_view key, const std::string& text);
  int64_t integer(std::string_view key, int64_t fallback, int64_t least, int64_t most);
  bool flag(std::string_view key, bool fallback);
  void microseconds(std::string_view key, std::string_view setting, double fallback);
  void rate(std::string_view key, std::string_view setting);
  bool uses(Control control) const { return control_ == control; }

  Ns3Config& config_;
  const Ns3Topology& topology_;
  const Ns3Flows& flows_;
  bool conweave_;
  Settings& settings_;
  ImportReport& report_;
  Control control_ = Control::dcqcn;
  Ns3Reach reach_;
  std::set<BitRate> marked_apart_;  // rates whose ports have a WRED profile of their own
  Duration origin_;                 // the time of the flow file that is the run's beginning
  std::string faults_;
};

}  // namespace eddy::lab
