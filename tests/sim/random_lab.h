// A random fabric in the lab's world, its hosts, flows and faults, all from one seed, under the
// checker.
//
// Drawn: kind and size of the topology, scheme, RLB with its preset, guard, detector and ways out,
// resequencing, recovery, congestion control, thresholds, poll model, flows and up to three faults
// of any kind, live reconfigurations of all of these among them. At the end every invariant of the
// checker holds. Owner: one test.
#pragma once

#include <cstdint>

#include "tests/sim/lab.h"

namespace eddy::test {

// What is drawn. `first`: as above; its labs stay as they are, so that a seed that once failed is
// the same lab for ever. `second`: the same lab with more drawn on top, from a stream of its own:
// fault sites in the code, bursts of 1 to 4 frames, more queue pairs than tables have room for, any
// registered scheme, and other values of what the first leaves alone.
// `third`: each registered scheme in turn on a topology of the first that it covers, with what the
// second draws, laws of hosts in every other lab, and leaves of another scheme in every third.
// `fourth`: RLB with culprits and isolation in every lab, over each scheme in turn that they go
// around, with what the second draws, reloads that switch isolation off and on, and in most labs no
// fault that ends a promise.
enum class Generator : uint8_t { first = 1, second = 2, third = 3, fourth = 4 };

Lab make_random_lab(uint64_t seed, Generator generator = Generator::first);
// Every scheme, each with and without RLB, each in both poll models: what the seed drew remains.
Lab varied_lab(uint64_t seed);
// The lab with an all-reduce of all hosts, a second one when that has ended, and an all to all
// beside them. They replace the lab's own flows.
Lab with_collectives(Lab lab);
// `rebase_every`: as in lab::WorldOptions; the digest is the same for all.
LabResult run_random_lab(uint64_t seed, Generator generator = Generator::first,
                         uint64_t rebase_every = 0);

// The lab of the first generator with RLB just as the preset says: neither what the seed drew for
// it nor a reconfiguration changes that.
LabResult run_preset_lab(uint64_t seed, config::RlbPreset preset);

}  // namespace eddy::test
