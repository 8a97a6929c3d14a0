# Everything a target needs is said here once.
set(CMAKE_CXX_STANDARD 20)
set(CMAKE_CXX_STANDARD_REQUIRED ON)
set(CMAKE_CXX_EXTENSIONS OFF)
set(CMAKE_EXPORT_COMPILE_COMMANDS ON)
set(CMAKE_VERIFY_INTERFACE_HEADER_SETS ON)
set(CMAKE_RUNTIME_OUTPUT_DIRECTORY ${CMAKE_BINARY_DIR}/bin)

find_package(GTest REQUIRED)
find_program(DROVER_CCACHE ccache)
if(DROVER_CCACHE)
  set(CMAKE_CXX_COMPILER_LAUNCHER ${DROVER_CCACHE})
endif()

option(DROVER_WERROR "Warnings are errors" ON)
set(DROVER_SANITIZE "" CACHE STRING "e.g. address,undefined or thread")

add_library(drover_options INTERFACE)
target_compile_options(drover_options INTERFACE
  -Wall -Wextra -Wpedantic -Wshadow -Wconversion -Wsign-conversion -Wold-style-cast
  -Wnon-virtual-dtor -Woverloaded-virtual -Wcast-align
  -Wno-missing-field-initializers -Wimplicit-fallthrough -Wswitch-enum -Wextra-semi -Wundef
  $<$<CXX_COMPILER_ID:GNU>:-Wduplicated-cond -Wlogical-op -Wuseless-cast -Wsuggest-override -Wno-maybe-uninitialized>
  # clang also warns of TRY as a statement (g++ watches that no Result is dropped), and of what
  # libstdc++ 12's own stable_sort calls.
  $<$<CXX_COMPILER_ID:Clang>:-Wthread-safety -Wno-unused-result -Wno-deprecated-declarations>
  $<$<BOOL:${DROVER_WERROR}>:-Werror>
  -fstack-protector-strong)
if(DROVER_SANITIZE)
  target_compile_options(drover_options INTERFACE
    -fsanitize=${DROVER_SANITIZE} -fno-omit-frame-pointer -fno-sanitize-recover=all)
  target_link_options(drover_options INTERFACE -fsanitize=${DROVER_SANITIZE})
  if(DROVER_SANITIZE MATCHES thread)
    # The thread sanitizer doesn't know fences; Asio's only double what its mutexes order already.
    target_compile_definitions(drover_options INTERFACE BOOST_ASIO_DISABLE_FENCED_BLOCK)
  endif()
endif()
# Bounds checks in the standard library in every build, as CHECK stays on.
target_compile_definitions(drover_options INTERFACE _GLIBCXX_ASSERTIONS DROVER_VERSION="${PROJECT_VERSION}")

# drover_library(NAME [USES other...] [LINK external...] [WITHOUT folder...]): src/NAME/**/*.cc as a static
# library, and one test binary of src/NAME/**/*_test.cc; folders that are built otherwise are left out. Public headers are compiled alone by a check target.
function(drover_library name)
  cmake_parse_arguments(ARG "" "" "USES;LINK;WITHOUT" ${ARGN})
  file(GLOB_RECURSE sources CONFIGURE_DEPENDS ${CMAKE_SOURCE_DIR}/src/${name}/*.cc)
  file(GLOB_RECURSE headers CONFIGURE_DEPENDS ${CMAKE_SOURCE_DIR}/src/${name}/*.h)
  foreach(folder ${ARG_WITHOUT})
    list(FILTER sources EXCLUDE REGEX "/src/${name}/${folder}/")
    list(FILTER headers EXCLUDE REGEX "/src/${name}/${folder}/")
  endforeach()
  set(tests ${sources})
  list(FILTER sources EXCLUDE REGEX "_test\\.cc$")
  list(FILTER tests INCLUDE REGEX "_test\\.cc$")
  list(TRANSFORM ARG_USES PREPEND drover_)
  set(scope PUBLIC)
  if(sources)
    add_library(drover_${name} STATIC ${sources})
    target_link_libraries(drover_${name} PRIVATE drover_options PUBLIC ${ARG_USES} ${ARG_LINK})
  else()
    set(scope INTERFACE)
    add_library(drover_${name} INTERFACE)
    target_link_libraries(drover_${name} INTERFACE ${ARG_USES} ${ARG_LINK})
  endif()
  target_include_directories(drover_${name} ${scope} ${CMAKE_SOURCE_DIR}/src)
  target_sources(drover_${name} ${scope} FILE_SET HEADERS BASE_DIRS ${CMAKE_SOURCE_DIR}/src FILES ${headers})
  if(tests)
    drover_test(${name} SOURCES ${tests} USES ${name})
  endif()
endfunction()

# drover_test(NAME SOURCES file... [USES library...] [LABELS label...] [TIMEOUT seconds])
function(drover_test name)
  cmake_parse_arguments(ARG "" "TIMEOUT" "SOURCES;USES;LABELS" ${ARGN})
  list(TRANSFORM ARG_USES PREPEND drover_)
  add_executable(${name}_test ${ARG_SOURCES})
  target_link_libraries(${name}_test PRIVATE drover_options ${ARG_USES} GTest::gtest_main GTest::gmock)
  target_include_directories(${name}_test PRIVATE ${CMAKE_SOURCE_DIR}/src)
  target_compile_definitions(${name}_test PRIVATE DROVER_ROOT="${CMAKE_SOURCE_DIR}")
  add_test(NAME ${name} COMMAND ${name}_test)
  if(NOT ARG_TIMEOUT)
    set(ARG_TIMEOUT 300)
  endif()
  set_tests_properties(${name} PROPERTIES TIMEOUT ${ARG_TIMEOUT} LABELS "${ARG_LABELS}")
endfunction()

# drover_program(NAME SOURCES file... USES library... [LINK external...]): one binary in build/bin.
function(drover_program name)
  cmake_parse_arguments(ARG "" "" "SOURCES;USES;LINK" ${ARGN})
  list(TRANSFORM ARG_USES PREPEND drover_)
  add_executable(${name} ${ARG_SOURCES})
  target_link_libraries(${name} PRIVATE drover_options ${ARG_USES} ${ARG_LINK})
endfunction()

# drover_static_program(NAME SOURCES file... [LINK external...]): self-contained, linked without
# any shared library (except under sanitizers, which need theirs). It compiles its few sources
# itself instead of linking whole layers.
function(drover_static_program name)
  cmake_parse_arguments(ARG "" "" "SOURCES;LINK" ${ARGN})
  add_executable(${name} ${ARG_SOURCES})
  target_include_directories(${name} PRIVATE ${CMAKE_SOURCE_DIR}/src)
  target_link_libraries(${name} PRIVATE drover_options ${ARG_LINK})
  if(NOT DROVER_SANITIZE)
    target_compile_options(${name} PRIVATE -ffunction-sections -fdata-sections)
    target_link_options(${name} PRIVATE -static -Wl,--gc-sections)
  endif()
endfunction()
