// ToldPorts: which ports a warning was passed on to, until it is taken back.
//
// A switch that heeds a warning sends nothing more to the endangered port, so what feeds the port
// no longer says whom to tell that the danger lasts, or that it is over. A warning is known by its
// congestion point and priority. It is forgotten when its congestion point has been silent for as
// long as its last message claimed, or when the place is needed: then only who feeds the port is
// told. Owner: one shard. Bounds: 48 octets a warning, places for four times as many as there are
// ports, taken at construction. Cost: a look at four places for a message. Source: reference B.4.
#pragma once

#include <array>
#include <bitset>
#include <cstdint>

#include "net/ids.h"
#include "net/memory/reserved.h"
#include "net/rebase.h"
#include "net/units.h"

namespace eddy {

// A message, as far as it matters here.
struct ToldWarning {
  uint32_t source = 0;  // the congestion point, hashed
  Priority priority;
  bool clears = false;
  Instant until;  // it is believed
};

class ToldPorts {
 public:
  using Ports = std::bitset<kMaxPorts>;

  explicit ToldPorts(size_t ports);

  // The ports that were told of the same danger before; the caller adds those that it tells now. A
  // clear may come twice and finds the same ports again.
  Ports& hear(const ToldWarning& warning, Instant now);
  void rebase(const Rebase& rebase);

 private:
  struct Place {
    uint32_t source = 0;
    Priority priority;
    bool over = false;
    Instant until;
    Ports ports;
  };
  static constexpr size_t kWays = 4;
  using Bucket = std::array<Place, kWays>;

  static Place& place_of(Bucket& bucket, const ToldWarning& warning);

  Reserved<Bucket> buckets_;  // a power of two
};

}  // namespace eddy
