// LetFlowChain: LetFlow's model of flows that share two paths, a Markov chain over how many of them
// are on the first one.
//
// Flows send bursts as Poisson processes, and those of a path share its capacity equally. A step is
// the next burst of any flow; one that comes later than the flowlet gap after its flow's last one
// takes either path with the same chance. Rates are bits a second, gaps seconds, bursts octets.
// Pure functions. Owner: the caller. Bounds: kMostFlows flows. Cost: linear in the flows, but for
// after(): their cube for each doubling of the steps. Source: LetFlow paper, section 4.2 and
// appendix A.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

namespace eddy::lab {

// The paper's formula (1), of an instant that nobody chose, or its approximation (2), which is what
// a flow of an unchanging rate does from packet to packet.
enum class ChainFormula : uint8_t { of_an_instant = 1, of_a_packet = 2 };

struct ChainSetting {
  double first_rate = 0;
  double second_rate = 0;
  size_t flows = 2;
  double gap = 0;
  double burst = 0;  // octets
  ChainFormula formula = ChainFormula::of_an_instant;
};

// That the next burst of all is of this flow, and comes more than `gap` after its last one, as
// natural logarithm. Rates are bursts a second, of the flow and of all together.
double log_timeout_probability(double rate, double all, double gap, ChainFormula formula);

// How likely it is that so many flows are on the first path: of 0, 1, ... up to all.
using FlowSplit = std::vector<double>;

class LetFlowChain {
 public:
  static constexpr size_t kMostFlows = 400;

  explicit LetFlowChain(const ChainSetting& setting);

  // From a state with so many flows on the first path: to one with one more, or one less.
  double gains(size_t first) const;
  double loses(size_t first) const;
  FlowSplit after(uint64_t steps, size_t first) const;
  // In the long run, wherever it began.
  FlowSplit at_last() const;

 private:
  std::vector<double> log_gains_;
  std::vector<double> log_loses_;
};

// Where flows of both paths have the same rate.
double ideal_first(const ChainSetting& setting);
// Where as many leave one path as the other, by formula (2): C1 / n1 - C2 / n2 = ln(C1 / C2) / gap.
double balanced_first(const ChainSetting& setting);

double mean_of(const FlowSplit& split);
// The least number of flows that has at least this share of the probability up to it.
size_t quantile_of(const FlowSplit& split, double share);
// On the average, how far it is from there.
double distance_from(const FlowSplit& split, double first);

}  // namespace eddy::lab
