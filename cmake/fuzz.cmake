# drover_fuzz(NAME USES library...): tests/fuzz/NAME.cc says what to do with one input. In the preset
# `fuzz` it becomes a libFuzzer program; everywhere else a test that plays tests/fuzz/corpus/NAME and
# a fixed number of seeded changes of it.
option(DROVER_FUZZ "Build libFuzzer programs (needs clang)" OFF)

function(drover_fuzz name)
  cmake_parse_arguments(ARG "" "" "USES" ${ARGN})
  list(TRANSFORM ARG_USES PREPEND drover_)
  set(corpus ${CMAKE_SOURCE_DIR}/tests/fuzz/corpus/${name})
  add_executable(fuzz_${name} tests/fuzz/${name}.cc)
  target_link_libraries(fuzz_${name} PRIVATE drover_options ${ARG_USES})
  if(DROVER_FUZZ)
    target_link_options(fuzz_${name} PRIVATE -fsanitize=fuzzer)
    add_test(NAME fuzz_${name} COMMAND fuzz_${name} -max_total_time=20 -rss_limit_mb=2048 ${CMAKE_BINARY_DIR}/corpus_${name} ${corpus})
    file(MAKE_DIRECTORY ${CMAKE_BINARY_DIR}/corpus_${name})
  else()
    target_sources(fuzz_${name} PRIVATE tests/fuzz/replay.cc)
    add_test(NAME fuzz_${name} COMMAND fuzz_${name} ${corpus})
  endif()
  set_tests_properties(fuzz_${name} PROPERTIES LABELS fuzz TIMEOUT 300)
endfunction()
