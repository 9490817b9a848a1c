// The tests' own main(): plugins are tried by this program as by eddyd.
#include <gtest/gtest.h>

#include "plugin/trial.h"

int main(int argc, char** argv) {
  if (eddy::plugin::is_trial(argc, argv)) return eddy::plugin::run_trial();
  testing::InitGoogleTest(&argc, argv);
  return RUN_ALL_TESTS();
}
