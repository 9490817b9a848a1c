// PFC and PAUSE, CNM, the shim and its control frames, LLDP, pcap.
#include <gtest/gtest.h>

#include <algorithm>
#include <string>

#include "net/checksum.h"
#include "net/cnm.h"
#include "net/lldp.h"
#include "net/pause_frame.h"
#include "net/pcap.h"
#include "net/shim.h"
#include "tests/unit/net/random_values.h"
#include "tests/unit/net/samples.h"

namespace eddy {
namespace {

using test::Draw;
using test::Frame;
using test::from_hex;
using test::survives;

constexpr MacAddress kMac = {{2, 0, 0, 0, 0, 1}};

template <class Message>
Frame encoded(const Message& message) {
  Frame out(2048);
  out.resize(encode(message, out));
  return out;
}
template <class Message>
CodecVerdict verdict(const Frame& octets) {
  Message message;
  return decode(octets, message);
}
template <class Message>
CodecVerdict after(Frame octets, size_t at, uint8_t value) {
  octets[at] = value;
  return verdict<Message>(octets);
}
template <class Message>
CodecVerdict cut_to(Frame octets, size_t length) {
  octets.resize(length);
  octets.shrink_to_fit();
  return verdict<Message>(octets);
}

// I-4.
TEST(PauseFrame, IsTheGoldenPfc) {
  PauseFrame pfc;
  pfc.source = kMac;
  pfc.set(Priority(3), kLongestPause);
  Frame xoff =
      from_hex("0180c2000001 020000000001 8808 0101 0008 0000 0000 0000 ffff 0000 0000 0000 0000");
  xoff.resize(60);
  EXPECT_EQ(encoded(pfc), xoff);
  const auto on_wire = [](const Frame& frame) {
    return __builtin_bswap32(frame_check_sequence(frame));
  };
  EXPECT_EQ(on_wire(xoff), 0xb0b229c3U);
  pfc.set(Priority(3), 0);
  EXPECT_EQ(on_wire(encoded(pfc)), 0xd13178acU);
}

TEST(PauseFrame, DecodeIsTheInverseOfEncode) {
  Draw draw(1);
  for (int round = 0; round < test::kPropertyRounds; ++round) {
    PauseFrame pfc;
    pfc.source = draw.unicast_mac();
    pfc.enabled = draw.any<uint8_t>();
    for (auto& time : pfc.quanta) time = draw.any<uint16_t>();
    ASSERT_TRUE(survives(pfc));
    ASSERT_TRUE(survives(PauseFrame::all_priorities(draw.unicast_mac(), draw.any<uint16_t>())));
  }
}

TEST(PauseFrame, LegacyPauseReadsAsAllPriorities) {
  PauseFrame frame;
  ASSERT_EQ(decode(test::sample("pause"), frame), CodecVerdict::ok);
  EXPECT_TRUE(frame.legacy);
  EXPECT_EQ(frame.enabled, 0xff);
  for (const uint16_t time : frame.quanta) EXPECT_EQ(time, 100);
}

TEST(PauseFrame, HasAVerdictForEveryFault) {
  const Frame& pfc = test::sample("pfc");
  EXPECT_EQ(cut_to<PauseFrame>(pfc, 17), CodecVerdict::truncated);
  EXPECT_EQ(cut_to<PauseFrame>(pfc, 33), CodecVerdict::truncated);
  EXPECT_EQ(cut_to<PauseFrame>(pfc, 34), CodecVerdict::ok);
  EXPECT_EQ(after<PauseFrame>(pfc, 12, 8), CodecVerdict::wrong_type);
  EXPECT_EQ(after<PauseFrame>(pfc, 15, 2), CodecVerdict::wrong_type);
  EXPECT_EQ(after<PauseFrame>(pfc, 5, 0), CodecVerdict::bad_address);
  EXPECT_EQ(after<PauseFrame>(pfc, 6, 1), CodecVerdict::bad_address);
  EXPECT_EQ(after<PauseFrame>(pfc, 16, 0xff), CodecVerdict::ok) << "reserved octet is ignored";
}

// I-20, with the quantities of I-7's second row.
Cnm golden_cnm() {
  Cnm cnm;
  cnm.feedback = 34;
  cnm.congestion_point = {{{2, 0, 0, 0, 0, 0x10}}, 5};
  cnm.queue_offset = cnm_quantity(262'144 - 240'000);
  cnm.queue_delta = cnm_quantity(240'000 - 232'000);
  cnm.priority = Priority(3);
  cnm.encapsulated_destination = {{2, 0, 0, 0, 0, 0x99}};
  cnm.warning = {SwitchId(16), LeafId(2), 1, 0, 7, 5'536, 24'000, 240'000};
  return cnm;
}

TEST(Cnm, IsTheGoldenMessage) {
  const Cnm cnm = golden_cnm();
  EXPECT_EQ(cnm.queue_offset, 346);
  EXPECT_EQ(cnm.queue_delta, 125);
  EXPECT_EQ(encoded(cnm),
            from_hex("0022 0200000000100005 015a 007d 6000 020000000099 0018 0010 0002 01 00"
                     "00000007 000015a0 00005dc0 0003a980 0000"));
}

// I-20a: the same with two culprits behind it.
TEST(Cnm, WithCulpritsIsTheGoldenMessage) {
  Cnm cnm = golden_cnm();
  cnm.culprits[0] = {LeafId(2), 0x8000, 0x371dc05e};
  cnm.culprits[1] = {LeafId(2), 0x2000, 0x00000001};
  EXPECT_EQ(encoded(cnm),
            from_hex("0022 0200000000100005 015a 007d 6000 020000000099 0018 0010 0002 01 04"
                     "00000007 000015a0 00005dc0 0003a980 0000"
                     "0002 8000 371dc05e 0002 2000 00000001"));
}

// Who does not know of culprits reads 48 octets, of which only the flags are others.
TEST(Cnm, WithCulpritsIsReadByThoseWhoDoNotKnowThem) {
  Cnm cnm = golden_cnm();
  const Frame plain = encoded(cnm);
  for (uint16_t i = 0; i < kMostCulprits; ++i) {
    cnm.culprits[i] = {LeafId(i), 1, i + 1u};
    Frame named = encoded(cnm);
    EXPECT_EQ(named.size(), kCnmMessage + (i + 1u) * kCnmCulprit);
    EXPECT_LE(named.size(), kCnmMessage + 32);
    constexpr size_t kFlags = 29;
    EXPECT_EQ(named[kFlags] & ~kCnmCulpritBits, plain[kFlags]);
    named.resize(kCnmMessage);
    named[kFlags] = plain[kFlags];
    EXPECT_EQ(named, plain);
  }
}

TEST(Cnm, TooManyCulpritsOrSomeOfThemAreReadAsNone) {
  Cnm cnm = golden_cnm();
  for (uint16_t i = 0; i < kMostCulprits; ++i) cnm.culprits[i] = {LeafId(i), 9, i + 1u};
  const Frame whole = encoded(cnm);
  Cnm read;
  for (size_t length = kCnmMessage; length < whole.size(); ++length) {
    ASSERT_EQ(decode(ConstOctets(whole).first(length), read), CodecVerdict::ok);
    EXPECT_TRUE(read.has_warning && read.culprits_refused);
    EXPECT_EQ(read.culprits, CulpritList{});
    EXPECT_EQ(read.warning, cnm.warning);
  }
  for (uint8_t count = kMostCulprits + 1; count < 8; ++count) {
    Frame forged = whole;
    forged.resize(256, 0xff);
    forged[29] = static_cast<uint8_t>(count << 1);
    ASSERT_EQ(decode(forged, read), CodecVerdict::ok);
    EXPECT_TRUE(read.culprits_refused);
    EXPECT_EQ(read.culprits, CulpritList{});
  }
}

TEST(Cnm, ACulpritWithoutAShareIsNone) {
  Cnm cnm = golden_cnm();
  cnm.culprits[0] = {LeafId(2), 1, 5};
  cnm.culprits[1] = {LeafId(2), 7, 6};
  Frame frame = encoded(cnm);
  frame[kCnmMessage + 3] = 0;
  Cnm read;
  ASSERT_EQ(decode(frame, read), CodecVerdict::ok);
  EXPECT_FALSE(read.culprits_refused);
  EXPECT_EQ(count_of(read.culprits), 1u);
  EXPECT_EQ(read.culprits[0], cnm.culprits[1]);
}

TEST(Cnm, DecodeIsTheInverseOfEncode) {
  Draw draw(2);
  for (int round = 0; round < test::kPropertyRounds; ++round) {
    Cnm cnm;
    cnm.feedback = draw.below<uint8_t>(64);
    cnm.congestion_point = {draw.unicast_mac(), draw.any<uint16_t>()};
    cnm.queue_offset = draw.any<int16_t>();
    cnm.queue_delta = draw.any<int16_t>();
    cnm.priority = Priority(draw.below<size_t>(8));
    cnm.encapsulated_destination = draw.unicast_mac();
    cnm.warning = {SwitchId(draw.any<uint16_t>()),
                   LeafId(draw.any<uint16_t>()),
                   draw.any<uint8_t>(),
                   static_cast<uint8_t>(draw.any<uint8_t>() & ~kCnmCulpritBits),
                   draw.any<uint32_t>(),
                   draw.any<uint32_t>(),
                   draw.any<uint32_t>(),
                   draw.any<uint32_t>()};
    const size_t culprits = draw.below<size_t>(kMostCulprits + 1);
    for (size_t i = 0; i < culprits; ++i)
      cnm.culprits[i] = {LeafId(draw.any<uint16_t>()), std::max<uint16_t>(draw.any<uint16_t>(), 1),
                         draw.any<uint32_t>()};
    ASSERT_TRUE(survives(cnm));
  }
}

TEST(Cnm, QuantitiesSaturate) {
  EXPECT_EQ(cnm_quantity(-640), -10);
  EXPECT_EQ(cnm_quantity(10'000'000), INT16_MAX);
  EXPECT_EQ(cnm_quantity(-10'000'000), INT16_MIN);
}

TEST(Cnm, ReadsOtherVendorsWithoutAWarning) {
  Frame foreign(24 + 64, 0x11);
  foreign[0] = 0;
  foreign[22] = 0;
  foreign[23] = 64;
  Cnm cnm;
  ASSERT_EQ(decode(foreign, cnm), CodecVerdict::ok);
  EXPECT_FALSE(cnm.has_warning);
  EXPECT_EQ(cnm.feedback, 0x11);
}

TEST(Cnm, HasAVerdictForEveryFault) {
  const Frame& frame = test::sample("cnm_tag");
  const Frame cnm(frame.begin() + 18, frame.end());
  EXPECT_EQ(cut_to<Cnm>(cnm, 23), CodecVerdict::truncated);
  EXPECT_EQ(cut_to<Cnm>(cnm, 47), CodecVerdict::truncated);
  EXPECT_EQ(after<Cnm>(cnm, 0, 0x10), CodecVerdict::bad_version);
  EXPECT_EQ(after<Cnm>(cnm, 23, 65), CodecVerdict::bad_length);
}

Shim random_shim(Draw& draw) {
  Shim shim;
  shim.kind = draw.below<ShimKind>(kShimKinds);
  shim.flags = draw.any<uint8_t>();
  shim.source_leaf = LeafId(draw.any<uint16_t>());
  shim.destination_leaf = LeafId(draw.any<uint16_t>());
  shim.path = PathId(draw.any<uint16_t>());
  shim.feedback_path = PathId(draw.any<uint16_t>());
  shim.congestion = draw.any<uint8_t>();
  shim.feedback_congestion = draw.any<uint8_t>();
  shim.hop_count = draw.below<uint8_t>(16);
  shim.virtual_channel = draw.below<uint8_t>(4);
  shim.epoch = draw.below<uint8_t>(4);
  shim.traffic_class = TrafficClass(draw.below<size_t>(16));
  shim.recirculations = draw.below<uint8_t>(16);
  shim.tolerable_delay = draw.any<uint16_t>();
  shim.sent_ns = draw.any<uint32_t>();
  shim.echoed_ns = draw.any<uint32_t>();
  shim.hold_ns = draw.any<uint32_t>();
  shim.feedback_packets = draw.any<uint8_t>();
  shim.feedback_marked = draw.any<uint8_t>();
  shim.inner_ethertype = draw.any<uint16_t>();
  return shim;
}

// Only the fields that the kind has on the wire.
ShimControl random_control(Draw& draw) {
  ShimControl control;
  control.shim = random_shim(draw);
  const ShimKind kind = control.shim.kind =
      static_cast<ShimKind>(1 + draw.below<int>(kShimKinds - 1));
  const bool has_key = kind == ShimKind::clear || kind == ShimKind::flowcut_ack ||
                       kind == ShimKind::flow_xoff || kind == ShimKind::flow_xon;
  if (has_key) control.order_hash = draw.any<uint64_t>();
  if (kind == ShimKind::notify) control.reason = static_cast<NotifyReason>(1 + draw.below<int>(2));
  if (kind == ShimKind::notify || kind == ShimKind::flowcut_ack)
    control.value = draw.any<uint32_t>();
  if (kind == ShimKind::flow_xoff) control.hold_us = draw.any<uint16_t>();
  if (kind == ShimKind::hula_probe) {
    control.top_of_rack = draw.below<uint32_t>(1 << 24);
    control.utilisation = draw.any<uint8_t>();
    control.sequence = draw.any<uint32_t>();
  }
  return control;
}

TEST(Shim, DecodeIsTheInverseOfEncode) {
  Draw draw(3);
  for (int round = 0; round < test::kPropertyRounds; ++round) {
    ASSERT_TRUE(survives(random_shim(draw)));
    ASSERT_TRUE(survives(random_control(draw)));
  }
}

// Every field of reference 1.6 in its place.
TEST(Shim, HasTheLayoutOfTheReference) {
  Shim shim;
  shim.kind = ShimKind::probe;
  shim.flags = kShimRttRequest | kShimTolerableDelay;
  shim.source_leaf = LeafId(0x0102);
  shim.destination_leaf = LeafId(0x0304);
  shim.path = PathId(0x0506);
  shim.feedback_path = PathId(0x0708);
  shim.congestion = 0x09;
  shim.feedback_congestion = 0x0a;
  shim.hop_count = 0xb;
  shim.virtual_channel = 2;
  shim.epoch = 1;
  shim.traffic_class = TrafficClass(7);
  shim.recirculations = 0xd;
  shim.tolerable_delay = 0x0e0f;
  shim.sent_ns = 0x10111213;
  shim.echoed_ns = 0x14151617;
  shim.hold_ns = 0x18191a1b;
  shim.feedback_packets = 0x1c;
  shim.feedback_marked = 0x1d;
  shim.inner_ethertype = 0x0800;
  EXPECT_EQ(encoded(shim), from_hex("12 81 0102 0304 0506 0708 09 0a b9 7d 0e0f 10111213 14151617"
                                    "18191a1b 1c 1d 0800"));
}

TEST(Shim, HasAVerdictForEveryFault) {
  const Frame shim = encoded(Shim{});
  EXPECT_EQ(cut_to<Shim>(shim, 31), CodecVerdict::truncated);
  EXPECT_EQ(after<Shim>(shim, 0, 0x20), CodecVerdict::bad_version);
  EXPECT_EQ(after<Shim>(shim, 0, 0x1c), CodecVerdict::bad_value);
  EXPECT_EQ(verdict<ShimControl>(shim), CodecVerdict::wrong_type);
  for (const auto& [kind, body] : {std::pair{ShimKind::feedback, 0},
                                   {ShimKind::sweep, 0},
                                   {ShimKind::swept, 0},
                                   {ShimKind::notify, 5},
                                   {ShimKind::clear, 13},
                                   {ShimKind::flowcut_ack, 20},
                                   {ShimKind::hula_probe, 8},
                                   {ShimKind::flow_xoff, 16}}) {
    ShimControl control;
    control.shim.kind = kind;
    const Frame octets = encoded(control);
    EXPECT_EQ(octets.size(), 32U + static_cast<size_t>(body));
    EXPECT_EQ(cut_to<ShimControl>(octets, octets.size() - 1), CodecVerdict::truncated);
  }
  ShimControl notify;
  notify.shim.kind = ShimKind::notify;
  EXPECT_EQ(after<ShimControl>(encoded(notify), 32, 0), CodecVerdict::bad_value);
  EXPECT_EQ(after<ShimControl>(encoded(notify), 32, 3), CodecVerdict::bad_value);
}

TEST(Lldp, DecodeIsTheInverseOfEncode) {
  Draw draw(4);
  for (int round = 0; round < test::kPropertyRounds; ++round) {
    const std::string port(1 + draw.below<size_t>(kLldpTextLimit), 'p');
    const std::string name(draw.below<size_t>(kLldpTextLimit + 1), 'n');
    ASSERT_TRUE(survives(
        LldpFrame{draw.unicast_mac(), draw.unicast_mac(), port, draw.any<uint16_t>(), name}));
  }
}

// Chassis by MAC, port by interface name, 120 s, system name, end; padded.
TEST(Lldp, IsTheGoldenFrame) {
  Frame golden = from_hex(
      "0180c200000e 020000000001 88cc 0207 04 020000000002 0404 05 657468 0602 0078 0a02 6869 "
      "0000");
  golden.resize(60);
  EXPECT_EQ(encoded(LldpFrame{kMac, {{2, 0, 0, 0, 0, 2}}, "eth", 120, "hi"}), golden);
}

TEST(Lldp, LongestFrameFitsItsLimit) {
  const std::string text(kLldpTextLimit, 'x');
  Frame out(kLldpFrameLimit);
  EXPECT_EQ(encode(LldpFrame{kMac, kMac, text, 1, text}, out), kLldpFrameLimit);
}

Frame lldp(const char* tlvs) {
  return from_hex(std::string("0180c200000e 020000000001 88cc") + tlvs);
}

TEST(Lldp, ReadsOtherVendors) {
  LldpFrame frame;
  // Chassis by local name, port by MAC, an unknown TLV, no end.
  ASSERT_EQ(
      decode(lldp("0204 07616263 0407 03020000000003 0602 0078 fe04 00120f01 0a02 6869"), frame),
      CodecVerdict::ok);
  EXPECT_TRUE(frame.chassis.is_zero());
  EXPECT_EQ(frame.port, "");
  EXPECT_EQ(frame.ttl_seconds, 120);
  // A port by alias, by name and by local number has a name; by any other kind it has none.
  for (int subtype = 1; subtype <= 8; ++subtype) {
    Frame named = lldp("0204 07616263 0404 00657468 0602 0078 0000");
    named[14 + 6 + 2] = static_cast<uint8_t>(subtype);
    ASSERT_EQ(decode(named, frame), CodecVerdict::ok);
    EXPECT_EQ(frame.port, subtype == 1 || subtype == 5 || subtype == 7 ? "eth" : "") << subtype;
  }
  const Frame ended = lldp("0204 07616263 0407 03020000000003 0602 0078 0a02 6869 0000 ffff");
  ASSERT_EQ(decode(ended, frame), CodecVerdict::ok);
  EXPECT_EQ(frame.system_name, "hi");
}

TEST(Lldp, HasAVerdictForEveryFault) {
  const Frame& good = test::sample("lldp");
  EXPECT_EQ(cut_to<LldpFrame>(good, 13), CodecVerdict::truncated);
  EXPECT_EQ(after<LldpFrame>(good, 12, 8), CodecVerdict::wrong_type);
  EXPECT_EQ(after<LldpFrame>(good, 5, 0), CodecVerdict::bad_address);
  EXPECT_EQ(after<LldpFrame>(good, 6, 1), CodecVerdict::bad_address);
  const char* bad[] = {
      "0000",                                                    // nothing before the end
      "0402 0561 0207 04020000000001 0602 0078 0000",            // port before chassis
      "0207 04020000000001 0602 0078 0000",                      // no port
      "0206 040200000000 0402 0561 0602 0078 0000",              // a MAC of five octets
      "0201 04 0402 0561 0602 0078 0000",                        // an empty chassis
      "0207 04020000000001 0401 05 0602 0078 0000",              // an empty port
      "0207 04020000000001 0402 0561 0601 00 0000",              // a TTL of one octet
      "0207 04020000000001 0402 0561 0602 0078 0602 0078 0000",  // TTL twice
      "0207 04020000000001 0402 0561 0602 0078 0aff",            // a name that leaves the frame
  };
  for (const char* tlvs : bad)
    EXPECT_EQ(verdict<LldpFrame>(lldp(tlvs)), CodecVerdict::bad_option) << tlvs;
  EXPECT_EQ(verdict<LldpFrame>(lldp("0207 04020000000001 04")), CodecVerdict::truncated);
  EXPECT_EQ(verdict<LldpFrame>(lldp("0207 04020000000001 0402 0561")), CodecVerdict::truncated)
      << "no TTL and no end";
  EXPECT_EQ(verdict<LldpFrame>(lldp("0207 04020000000001 0402 0561 0602 0078 0a")),
            CodecVerdict::truncated)
      << "half a header at the end";
}

Frame pcap_of(const std::vector<PcapRecord>& records) {
  Frame out(kPcapFileHeader);
  encode_pcap_header(out);
  for (const PcapRecord& record : records) {
    const size_t end = out.size();
    out.resize(end + kPcapRecordHeader + record.frame.size());
    encode(record, Octets(out).subspan(end));
  }
  return out;
}

TEST(Pcap, ReadsBackWhatItWrote) {
  Draw draw(5);
  std::vector<Frame> frames(50);
  for (Frame& frame : frames) frame = draw.octets(draw.below<size_t>(200));
  std::vector<PcapRecord> records;
  records.reserve(frames.size());
  for (const Frame& frame : frames)
    records.push_back(
        {uint64_t{draw.any<uint32_t>()} * 1'000'000'000 + draw.below<uint64_t>(1'000'000'000),
         static_cast<uint32_t>(frame.size()) + draw.below<uint32_t>(9), frame});
  const Frame file = pcap_of(records);
  PcapReader reader;
  ASSERT_EQ(reader.open(file), CodecVerdict::ok);
  for (const PcapRecord& expected : records) {
    PcapRecord record;
    ASSERT_FALSE(reader.at_end());
    ASSERT_EQ(reader.next(record), CodecVerdict::ok);
    EXPECT_EQ(record.stamp_ns, expected.stamp_ns);
    EXPECT_EQ(record.wire_len, expected.wire_len);
    EXPECT_TRUE(std::equal(record.frame.begin(), record.frame.end(), expected.frame.begin(),
                           expected.frame.end()));
  }
  EXPECT_TRUE(reader.at_end());
}

TEST(Pcap, ReadsBothByteOrdersAndPrecisions) {
  const std::pair<const char*, uint64_t> files[] = {
      {"a1b2c3d4 00020004 00000000 00000000 00040000 00000001 00000001 00000002 00000001 00000001 "
       "aa",
       1'000'002'000},
      {"a1b23c4d 00020004 00000000 00000000 00040000 00000001 00000001 00000002 00000001 00000001 "
       "aa",
       1'000'000'002},
      {"d4c3b2a1 02000400 00000000 00000000 00000400 01000000 01000000 02000000 01000000 01000000 "
       "aa",
       1'000'002'000},
      {"4d3cb2a1 02000400 00000000 00000000 00000400 01000000 01000000 02000000 01000000 01000000 "
       "aa",
       1'000'000'002},
  };
  for (const auto& [hex, stamp] : files) {
    const Frame file = from_hex(hex);
    PcapReader reader;
    PcapRecord record;
    ASSERT_EQ(reader.open(file), CodecVerdict::ok) << hex;
    ASSERT_EQ(reader.next(record), CodecVerdict::ok);
    EXPECT_EQ(record.stamp_ns, stamp);
    EXPECT_EQ(record.frame.size(), 1U);
  }
}

TEST(Pcap, HasAVerdictForEveryFault) {
  const Frame octets(10, 1);
  const Frame good = pcap_of({{1, 10, octets}});
  const auto opened = [&](size_t at, uint8_t value) {
    Frame file = good;
    file[at] = value;
    return PcapReader().open(file);
  };
  const auto first = [&](size_t at, uint8_t value, size_t length) {
    Frame file = good;
    file[at] = value;
    PcapReader reader;
    PcapRecord record;
    EXPECT_EQ(reader.open(ConstOctets(file).first(length)), CodecVerdict::ok);
    return reader.next(record);
  };
  EXPECT_EQ(PcapReader().open(ConstOctets(good).first(23)), CodecVerdict::truncated);
  EXPECT_EQ(opened(0, 0), CodecVerdict::wrong_type);
  EXPECT_EQ(opened(4, 3), CodecVerdict::bad_version);
  EXPECT_EQ(opened(20, 101), CodecVerdict::wrong_type);
  EXPECT_EQ(first(24, 0, 24 + 15), CodecVerdict::truncated);
  EXPECT_EQ(first(24, 0, 24 + 16 + 9), CodecVerdict::truncated);
  EXPECT_EQ(first(24 + 7, 0xff, good.size()), CodecVerdict::bad_value);
  EXPECT_EQ(first(24 + 8, 11, good.size()), CodecVerdict::bad_length);
}

}  // namespace
}  // namespace eddy
