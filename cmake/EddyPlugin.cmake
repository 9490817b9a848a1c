# eddy_add_plugin(NAME SOURCE...): NAME.so, a plugin with the schemes of its sources (docs/plugins.md). Also installed, for
# whoever builds schemes out of the tree.
function(eddy_add_plugin name)
  add_library(${name} MODULE ${ARGN})
  target_link_libraries(${name} PRIVATE eddy::scheme)
  # One symbol of ours is seen from outside, and nothing of it is shared with other plugins.
  set_target_properties(${name} PROPERTIES PREFIX "" CXX_VISIBILITY_PRESET hidden VISIBILITY_INLINES_HIDDEN ON)
  target_link_options(${name} PRIVATE -Wl,--exclude-libs,ALL -Wl,-z,relro,-z,now)
  if(CMAKE_CXX_COMPILER_ID STREQUAL "GNU")
    target_compile_options(${name} PRIVATE -fno-gnu-unique)
  endif()
endfunction()
