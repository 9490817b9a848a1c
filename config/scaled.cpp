// What time_dilation makes of a configuration: every key that is a time is multiplied, every key
// that is a rate divided, as its type in the table of keys says; KeyInfo::machine_time excepts a
// key.
#include "config/keys/experiment.h"
#include "config/keys/keys.h"

namespace eddy::config {

SwitchConfig scaled(const SwitchConfig& config) {
  if (config.time_dilation == 1) return config;  // and goes on sharing its lists
  Document document{config, {}};
  dilate_section(document_section(), &document, config.time_dilation);
  document.config.time_dilation = 1;
  return document.config;
}

Experiment scaled(const Experiment& experiment) {
  ExperimentDocument document = experiment_document(experiment);
  dilate_section(experiment_section(), &document, experiment.run.time_dilation);
  for (TrafficConfig& traffic : document.experiment.traffic)
    traffic.file_dilation *= experiment.run.time_dilation;
  document.experiment.run.time_dilation = 1;
  return experiment_of(document);
}

}  // namespace eddy::config
