# eddy_unity(TARGET... [APART a.cpp ...]): sources of a target are compiled six at a time as one, which halves the time of
# those that are mostly headers. APART: sources whose names of their own are those of others, each alone.
# -DEDDY_UNITY=OFF compiles every source alone. MEASURED: a release does so for these, whatever the option says, so that how
# fast a packet is handled does not depend on which sources stand together.
option(EDDY_UNITY "compile six sources as one" ON)

function(eddy_unity)
  cmake_parse_arguments(ARG "MEASURED" "" "APART" ${ARGN})
  if(ARG_MEASURED AND CMAKE_BUILD_TYPE STREQUAL Release)
    return()
  endif()
  set_target_properties(${ARG_UNPARSED_ARGUMENTS} PROPERTIES UNITY_BUILD ${EDDY_UNITY} UNITY_BUILD_BATCH_SIZE 6)
  set_source_files_properties(${ARG_APART} PROPERTIES SKIP_UNITY_BUILD_INCLUSION ON)
endfunction()
