#include "switch/dpdk/pcap_run.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "net/pcap.h"

namespace eddy {
namespace {

using namespace literals;

config::SwitchConfig two_ports() {
  config::SwitchConfig config = config::default_switch("s");
  for (const char* name : {"a", "b"}) {
    config.ports.push_back(config::default_port(name));
    config.ports.back().pg_profiles.fill("lossy");
  }
  config.control.lldp = false;
  config.ports[0].addresses = {*parse_ip_prefix("10.1.0.1/24")};
  config.ports[1].addresses = {*parse_ip_prefix("10.2.0.1/24")};
  return config;
}

// A question for the gateway's address of port a, which the switch answers itself.
std::vector<uint8_t> arp_request() {
  std::vector<uint8_t> frame(60, 0);
  const uint8_t head[] = {0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 2, 0, 0, 0, 0,  9, 0x08, 0x06,
                          0,    1,    8,    0,    6,    4,    0, 1, 2, 0, 0,  0, 0,    9,
                          10,   1,    0,    9,    0,    0,    0, 0, 0, 0, 10, 1, 0,    1};
  std::copy(std::begin(head), std::end(head), frame.begin());
  return frame;
}

std::vector<uint8_t> capture_of(std::initializer_list<uint64_t> stamps_ns) {
  std::vector<uint8_t> file(kPcapFileHeader);
  encode_pcap_header(file);
  for (uint64_t stamp : stamps_ns) {
    const std::vector<uint8_t> frame = arp_request();
    const size_t at = file.size();
    file.resize(at + kPcapRecordHeader + frame.size());
    encode(PcapRecord{stamp, static_cast<uint32_t>(frame.size()), frame}, Octets(file).subspan(at));
  }
  return file;
}

struct Outcome {
  std::vector<uint8_t> sent;
  std::string events;
  std::vector<uint64_t> stamps;
};

Outcome run_with(const std::vector<uint8_t>& capture) {
  auto object = Switch::create(two_ports(), {.shards = 1});
  EXPECT_TRUE(object.ok());
  PcapRun run(**object, 256, 2'048);
  EXPECT_EQ(run.add_capture(PortId(0), capture), Problems{});
  std::string events;
  run.after_poll = [&] {
    Event event;
    while ((*object)->events(ShardId(0)).pop(event))
      events += std::to_string(event.at.ps()) + " " + std::string(to_string(event.kind)) + "\n";
  };
  EXPECT_EQ(run.run(1_ms), Problems{});
  EXPECT_EQ(run.lost(), 0u);
  EXPECT_TRUE((*object)->balance().holds());
  Outcome out{run.sent(PortId(0)), events, {}};
  PcapReader reader;
  EXPECT_EQ(reader.open(out.sent), CodecVerdict::ok);
  PcapRecord record;
  while (!reader.at_end() && reader.next(record) == CodecVerdict::ok)
    out.stamps.push_back(record.stamp_ns);
  return out;
}

TEST(PcapRun, AnswersLeaveByTheirPortAtTheStampsOfTheQuestionsPlusTheLine) {
  const uint64_t start = 1'700'000'000'000'000'000;
  const Outcome out = run_with(capture_of({start + 5'000, start + 2'000'000}));
  ASSERT_EQ(out.stamps.size(), 2u);
  EXPECT_GT(out.stamps[0], start + 5'000);
  EXPECT_LT(out.stamps[0], start + 7'000) << "a short frame at 1 Gb/s";
  EXPECT_EQ(out.stamps[1] - out.stamps[0], 1'995'000u);
}

TEST(PcapRun, SameCapturesSameOctetsAndEvents) {
  const auto capture = capture_of({1'000, 1'000, 2'500, 900'000});
  const Outcome first = run_with(capture);
  const Outcome second = run_with(capture);
  EXPECT_EQ(first.sent, second.sent);
  EXPECT_EQ(first.events, second.events);
  EXPECT_THAT(first.events, testing::HasSubstr("0 link_up\n"));
}

TEST(PcapRun, ABrokenCaptureIsNamedByItsRecord) {
  auto object = Switch::create(two_ports(), {.shards = 1});
  ASSERT_TRUE(object.ok());
  PcapRun run(**object, 16, 2'048);
  auto capture = capture_of({1'000, 2'000});
  capture.resize(capture.size() - 10);
  EXPECT_THAT(run.add_capture(PortId(0), capture),
              testing::ElementsAre(testing::HasSubstr("record 2")));
}

}  // namespace
}  // namespace eddy
