# Compiler flags shared by every target, and DPDK without its own -march.
if(CMAKE_SYSTEM_PROCESSOR MATCHES "^(aarch64|arm64)$")
  set(eddy_march armv8-a+crc)  # what Debian's DPDK is built for: every 64-bit server and SmartNIC has it
else()
  set(eddy_march x86-64-v3)
endif()
set(EDDY_MARCH ${eddy_march} CACHE STRING "the one -march of all targets")
set(EDDY_SANITIZE "" CACHE STRING "comma-separated sanitizers")
option(EDDY_FAULT_SITES "fault sites in the code, for tests (net/fault_sites.h)" OFF)
option(EDDY_FUZZ "build libFuzzer targets (clang only)" OFF)
set(EDDY_PROFILE "" CACHE STRING "write: programs count what they do; use: compiled by what was counted (scripts/profiled, g++ only)")

set(CMAKE_CXX_STANDARD 20)
set(CMAKE_CXX_STANDARD_REQUIRED ON)
set(CMAKE_CXX_EXTENSIONS OFF)

find_program(EDDY_CCACHE ccache)
if(EDDY_CCACHE)
  # Paths below the top are hashed as relative ones, so that clones share what was compiled. A file that has not changed since it
  # was last read is not read again: precompiled headers have 100 to 200 MB, and each source would ask for theirs.
  set(eddy_launcher ${CMAKE_COMMAND} -E env CCACHE_BASEDIR=${CMAKE_SOURCE_DIR} CCACHE_NOHASHDIR=1 CCACHE_INODECACHE=1
    CCACHE_SLOPPINESS=pch_defines,time_macros ${EDDY_CCACHE})
  set(CMAKE_CXX_COMPILER_LAUNCHER ${eddy_launcher})
  set(CMAKE_C_COMPILER_LAUNCHER ${eddy_launcher})
endif()

find_package(PkgConfig REQUIRED)
find_package(Threads REQUIRED)
pkg_check_modules(DPDK REQUIRED libdpdk>=22.11)
set(eddy_dpdk_cflags ${DPDK_CFLAGS})
list(FILTER eddy_dpdk_cflags EXCLUDE REGEX "^-march=|^-I")
list(REMOVE_ITEM eddy_dpdk_cflags "-include" "rte_config.h")

# Headers, warnings and code generation: what pure folders need of DPDK.
add_library(eddy_flags INTERFACE)
target_include_directories(eddy_flags INTERFACE ${CMAKE_SOURCE_DIR})
target_include_directories(eddy_flags SYSTEM INTERFACE ${DPDK_INCLUDE_DIRS})
target_compile_options(eddy_flags INTERFACE
  -march=${EDDY_MARCH} ${eddy_dpdk_cflags}
  # g++ takes precompiled headers only where nothing is included before them, so they bring this one themselves.
  $<$<NOT:$<BOOL:$<TARGET_PROPERTY:EDDY_PRECOMPILED>>>:SHELL:-include rte_config.h>
  -Wall -Wextra -Werror -Wno-missing-field-initializers -ffp-contract=off
  $<$<CXX_COMPILER_ID:GNU>:-Wno-restrict -Wno-stringop-overflow -Wno-array-bounds>
  # Hot loops take & and | of conditions on purpose: what no predictor can know is no branch.
  $<$<CXX_COMPILER_ID:Clang>:-Wno-bitwise-instead-of-logical -Wno-bitwise-conditional-parentheses>)
if(EDDY_SANITIZE)
  target_compile_options(eddy_flags INTERFACE -fsanitize=${EDDY_SANITIZE} -fno-omit-frame-pointer -fno-sanitize-recover=all)
  target_link_options(eddy_flags INTERFACE -fsanitize=${EDDY_SANITIZE})
  if(EDDY_SANITIZE MATCHES thread)
    target_compile_definitions(eddy_flags INTERFACE RTE_USE_C11_MEM_MODEL)
  endif()
endif()

# What is deployed reads what strangers send: a broken stack ends it, the C library knows the size of a buffer where the
# compiler does, and no address of a function can be written to (scripts/lib/hardened.py looks for all three).
target_compile_options(eddy_flags INTERFACE
  $<$<CONFIG:Release>:-fstack-protector-strong> $<$<CONFIG:Release>:-D_FORTIFY_SOURCE=2>)
target_link_options(eddy_flags INTERFACE $<$<CONFIG:Release>:-Wl,-z,relro,-z,now>)

# g++ forgets of a header that is precompiled that it is the system's, and at -O3 its optimisers warn of the standard
# library's own code. A release says so and goes on; presets with tests have the same warnings as errors.
target_compile_options(eddy_flags INTERFACE "$<$<AND:$<CXX_COMPILER_ID:GNU>,$<CONFIG:Release>>:\
-Wno-error=stringop-overread;-Wno-error=maybe-uninitialized;-Wno-error=dangling-pointer;-Wno-error=use-after-free;\
-Wno-error=free-nonheap-object;-Wno-error=nonnull>")

# Everywhere or nowhere: classes have another layout with them.
if(EDDY_FAULT_SITES)
  target_compile_definitions(eddy_flags INTERFACE EDDY_FAULT_SITES)
endif()

if(EDDY_FUZZ)
  target_compile_options(eddy_flags INTERFACE -fsanitize=fuzzer-no-link)
endif()

# Counts lie beside the objects, so both are of one build directory. What was never run is compiled as without them.
if(EDDY_PROFILE STREQUAL write)
  target_compile_options(eddy_flags INTERFACE -fprofile-generate -fprofile-update=single)
  target_link_options(eddy_flags INTERFACE -fprofile-generate)
elseif(EDDY_PROFILE STREQUAL use)
  target_compile_options(eddy_flags INTERFACE -fprofile-use -fprofile-partial-training -Wno-missing-profile)
endif()

# With the first, ccache knows a precompiled header by its contents. The second keeps g++ from collecting garbage
# below 1 GiB, which takes a tenth of its time.
target_compile_options(eddy_flags INTERFACE
  $<$<CXX_COMPILER_ID:GNU>:-fpch-preprocess> $<$<CXX_COMPILER_ID:GNU>:--param=ggc-min-heapsize=1048576>)

# Linking DPDK: data structures only (pure folders) are found in the same shared libraries.
add_library(eddy_rte INTERFACE)
target_link_libraries(eddy_rte INTERFACE ${DPDK_LINK_LIBRARIES} Threads::Threads)
target_link_directories(eddy_rte INTERFACE ${DPDK_LIBRARY_DIRS})
