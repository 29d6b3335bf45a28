# package.cmake - cmake --install --component programs, and the Debian package that CPack makes of it.
#
# Programs are in lib/salient/libexec; bin/salient-NAME is scripts/lib/salient-env.sh, which finds LibTorch and starts
# them. Manual pages and completion are made while installing, from --help.
set(programs salient-doctor salient-infer salient-prepare salient-report salient-serve salient-train)
add_custom_target(packaged-programs)  # all that scripts/package.sh builds: tests take much longer
add_dependencies(packaged-programs ${programs})
set(home lib/salient)
foreach(name IN LISTS programs)
  install(PROGRAMS $<TARGET_FILE:${name}> DESTINATION ${home}/libexec COMPONENT programs)
  # The build's own LibTorch is no place on other machines.
  install(CODE "file(RPATH_REMOVE FILE \"\$ENV{DESTDIR}\${CMAKE_INSTALL_PREFIX}/${home}/libexec/${name}\")"
    COMPONENT programs)
  list(APPEND paths $<TARGET_FILE:${name}>)
endforeach()
install(PROGRAMS scripts/lib/salient-env.sh DESTINATION ${home}/bin RENAME salient-env COMPONENT programs)
install(PROGRAMS scripts/fetch_torch.sh DESTINATION ${home}/scripts COMPONENT programs)
install(FILES scripts/lib/common.sh scripts/lib/wheels.sh DESTINATION ${home}/scripts/lib COMPONENT programs)
install(FILES LICENSE README.md CHANGELOG.md docs/SERVING.md docs/TRAINING.md docs/INFERENCE.md docs/DATASETS.md
  docs/DISTRIBUTED.md docs/REPORT.md DESTINATION share/doc/salient COMPONENT programs)
install(CODE "
  set(prefix \"\$ENV{DESTDIR}\${CMAKE_INSTALL_PREFIX}\")
  file(MAKE_DIRECTORY \"\${prefix}/bin\")
  foreach(name ${programs})
    file(CREATE_LINK ../${home}/bin/salient-env \"\${prefix}/bin/\${name}\" SYMBOLIC)
  endforeach()
  file(CREATE_LINK ../${home}/scripts/fetch_torch.sh \"\${prefix}/bin/salient-fetch-torch\" SYMBOLIC)
  execute_process(COMMAND python3 \"${PROJECT_SOURCE_DIR}/scripts/help_pages.py\" --version ${PROJECT_VERSION}
    --share \"\${prefix}/share\" ${paths}
    COMMAND_ERROR_IS_FATAL ANY)
" COMPONENT programs)

set(CPACK_GENERATOR DEB)
set(CPACK_PACKAGE_NAME salient)
set(CPACK_PACKAGE_VENDOR "SALIENT")
set(CPACK_PACKAGE_CONTACT "SALIENT's maintainers <maintainers@salient.invalid>")
set(CPACK_PACKAGE_DESCRIPTION_SUMMARY "training of graph neural networks by sampled mini-batches")
set(CPACK_PACKAGE_DESCRIPTION "Trains graph neural networks on one CPU, one GPU or many machines, predicts, and serves \
predictions over HTTP. LibTorch is no part of this package: salient-fetch-torch fetches it once for each user.")
set(CPACK_PACKAGING_INSTALL_PREFIX /usr)
set(CPACK_STRIP_FILES ON)
set(CPACK_DEB_COMPONENT_INSTALL ON)
set(CPACK_COMPONENTS_ALL programs)
set(CPACK_COMPONENTS_GROUPING ALL_COMPONENTS_IN_ONE)
set(CPACK_DEBIAN_FILE_NAME DEB-DEFAULT)
set(CPACK_DEBIAN_PACKAGE_SECTION science)
set(CPACK_DEBIAN_PACKAGE_RECOMMENDS "python3-pip, unzip")  # of salient-fetch-torch
set(CPACK_DEBIAN_PACKAGE_SUGGESTS "openmpi-bin")
set(CPACK_DEBIAN_PACKAGE_SHLIBDEPS ON)
set(CPACK_DEBIAN_PACKAGE_SHLIBDEPS_PRIVATE_DIRS "${SALIENT_TORCH_DIR}/lib" "${SALIENT_TORCH_DIR}/../nvidia/cu13/lib"
  "${SALIENT_TORCH_DIR}/../nvidia/nccl/lib")
include(CPack)
