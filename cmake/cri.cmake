# The client of containerd, apart from its layer: only drover-agent and its test may carry gRPC's sixty
# shared libraries. Its messages are made from the .proto files beside it.
find_package(PkgConfig REQUIRED)
pkg_check_modules(GRPC REQUIRED IMPORTED_TARGET grpc++ protobuf)
find_program(DROVER_PROTOC protoc REQUIRED)
find_program(DROVER_GRPC_PLUGIN grpc_cpp_plugin REQUIRED)

set(cri_source ${CMAKE_SOURCE_DIR}/src/agent/cri)
set(cri_made ${CMAKE_BINARY_DIR}/generated/cri)
file(MAKE_DIRECTORY ${cri_made})
set(cri_messages)
foreach(name runtime tasks containers)
  set(made ${cri_made}/${name}.pb.cc ${cri_made}/${name}.pb.h ${cri_made}/${name}.grpc.pb.cc ${cri_made}/${name}.grpc.pb.h)
  add_custom_command(OUTPUT ${made}
    COMMAND ${DROVER_PROTOC} --proto_path=${cri_source} --cpp_out=${cri_made} --grpc_out=${cri_made}
      --plugin=protoc-gen-grpc=${DROVER_GRPC_PLUGIN} ${cri_source}/${name}.proto
    DEPENDS ${cri_source}/${name}.proto VERBATIM)
  list(APPEND cri_messages ${made})
endforeach()
add_library(drover_cri_messages STATIC ${cri_messages})
target_include_directories(drover_cri_messages SYSTEM PUBLIC ${cri_made})
target_link_libraries(drover_cri_messages PUBLIC PkgConfig::GRPC)

file(GLOB cri_sources CONFIGURE_DEPENDS ${cri_source}/*.cc)
set(cri_tests ${cri_sources})
list(FILTER cri_sources EXCLUDE REGEX "_test\\.cc$")
list(FILTER cri_tests INCLUDE REGEX "_test\\.cc$")
add_library(drover_cri STATIC ${cri_sources})
target_link_libraries(drover_cri PRIVATE drover_options PUBLIC drover_agent drover_cri_messages)
target_sources(agent_test PRIVATE ${cri_tests})
target_link_libraries(agent_test PRIVATE drover_cri)

# The image of the process that holds a pod's namespaces, for a containerd without a registry.
drover_static_program(drover-pause SOURCES src/app/pause_main.cc)
set(pause_root ${CMAKE_BINARY_DIR}/generated/pause)
set(pause_image ${CMAKE_RUNTIME_OUTPUT_DIRECTORY}/drover-pause.tar)
string(REPLACE "x86_64" "amd64" image_arch "${CMAKE_SYSTEM_PROCESSOR}")
string(REPLACE "aarch64" "arm64" image_arch "${image_arch}")
add_custom_command(OUTPUT ${pause_image}
  COMMAND ${CMAKE_COMMAND} -E make_directory ${pause_root}
  COMMAND ${CMAKE_STRIP} -o ${pause_root}/pause $<TARGET_FILE:drover-pause>
  COMMAND ${CMAKE_COMMAND} -DROOT=${pause_root} -DNAME=local.drover/pause:1 -DARCH=${image_arch} -DOUT=${pause_image}
    "-DCONFIG=\"Entrypoint\":[\"/pause\"]" -P ${CMAKE_SOURCE_DIR}/cmake/image.cmake
  DEPENDS drover-pause ${CMAKE_SOURCE_DIR}/cmake/image.cmake VERBATIM)
add_custom_target(drover_pause_image ALL DEPENDS ${pause_image})

# What tests run in containers; without a static busybox they skip it.
find_program(DROVER_BUSYBOX busybox)
if(DROVER_BUSYBOX)
  set(test_root ${CMAKE_BINARY_DIR}/generated/busybox)
  set(test_image ${CMAKE_BINARY_DIR}/generated/busybox.tar)
  add_custom_command(OUTPUT ${test_image}
    COMMAND ${CMAKE_COMMAND} -E rm -rf ${test_root}
    COMMAND ${CMAKE_COMMAND} -E make_directory ${test_root}/bin ${test_root}/usr/bin ${test_root}/tmp ${test_root}/etc
    COMMAND ${CMAKE_COMMAND} -E copy ${DROVER_BUSYBOX} ${test_root}/bin/busybox
    COMMAND ${CMAKE_COMMAND} -E copy ${DROVER_BUSYBOX} ${test_root}/usr/bin/busybox  # where the links point
    COMMAND ${DROVER_BUSYBOX} --install -s ${test_root}/bin
    COMMAND ${CMAKE_COMMAND} -DROOT=${test_root} -DNAME=local.drover/busybox:1 -DARCH=${image_arch} -DOUT=${test_image}
      "-DCONFIG=\"Env\":[\"PATH=/bin\"],\"Cmd\":[\"/bin/sh\"]" -P ${CMAKE_SOURCE_DIR}/cmake/image.cmake
    DEPENDS ${CMAKE_SOURCE_DIR}/cmake/image.cmake VERBATIM)
  add_custom_target(drover_test_image ALL DEPENDS ${test_image})
  add_dependencies(agent_test drover_test_image)
endif()
add_dependencies(agent_test drover_pause_image)
target_compile_definitions(agent_test PRIVATE DROVER_TEST_IMAGE="${CMAKE_BINARY_DIR}/generated/busybox.tar")
install(FILES ${pause_image} DESTINATION bin)
