# Run by ctest with cmake -P in a directory of its own: a list of laws is refused when a piece of a law is missing.
#   cmake -D MODULES=<source>/cmake -D MISSING=<file or none> -P laws_list_test.cmake
list(APPEND CMAKE_MODULE_PATH ${MODULES})
include(EddyHostLaws)

foreach(kind IN LISTS EDDY_LAW_KINDS)
  file(WRITE host/${kind}.txt "# a comment\n\nfirst_${kind}\n")
  foreach(piece host/${kind}/first_${kind}.cpp tests/unit/host/${kind}/first_${kind}_test.cpp)
    file(WRITE ${piece} "")
  endforeach()
endforeach()
if(NOT MISSING STREQUAL none)
  file(REMOVE ${MISSING})
endif()
eddy_generate_laws(${CMAKE_CURRENT_BINARY_DIR}/lists sources)
file(READ lists/recovery.cpp recovery)
string(REGEX MATCH "RecoveryInfo first_recovery_recovery\\(\\);" found "${recovery}")
message(STATUS "sources: ${sources}, declares: ${found}")
