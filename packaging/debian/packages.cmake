# Debian's packages: names, relations, and the files that Debian wants in each. Included by packaging/CMakeLists.txt.
set(components eddy eddy-lab eddy-doc eddy-dev)
if(TARGET eddylab-mpi)
  list(APPEND components eddylab-mpi)
endif()

# eddy_compressed(source name destination component): installed as NAME.gz, without the time of its making.
function(eddy_compressed source name destination component)
  set(made ${CMAKE_CURRENT_BINARY_DIR}/${component}/${name}.gz)
  add_custom_command(OUTPUT ${made} DEPENDS ${source} VERBATIM
    COMMAND ${CMAKE_COMMAND} -E make_directory ${CMAKE_CURRENT_BINARY_DIR}/${component}
    COMMAND sh -c "\"$1\" -9n < \"$2\" > \"$3\"" sh ${EDDY_GZIP} ${source} ${made})
  string(MAKE_C_IDENTIFIER packaged_${component}_${name} target)
  add_custom_target(${target} DEPENDS ${made})
  add_dependencies(packaged ${target})
  install(FILES ${made} DESTINATION ${destination} COMPONENT ${component})
endfunction()

# DPDK loads its drivers when it starts, so no linker knows of them: a pool, the virtual bus, and each kind of port.
set(drivers librte-mempool-ring23 librte-bus-vdev23 librte-net-af-packet23 librte-net-af-xdp23 librte-net-memif23
  librte-net-null23 librte-net-pcap23 librte-net-ring23 librte-net-tap23 librte-net-vhost23 librte-net-virtio23)
list(JOIN drivers ", " drivers)

set(architectures x86_64=amd64 aarch64=arm64)
string(REGEX MATCH "${CMAKE_SYSTEM_PROCESSOR}=[^;]*" architecture "${architectures}")
string(REGEX REPLACE ".*=" "" CPACK_DEBIAN_PACKAGE_ARCHITECTURE "${architecture}")

set(CPACK_GENERATOR DEB)
set(CPACK_PACKAGE_NAME eddy)
set(CPACK_PACKAGE_VENDOR "The Eddy authors")
set(CPACK_PACKAGE_CONTACT "The Eddy authors <eddy-authors@lists.example.org>")
set(CPACK_PACKAGING_INSTALL_PREFIX /usr)
set(CPACK_COMPONENTS_ALL ${components})
set(CPACK_DEB_COMPONENT_INSTALL ON)
set(CPACK_COMPONENTS_GROUPING ONE_PER_GROUP)
set(CPACK_STRIP_FILES ON)
set(CPACK_INSTALL_DEFAULT_DIRECTORY_PERMISSIONS
  OWNER_READ OWNER_WRITE OWNER_EXECUTE GROUP_READ GROUP_EXECUTE WORLD_READ WORLD_EXECUTE)
set(CPACK_DEBIAN_FILE_NAME DEB-DEFAULT)
set(CPACK_DEBIAN_PACKAGE_CONTROL_STRICT_PERMISSION ON)
set(CPACK_DEBIAN_PACKAGE_SECTION net)
set(CPACK_DEBIAN_PACKAGE_PRIORITY optional)

set(CPACK_DEBIAN_EDDY_PACKAGE_NAME eddy)
set(CPACK_DEBIAN_EDDY_PACKAGE_SHLIBDEPS ON)
set(CPACK_DEBIAN_EDDY_PACKAGE_DEPENDS "adduser, ${drivers}")
set(CPACK_DEBIAN_EDDY_PACKAGE_RECOMMENDS librte-meta-net)
set(CPACK_DEBIAN_EDDY_PACKAGE_SUGGESTS eddy-doc)
set(CPACK_DEBIAN_EDDY_DESCRIPTION "lossless-Ethernet software switch
A switch for RoCEv2 in software, on DPDK's ports: priority-based flow control
with headroom, a shared buffer with priority groups, ECN marking, strict and
DWRR scheduling, a PFC watchdog, and a choice of path for every packet,
flowlet or flow, among them RLB.
.
This package has the switch (eddyd) and the program that shows and changes a
running one (eddyctl).")
set(CPACK_DEBIAN_EDDY_PACKAGE_CONTROL_EXTRA
  "${CMAKE_CURRENT_SOURCE_DIR}/debian/postinst;${CMAKE_CURRENT_SOURCE_DIR}/debian/prerm;${CMAKE_CURRENT_SOURCE_DIR}/debian/postrm")

set(CPACK_DEBIAN_EDDY-LAB_PACKAGE_NAME eddy-lab)
set(CPACK_DEBIAN_EDDY-LAB_PACKAGE_SHLIBDEPS ON)
set(CPACK_DEBIAN_EDDY-LAB_PACKAGE_DEPENDS "eddy (= ${PROJECT_VERSION})")
set(CPACK_DEBIAN_EDDY-LAB_PACKAGE_RECOMMENDS iproute2)
set(CPACK_DEBIAN_EDDY-LAB_PACKAGE_SUGGESTS "chromium, eddy-doc, python3, python3-pandas")
set(CPACK_DEBIAN_EDDY-LAB_DESCRIPTION "experiments with lossless Ethernet fabrics
Whole fabrics of the switch of package eddy and of RoCEv2 hosts: in virtual
time, or as processes of one machine. With the experiments and the sizes of
flows that are known from papers, and pages that show what came out.
.
This package has the programs eddylab and eddyhost.")

set(CPACK_DEBIAN_EDDYLAB-MPI_PACKAGE_NAME eddylab-mpi)
set(CPACK_DEBIAN_EDDYLAB-MPI_PACKAGE_SHLIBDEPS ON)
set(CPACK_DEBIAN_EDDYLAB-MPI_PACKAGE_DEPENDS "eddy-lab (= ${PROJECT_VERSION}), openmpi-bin")
set(CPACK_DEBIAN_EDDYLAB-MPI_PACKAGE_SUGGESTS eddy-doc)
set(CPACK_DEBIAN_EDDYLAB-MPI_DESCRIPTION "one experiment of the Eddy laboratory on many machines
The racks of one fabric in virtual time are shared out to the processes of an
MPI job, for fabrics that one machine has no memory or no time for. Results
are those of package eddy-lab on one machine.
.
This package has the program eddylab-mpi, over Open MPI.")

set(CPACK_DEBIAN_EDDY-DOC_PACKAGE_NAME eddy-doc)
set(CPACK_DEBIAN_EDDY-DOC_PACKAGE_ARCHITECTURE all)
set(CPACK_DEBIAN_EDDY-DOC_PACKAGE_SECTION doc)
set(CPACK_DEBIAN_EDDY-DOC_DESCRIPTION "documents of the Eddy software switch
The tables of all keys and counters, the algorithms of all schemes, what was
measured, and how the switch and its laboratory are built.")

set(CPACK_DEBIAN_EDDY-DEV_PACKAGE_NAME eddy-dev)
set(CPACK_DEBIAN_EDDY-DEV_PACKAGE_SECTION libdevel)
set(CPACK_DEBIAN_EDDY-DEV_PACKAGE_DEPENDS libdpdk-dev)
set(CPACK_DEBIAN_EDDY-DEV_PACKAGE_SUGGESTS "cmake, pkg-config, eddy-doc")
set(CPACK_DEBIAN_EDDY-DEV_DESCRIPTION "headers for path selection schemes of the Eddy switch
What is needed to compile and to test a path selection scheme outside of
Eddy's own tree: headers, static libraries, and files for CMake and pkg-config.")

foreach(component IN LISTS components)
  install(FILES ${CMAKE_CURRENT_SOURCE_DIR}/debian/copyright DESTINATION ${documents}/${component}
    COMPONENT ${component})
  eddy_compressed(${CMAKE_CURRENT_SOURCE_DIR}/debian/changelog changelog ${documents}/${component} ${component})
endforeach()

include(CPack)
