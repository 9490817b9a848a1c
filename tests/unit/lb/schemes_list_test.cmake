# Run by ctest with cmake -P in a directory of its own: lb/schemes.txt is refused when a piece of a scheme is missing.
#   cmake -D MODULES=<source>/cmake -D MISSING=<file or none> -P schemes_list_test.cmake
list(APPEND CMAKE_MODULE_PATH ${MODULES})
include(EddySchemes)

file(WRITE lb/schemes.txt "# a comment\n\nhedera\n")
foreach(piece lb/schemes/hedera.cpp tests/unit/lb/hedera_test.cpp)
  file(WRITE ${piece} "")
endforeach()
if(NOT MISSING STREQUAL none)
  file(REMOVE ${MISSING})
endif()
eddy_read_schemes(names)
message(STATUS "schemes: ${names}")
