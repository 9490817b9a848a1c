// The keys of an experiment's file: what keys.h is for a switch's. Private to the YAML side.
//
// `sizes`, `matrix` and `expect` are in the table for schema and documentation only: the loader
// takes them out of the tree before the rest is read. Immutable after its first use.
#pragma once

#include "config/experiment.h"
#include "config/keys/keys.h"

namespace eddy::config {

// The host's section as the file has it.
struct DcqcnKeys {
  std::optional<DcqcnPreset> preset;
  DcqcnConfig config;
};
struct HostKeys {
  HostConfig config;  // but dcqcn
  DcqcnKeys dcqcn;
};

struct ExperimentDocument {
  Experiment experiment;  // but host and dcqcn
  HostKeys host;
};
ExperimentDocument experiment_document(const Experiment& experiment);
Experiment experiment_of(const ExperimentDocument& document);
// Every switch has the profiles that a switch has by itself.
Experiment default_experiment();

inline constexpr std::array<std::string_view, 3> kExperimentSizes = {"ci", "reduced", "full"};

const Section& experiment_section();
template <>
const Section& section_of<LinkChoice>();
template <>
const Section& section_of<TopologyConfig>();
template <>
const Section& section_of<FabricSwitchConfig>();
template <>
const Section& section_of<HostKeys>();
template <>
const Section& section_of<DcqcnKeys>();
template <>
const Section& section_of<TrafficConfig>();
template <>
const Section& section_of<FaultConfig>();
template <>
const Section& section_of<RunConfig>();

}  // namespace eddy::config
