// ConweaveSeries: how the uplinks, QPs and CNPs of a run go, in the files of ConWeave's simulator.
//
// out_uplink.txt: `ns,switch,port,octets`, for every port towards another switch of every switch
// that has hosts, what it has sent since the run's beginning. out_conn.txt: `ns,host,QPs,active`,
// the sending QPs that are not acknowledged to their end, and those of them that have something
// left to send. Both a line each run.sample_period, from the run's beginning on. out_cnp.txt: `ns
// host ecn ooo total`, the CNPs that a host has sent since its last line, by ECN and with NAKs that
// count as one; a line each 100 us in which there were some. Nodes are numbered as in topology.txt,
// ports from 1; times are those of the trace's file, if there is one. Owner: one run, which it must
// outlive. Cost: a line a port and host for each sample, written at once; QPs that are open are
// looked at. Source: the output format of that simulator.
#pragma once

#include <cstdint>
#include <filesystem>
#include <fstream>
#include <string>
#include <vector>

#include "lab/run/run.h"
#include "net/result.h"

namespace eddy::lab {

class ConweaveSeries {
 public:
  struct Options {
    int64_t time_dilation = 1;   // times are divided by it
    bool naks_are_cnps = false;  // host.nak_cuts_rate
  };
  explicit ConweaveSeries(const Options& options) : options_(options) {}

  // Creates the files; before the run.
  Problems open(const std::filesystem::path& folder);
  void attach(const BuiltRun& run);
  // The last one, at any time, brings the CNPs since the lines before.
  void sample(RunOptions::Sample which, Instant at);
  // The files are whole, or a problem; the world may be gone.
  Problems close();

 private:
  struct Uplink {
    uint32_t node = 0;
    size_t switch_index = 0;
    PortId port;
  };
  struct HostCounts {
    uint32_t node = 0;
    uint64_t pairs = 0;
    uint64_t active = 0;
    uint64_t cnps = 0;  // at its last line
    uint64_t naks = 0;
  };
  struct File {
    std::filesystem::path path;
    std::ofstream stream;
  };

  void write_uplinks(int64_t at_ns);
  void write_pairs(int64_t at_ns);
  void write_cnps(int64_t at_ns);

  Options options_;
  World* world_ = nullptr;
  Duration origin_{};
  std::vector<Uplink> uplinks_;  // by node and port
  std::vector<HostCounts> hosts_;
  std::vector<uint32_t> open_;  // flows that have started and are not acknowledged to their end
  size_t started_ = 0;          // flows that were looked at
  Duration last_cnps_{};
  File uplink_file_, pair_file_, cnp_file_;
};

}  // namespace eddy::lab
