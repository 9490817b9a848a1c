// Pools, profiles, priority groups and what queues may hold.
#include <algorithm>

#include "net/quantity.h"
#include "switch/control/sonic/sonic_tables.h"

namespace eddy::control {
namespace {

using config::BufferMode;
using config::BufferProfile;
using config::PortConfig;

constexpr int64_t kMostBytes = int64_t{4} << 30;
constexpr int64_t kMostOfProfile = int64_t{1} << 30;
constexpr const char* kByPfc = "by_pfc";

}  // namespace

// One memory: what packets wait in once is counted twice by SONiC, at ingress and at egress.
void SonicTables::pools() {
  known("BUFFER_POOL");
  int64_t sum = 0;
  for (const Entry& entry : db_.table("BUFFER_POOL").entries) {
    const Field* type = entry.find("type");
    if (type == nullptr || type->text != "ingress") {
      note(Treatment::ignored, "BUFFER_POOL " + entry.key,
           "a packet is counted once, where it came in; queues have limits of the same memory",
           entry.line);
      continue;
    }
    const auto size = number("BUFFER_POOL", entry, "size", 0, kMostBytes);
    const auto xoff = number("BUFFER_POOL", entry, "xoff", 0, kMostBytes);
    if (!size)
      note(Treatment::ignored, "BUFFER_POOL " + entry.key, "has no size: SONiC computes it",
           entry.line);
    sum += size.value_or(0) + xoff.value_or(0);
    if (size)
      note(Treatment::approximated, "BUFFER_POOL " + entry.key,
           "a share of buffer.size, which is the sum of the ingress pools and their headroom",
           entry.line);
    if (xoff.value_or(0) > 0) {
      shared_headroom_ = true;
      note(Treatment::approximated, "BUFFER_POOL xoff",
           "buffer.overcommit: true, headroom is one pool, of half of the buffer at most",
           entry.find("xoff")->line);
    }
  }
  constexpr int64_t kLeast = 64 * 1'024;
  if (sum >= kLeast && sum <= kMostBytes) config_.buffer.size = Bytes(sum);
  if (sum < kLeast)
    note(Treatment::approximated, "BUFFER_POOL",
         "buffer.size: " + to_string(config_.buffer.size) + ", the default: no pool has a size");
  if (sum > kMostBytes)
    note(Treatment::approximated, "BUFFER_POOL", "buffer.size: 4GiB, the most there is");
  config_.buffer.overcommit = shared_headroom_;
}

void SonicTables::profiles() {
  known("BUFFER_PROFILE");
  for (const Entry& entry : db_.table("BUFFER_PROFILE").entries) profile(entry);
}

void SonicTables::profile(const Entry& entry) {
  const auto size = number("BUFFER_PROFILE", entry, "size", 0, kMostOfProfile).value_or(0);
  const auto xoff = number("BUFFER_PROFILE", entry, "xoff", 0, kMostOfProfile);
  const auto offset = number("BUFFER_PROFILE", entry, "xon_offset", 0, kMostOfProfile);
  const auto fixed = number("BUFFER_PROFILE", entry, "static_th", 0, kMostBytes);
  const auto dynamic = number("BUFFER_PROFILE", entry, "dynamic_th", -8, 8);
  if (const Field* pool = entry.find("pool")) refer("BUFFER_POOL", *pool);
  if (fixed && dynamic)
    problem(entry.line,
            "BUFFER_PROFILE|" + entry.key + ": static_th and dynamic_th exclude each other");
  BufferProfile profile;
  profile.lossless = xoff.has_value() || entry.find("xon") != nullptr;
  profile.mode = fixed ? BufferMode::fixed : BufferMode::dynamic;
  profile.dynamic_th = static_cast<int>(dynamic.value_or(0));
  // Where each group has its headroom, it is a part of what is reserved.
  const int64_t headroom = xoff.value_or(0);
  const bool within = profile.lossless && headroom > 0 && size >= headroom;
  profile.reserved = Bytes(within ? size - headroom : size);
  if (fixed)
    profile.xoff = Bytes(std::clamp(*fixed + profile.reserved.count(), int64_t{1}, kMostOfProfile));
  if (profile.lossless) {
    profile.headroom = Bytes(headroom);
    profile.xon_offset = Bytes(offset.value_or(0));
    note(Treatment::taken, "BUFFER_PROFILE of lossless groups",
         "buffer.profiles: reserved of size, headroom of xoff, xon_offset, dynamic_th", entry.line);
    if (const Field* xon = entry.find("xon"))
      note(Treatment::approximated, "BUFFER_PROFILE xon",
           "the sender goes on xon_offset below the threshold, whatever is reserved", xon->line);
  } else {
    note(Treatment::taken, "BUFFER_PROFILE of lossy groups and queues",
         "buffer.profiles: reserved of size, dynamic_th or xoff of static_th", entry.line);
  }
  config_.buffer.profiles[profile_name(entry.key)] = profile;
}

void SonicTables::priority_groups() {
  known("BUFFER_PG");
  for (const Entry& entry : db_.table("BUFFER_PG").entries) {
    look_for({});
    const Members members = this->members("BUFFER_PG", entry);
    look_for(members.ports);
    const Field* named = entry.find("profile");
    if (named == nullptr) {
      problem(entry.line, "BUFFER_PG|" + entry.key + ": profile is missing");
      continue;
    }
    if (named->text == "NULL") {  // of the dynamic model; see lossless_by_pfc()
      for (PortConfig* port : members.ports)
        for (const size_t pg : members.numbers) looks_up_[{port->name, pg}] = entry.line;
      continue;
    }
    const Entry* profile = refer("BUFFER_PROFILE", *named);
    if (profile == nullptr) continue;
    for (PortConfig* port : members.ports)
      for (const size_t pg : members.numbers) port->pg_profiles[pg] = profile_name(profile->key);
    note(Treatment::taken, "BUFFER_PG", "ports.*.pgs", entry.line);
  }
  look_for({});
}

// SONiC finds the profile of a lossless group by the port's speed and cable where BUFFER_PG names
// none.
void SonicTables::lossless_by_pfc() {
  known("DEFAULT_LOSSLESS_BUFFER_PARAMETER");
  int threshold = 0;
  for (const Entry& entry : db_.table("DEFAULT_LOSSLESS_BUFFER_PARAMETER").entries) {
    constexpr int64_t kMostRatio = 1'000;
    const auto ratio =
        number("DEFAULT_LOSSLESS_BUFFER_PARAMETER", entry, "over_subscribe_ratio", 0, kMostRatio);
    if (ratio.value_or(0) == 0) continue;
    config_.buffer.overcommit = true;
    note(Treatment::approximated, "DEFAULT_LOSSLESS_BUFFER_PARAMETER over_subscribe_ratio",
         "buffer.overcommit: true, headroom is one pool, of half of the buffer at most",
         entry.line);
  }
  for (const Entry& entry : db_.table("DEFAULT_LOSSLESS_BUFFER_PARAMETER").entries)
    if (const auto th =
            number("DEFAULT_LOSSLESS_BUFFER_PARAMETER", entry, "default_dynamic_th", -8, 8)) {
      threshold = static_cast<int>(*th);
      note(Treatment::taken, "DEFAULT_LOSSLESS_BUFFER_PARAMETER",
           std::string("buffer.profiles.") + kByPfc + ".dynamic_th", entry.line);
    }
  for (PortConfig& port : config_.ports) {
    const uint8_t priorities = port.pfc.priorities(0);
    for (size_t pg = 0; pg < kPriorities; ++pg) {
      const size_t priority = port.maps.pg_to_pfc[pg].index();
      const auto profile = config_.buffer.profiles.find(port.pg_profiles[pg]);
      const bool used = std::ranges::any_of(port.maps.tc_to_pg,
                                            [&](PriorityGroupId of) { return of.index() == pg; });
      if ((priorities >> priority & 1) == 0 || !used) continue;
      if (profile != config_.buffer.profiles.end() && profile->second.lossless) continue;
      name_lossless(port, pg, threshold);
    }
  }
  unused_groups();
}

void SonicTables::name_lossless(PortConfig& port, size_t pg, int threshold) {
  const auto null = looks_up_.find({port.name, pg});
  const bool is_null = null != looks_up_.end();
  const int line = is_null ? null->second : 0;
  const std::string what = is_null ? "BUFFER_PG with profile NULL" : "PORT_QOS_MAP pfc_enable";
  if (is_null) looks_up_.erase(null);
  if (const Entry* found = looked_up(port)) {
    port.pg_profiles[pg] = profile_name(found->key);
    note(Treatment::taken, what, "the profile of the port's speed and cable, " + found->key, line);
    return;
  }
  config_.buffer.profiles[kByPfc] = {.lossless = true,
                                     .mode = BufferMode::dynamic,
                                     .dynamic_th = threshold,
                                     .headroom = std::nullopt};
  port.pg_profiles[pg] = kByPfc;
  note(Treatment::approximated, what,
       std::string("buffer profile ") + kByPfc +
           ", headroom: auto, from speed, cable and MTU, for groups whose profile SONiC finds or "
           "computes by them",
       line);
}

// As buffermgrd names what it makes of pg_profile_lookup.ini: "pg_lossless_100000_5m_profile", and
// in the dynamic model with more before the end, such as an MTU.
const ConfigDb::Entry* SonicTables::looked_up(const PortConfig& port) const {
  const auto cable = cable_of_.find(port.name);
  if (cable == cable_of_.end()) return nullptr;
  constexpr int64_t kMega = 1'000'000;
  const std::string begin =
      "pg_lossless_" + std::to_string(port.speed.bps() / kMega) + "_" + cable->second + "_";
  for (const Entry& entry : db_.table("BUFFER_PROFILE").entries)
    if (entry.key.starts_with(begin) && entry.key.ends_with("profile") &&
        entry.find("xoff") != nullptr)
      return &entry;
  return nullptr;
}

void SonicTables::unused_groups() {
  for (const auto& [of, line] : looks_up_)
    note(Treatment::ignored, "BUFFER_PG with profile NULL, without PFC",
         "no priority of PFC is of the group, which stays lossy", line);
}

// Those of queues alone.
void SonicTables::drop_unused_profiles() {
  std::erase_if(config_.buffer.profiles, [this](const auto& profile) {
    if (profile.first == "lossless" || profile.first == "lossy") return false;
    return std::ranges::none_of(config_.ports, [&](const PortConfig& port) {
      return std::ranges::find(port.pg_profiles.begin(), port.pg_profiles.end(), profile.first) !=
             port.pg_profiles.end();
    });
  });
}

void SonicTables::queue_buffers() {
  known("BUFFER_QUEUE");
  for (const Entry& entry : db_.table("BUFFER_QUEUE").entries) {
    look_for({});
    const Members members = this->members("BUFFER_QUEUE", entry, kQueuesThere);
    look_for(members.ports);
    const Field* named = entry.find("profile");
    if (named == nullptr) {
      problem(entry.line, "BUFFER_QUEUE|" + entry.key + ": profile is missing");
      continue;
    }
    const Entry* profile = refer("BUFFER_PROFILE", *named);
    if (profile == nullptr) continue;
    if (profile->find("dynamic_th") == nullptr) {
      note(Treatment::ignored, "BUFFER_QUEUE with a static limit",
           "queues have dynamic limits; of lossless ones the priority group is the limit",
           entry.line);
      continue;
    }
    const auto th = number("BUFFER_PROFILE", *profile, "dynamic_th", -8, 8);
    const auto size = number("BUFFER_PROFILE", *profile, "size", 0, kMostOfProfile);
    for (PortConfig* port : members.ports)
      for (const size_t queue : members.numbers) {
        port->queues[queue].dynamic_th = static_cast<int>(th.value_or(0));
        if (size.value_or(0) > 0) port->queues[queue].reserved = Bytes(*size);
      }
    note(Treatment::taken, "BUFFER_QUEUE", "ports.*.queues.*: dynamic_th, reserved", entry.line);
  }
  look_for({});
}

}  // namespace eddy::control
