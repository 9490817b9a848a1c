// Which variants of the matrix a figure shows, and what they are called there.
//
// --variant takes those that variant_words.h means by it; given again, those of any. --legend
// WORDS:NAME puts NAME in the place of these words, or takes them away where it is empty. Pure
// functions. Owner: the caller. Cost: linear in the variants.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "lab/results/variant_words.h"
#include "net/result.h"

namespace eddy::lab {

class VariantChoice {
 public:
  VariantChoice() = default;  // all, as they are called
  // Problems begin with the option: words that none of `names` has, texts that no figure can show,
  // names that would be those of two variants.
  static Result<VariantChoice> create(const std::vector<std::string>& variants,
                                      const std::vector<std::string>& legends,
                                      const std::vector<std::string>& names);

  bool takes(const std::string& name) const;
  bool takes_all() const { return only_.empty(); }
  // The name of a variant, or a part of it, as the figure has it.
  std::string shown(const std::string& name) const;

 private:
  std::vector<std::string> only_;  // of create()'s names; empty: all
  std::vector<std::pair<VariantWords, std::string>> called_;
};

}  // namespace eddy::lab
