# eddy_test(name SOURCES a.cpp ... [APART b.cpp ...] LIBS x ... [ONE_PROCESS] [TEXT]): a binary of GoogleTest.
# TEXT: sources use fmt or JSON, too, and want them precompiled.
# SOURCES are compiled several at a time as one; APART: sources whose names of their own are those of others, each alone
# (cmake/EddyUnity.cmake).
# Tests run at the top of the tree, which they know as EDDY_SOURCE_DIR: no path of one clone is compiled in.
# A test that hangs fails after EDDY_TEST_TIMEOUT seconds: far above what any takes, under a sanitizer too.
# Each TEST of the binary becomes a ctest test; with ONE_PROCESS (tests that share one EAL) the binary is one ctest test.
#
# eddy_command_test(name COMMAND word ... [NEEDS target ...] [LABEL l] [TIMEOUT s] [SERIAL | LOCK what] [IN folder]): one ctest
# test that is a command. NEEDS: what must be built for it; binaries are found through $EDDY_BIN. SERIAL: nothing runs beside
# it; LOCK: nothing that takes the same.
#
# A test's label is the folder below tests/ that it stands in, unless LABEL says otherwise; those that are no part of a binary
# have the label `whole`, too. eddy_write_tests(file), called
# once when all are known, writes a line for each: name|label|targets|sources, for scripts/test.
find_package(GTest REQUIRED)
include(GoogleTest)
set(EDDY_TEST_TIMEOUT 600)

function(eddy_test_label out)
  file(RELATIVE_PATH label ${CMAKE_SOURCE_DIR} ${CMAKE_CURRENT_SOURCE_DIR})
  string(REGEX REPLACE "^tests/" "" label "${label}")
  string(REGEX REPLACE "/.*" "" label "${label}")
  set(${out} ${label} PARENT_SCOPE)
endfunction()

function(eddy_register_test name label)
  cmake_parse_arguments(ARG "" "" "TARGETS;SOURCES" ${ARGN})
  set(sources "")
  foreach(source IN LISTS ARG_SOURCES)
    get_filename_component(source ${source} ABSOLUTE)
    file(RELATIVE_PATH source ${CMAKE_SOURCE_DIR} ${source})
    if(source MATCHES "^tests/")
      list(APPEND sources ${source})
    endif()
  endforeach()
  list(JOIN ARG_TARGETS " " targets)
  list(JOIN sources " " sources)
  set_property(GLOBAL APPEND_STRING PROPERTY EDDY_TESTS "${name}|${label}|${targets}|${sources}\n")
endfunction()

function(eddy_test name)
  cmake_parse_arguments(ARG "ONE_PROCESS;TEXT" "" "SOURCES;APART;LIBS" ${ARGN})
  list(APPEND ARG_SOURCES ${ARG_APART})
  list(REMOVE_DUPLICATES ARG_SOURCES)
  add_executable(${name} ${ARG_SOURCES})
  target_link_libraries(${name} PRIVATE eddy_flags ${ARG_LIBS} GTest::gtest GTest::gmock)
  target_compile_options(${name} PRIVATE ${EDDY_TEST_FLAGS})
  if(ARG_TEXT)
    eddy_precompiled(${name} KIND text_test)
  else()
    eddy_precompiled(${name} KIND test)
  endif()
  target_compile_definitions(${name} PRIVATE EDDY_SOURCE_DIR=".")
  eddy_unity(${name} APART ${ARG_APART})
  eddy_test_label(label)
  if(ARG_ONE_PROCESS)
    eddy_register_test(${name} ${label} TARGETS ${name})
    add_test(NAME ${name} COMMAND ${name} WORKING_DIRECTORY ${CMAKE_SOURCE_DIR})
    set_tests_properties(${name} PROPERTIES LABELS "${label};whole" TIMEOUT ${EDDY_TEST_TIMEOUT})
  else()
    eddy_register_test(${name} ${label} TARGETS ${name} SOURCES ${ARG_SOURCES})
    target_link_libraries(${name} PRIVATE GTest::gtest_main)
    gtest_discover_tests(${name} NO_PRETTY_VALUES NO_PRETTY_TYPES WORKING_DIRECTORY ${CMAKE_SOURCE_DIR} DISCOVERY_MODE PRE_TEST DISCOVERY_TIMEOUT 60
      PROPERTIES LABELS ${label} TIMEOUT ${EDDY_TEST_TIMEOUT})
  endif()
endfunction()

function(eddy_command_test name)
  cmake_parse_arguments(ARG "SERIAL" "LABEL;TIMEOUT;LOCK;IN" "COMMAND;NEEDS" ${ARGN})
  eddy_test_label(label)
  if(ARG_LABEL)
    set(label ${ARG_LABEL})
  endif()
  if(NOT ARG_IN)
    set(ARG_IN ${CMAKE_CURRENT_BINARY_DIR})
  endif()
  if(NOT ARG_TIMEOUT)
    set(ARG_TIMEOUT ${EDDY_TEST_TIMEOUT})
  endif()
  eddy_register_test(${name} ${label} TARGETS ${ARG_NEEDS})
  add_test(NAME ${name} COMMAND ${ARG_COMMAND} WORKING_DIRECTORY ${ARG_IN})
  set_tests_properties(${name} PROPERTIES LABELS "${label};whole" TIMEOUT ${ARG_TIMEOUT} RUN_SERIAL ${ARG_SERIAL}
    RESOURCE_LOCK "${ARG_LOCK}" ENVIRONMENT "EDDY_BIN=${CMAKE_RUNTIME_OUTPUT_DIRECTORY}")
endfunction()

function(eddy_write_tests file)
  get_property(tests GLOBAL PROPERTY EDDY_TESTS)
  file(CONFIGURE OUTPUT ${file} CONTENT "${tests}")
endfunction()
