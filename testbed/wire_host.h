// WireHost: a Linux host of a fabric in containers, from its own side: it asks `eddywire serve` for
// its interface and sets it up, and does so again whenever the server was away.
//
// It runs in the network namespace of the host and needs CAP_NET_ADMIN there. Owner and thread:
// main. Cost: a connection a try, kRetry apart. Source: docs/containers.md.
#pragma once

#include <atomic>
#include <string>

#include "net/addresses.h"
#include "net/result.h"
#include "net/units.h"

namespace eddy::testbed {

class WireHost {
 public:
  static constexpr Duration kRetry = Duration::milliseconds(100);

  struct Wishes {
    std::string name;
    std::string device;
    Ipv4Address address;
    Ipv4Address gateway;
    std::string socket;
  };
  explicit WireHost(Wishes wishes) : wishes_(std::move(wishes)) {}
  ~WireHost();
  WireHost(const WireHost&) = delete;
  WireHost& operator=(const WireHost&) = delete;

  // Joined, with the interface up; false: there is no server yet. Problems: what it answered, or
  // what the interface lacks.
  Result<bool> join();
  // Whether the server is there still.
  bool connected();

 private:
  Problems set_up_interface() const;

  Wishes wishes_;
  int connection_ = -1;
};

}  // namespace eddy::testbed
