// WireServer: makes the veth pairs between switches and Linux hosts of a fabric in containers, and
// hands each host its end.
//
// It runs in the network namespace that the switches share, where their ends stay. The hosts' ends
// wait beside them until a host connects (wire_messages.h) and passes a descriptor of its own
// namespace, into which its end is moved. When a host goes, its namespace goes, and the pair with
// it; a new pair takes its place at once. A host that is connected cannot be joined by a second
// one. Owner and thread: main. Bounds: kMostPairs; what hosts send is bounded. Cost: a wake-up for
// every change of an interface. Source: docs/containers.md.
#pragma once

#include <atomic>
#include <string>
#include <vector>

#include "net/addresses.h"
#include "net/result.h"
#include "testbed/wire_links.h"

namespace eddy::testbed {

struct WirePair {
  std::string host;
  std::string device;  // the switch's
  MacAddress mac;      // the host's
  int mtu = 1'500;
};

inline constexpr size_t kMostPairs = 1'024;

// "HOST=DEVICE,mac=MAC,mtu=MTU".
Result<WirePair> parse_wire_pair(const std::string& text);

class WireServer {
 public:
  // All pairs are made; `path` is listened on.
  static Result<WireServer> open(const std::vector<WirePair>& pairs, const std::string& path);
  ~WireServer();
  WireServer(WireServer&& other) noexcept;
  WireServer& operator=(WireServer&&) = delete;
  WireServer(const WireServer&) = delete;
  WireServer& operator=(const WireServer&) = delete;

  // Until `stop`, which is looked at after every signal. Problems: what cannot go on.
  Problems serve(const std::atomic<bool>& stop);

 private:
  struct Entry {
    WirePair pair;
    std::string peer;  // the host's end while it waits here
    int host = -1;     // its connection
  };
  WireServer(WireLinks links, std::string path);
  Problems make(const Entry& entry);
  Problems make_missing();
  void mend();
  void accept_host();
  void hear_hosts();
  void answer(int connection);
  Problems join(int connection, const std::string& request, int network);
  Problems hand_over(Entry& entry, int network, const std::string& device);
  void forget(int connection);

  WireLinks links_;
  std::string path_;
  int listener_ = -1;
  int watcher_ = -1;
  std::vector<Entry> entries_;
  std::vector<int> connections_;
  Problems told_;  // what could not be mended, and was said
};

}  // namespace eddy::testbed
