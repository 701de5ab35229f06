# What the builds for other systems have in common. No package of this machine is found: it would be one for this machine.
set(deps ${CMAKE_CURRENT_LIST_DIR}/../build/deps)
set(CMAKE_FIND_ROOT_PATH ${deps}/${SITTER_PLATFORM})
set(CMAKE_FIND_ROOT_PATH_MODE_PROGRAM NEVER)
set(CMAKE_FIND_ROOT_PATH_MODE_INCLUDE ONLY)
set(CMAKE_FIND_ROOT_PATH_MODE_LIBRARY ONLY)
set(CMAKE_FIND_ROOT_PATH_MODE_PACKAGE ONLY)
set(ENV{PKG_CONFIG_LIBDIR} ${CMAKE_FIND_ROOT_PATH}/lib/pkgconfig)
set(ENV{PKG_CONFIG_PATH})

set(FETCHCONTENT_SOURCE_DIR_SIMDJSON ${deps}/simdjson)
set(FETCHCONTENT_SOURCE_DIR_RE2 ${deps}/re2)
set(FETCHCONTENT_SOURCE_DIR_GOOGLETEST /usr/src/googletest)
# A library that is missing is a mistake here, and nothing to fetch.
set(FETCHCONTENT_FULLY_DISCONNECTED ON)
