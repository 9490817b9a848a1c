// Names of variants as words: "scheme=drill rlb=off" is what --variant means by its whole name, or
// by any of its words.
//
// Pure functions. Cost: as names times words.
#pragma once

#include <string>
#include <vector>

#include "net/result.h"

namespace eddy::lab {

using VariantWords = std::vector<std::string>;

VariantWords words_in(const std::string& name);
bool has_word(const VariantWords& words, const std::string& word);
bool has_all(const VariantWords& words, const VariantWords& wanted);
// "a, b, ...": printable, the first of many.
std::string listed(const std::vector<std::string>& all);

// What is wrong with words that some name should have all of; empty: nothing.
std::string unknown_words(const VariantWords& words, const std::vector<std::string>& names);

// Those of `names` that are meant, in their order: the one that is called so, else all that have
// all of its words. None: nothing is meant.
std::vector<std::string> meant_by(const std::string& name, const std::vector<std::string>& names);

// The same of several; `problems` say which mean nothing.
std::vector<std::string> variants_meant(const std::vector<std::string>& named,
                                        const std::vector<std::string>& names, Problems& problems);

// What is said where nothing is meant; with no name: where one has to be named. Of many variants
// what is wrong is said, or the nearest, in the place of all names.
std::string no_such_variant(const std::string& name, const std::vector<std::string>& variants);

}  // namespace eddy::lab
