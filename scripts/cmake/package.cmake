# Debian packages by CPack: headroom (the command and its data), headroom-gui (the app).
include(GNUInstallDirs)
find_program(HEADROOM_GZIP gzip)
# headroom_document(COMPONENT PACKAGE MAN): what Debian's policy asks of a package's documentation.
function(headroom_document component package man)
    set(folder ${CMAKE_BINARY_DIR}/package/${package})
    file(MAKE_DIRECTORY ${folder})
    file(WRITE ${folder}/changelog
        "headroom (${PROJECT_VERSION}) unstable; urgency=low\n\n  * See the project's history.\n\n"
        " -- The Headroom authors <headroom@example.org>  Mon, 30 Nov 2026 00:00:00 +0000\n")
    configure_file(${CMAKE_SOURCE_DIR}/docs/man/${man} ${folder}/${man} COPYONLY)
    execute_process(COMMAND ${HEADROOM_GZIP} -9 -n -f -k ${folder}/changelog ${folder}/${man} COMMAND_ERROR_IS_FATAL ANY)
    install(FILES ${folder}/changelog.gz DESTINATION ${CMAKE_INSTALL_DATADIR}/doc/${package} COMPONENT ${component})
    install(FILES ${CMAKE_SOURCE_DIR}/scripts/cmake/copyright DESTINATION ${CMAKE_INSTALL_DATADIR}/doc/${package}
        COMPONENT ${component})
    install(FILES ${folder}/${man}.gz DESTINATION ${CMAKE_INSTALL_MANDIR}/man1 COMPONENT ${component})
endfunction()
headroom_document(planner headroom headroom.1)

set(CPACK_GENERATOR DEB)
set(CPACK_PACKAGE_NAME headroom)
set(CPACK_PACKAGE_VERSION ${PROJECT_VERSION})
set(CPACK_PACKAGE_CONTACT "The Headroom authors <headroom@example.org>")
set(CPACK_PACKAGING_INSTALL_PREFIX /usr)
set(CPACK_STRIP_FILES ON)
set(CPACK_DEB_COMPONENT_INSTALL ON)
set(CPACK_DEBIAN_FILE_NAME DEB-DEFAULT)
set(CPACK_DEBIAN_PACKAGE_SECTION devel)
set(CPACK_DEBIAN_PACKAGE_PRIORITY optional)
set(CPACK_DEBIAN_PACKAGE_SHLIBDEPS ON)
set(CPACK_COMPONENTS_ALL planner)
set(CPACK_COMPONENT_PLANNER_DESCRIPTION
"planner of long-context training on GPUs
Tells whether a training context fits a GPU and its host memory, by how much,
what a step costs and why, and what to change.")
set(CPACK_DEBIAN_PLANNER_PACKAGE_NAME headroom)
if(HEADROOM_GUI)
    headroom_document(app headroom-gui headroom-gui.1)
    list(APPEND CPACK_COMPONENTS_ALL app)
    set(CPACK_COMPONENT_APP_DESCRIPTION
"desktop app of the planner of long-context training
Shows the verdict of a training scenario while its knobs are turned, a step
as a timeline with its memory, and predicted beside measured steps.")
    set(CPACK_DEBIAN_APP_PACKAGE_NAME headroom-gui)
    set(CPACK_DEBIAN_APP_PACKAGE_DEPENDS "headroom (= ${PROJECT_VERSION})")
endif()
include(CPack)
