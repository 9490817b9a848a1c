// The keys of hosts' laws: which law of a kind, and a section for each name of laws that declare
// parameters. They come from the registry of host/, so a new law changes nothing here.
//
// Private to the YAML side. Immutable after its first use.
#pragma once

#include <string>
#include <vector>

#include "config/keys/experiment.h"

namespace eddy::config {

// The names of a kind's laws, in the order of its list.
enum class LawKind : uint8_t { rate_control, recovery, entropy, pacing };
Key law_key(std::string HostConfig::*member, LawKind kind, const KeyInfo& info);
// In the host's section.
std::vector<Key> law_sections();

// Laws that do not go together: "host.entropy: what is wrong".
std::vector<std::string> law_problems(const HostConfig& host);

}  // namespace eddy::config
