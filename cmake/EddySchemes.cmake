# eddy_read_schemes(list): the names in lb/schemes.txt; configuring fails for one without source or test.
function(eddy_read_schemes out)
  set(file ${CMAKE_SOURCE_DIR}/lb/schemes.txt)
  set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS ${file})
  file(STRINGS ${file} names REGEX "^[^#]")
  foreach(name IN LISTS names)
    if(NOT name MATCHES "^[a-z][a-z0-9_]*$")
      message(FATAL_ERROR "lb/schemes.txt: '${name}' is no scheme name: lower-case letters, digits and _")
    endif()
    foreach(needed lb/schemes/${name}.cpp tests/unit/lb/${name}_test.cpp)
      if(NOT EXISTS ${CMAKE_SOURCE_DIR}/${needed})
        message(FATAL_ERROR "lb/schemes.txt: scheme '${name}' has no ${needed}")
      endif()
    endforeach()
  endforeach()
  set(${out} ${names} PARENT_SCOPE)
endfunction()

# eddy_generate_schemes(file SUFFIX s FUNCTION f): a source that defines f(), the list of <name>_<s>() of every scheme.
function(eddy_generate_schemes file)
  cmake_parse_arguments(ARG "" "SUFFIX;FUNCTION" "" ${ARGN})
  eddy_read_schemes(names)
  set(declarations "")
  set(calls "")
  foreach(name IN LISTS names)
    string(APPEND declarations "SchemeInfo ${name}_${ARG_SUFFIX}();\n")
    string(APPEND calls "      ${name}_${ARG_SUFFIX}(),\n")
  endforeach()
  file(CONFIGURE OUTPUT ${file} @ONLY CONTENT [=[
// Generated from lb/schemes.txt.
#include <array>

#include "lb/registry.h"

namespace eddy::lb {

@declarations@
std::span<const SchemeInfo> @ARG_FUNCTION@() {
  static const std::array list = {
@calls@  };
  return list;
}

}  // namespace eddy::lb
]=])
endfunction()
