#include "lab/results/variant_words.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace eddy::lab {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

// Twelve: scheme=ecmp rlb=off load=1, and so on.
std::vector<std::string> many() {
  std::vector<std::string> names;
  for (const char* scheme : {"ecmp", "drill", "presto"})
    for (const char* rlb : {"off", "on"})
      for (const char* load : {"1", "2"})
        names.push_back(std::string("scheme=") + scheme + " rlb=" + rlb + " load=" + load);
  names.emplace_back("bare");
  return names;
}

TEST(VariantWords, MeanTheVariantsThatHaveThemAll) {
  EXPECT_THAT(meant_by("scheme=drill rlb=on", many()),
              ElementsAre("scheme=drill rlb=on load=1", "scheme=drill rlb=on load=2"));
  EXPECT_THAT(meant_by("scheme=dril", many()), IsEmpty()) << "words, no parts of them";
  EXPECT_THAT(meant_by("", many()), IsEmpty());
  EXPECT_THAT(meant_by(" ", many()), IsEmpty());
}

TEST(VariantWords, OfManyVariantsWhatIsWrongIsSaid) {
  EXPECT_EQ(no_such_variant("scheme=dril", many()),
            "no variant \"scheme=dril\": no run has \"scheme=dril\"; scheme is one of: ecmp, "
            "drill, presto");
  EXPECT_EQ(no_such_variant("shceme=drill", many()),
            "no variant \"shceme=drill\": no factor \"shceme\"; there are: scheme, rlb, load");
  EXPECT_THAT(no_such_variant("bare load=2", many()),
              testing::StartsWith("no variant \"bare load=2\"; the nearest are: "
                                  "\"scheme=ecmp rlb=off load=2\", \"scheme=ecmp rlb=on load=2\""));
}

TEST(VariantWords, NamesAreQuotedAsTheyCanBePrinted) {
  EXPECT_EQ(no_such_variant("a\nb", {"c"}).find('\n'), std::string::npos);
}

}  // namespace
}  // namespace eddy::lab
