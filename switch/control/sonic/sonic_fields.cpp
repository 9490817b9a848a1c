// Fields that nobody has read: they are told, so that nothing of a file is ignored in silence.
#include <algorithm>
#include <array>
#include <span>

#include "switch/control/sonic/sonic_tables.h"

namespace eddy::control {
namespace {

struct FieldsOf {
  std::string_view table;
  std::span<const std::string_view> read;  // or told of where they are
};

// NULL stands in Redis for an entry without fields.
constexpr std::string_view kNull = "NULL";

constexpr std::array<std::string_view, 15> kPort = {
    "speed", "mtu",     "admin_status", "pfc_asym", "lanes",       "alias",     "index",  "fec",
    "tpid",  "autoneg", "adv_speeds",   "role",     "description", "mux_cable", "members"};
constexpr std::array<std::string_view, 2> kInterface = {"scope", "family"};  // follow of the key
constexpr std::array<std::string_view, 3> kPool = {"type", "size", "xoff"};
constexpr std::array<std::string_view, 7> kProfile = {
    "pool", "size", "xon", "xoff", "xon_offset", "static_th", "dynamic_th"};
constexpr std::array<std::string_view, 1> kOfProfile = {"profile"};
constexpr std::array<std::string_view, 2> kQueue = {"scheduler", "wred_profile"};
constexpr std::array<std::string_view, 7> kScheduler = {"type", "weight", "pir",       "cir",
                                                        "cbs",  "pbs",    "meter_type"};
constexpr std::array<std::string_view, 13> kWred = {"ecn",
                                                    "green_min_threshold",
                                                    "green_max_threshold",
                                                    "green_drop_probability",
                                                    "yellow_min_threshold",
                                                    "yellow_max_threshold",
                                                    "yellow_drop_probability",
                                                    "red_min_threshold",
                                                    "red_max_threshold",
                                                    "red_drop_probability",
                                                    "wred_green_enable",
                                                    "wred_yellow_enable",
                                                    "wred_red_enable"};
constexpr std::array<std::string_view, 3> kWatchdog = {"action", "detection_time",
                                                       "restoration_time"};
constexpr std::array<std::string_view, 2> kParameters = {"default_dynamic_th",
                                                         "over_subscribe_ratio"};
constexpr std::array<std::string_view, 2> kVlan = {"vlanid", "members"};
constexpr std::array<std::string_view, 1> kMembers = {"members"};
constexpr std::array<std::string_view, 1> kVlanMember = {"tagging_mode"};

// Of tables that are not read field by field.
constexpr auto kFields = std::to_array<FieldsOf>({
    {"PORT", kPort},
    {"INTERFACE", kInterface},
    {"LOOPBACK_INTERFACE", kInterface},
    {"PORTCHANNEL_INTERFACE", kInterface},
    {"VLAN_INTERFACE", kInterface},
    {"PORTCHANNEL", kMembers},
    {"VLAN", kVlan},
    {"VLAN_MEMBER", kVlanMember},
    {"BUFFER_POOL", kPool},
    {"BUFFER_PROFILE", kProfile},
    {"BUFFER_PG", kOfProfile},
    {"BUFFER_QUEUE", kOfProfile},
    {"QUEUE", kQueue},
    {"SCHEDULER", kScheduler},
    {"WRED_PROFILE", kWred},
    {"PFC_WD", kWatchdog},
    {"PFC_WD_TABLE", kWatchdog},
    {"DEFAULT_LOSSLESS_BUFFER_PARAMETER", kParameters},
});

struct Why {
  std::string_view table;
  std::string_view field;
  std::string_view why;
};
constexpr auto kWhys = std::to_array<Why>({
    {"INTERFACE", "vrf_name", "there are no VRFs: one table of routes"},
    {"BUFFER_POOL", "mode", "each profile says it, by static_th or dynamic_th"},
    {"BUFFER_POOL", "percentage", "of sizes that SONiC computes"},
    {"BUFFER_PROFILE", "packet_discard_action", "what has no room is dropped"},
});

}  // namespace

void SonicTables::unread_fields() {
  for (const FieldsOf& of : kFields)
    for (const Entry& entry : db_.table(of.table).entries) {
      if (of.table.starts_with("PFC_WD") && entry.key == "GLOBAL") continue;  // told field by field
      for (const auto& [name, field] : entry.fields) {
        if (name == kNull || std::ranges::find(of.read, name) != of.read.end()) continue;
        const auto why = std::ranges::find_if(
            kWhys, [&](const Why& each) { return each.table == of.table && each.field == name; });
        note(Treatment::ignored, std::string(of.table) + " " + name,
             why == kWhys.end() ? "there is nothing of the kind here" : std::string(why->why),
             field.line);
      }
    }
}

}  // namespace eddy::control
