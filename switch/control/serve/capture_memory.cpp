#include "switch/control/serve/capture_memory.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <bit>
#include <cerrno>
#include <cstring>
#include <new>

#include "net/assert.h"

namespace eddy::control {
namespace {

constexpr size_t kLeastRing = 64 * 1024;
constexpr size_t kMostRing = size_t{1} << 30;

Problems failed(const char* what) {
  return {std::string("memory for a capture: ") + what + ": " + std::strerror(errno)};
}

Fd make_file(const char* name, size_t octets) {
  Fd file(::memfd_create(name, MFD_CLOEXEC | MFD_ALLOW_SEALING));
  // Filled, so that neither a worker nor a reader is ever told that there is no memory.
  if (file.valid() && ::posix_fallocate(file.get(), 0, static_cast<off_t>(octets)) != 0)
    file.reset();
  return file;
}

uint8_t* map_file(int file, size_t octets, int protection) {
  void* at = ::mmap(nullptr, octets, protection, MAP_SHARED | MAP_POPULATE, file, 0);
  return at == MAP_FAILED ? nullptr : static_cast<uint8_t*>(at);
}

bool is_as_long_as(int file, size_t octets) {
  struct stat status {};
  const int seals = ::fcntl(file, F_GET_SEALS);
  return ::fstat(file, &status) == 0 && static_cast<size_t>(status.st_size) == octets &&
         seals >= 0 && (seals & F_SEAL_SHRINK) != 0;
}

}  // namespace

Result<std::shared_ptr<CaptureMemory>> CaptureMemory::create(size_t rings, size_t octets) {
  ASSERT(rings != 0 && octets >= kLeastRing && std::has_single_bit(octets));
  std::shared_ptr<CaptureMemory> memory(new CaptureMemory(rings, octets));
  if (Problems problems = memory->map(); !problems.empty()) return problems;
  return memory;
}

Problems CaptureMemory::map() {
  records_file_ = make_file("eddy-capture", records_octets());
  tails_file_ = make_file("eddy-capture-read", tails_octets());
  if (!records_file_.valid() || !tails_file_.valid()) return failed("none is left");
  records_ = map_file(records_file_.get(), records_octets(), PROT_READ | PROT_WRITE);
  tails_ = map_file(tails_file_.get(), tails_octets(), PROT_READ | PROT_WRITE);
  if (records_ == nullptr || tails_ == nullptr) return failed("it cannot be mapped");
  constexpr int kLength = F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_SEAL;
  if (::fcntl(records_file_.get(), F_ADD_SEALS, kLength | F_SEAL_FUTURE_WRITE) != 0 ||
      ::fcntl(tails_file_.get(), F_ADD_SEALS, kLength) != 0)
    return failed("it cannot be sealed");
  for (size_t ring = 0; ring < rings_; ++ring) {
    ::new (records_ + ring * (kCaptureStateOctets + octets_)) CaptureRingState();
    ::new (tails_ + ring * sizeof(CaptureRingTail)) CaptureRingTail();
  }
  return {};
}

CaptureMemory::~CaptureMemory() {
  if (records_ != nullptr) ::munmap(records_, records_octets());
  if (tails_ != nullptr) ::munmap(tails_, tails_octets());
}

CaptureWriter CaptureMemory::writer(size_t ring) {
  uint8_t* const state = records_ + ring * (kCaptureStateOctets + octets_);
  uint8_t* const tail = tails_ + ring * sizeof(CaptureRingTail);
  return {*std::launder(reinterpret_cast<CaptureRingState*>(state)),
          *std::launder(reinterpret_cast<CaptureRingTail*>(tail)),
          {state + kCaptureStateOctets, octets_}};
}

std::vector<Fd> CaptureMemory::descriptors() const {
  std::vector<Fd> out;
  for (const Fd* file : {&records_file_, &tails_file_})
    out.emplace_back(::fcntl(file->get(), F_DUPFD_CLOEXEC, 0));
  return out;
}

Result<std::unique_ptr<CaptureView>> CaptureView::map(const std::vector<Fd>& descriptors,
                                                      size_t rings, size_t octets) {
  using Made = Result<std::unique_ptr<CaptureView>>;
  const bool sound = rings != 0 && rings <= kMaxShards && octets >= kLeastRing &&
                     octets <= kMostRing && std::has_single_bit(octets);
  if (!sound || descriptors.size() != 2)
    return Made::failure("the switch hands over no rings that we can read");
  std::unique_ptr<CaptureView> view(new CaptureView());
  const size_t stride = kCaptureStateOctets + octets;
  view->records_octets_ = rings * stride;
  view->tails_octets_ = rings * sizeof(CaptureRingTail);
  const int records = descriptors[0].get();
  const int tails = descriptors[1].get();
  if (!is_as_long_as(records, view->records_octets_) || !is_as_long_as(tails, view->tails_octets_))
    return Made::failure("the memory of the rings is not as long as the switch says");
  view->records_ = map_file(records, view->records_octets_, PROT_READ);
  view->tails_ = map_file(tails, view->tails_octets_, PROT_READ | PROT_WRITE);
  if (view->records_ == nullptr || view->tails_ == nullptr) return failed("it cannot be mapped");
  for (size_t ring = 0; ring < rings; ++ring) {
    const uint8_t* const state = static_cast<uint8_t*>(view->records_) + ring * stride;
    uint8_t* const tail = static_cast<uint8_t*>(view->tails_) + ring * sizeof(CaptureRingTail);
    view->readers_.emplace_back(*std::launder(reinterpret_cast<const CaptureRingState*>(state)),
                                *std::launder(reinterpret_cast<CaptureRingTail*>(tail)),
                                std::span<const uint8_t>(state + kCaptureStateOctets, octets));
  }
  return view;
}

CaptureView::~CaptureView() {
  if (records_ != nullptr) ::munmap(records_, records_octets_);
  if (tails_ != nullptr) ::munmap(tails_, tails_octets_);
}

}  // namespace eddy::control
