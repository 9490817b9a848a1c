#include "switch/control/report/sample.h"

#include <numeric>

namespace eddy::control {
namespace {

template <class Array, class Operation>
void combine(Array& into, const Array& other, Operation operation) {
  for (size_t i = 0; i < into.size(); ++i) {
    if constexpr (std::is_integral_v<typename Array::value_type>)
      into[i] = operation(into[i], other[i]);
    else
      combine(into[i], other[i], operation);
  }
}

template <class Operation>
void combine_all(PortNumbers& into, const PortNumbers& other, Operation operation) {
  combine(into.port, other.port, operation);
  combine(into.drops, other.drops, operation);
  combine(into.queue, other.queue, operation);
  combine(into.pg, other.pg, operation);
  combine(into.pfc, other.pfc, operation);
}

template <size_t kCount, class Source>
void read_into(Values<kCount>& values, const Source& source) {
  for (size_t i = 0; i < kCount; ++i) values[i] = source.read(i);
}

}  // namespace

uint64_t PortNumbers::total_drops() const {
  return std::accumulate(drops.begin(), drops.end(), uint64_t{0});
}

PortNumbers& PortNumbers::operator+=(const PortNumbers& other) {
  combine_all(*this, other, [](uint64_t a, uint64_t b) { return a + b; });
  return *this;
}

PortNumbers PortNumbers::operator-(const PortNumbers& other) const {
  PortNumbers out = *this;
  combine_all(out, other, [](uint64_t a, uint64_t b) { return a > b ? a - b : 0; });
  return out;
}

PortNumbers read_numbers(const Counters& counters, PortId port) {
  const PortCounters source = counters[port];
  PortNumbers out;
  read_into(out.port, source.port);
  read_into(out.drops, source.drops);
  for (size_t i = 0; i < kPriorities; ++i) {
    read_into(out.queue[i], source.queue[i]);
    read_into(out.pg[i], source.pg[i]);
    read_into(out.pfc[i], source.pfc[i]);
  }
  return out;
}

}  // namespace eddy::control
