include(EddyRegistry)

# eddy_read_schemes(list): the names in lb/schemes.txt; configuring fails for one without source or test.
function(eddy_read_schemes out)
  eddy_read_list(names LIST lb/schemes.txt SOURCES lb/schemes TESTS tests/unit/lb NOUN scheme)
  set(${out} ${names} PARENT_SCOPE)
endfunction()

# eddy_generate_schemes(file SUFFIX s FUNCTION f): a source that defines f(), the list of <name>_<s>() of every scheme.
function(eddy_generate_schemes file)
  cmake_parse_arguments(ARG "" "SUFFIX;FUNCTION" "" ${ARGN})
  eddy_read_schemes(names)
  eddy_write_registry(${file} NAMES ${names} LIST lb/schemes.txt HEADER lb/registry.h NAMESPACE eddy::lb ENTRY SchemeInfo
    SUFFIX ${ARG_SUFFIX} FUNCTION ${ARG_FUNCTION})
endfunction()
