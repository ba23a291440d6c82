# SPDX-License-Identifier: BSD-3-Clause
# What `cmake --install` puts where: the library with its headers, package files for CMake and pkg-config, the
# relay, libfabric provider, btlctl, btlperf, man pages, files for monitoring systems, example.
include(CMakePackageConfigHelpers)

target_include_directories(livebtl INTERFACE
  $<BUILD_INTERFACE:${CMAKE_SOURCE_DIR}/include> $<INSTALL_INTERFACE:${CMAKE_INSTALL_INCLUDEDIR}>)
target_compile_features(livebtl INTERFACE cxx_std_20)
add_library(livebtl::livebtl ALIAS livebtl)

install(TARGETS livebtl EXPORT livebtl
  LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR} NAMELINK_COMPONENT development)
install(DIRECTORY include/livebtl DESTINATION ${CMAKE_INSTALL_INCLUDEDIR})

set(livebtl_cmake_dir ${CMAKE_INSTALL_LIBDIR}/cmake/livebtl)
install(EXPORT livebtl NAMESPACE livebtl:: FILE livebtl-targets.cmake DESTINATION ${livebtl_cmake_dir})
configure_package_config_file(cmake/livebtl-config.cmake.in livebtl-config.cmake
  INSTALL_DESTINATION ${livebtl_cmake_dir})
# Before 1.0 a minor version may break its users.
write_basic_package_version_file(livebtl-config-version.cmake COMPATIBILITY SameMinorVersion)
install(FILES ${CMAKE_BINARY_DIR}/livebtl-config.cmake ${CMAKE_BINARY_DIR}/livebtl-config-version.cmake
  DESTINATION ${livebtl_cmake_dir})
configure_file(cmake/livebtl.pc.in livebtl.pc @ONLY)
install(FILES ${CMAKE_BINARY_DIR}/livebtl.pc DESTINATION ${CMAKE_INSTALL_LIBDIR}/pkgconfig)

# libfabric looks for providers in its own folder when FI_PROVIDER_PATH is not set.
if(TARGET livebtl-fi)
  install(TARGETS livebtl-fi LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR}/libfabric)
endif()
# Open MPI looks in its own folder and where mca_base_component_path says: docs/OMPI.md.
if(TARGET mca_pml_livebtl)
  install(TARGETS mca_pml_livebtl LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR}/livebtl/openmpi)
endif()
install(TARGETS livebtl-relay RUNTIME DESTINATION ${CMAKE_INSTALL_LIBDIR}/livebtl)
install(TARGETS btlctl livebtl-run btlperf RUNTIME DESTINATION ${CMAKE_INSTALL_BINDIR})
include(cmake/manual.cmake)
configure_file(share/systemd/livebtl-snapshot@.service.in livebtl-snapshot@.service @ONLY)
install(FILES ${CMAKE_BINARY_DIR}/livebtl-snapshot@.service share/systemd/livebtl-snapshot@.timer DESTINATION lib/systemd/system)
if(TARGET livebtl-exporter)
  install(TARGETS livebtl-exporter RUNTIME DESTINATION ${CMAKE_INSTALL_LIBDIR}/livebtl)
  configure_file(share/systemd/livebtl-exporter.service.in livebtl-exporter.service @ONLY)
  install(FILES ${CMAKE_BINARY_DIR}/livebtl-exporter.service DESTINATION lib/systemd/system)
  install(FILES share/exporter/exporter.conf DESTINATION ${CMAKE_INSTALL_DATADIR}/livebtl/exporter)
endif()
if(TARGET livebtl-watchd)
  install(TARGETS livebtl-watchd RUNTIME DESTINATION ${CMAKE_INSTALL_BINDIR})
  configure_file(share/systemd/livebtl-watchd.service.in livebtl-watchd.service @ONLY)
  install(FILES ${CMAKE_BINARY_DIR}/livebtl-watchd.service DESTINATION lib/systemd/system)
  install(FILES share/systemd/livebtl-watchd.sysusers DESTINATION lib/sysusers.d RENAME livebtl-watchd.conf)
  # Each names another one's place.
  foreach(name watchd-btlctl watchd.conf livebtl-watchd.sudoers)
    configure_file(share/watchd/${name}.in ${name} @ONLY)
  endforeach()
  install(PROGRAMS ${CMAKE_BINARY_DIR}/watchd-btlctl DESTINATION ${CMAKE_INSTALL_LIBEXECDIR}/livebtl)
  install(FILES ${CMAKE_BINARY_DIR}/watchd.conf ${CMAKE_BINARY_DIR}/livebtl-watchd.sudoers
    DESTINATION ${CMAKE_INSTALL_DATADIR}/livebtl/watchd)
endif()
install(DIRECTORY share/monitoring DESTINATION ${CMAKE_INSTALL_DATADIR}/livebtl)
install(PROGRAMS share/checkpoint/ssh-detached DESTINATION ${CMAKE_INSTALL_DATADIR}/livebtl/checkpoint)
install(DIRECTORY examples DESTINATION ${CMAKE_INSTALL_DOCDIR})

# A tar.gz that can be unpacked anywhere (cmake --build ... --target package): what is in it finds itself by $ORIGIN.
set(CPACK_GENERATOR TGZ)
set(CPACK_PACKAGE_FILE_NAME livebtl-${PROJECT_VERSION}-${CMAKE_SYSTEM_NAME}-${CMAKE_SYSTEM_PROCESSOR})
set(CPACK_STRIP_FILES ON)
set(CPACK_RESOURCE_FILE_LICENSE ${CMAKE_SOURCE_DIR}/LICENSE)
set(CPACK_VERBATIM_VARIABLES ON)
include(CPack)
