// Where the files of a simulator are that a folder or a configuration of it names.
//
// A simulator is started at the root of its tree, so what its configuration names is looked for
// there, too: in the configuration's folder and in those above it, then, by its last part alone,
// beside the configuration. Files are regular, text, and no larger than is asked. Control plane
// only; keeps nothing.
#pragma once

#include <cstddef>
#include <filesystem>
#include <string>

#include "lab/fabric/text_table.h"
#include "net/result.h"

namespace eddy::lab {

// `what`, `key` and `option` are for the message: "the flow file", "FLOW_FILE", "--flows".
struct SourceWish {
  std::filesystem::path given;   // by the command line; empty: not
  std::filesystem::path beside;  // the folder that the import is from
  std::string named;             // by the configuration; empty: not
  std::string usual;             // the name that it has where nobody names it
  std::string what;
  std::string key;
  std::string option;
  size_t most;  // octets
};

Result<NamedText> read_source(const SourceWish& wish);
Result<NamedText> read_source_file(const std::filesystem::path& path, size_t most);

}  // namespace eddy::lab
