# Writes eddy_commit.h: the commit that is built. Run at every build; the file changes with the commit only.
# Expects SOURCE (the tree) and OUTPUT (the header).
set(commit unknown)
find_package(Git QUIET)
if(GIT_FOUND)
  execute_process(COMMAND ${GIT_EXECUTABLE} -C ${SOURCE} describe --always --dirty --abbrev=40 --exclude=*
    OUTPUT_VARIABLE found RESULT_VARIABLE code OUTPUT_STRIP_TRAILING_WHITESPACE ERROR_QUIET)
  if(code EQUAL 0)
    set(commit "${found}")
  endif()
endif()
file(CONFIGURE OUTPUT ${OUTPUT} CONTENT [[
// The commit that this was built from. Written by cmake/EddyCommit.cmake.
#pragma once
inline constexpr const char* kEddyCommit = "@commit@";
]] @ONLY)
