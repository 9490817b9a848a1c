# Registries that are lists of names: of path selection schemes (lb/schemes.txt), of each kind of hosts' laws (host/*.txt).
#
# eddy_read_list(out LIST file SOURCES folder TESTS folder NOUN word): the names in the list, one a line; configuring fails for
# one without <SOURCES>/<name>.cpp or <TESTS>/<name>_test.cpp.
function(eddy_read_list out)
  cmake_parse_arguments(ARG "" "LIST;SOURCES;TESTS;NOUN" "" ${ARGN})
  set(file ${CMAKE_SOURCE_DIR}/${ARG_LIST})
  set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS ${file})
  file(STRINGS ${file} names REGEX "^[^#]")
  foreach(name IN LISTS names)
    if(NOT name MATCHES "^[a-z][a-z0-9_]*$")
      message(FATAL_ERROR "${ARG_LIST}: '${name}' is no ${ARG_NOUN} name: lower-case letters, digits and _")
    endif()
    foreach(needed ${ARG_SOURCES}/${name}.cpp ${ARG_TESTS}/${name}_test.cpp)
      if(NOT EXISTS ${CMAKE_SOURCE_DIR}/${needed})
        message(FATAL_ERROR "${ARG_LIST}: ${ARG_NOUN} '${name}' has no ${needed}")
      endif()
    endforeach()
  endforeach()
  set(${out} ${names} PARENT_SCOPE)
endfunction()

# eddy_write_registry(file NAMES name... LIST file HEADER h NAMESPACE n ENTRY type SUFFIX s FUNCTION f): a source that defines
# n::f(), the list of <name>_<s>() of every name, each of them an ENTRY that HEADER declares.
function(eddy_write_registry file)
  cmake_parse_arguments(ARG "" "LIST;HEADER;NAMESPACE;ENTRY;SUFFIX;FUNCTION" "NAMES" ${ARGN})
  set(declarations "")
  set(calls "")
  foreach(name IN LISTS ARG_NAMES)
    string(APPEND declarations "${ARG_ENTRY} ${name}_${ARG_SUFFIX}();\n")
    string(APPEND calls "      ${name}_${ARG_SUFFIX}(),\n")
  endforeach()
  file(CONFIGURE OUTPUT ${file} @ONLY CONTENT [=[
// Generated from @ARG_LIST@.
#include <array>

#include "@ARG_HEADER@"

namespace @ARG_NAMESPACE@ {

@declarations@
std::span<const @ARG_ENTRY@> @ARG_FUNCTION@() {
  static const std::array list = {
@calls@  };
  return list;
}

}  // namespace @ARG_NAMESPACE@
]=])
endfunction()
