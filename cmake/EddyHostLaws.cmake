include(EddyRegistry)

set(EDDY_LAW_KINDS rate_control recovery entropy pacing)

# eddy_read_laws(out kind): the names in host/<kind>.txt; configuring fails for one without source or test.
function(eddy_read_laws out kind)
  eddy_read_list(names LIST host/${kind}.txt SOURCES host/${kind} TESTS tests/unit/host/${kind} NOUN ${kind})
  set(${out} ${names} PARENT_SCOPE)
endfunction()

# eddy_generate_laws(folder sources): in the folder a source <kind>.cpp for each kind, which defines its registry's list;
# `sources` are these and the laws' own, by the path from host/.
function(eddy_generate_laws folder sources)
  set(rate_control_entry RateControlInfo)
  set(rate_control_list rate_controls)
  set(recovery_entry RecoveryInfo)
  set(recovery_list recoveries)
  set(entropy_entry EntropyInfo)
  set(entropy_list entropies)
  set(pacing_entry PacingInfo)
  set(pacing_list pacings)
  foreach(kind IN LISTS EDDY_LAW_KINDS)
    eddy_read_laws(names ${kind})
    set(file ${folder}/${kind}.cpp)
    eddy_write_registry(${file} NAMES ${names} LIST host/${kind}.txt HEADER host/registry.h NAMESPACE eddy::host
      ENTRY ${${kind}_entry} SUFFIX ${kind} FUNCTION ${${kind}_list})
    list(TRANSFORM names PREPEND ${kind}/)
    list(TRANSFORM names APPEND .cpp)
    list(APPEND all ${file} ${names})
  endforeach()
  set(${sources} ${all} PARENT_SCOPE)
endfunction()
