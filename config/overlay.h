// Changes a YAML tree before it is read.
//
// A change is a map: its keys are those of the file, nested or with dots ("traffic.0.load"); maps
// merge key by key, words and lists are replaced. An entry of a list is named by its number; the
// number behind the last one adds one. A lone word that stands for a section becomes that section
// where a key goes below it: "rlb: default" and {rlb: {guard: ...}} are {preset: default, guard:
// ...}. What is put in keeps its own positions, so that a mistake in
// it is reported where it was written. `matrix` is replaced whole: its keys are paths themselves.
// Another load_balancer.scheme or plugin drops what stood beside the one before. Private to the
// YAML side. Cost: linear in the change and the maps on its way.
#pragma once

#include <vector>

#include "config/keys/keys.h"

namespace eddy::config {

// `root` has the keys of the section.
void overlay(const Section& section, Node& root, const Node& changes,
             std::vector<Problem>& problems);

}  // namespace eddy::config
