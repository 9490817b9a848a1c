# eddy_test(name SOURCES a.cpp ... LIBS x ... [ONE_PROCESS])
# Tests run at the top of the tree, which they know as EDDY_SOURCE_DIR: no path of one clone is compiled in.
# A test that hangs fails after EDDY_TEST_TIMEOUT seconds: far above what any takes, under a sanitizer too.
# Each TEST of the binary becomes a ctest test; with ONE_PROCESS (tests that share one EAL) the binary is one ctest test.
find_package(GTest REQUIRED)
include(GoogleTest)
set(EDDY_TEST_TIMEOUT 600)

function(eddy_test name)
  cmake_parse_arguments(ARG "ONE_PROCESS" "" "SOURCES;LIBS" ${ARGN})
  add_executable(${name} ${ARG_SOURCES})
  target_link_libraries(${name} PRIVATE eddy_flags ${ARG_LIBS} GTest::gtest GTest::gmock)
  target_compile_definitions(${name} PRIVATE EDDY_SOURCE_DIR=".")
  if(ARG_ONE_PROCESS)
    add_test(NAME ${name} COMMAND ${name} WORKING_DIRECTORY ${CMAKE_SOURCE_DIR})
    set_tests_properties(${name} PROPERTIES TIMEOUT ${EDDY_TEST_TIMEOUT})
  else()
    target_link_libraries(${name} PRIVATE GTest::gtest_main)
    gtest_discover_tests(${name} NO_PRETTY_VALUES NO_PRETTY_TYPES WORKING_DIRECTORY ${CMAKE_SOURCE_DIR} DISCOVERY_MODE PRE_TEST DISCOVERY_TIMEOUT 60
      PROPERTIES TIMEOUT ${EDDY_TEST_TIMEOUT})
  endif()
endfunction()
