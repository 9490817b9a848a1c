// What an idle switch takes from the heap: its parts, and no room for what may never come.
#include <gtest/gtest.h>

#include <cstddef>
#include <cstdlib>
#include <new>

#include "switch/dataplane/object/switch.h"
#include "tests/support/fabric.h"
#include "tests/support/topologies.h"

namespace {

constexpr size_t kHeader = 64;  // in front of what is given out: its size
size_t taken = 0;               // octets

void* take(size_t size) {
  const size_t whole = (size + kHeader + kHeader - 1) / kHeader * kHeader;
  void* memory = std::aligned_alloc(kHeader, whole);
  if (memory == nullptr) std::abort();
  *static_cast<size_t*>(memory) = size;
  taken += size;
  return static_cast<char*>(memory) + kHeader;
}
void give_back(void* memory) {
  if (memory == nullptr) return;
  void* const whole = static_cast<char*>(memory) - kHeader;
  taken -= *static_cast<size_t*>(whole);
  std::free(whole);
}

}  // namespace

void* operator new(size_t size) {
  return take(size);
}
void* operator new(size_t size, std::align_val_t alignment) {
  if (static_cast<size_t>(alignment) > kHeader) std::abort();
  return take(size);
}
void* operator new(size_t size, const std::nothrow_t&) noexcept {
  return take(size);
}
void operator delete(void* memory) noexcept {
  give_back(memory);
}
void operator delete(void* memory, size_t) noexcept {
  give_back(memory);
}
void operator delete(void* memory, std::align_val_t) noexcept {
  give_back(memory);
}
void operator delete(void* memory, size_t, std::align_val_t) noexcept {
  give_back(memory);
}

namespace eddy {
namespace {

using namespace eddy::literals;

// A leaf as memory.switch.36ports of bench/pipeline_bench.cpp has it: path sets to 31 others.
config::SwitchConfig leaf(size_t ports) {
  config::SwitchConfig config = test::bare_switch("leaf", 1);
  config.leaf = LeafId(1);
  config::BufferProfile& lossless = config.buffer.profiles.at("lossless");
  lossless.mode = config::BufferMode::dynamic;
  lossless.headroom = 40_KiB;
  for (size_t host = 1; host <= ports / 2; ++host) test::add_host_port(config, 1, host, 100_Gbps);
  for (size_t spine = 1; spine <= ports / 2; ++spine)
    test::add_fabric_port(config, "spine" + std::to_string(spine), 100_Gbps);
  for (size_t far = 2; far < 33; ++far) {
    config::LeafConfig other{LeafId(far), {}};
    for (size_t spine = 1; spine <= ports / 2; ++spine)
      other.paths.push_back({"spine" + std::to_string(spine), 1, {}});
    config.leaves.push_back(other);
    config.routes.push_back(
        {test::prefix("10." + std::to_string(far) + ".0.0/16"), LeafId(far), {}});
  }
  return config;
}

size_t octets_of(const config::SwitchConfig& config) {
  const size_t before = taken;
  const auto made = Switch::create(config, {});
  EXPECT_TRUE(made) << (made ? "" : made.problems().front());
  return taken - before;
}

TEST(SwitchMemory, OfThirtySixPortsIsWithinItsBound) {
  EXPECT_LE(octets_of(leaf(36)), size_t{208} << 10);
}

TEST(SwitchMemory, GrowsByItsPorts) {
  const size_t few = octets_of(leaf(16)), many = octets_of(leaf(64));
  EXPECT_LE((many - few) / 48, 3'600u) << "a port, with its members of 31 path sets";
}

}  // namespace
}  // namespace eddy
