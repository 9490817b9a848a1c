# Manual pages and completion, made of what the programs say of themselves. Included by packaging/CMakeLists.txt.
find_program(EDDY_PYTHON python3 PATHS /usr/bin NO_DEFAULT_PATH REQUIRED)

set(manual ${CMAKE_CURRENT_SOURCE_DIR}/manual)
set(manual_pages ${CMAKE_CURRENT_BINARY_DIR}/man)
set(completion ${CMAKE_CURRENT_BINARY_DIR}/completion)
file(GLOB manual_sources CONFIGURE_DEPENDS ${manual}/*.py ${manual}/engine.* ${manual}/sections/*.md)

# eddy_pages(component page...): PROGRAM.SECTION or FILE.SECTION
function(eddy_pages component)
  foreach(page IN LISTS ARGN)
    string(REGEX MATCH "[0-9]$" section ${page})
    install(FILES ${manual_pages}/${page}.gz DESTINATION ${CMAKE_INSTALL_MANDIR}/man${section} COMPONENT ${component})
  endforeach()
endfunction()

# eddy_completion(component program...)
function(eddy_completion component)
  foreach(program IN LISTS ARGN)
    install(FILES ${completion}/bash/${program} DESTINATION ${CMAKE_INSTALL_DATADIR}/bash-completion/completions
      COMPONENT ${component})
    install(FILES ${completion}/zsh/_${program} DESTINATION ${CMAKE_INSTALL_DATADIR}/zsh/vendor-completions
      COMPONENT ${component})
  endforeach()
endfunction()

eddy_pages(eddy eddyd.8 eddyctl.1 eddyd.yaml.5 eddy-schemes.7)
eddy_pages(eddy-lab eddylab.1 eddyhost.1 eddywire.8 eddy-experiment.5)
eddy_completion(eddy eddyd eddyctl)
eddy_completion(eddy-lab eddylab eddyhost eddywire)
if(TARGET eddylab-mpi)
  eddy_pages(eddylab-mpi eddylab-mpi.1)
  eddy_completion(eddylab-mpi eddylab-mpi)
endif()

list(JOIN CMAKE_CROSSCOMPILING_EMULATOR " " manual_runner)
set(manual_runner "--runner=${manual_runner}")
add_custom_command(OUTPUT ${CMAKE_CURRENT_BINARY_DIR}/manual.stamp VERBATIM
  COMMAND ${EDDY_PYTHON} ${manual}/make_pages.py --programs ${CMAKE_RUNTIME_OUTPUT_DIRECTORY} --out ${manual_pages}
    --version ${PROJECT_VERSION} ${manual_runner}
  COMMAND ${EDDY_PYTHON} ${manual}/make_completion.py --programs ${CMAKE_RUNTIME_OUTPUT_DIRECTORY} --bash ${completion}/bash
    --zsh ${completion}/zsh ${manual_runner}
  COMMAND ${CMAKE_COMMAND} -E touch ${CMAKE_CURRENT_BINARY_DIR}/manual.stamp
  DEPENDS eddyd eddyctl eddylab eddyhost eddywire $<TARGET_NAME_IF_EXISTS:eddylab-mpi> ${manual_sources} ${top}/docs/configuration.md ${top}/docs/experiments.md
    ${CMAKE_CURRENT_SOURCE_DIR}/debian/changelog)
add_custom_target(manual DEPENDS ${CMAKE_CURRENT_BINARY_DIR}/manual.stamp)
add_dependencies(packaged manual)
