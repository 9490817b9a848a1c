// What all programs do alike with their command lines: the word "help", and words that nobody knows
// beside --help and --version.
//
// CLI11 answers --help before it looks at the rest, so a command that does not exist would seem to
// have a help. Owner: main. Cost: linear in the words.
#pragma once

#include <CLI/CLI.hpp>
#include <string>
#include <string_view>
#include <vector>

namespace eddy {

// "PROGRAM help" is "PROGRAM --help", and "PROGRAM help WORD" is "PROGRAM WORD --help".
inline void spell_out_help(int argc, char** argv) {
  static std::string help = "--help";
  if (argc < 2 || std::string_view(argv[1]) != "help") return;
  if (argc > 2) argv[1] = argv[2];
  argv[argc > 2 ? 2 : 1] = help.data();
}

// What is said of words that a line with --help or --version has beside them; empty: it knows all.
inline std::string unknown_words(const CLI::App& app) {
  const std::vector<std::string> words = app.remaining(true);
  return words.empty() ? "" : "\"" + words.front() + "\" is not known; see --help";
}

}  // namespace eddy
