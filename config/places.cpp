#include "config/places.h"

#include <algorithm>
#include <string>
#include <utility>

namespace eddy::config {
namespace {

// The ports of a file that have no place yet find one each.
class Seats {
 public:
  Seats(const SwitchConfig& running, Seating& seating) : seating_(seating) {
    for (size_t place = 0; place < running.ports.size(); ++place)
      if (running.ports[place].absent()) free_.push_back(place);
  }

  size_t count() const { return free_.size(); }
  void give(PortConfig port) {
    const auto own = std::ranges::find_if(
        free_, [&](size_t place) { return seating_.config.ports[place].worker == port.worker; });
    const auto chosen = own == free_.end() ? free_.begin() : own;
    seating_.added.push_back(PortId(*chosen));
    seating_.config.ports[*chosen] = std::move(port);
    free_.erase(chosen);
  }

 private:
  Seating& seating_;
  std::vector<size_t> free_;  // ascending
};

std::string names_of(const std::vector<PortConfig>& ports) {
  std::string names;
  for (const PortConfig& port : ports) names += (names.empty() ? "" : ", ") + port.name;
  return names;
}

std::string no_room(const std::vector<PortConfig>& fresh, size_t room, size_t leaving) {
  std::string text = "no room for " + names_of(fresh) + ": " +
                     (room == 0 ? "no place is" : "of the places only " + std::to_string(room)) +
                     (room == 0   ? ""
                      : room == 1 ? " is"
                                  : " are") +
                     " free";
  if (leaving != 0)
    text +=
        ", and those of ports that this file removes are when they are gone: remove them by a "
        "reload of its own";
  return text + "; a restart of eddyd with more switch.spare_ports makes room";
}

}  // namespace

PortConfig empty_place(int worker) {
  PortConfig place = default_port("");
  place.admin_up = false;
  place.worker = worker;
  place.watchdog.enabled = false;
  place.pg_profiles.fill("lossy");
  for (size_t queue = 0; queue < place.queues.size(); ++queue) place.queues[queue].wred.reset();
  return place;
}

SwitchConfig seated(SwitchConfig config) {
  for (int i = 0; i < config.spare_ports; ++i)
    config.ports.push_back(empty_place(i % config.workers));
  return config;
}

Result<Seating> seated_like(const SwitchConfig& next, const SwitchConfig& running) {
  Seating seating{.config = next, .added = {}, .removed = {}};
  std::vector<PortConfig>& places = seating.config.ports;
  places.clear();
  for (const PortConfig& port : running.ports) {
    const size_t position = port.absent() ? next.ports.size() : place_of(next, port.name);
    if (position < next.ports.size()) {
      places.push_back(next.ports[position]);
      continue;
    }
    if (!port.absent()) seating.removed.push_back(PortId(places.size()));
    places.push_back(empty_place(port.worker));
  }
  std::vector<PortConfig> fresh;
  for (const PortConfig& port : next.ports)
    if (place_of(running, port.name) == running.ports.size()) fresh.push_back(port);
  Seats seats(running, seating);
  if (fresh.size() > seats.count())
    return Problems{no_room(fresh, seats.count(), seating.removed.size())};
  for (PortConfig& port : fresh) seats.give(std::move(port));
  std::ranges::sort(seating.added);
  return seating;
}

size_t place_of(const SwitchConfig& config, const std::string& port) {
  size_t place = 0;
  while (place < config.ports.size() &&
         (config.ports[place].absent() || config.ports[place].name != port))
    ++place;
  return place;
}

}  // namespace eddy::config
