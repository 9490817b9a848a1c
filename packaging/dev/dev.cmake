# What a path selection scheme out of the tree is compiled and tested with, as a program's own or as a plugin: headers of net/
# and lb/, static libraries, an example, and how to find them, for CMake and pkg-config. Included by packaging/CMakeLists.txt.
include(CMakePackageConfigHelpers)

set(dev_libraries lib)
if(CMAKE_LIBRARY_ARCHITECTURE)
  set(dev_libraries lib/${CMAKE_LIBRARY_ARCHITECTURE})
endif()
set(dev_headers ${CMAKE_INSTALL_INCLUDEDIR}/eddy)
install(DIRECTORY ${top}/net ${top}/lb DESTINATION ${dev_headers} COMPONENT eddy-dev FILES_MATCHING PATTERN *.h)
set(dev_config config isolation loaded_scheme path_service resequence rlb shared_list)
list(TRANSFORM dev_config PREPEND ${top}/config/)
list(TRANSFORM dev_config APPEND .h)
install(FILES ${dev_config} DESTINATION ${dev_headers}/config COMPONENT eddy-dev)
install(FILES ${top}/lab/conformance/paths.h DESTINATION ${dev_headers}/lab/conformance COMPONENT eddy-dev)
install(FILES ${top}/tests/support/paths.h DESTINATION ${dev_headers}/tests/support COMPONENT eddy-dev)

# Without debug information, which would name the tree that they were built in.
foreach(library eddy_lb eddy_net eddy_scheme)
  set(stripped ${CMAKE_CURRENT_BINARY_DIR}/dev/lib${library}.a)
  add_custom_command(OUTPUT ${stripped} DEPENDS ${library} VERBATIM
    COMMAND ${CMAKE_COMMAND} -E make_directory ${CMAKE_CURRENT_BINARY_DIR}/dev
    COMMAND ${CMAKE_OBJCOPY} --strip-debug --enable-deterministic-archives $<TARGET_FILE:${library}> ${stripped})
  add_custom_target(packaged_${library} DEPENDS ${stripped})
  add_dependencies(packaged packaged_${library})
  install(FILES ${stripped} DESTINATION ${dev_libraries} COMPONENT eddy-dev)
endforeach()

# Classes have another layout with fault sites, so whoever includes them has them, too.
set(dev_definitions EDDY_HEADERS_VERSION=${PROJECT_VERSION})
if(EDDY_FAULT_SITES)
  list(APPEND dev_definitions EDDY_FAULT_SITES)
endif()
set(dev_dpdk_folders ${DPDK_INCLUDE_DIRS})
list(FILTER dev_dpdk_folders INCLUDE REGEX dpdk)  # not those of libraries that DPDK itself uses
list(TRANSFORM dev_dpdk_folders REPLACE "^${CMAKE_SYSROOT}/" "/")
list(TRANSFORM dev_dpdk_folders PREPEND -I OUTPUT_VARIABLE dev_pc_folders)
list(TRANSFORM dev_definitions PREPEND -D OUTPUT_VARIABLE dev_pc_definitions)
list(JOIN dev_pc_folders " " dev_pc_folders)
list(JOIN dev_pc_definitions " " dev_pc_definitions)

string(REGEX REPLACE "[^/]+" ".." dev_up ${dev_libraries}/pkgconfig)  # from there to the prefix
foreach(name eddy eddy-scheme)
  configure_file(${CMAKE_CURRENT_SOURCE_DIR}/dev/${name}.pc.in ${CMAKE_CURRENT_BINARY_DIR}/dev/${name}.pc @ONLY)
  install(FILES ${CMAKE_CURRENT_BINARY_DIR}/dev/${name}.pc DESTINATION ${dev_libraries}/pkgconfig COMPONENT eddy-dev)
endforeach()
configure_package_config_file(${CMAKE_CURRENT_SOURCE_DIR}/dev/eddyConfig.cmake.in
  ${CMAKE_CURRENT_BINARY_DIR}/dev/eddyConfig.cmake INSTALL_DESTINATION ${dev_libraries}/cmake/eddy
  NO_CHECK_REQUIRED_COMPONENTS_MACRO)
write_basic_package_version_file(${CMAKE_CURRENT_BINARY_DIR}/dev/eddyConfigVersion.cmake VERSION ${PROJECT_VERSION}
  COMPATIBILITY SameMinorVersion)
install(FILES ${CMAKE_CURRENT_BINARY_DIR}/dev/eddyConfig.cmake ${CMAKE_CURRENT_BINARY_DIR}/dev/eddyConfigVersion.cmake
  ${top}/cmake/EddyPlugin.cmake
  DESTINATION ${dev_libraries}/cmake/eddy COMPONENT eddy-dev)
install(DIRECTORY ${top}/examples/scheme_plugin DESTINATION ${CMAKE_INSTALL_DATADIR}/doc/eddy-dev/examples COMPONENT eddy-dev)
