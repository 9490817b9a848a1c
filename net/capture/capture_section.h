// CaptureSection: the packets of one switch as a section of pcapng: an interface a port, and what
// the switch says of each packet in its comment, for people and for the dissector of
// packaging/wireshark.
//
// A comment is words "key=value", the first "eddy": dir, port, queue, pg, reason, from, rlb
// (decisions joined by "+"), rounds; what is not known is left out. Owner: who writes the file;
// appends whole blocks to `out`.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "net/capture/capture_ring.h"
#include "net/capture/pcapng.h"

namespace eddy {

struct CapturedPort {
  std::string name;
  uint64_t speed_bps = 0;  // 0: not said
};

class CaptureSection {
 public:
  struct Names {
    std::string application;  // that writes
    std::string owner;        // whose ports these are
    std::vector<CapturedPort> ports;
    std::vector<std::string> reasons;  // by DropReason
  };
  CaptureSection(std::vector<uint8_t>& out, Names names);

  void begin(uint32_t snap, uint64_t now_ns);
  // False: it is of no port of ours, and nothing is written.
  bool add(const CapturedPacket& packet, uint32_t snap);
  // The ring had no room for so many of the port, in all.
  void set_lost(size_t port, uint64_t lost) { counts_[port].lost = lost; }
  // One that the filter did not let through.
  void skip(size_t port);
  void end(uint64_t now_ns);

  uint64_t written() const { return written_; }
  uint64_t skipped() const { return skipped_; }
  uint64_t lost() const;

 private:
  struct Count {
    uint64_t written = 0;
    uint64_t skipped = 0;
    uint64_t lost = 0;
    uint64_t told = 0;  // of lost, in a packet's block
  };
  void say(const CaptureRecord& record);
  void word(std::string_view key, std::string_view value);
  void number(std::string_view key, uint64_t value);

  std::vector<uint8_t>& out_;
  Names names_;
  uint64_t began_ns_ = 0;
  uint64_t written_ = 0;
  uint64_t skipped_ = 0;
  std::vector<Count> counts_;  // by port
  std::string comment_;
};

}  // namespace eddy
