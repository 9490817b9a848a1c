#include "bench/capture.h"

#include <memory>
#include <string>

#include "bench/pipeline_cases.h"
#include "bench/undisturbed.h"
#include "net/capture/capture_order.h"
#include "switch/dataplane/object/capture.h"

namespace eddy::bench {
namespace {

constexpr size_t kRing = 4u << 20;  // as the daemon's
constexpr uint8_t kIn = 1u << static_cast<unsigned>(CaptureDirection::in);
constexpr uint8_t kAll = (1u << kCaptureDirections) - 1;

// A leaf whose packets are captured.
class Captured {
 public:
  Captured(uint8_t directions, bool read)
      : read_(read), bench_({.name = "captured"}), ring_(kRing) {
    order_.ports.set();
    order_.directions = directions;
    order_.ring = CaptureWriter(state_, tail_, ring_);
    capture(bench_.shard(), &order_);
  }

  double run_slice() {
    double sum = 0;
    for (size_t i = 0; i < kSlices; ++i) {
      sum += bench_.run(bench_.shard(), kPolls);
      keep_up();
    }
    return sum / kSlices;
  }
  void run(size_t polls) {
    for (size_t done = 0; done < polls; done += kPolls) {
      bench_.run(bench_.shard(), kPolls);
      keep_up();
    }
  }

 private:
  static constexpr size_t kPolls = 40;  // far less than a ring's room
  static constexpr size_t kSlices = 16;

  void keep_up() {
    if (read_) tail_.tail.store(state_.head.load());
  }

  bool read_;
  Bench bench_;
  CaptureRingState state_;
  CaptureRingTail tail_;
  std::vector<uint8_t> ring_;
  CaptureOrder order_;
};

}  // namespace

std::vector<Result> measure_capture(int rounds) {
  Bench plain({.name = "plain"});
  Captured in(kIn, true);
  Captured all(kAll, true);
  Captured full(kAll, false);
  std::vector<double> of_in;
  std::vector<double> of_all;
  std::vector<double> of_full;
  for (int round = 0; round < rounds; ++round)
    for (auto& [captured, samples] : {std::pair{&in, &of_in}, {&all, &of_all}, {&full, &of_full}})
      samples->push_back(undisturbed([&, captured = captured] {
        const double without = plain.run_slice();
        return captured->run_slice() - without;
      }));
  return {summarize("capture.overhead.all", of_all), summarize("capture.overhead.in", of_in),
          summarize("capture.overhead.full", of_full)};
}

std::vector<Counted> counted_capture() {
  std::vector<Counted> all;
  for (const auto& [name, directions] :
       {std::pair{"capture.in", kIn}, std::pair{"capture.all", kAll}})
    all.push_back({name, kBurst, [directions = directions](size_t polls) {
                     Captured(directions, true).run(polls);
                   }});
  return all;
}

}  // namespace eddy::bench
