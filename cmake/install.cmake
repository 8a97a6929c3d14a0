# What stands beside the programs: the Slurm commands as links to drover-slurm, and what
# `cmake --install` (make install PREFIX=...) puts where. All programs go into one folder, since they
# find each other there.
set(DROVER_SLURM_COMMANDS sbatch squeue scancel sinfo sacct scontrol srun salloc sattach sstat)
set(bin ${CMAKE_RUNTIME_OUTPUT_DIRECTORY})

add_custom_target(programs)  # all that is installed, for `make build`
foreach(program drover droverd drover-agent drover-shim drover-connect drover-slurm)
  if(TARGET ${program})
    install(TARGETS ${program} RUNTIME DESTINATION bin)
    add_dependencies(programs ${program})
  endif()
endforeach()
if(TARGET drover_pause_image)
  add_dependencies(programs drover_pause_image)
endif()
if(TARGET drover-slurm)
  foreach(command ${DROVER_SLURM_COMMANDS})
    add_custom_command(TARGET drover-slurm POST_BUILD
      COMMAND ${CMAKE_COMMAND} -E create_symlink drover-slurm ${bin}/${command})
    install(FILES ${bin}/${command} DESTINATION bin)  # a link stays a link
  endforeach()
endif()
install(DIRECTORY docs/ DESTINATION share/doc/drover)
install(FILES README.md CHANGELOG.md SECURITY.md LICENSE DESTINATION share/doc/drover)
install(DIRECTORY examples/ DESTINATION share/doc/drover/examples USE_SOURCE_PERMISSIONS)

# Tests with real daemons and real processes, on the programs of this build.
function(drover_live_test name)
  cmake_parse_arguments(ARG "" "TIMEOUT" "" ${ARGN})
  add_test(NAME live_${name} COMMAND ${DROVER_PYTHON} -m unittest -v test_${name}
    WORKING_DIRECTORY ${CMAKE_SOURCE_DIR}/tests/live)
  set_tests_properties(live_${name} PROPERTIES LABELS live TIMEOUT ${ARG_TIMEOUT}
    ENVIRONMENT "DROVER_BIN=${bin};PYTHONDONTWRITEBYTECODE=1")
endfunction()
if(TARGET drover AND TARGET droverd AND TARGET drover-agent AND TARGET drover-slurm)
  drover_live_test(promises TIMEOUT 600)
  drover_live_test(node TIMEOUT 600)
  drover_live_test(queue TIMEOUT 600)
  drover_live_test(cases TIMEOUT 300)
  drover_live_test(up TIMEOUT 300)
  drover_live_test(machines TIMEOUT 900)
  drover_live_test(login TIMEOUT 600)
  drover_live_test(faults TIMEOUT 600)
  drover_live_test(machine_steps TIMEOUT 600)
  drover_live_test(machine_pods TIMEOUT 600)
  drover_live_test(steps TIMEOUT 600)
  drover_live_test(recipes TIMEOUT 600)
  drover_live_test(kube TIMEOUT 900)
  drover_live_test(kube_python TIMEOUT 300)
  drover_live_test(doors TIMEOUT 600)
  # Debian's module is of Debian's Python.
  set_property(TEST live_kube_python APPEND PROPERTY ENVIRONMENT "PATH=/usr/bin:$ENV{PATH}")
endif()
