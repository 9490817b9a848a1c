#include "system/capture_filter.h"

#include <pcap/pcap.h>

#include <algorithm>

namespace eddy {
namespace {

constexpr size_t kMostCharacters = 4'096;
constexpr int kWholeFrames = 65'535;

struct CloseDead {
  void operator()(pcap_t* dead) const { pcap_close(dead); }
};

// Loads of what only a kernel has beside a frame, as `inbound` makes them: here they would match
// nothing.
bool asks_a_kernel(const bpf_program& code) {
  constexpr bpf_u_int32 kBesideFrame = 0xfff00000;  // SKF_AD_OFF and what lies around it
  return std::any_of(code.bf_insns, code.bf_insns + code.bf_len, [](const bpf_insn& each) {
    const bool loads = BPF_CLASS(each.code) == BPF_LD || BPF_CLASS(each.code) == BPF_LDX;
    return loads && BPF_MODE(each.code) == BPF_ABS && each.k >= kBesideFrame;
  });
}

}  // namespace

struct CaptureFilter::Program {
  Program() = default;
  Program(const Program&) = delete;
  Program& operator=(const Program&) = delete;
  ~Program() { pcap_freecode(&code); }
  bpf_program code{};
};

CaptureFilter::CaptureFilter() = default;
CaptureFilter::CaptureFilter(CaptureFilter&&) noexcept = default;
CaptureFilter& CaptureFilter::operator=(CaptureFilter&&) noexcept = default;
CaptureFilter::~CaptureFilter() = default;

Result<CaptureFilter> CaptureFilter::compile(const std::string& expression) {
  using Made = Result<CaptureFilter>;
  CaptureFilter filter;
  if (expression.empty()) return filter;
  if (expression.size() > kMostCharacters)
    return Made::failure("--filter: longer than " + std::to_string(kMostCharacters) +
                         " characters");
  const std::unique_ptr<pcap_t, CloseDead> dead(pcap_open_dead(DLT_EN10MB, kWholeFrames));
  if (dead == nullptr) return Made::failure("--filter: libpcap has no memory");
  filter.program_ = std::make_unique<Program>();
  if (pcap_compile(dead.get(), &filter.program_->code, expression.c_str(), /*optimize=*/1,
                   PCAP_NETMASK_UNKNOWN) != 0)
    return Made::failure("--filter \"" + expression + "\": " + pcap_geterr(dead.get()) +
                         "; pcap-filter(7) has the language");
  if (asks_a_kernel(filter.program_->code))
    return Made::failure("--filter \"" + expression +
                         "\": asks for more than the packet; --direction tells in from out");
  return filter;
}

bool CaptureFilter::matches(std::span<const uint8_t> frame, uint32_t wire_len) const {
  if (keeps_all()) return true;
  pcap_pkthdr header{};
  header.caplen = static_cast<bpf_u_int32>(frame.size());
  header.len = wire_len;
  return pcap_offline_filter(&program_->code, &header, frame.data()) != 0;
}

std::vector<FilterInstruction> CaptureFilter::program() const {
  std::vector<FilterInstruction> out;
  if (keeps_all()) return out;
  const bpf_program& code = program_->code;
  for (const bpf_insn& each : std::span(code.bf_insns, code.bf_len))
    out.push_back({each.code, each.jt, each.jf, each.k});
  return out;
}

}  // namespace eddy
