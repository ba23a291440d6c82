# SPDX-License-Identifier: BSD-3-Clause
# The manual: prose in docs/man/*.scd, what the parser knows put in by btlctl, made roff by scdoc (docs/adr/0055).
set(LIVEBTL_MAN AUTO CACHE STRING "Make the manual pages: AUTO (if scdoc is there), ON, OFF")
set_property(CACHE LIVEBTL_MAN PROPERTY STRINGS AUTO ON OFF)
find_program(LIVEBTL_SCDOC scdoc)
if(LIVEBTL_MAN STREQUAL "ON" AND NOT LIVEBTL_SCDOC)
  message(FATAL_ERROR "scdoc is not there, which makes the manual pages: install it, or set LIVEBTL_MAN=OFF")
elseif(LIVEBTL_MAN STREQUAL "AUTO" AND NOT LIVEBTL_SCDOC)
  message(WARNING "scdoc is not there: no manual page but livebtl-settings(7) is made")
endif()

set(livebtl_pages)
if(LIVEBTL_SCDOC AND LIVEBTL_MAN)
  file(MAKE_DIRECTORY ${CMAKE_BINARY_DIR}/man)
  file(GLOB sources CONFIGURE_DEPENDS ${CMAKE_SOURCE_DIR}/docs/man/*.scd)
  set(tidy ${CMAKE_SOURCE_DIR}/docs/man/tidy.awk)
  foreach(source ${sources})
    get_filename_component(name ${source} NAME_WLE)
    set(page ${CMAKE_BINARY_DIR}/man/${name})
    add_custom_command(OUTPUT ${page}
      COMMAND btlctl --generate page < ${source} > ${page}.filled
      COMMAND ${LIVEBTL_SCDOC} < ${page}.filled > ${page}.made
      COMMAND awk -f ${tidy} ${page}.made > ${page}
      COMMAND ${CMAKE_COMMAND} -E rm ${page}.filled ${page}.made
      DEPENDS btlctl ${source} ${tidy} VERBATIM)
    list(APPEND livebtl_pages ${page})
    string(REGEX MATCH "[0-9]$" section ${name})
    if(TARGET livebtl-watchd OR NOT name STREQUAL "livebtl-watchd.8")
      install(FILES ${page} DESTINATION ${CMAKE_INSTALL_MANDIR}/man${section})
    endif()
  endforeach()
endif()
add_custom_target(livebtl_manual ALL DEPENDS ${livebtl_pages})
install(FILES docs/man/livebtl-settings.7 DESTINATION ${CMAKE_INSTALL_MANDIR}/man7)
