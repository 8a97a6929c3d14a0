# Makes a container image of a folder, as `docker save` writes it:
#   cmake -DROOT=folder -DNAME=local.drover/x:1 -DCONFIG='"Cmd":["/x"]' -DARCH=amd64 -DOUT=x.tar -P image.cmake
set(work ${OUT}.parts)
file(REMOVE_RECURSE ${work})
file(MAKE_DIRECTORY ${work})
file(GLOB entries RELATIVE ${ROOT} ${ROOT}/*)
execute_process(COMMAND ${CMAKE_COMMAND} -E tar cf ${work}/layer.tar --format=gnutar --mtime=2026-01-01 ${entries}
  WORKING_DIRECTORY ${ROOT} COMMAND_ERROR_IS_FATAL ANY)
file(SHA256 ${work}/layer.tar layer)
file(WRITE ${work}/config.json
  "{\"architecture\":\"${ARCH}\",\"os\":\"linux\",\"config\":{${CONFIG}},\"rootfs\":{\"type\":\"layers\",\"diff_ids\":[\"sha256:${layer}\"]}}")
file(WRITE ${work}/manifest.json
  "[{\"Config\":\"config.json\",\"RepoTags\":[\"${NAME}\"],\"Layers\":[\"layer.tar\"]}]")
execute_process(COMMAND ${CMAKE_COMMAND} -E tar cf ${OUT} --format=gnutar --mtime=2026-01-01 manifest.json config.json layer.tar
  WORKING_DIRECTORY ${work} COMMAND_ERROR_IS_FATAL ANY)
file(REMOVE_RECURSE ${work})
