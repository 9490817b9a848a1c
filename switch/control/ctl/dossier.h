// Dossier: all that can be learned of one switch without disturbing it, as files for an archive.
//
// A switch that does not answer is asked once; what the kernel knows of its process is there in any
// case. Each problem is a line. Thread: any; nothing is shared.
#pragma once

#include <map>
#include <string>

#include "net/result.h"
#include "switch/control/ctl/switches.h"
#include "switch/control/top/links.h"

namespace eddy::control {

struct Dossier {
  std::map<std::string, std::string> files;  // by name within the switch's folder
  Problems problems;
  SwitchReading reading;  // for the links between switches
};
Dossier dossier_of(const Target& target);

}  // namespace eddy::control
