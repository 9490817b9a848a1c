# eddy_precompiled(TARGET... KIND base|text|slow|test|text_test): headers of other projects that most sources of a
# target include, parsed once for all targets of a kind.
#   base       the standard library but <iostream>, whose initialiser is a writable global; DPDK's data structures
#   text       and fmt, JSON, files
#   slow       text, for what no packet waits for: a release compiles it with -O1, which takes a third less time than -O3.
#              Not for sources that include the dataplane: the linker keeps one copy of an inline function, whoever's it is
#   test, text_test   base or text, and GoogleTest
# CLI11 is in none: it has objects of its own in every source that includes it, and few do.
# Our own headers are not among them, so that a change of one costs only who includes it. Every header still compiles
# alone: scripts/check headers and tidy compile without this. -DEDDY_PRECOMPILED=OFF builds without it.
option(EDDY_PRECOMPILED "parse the headers of other projects once" ON)
set(EDDY_TEST_FLAGS "" CACHE STRING "for the sources of GoogleTest's binaries: with g++, -Og compiles them in four fifths of the time of -O1")

find_package(fmt REQUIRED)
find_package(nlohmann_json REQUIRED)
if(EDDY_TESTS)
  find_package(GTest REQUIRED)
endif()

set(eddy_base_headers <algorithm> <array> <atomic> <bit> <concepts> <cstddef> <cstdint> <cstring> <functional> <map>
  <memory> <numeric> <optional> <set> <span> <string> <string_view> <tuple> <type_traits> <unordered_map> <utility>
  <variant> <vector> <rte_mbuf.h> <rte_ring.h>)
set(eddy_text_headers ${eddy_base_headers} <charconv> <chrono> <filesystem> <fstream> <iostream> <sstream> <fmt/format.h>
  <nlohmann/json.hpp>)
set(eddy_gtest_headers <gmock/gmock.h> <gtest/gtest.h>)

function(eddy_precompiled_kind kind)
  cmake_parse_arguments(ARG "" "" "HEADERS;LIBS" ${ARGN})
  file(CONFIGURE OUTPUT ${CMAKE_BINARY_DIR}/precompiled/${kind}.cpp CONTENT "// Carries the headers of kind ${kind}.\n")
  add_library(eddy_precompiled_${kind} OBJECT EXCLUDE_FROM_ALL ${CMAKE_BINARY_DIR}/precompiled/${kind}.cpp)
  add_library(eddy_precompiled_${kind}_libs INTERFACE)
  target_link_libraries(eddy_precompiled_${kind}_libs INTERFACE ${ARG_LIBS})
  target_link_libraries(eddy_precompiled_${kind} PRIVATE eddy_flags ${ARG_LIBS})
  if(kind STREQUAL slow)
    target_compile_options(eddy_precompiled_${kind} PRIVATE -O1)
  elseif(kind MATCHES "test$")
    target_compile_options(eddy_precompiled_${kind} PRIVATE ${EDDY_TEST_FLAGS})
  endif()
  target_precompile_headers(eddy_precompiled_${kind} PRIVATE <rte_config.h> ${ARG_HEADERS})
  set_target_properties(eddy_precompiled_${kind} PROPERTIES EDDY_PRECOMPILED ON)
endfunction()

if(EDDY_PRECOMPILED)
  eddy_precompiled_kind(base HEADERS ${eddy_base_headers})
  eddy_precompiled_kind(text HEADERS ${eddy_text_headers} LIBS fmt::fmt nlohmann_json::nlohmann_json)
  if(CMAKE_BUILD_TYPE STREQUAL Release)
    eddy_precompiled_kind(slow HEADERS ${eddy_text_headers} LIBS fmt::fmt nlohmann_json::nlohmann_json)
  endif()
  if(EDDY_TESTS)
    eddy_precompiled_kind(test HEADERS ${eddy_base_headers} ${eddy_gtest_headers} LIBS GTest::gtest GTest::gmock)
    eddy_precompiled_kind(text_test HEADERS ${eddy_text_headers} ${eddy_gtest_headers}
      LIBS fmt::fmt nlohmann_json::nlohmann_json GTest::gtest GTest::gmock)
  endif()
endif()

function(eddy_precompiled)
  cmake_parse_arguments(ARG "" "KIND" "" ${ARGN})
  if(ARG_KIND STREQUAL slow)
    if(CMAKE_BUILD_TYPE STREQUAL Release)
      foreach(target IN LISTS ARG_UNPARSED_ARGUMENTS)
        target_compile_options(${target} PRIVATE -O1)
      endforeach()
    else()
      set(ARG_KIND text)
    endif()
  endif()
  if(EDDY_PRECOMPILED)
    foreach(target IN LISTS ARG_UNPARSED_ARGUMENTS)
      target_precompile_headers(${target} REUSE_FROM eddy_precompiled_${ARG_KIND})
      set_target_properties(${target} PROPERTIES EDDY_PRECOMPILED ON)
      target_link_libraries(${target} PRIVATE eddy_precompiled_${ARG_KIND}_libs)  # for the definitions in its headers
    endforeach()
  endif()
endfunction()
