// tshark reads what our encoders write: its protocols and fields, and nothing malformed.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdio>
#include <fstream>
#include <set>
#include <sstream>
#include <string>
#include <vector>

#include "net/pcap.h"
#include "tests/support/temp_directory.h"
#include "tests/unit/net/samples.h"

namespace eddy {
namespace {

void write_pcap(const std::string& path, const std::vector<test::Sample>& samples) {
  test::Frame file(kPcapFileHeader);
  encode_pcap_header(file);
  uint64_t stamp_ns = 1'700'000'000'000'000'000;
  for (const test::Sample& each : samples) {
    const size_t end = file.size();
    file.resize(end + kPcapRecordHeader + each.frame.size());
    encode({++stamp_ns, static_cast<uint32_t>(each.frame.size()), each.frame},
           Octets(file).subspan(end));
  }
  std::ofstream(path, std::ios::binary)
      .write(reinterpret_cast<const char*>(file.data()), static_cast<std::streamsize>(file.size()));
}

std::vector<std::string> lines_of(const std::string& command) {
  std::vector<std::string> lines;
  std::FILE* pipe = popen(command.c_str(), "r");
  if (pipe == nullptr) return lines;
  char buffer[4096];
  while (std::fgets(buffer, sizeof buffer, pipe) != nullptr) {
    lines.emplace_back(buffer);
    if (!lines.back().empty() && lines.back().back() == '\n') lines.back().pop_back();
  }
  pclose(pipe);
  return lines;
}

// How tshark must read one field of one sample. All samples are in the table.
struct Expected {
  const char* sample;
  const char* protocols;  // after "eth:ethertype"
  const char* field;
  const char* value;
};

constexpr Expected kExpected[] = {
    {"udp_ipv4", ":ip:udp:data", "udp.dstport", "2000"},
    {"udp_ipv4", ":ip:udp:data", "ip.dsfield.dscp", "26"},
    {"udp_ipv4", ":ip:udp:data", "ip.checksum.status", "1"},
    {"udp_ipv6", ":ipv6:udp:data", "ipv6.dst", "fd00:2::1"},
    {"tcp_ipv4", ":ip:tcp", "tcp.dstport", "80"},
    {"tcp_ipv6", ":ipv6:tcp", "tcp.window_size_value", "512"},
    {"udp_ipv4_tag", ":vlan:ethertype:ip:udp:data", "vlan.priority", "3"},
    {"udp_ipv6_tags", ":ieee8021ad:ethertype:vlan:ethertype:ipv6:udp:data", "ieee8021ad.id", "100"},
    {"udp_ipv4_shim", ":data", "eth.type", "0x88b5"},
    {"udp_ipv6_shim", ":vlan:ethertype:data", "vlan.etype", "0x88b5"},
    {"udp_ipv6_options", ":ipv6:ipv6.dstopts:udp:data", "udp.dstport", "2000"},
    {"roce_write_ipv4", ":ip:udp:infiniband:data", "infiniband.bth.opcode", "10"},
    {"roce_write_ipv4", ":ip:udp:infiniband:data", "infiniband.bth.destqp", "0x123456"},
    {"roce_write_ipv4", ":ip:udp:infiniband:data", "infiniband.bth.psn", "77"},
    {"roce_write_ipv4", ":ip:udp:infiniband:data", "infiniband.bth.padcnt", "3"},
    {"roce_write_ipv4", ":ip:udp:infiniband:data", "infiniband.reth.va", "0x1000200030004000"},
    {"roce_write_ipv4", ":ip:udp:infiniband:data", "infiniband.reth.dmalen", "1000000"},
    {"roce_send_ipv6", ":ipv6:udp:infiniband:data", "infiniband.bth.opcode", "5"},
    {"roce_nak", ":ip:udp:infiniband", "infiniband.aeth.syndrome", "96"},
    {"roce_nak", ":ip:udp:infiniband", "infiniband.aeth.msn", "5"},
    {"roce_cnp", ":ip:udp:infiniband", "infiniband.bth.opcode", "129"},
    {"echo_ipv4", ":ip:icmp:data", "icmp.checksum.status", "1"},
    {"echo_ipv6", ":ipv6:icmpv6:data", "icmpv6.checksum.status", "1"},
    {"unreachable_ipv4", ":ip:icmp:ip:udp:data", "icmp.type", "3"},
    {"unreachable_ipv6", ":ipv6:icmpv6:ipv6:udp:data", "icmpv6.checksum.status", "1"},
    {"too_big_ipv4", ":ip:icmp:ip:udp:data", "icmp.mtu", "1280"},
    {"too_big_ipv6", ":ipv6:icmpv6:ipv6:udp:data", "icmpv6.mtu", "1280"},
    {"time_exceeded_ipv4", ":ip:icmp:ip:udp:data", "icmp.type", "11"},
    {"time_exceeded_ipv6", ":ipv6:icmpv6:ipv6:udp:data", "icmpv6.type", "3"},
    {"nd_solicitation", ":ipv6:icmpv6", "icmpv6.nd.ns.target_address", "fd00:2::1"},
    {"nd_advertisement", ":ipv6:icmpv6", "icmpv6.opt.linkaddr", "02:00:00:00:00:01"},
    {"nd_advertisement", ":ipv6:icmpv6", "icmpv6.nd.na.flag.s", "1"},
    {"arp_request", ":arp", "arp.dst.proto_ipv4", "10.2.0.1"},
    {"arp_reply", ":vlan:ethertype:arp", "arp.opcode", "2"},
    {"pfc", ":macc", "macc.opcode", "0x0101"},
    {"pfc", ":macc", "macc.cbfc.enbv", "0x0018"},
    {"pfc", ":macc", "macc.cbfc.pause_time.c3", "65535"},
    {"pause", ":macc", "macc.pause_time", "100"},
    {"cnm_tag", ":vlan:ethertype:data", "vlan.etype", "0x22e7"},
    {"lldp", ":lldp", "lldp.chassis.id.mac", "02:00:00:00:00:01"},
    {"lldp", ":lldp", "lldp.port.id", "Ethernet0"},
    {"lldp", ":lldp", "lldp.time_to_live", "120"},
    {"lldp", ":lldp", "lldp.tlv.system.name", "leaf0"},
    {"shim_kind_1", ":data", "eth.type", "0x88b5"},
    {"shim_kind_2", ":data", "eth.type", "0x88b5"},
    {"shim_kind_3", ":data", "eth.type", "0x88b5"},
    {"shim_kind_4", ":data", "eth.type", "0x88b5"},
    {"shim_kind_5", ":data", "eth.type", "0x88b5"},
    {"shim_kind_6", ":data", "eth.type", "0x88b5"},
    {"shim_kind_7", ":data", "eth.type", "0x88b5"},
    {"shim_kind_8", ":data", "eth.type", "0x88b5"},
    {"shim_kind_9", ":data", "eth.type", "0x88b5"},
    {"shim_kind_10", ":data", "eth.type", "0x88b5"},
    {"shim_kind_11", ":data", "eth.type", "0x88b5"},
};
constexpr size_t kProtocols = 0;
constexpr size_t kMalformed = 1;
constexpr size_t kFirstField = 2;

// Each field once: tshark prints a field that is asked twice only once.
std::vector<std::string> fields_asked() {
  std::set<std::string> fields;
  for (const Expected& each : kExpected) fields.insert(each.field);
  return {fields.begin(), fields.end()};
}

// One row a frame: protocols, malformed, then fields_asked().
std::vector<std::string> dissect(const std::string& path) {
  std::string command = "tshark -r '" + path +
                        "' -o ip.check_checksum:TRUE -T fields -E separator='|' -E occurrence=f"
                        " -e frame.protocols -e _ws.malformed";
  for (const std::string& field : fields_asked()) command += " -e " + field;
  return lines_of(command + " 2>/dev/null");
}

std::vector<std::string> columns_of(const std::string& line) {
  std::vector<std::string> columns;
  std::stringstream stream(line + '|');
  for (std::string column; std::getline(stream, column, '|');) columns.push_back(column);
  return columns;
}

void check_row(const std::string& name, const std::vector<std::string>& columns) {
  const std::vector<std::string> fields = fields_asked();
  ASSERT_EQ(columns.size(), kFirstField + fields.size()) << name;
  EXPECT_EQ(columns[kMalformed], "") << name;
  int checked = 0;
  for (const Expected& each : kExpected) {
    if (name != each.sample) continue;
    const auto field = std::find(fields.begin(), fields.end(), each.field) - fields.begin();
    EXPECT_EQ(columns[kProtocols], std::string("eth:ethertype") + each.protocols) << name;
    EXPECT_EQ(columns[kFirstField + static_cast<size_t>(field)], each.value)
        << name << ' ' << each.field;
    ++checked;
  }
  EXPECT_GT(checked, 0) << name << " is not in the table";
}

TEST(Tshark, ReadsWhatWeWrite) {
  ASSERT_FALSE(lines_of("tshark --version 2>/dev/null").empty())
      << "tshark is not installed; scripts/setup installs it";
  const std::vector<test::Sample> samples = test::samples();
  const test::TempDirectory directory;
  const std::string path = directory.file("samples.pcap");
  write_pcap(path, samples);
  const std::vector<std::string> rows = dissect(path);
  ASSERT_EQ(rows.size(), samples.size());
  for (size_t i = 0; i < samples.size(); ++i) check_row(samples[i].name, columns_of(rows[i]));
}

}  // namespace
}  // namespace eddy
