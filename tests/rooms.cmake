# Keeps the rooms apart: a file includes only what is in its own folder, or in a folder that comes
# before its own in the list below. The face of the core, include/sitter, includes no room. The shell
# knows the core only by that face, and uses a few headers that decide nothing. The owners of the
# core's state are known only in their own room and above it.
# Run as: cmake -D ROOT=<project> -P rooms.cmake

set(rooms
  core/base core/wire core/schema core/http core/client core/child core/tool_server core/rebuild core/report core/bridge
  io/system io/stream io/http io/control io/process io/files io
  options terminal probe help ctl setup doctor demo)

set(shared_with_the_shell
  core/base/ascii.hpp core/base/base64.hpp core/base/paths.hpp core/base/polled_queue.hpp core/base/shell_word.hpp core/base/text.hpp
  core/rebuild/made_folders.hpp core/rebuild/watch_filter.hpp
  core/tool_server/cli_server.hpp core/http/http_link.hpp
  core/http/secrets.hpp core/http/url.hpp core/wire/line_framer.hpp)

# The owners, the lowest first.
set(owners core/client/Desk core/child/Servers core/rebuild/Rebuilds core/report/News core/bridge/Tools
  core/bridge/Conductor)

include(${CMAKE_CURRENT_LIST_DIR}/source_check.cmake)
file(GLOB_RECURSE files ${ROOT}/include/sitter/*.hpp ${ROOT}/src/*.[ch]pp)
# The files beside the rooms put the program together.
list(FILTER files EXCLUDE REGEX "/src/[^/]*$")
if(NOT files)
  message(FATAL_ERROR "no files below ${ROOT}")
endif()

foreach(file IN LISTS files)
  file(RELATIVE_PATH name ${ROOT} ${file})
  set(place -1)
  if(NOT name MATCHES "^include/")
    string(REGEX REPLACE "^src/(.*)/[^/]*$" "\\1" room "${name}")
    list(FIND rooms "${room}" place)
    if(place EQUAL -1)
      forbid("${room} is not a room")
    endif()
  endif()
  file(STRINGS ${file} includes REGEX "^[ \t]*#[ \t]*include[ \t]*\"(core|io|options|terminal|probe|help|ctl|setup|doctor|demo)/")
  foreach(line IN LISTS includes)
    string(REGEX REPLACE "^[^\"]*\"(.*)/[^/]*\".*$" "\\1" other "${line}")
    list(FIND rooms "${other}" other_place)
    if(other_place EQUAL -1)
      forbid("includes from ${other}, which is not a room")
    elseif(other_place GREATER place)
      forbid("includes from ${other}, which comes after ${room}")
    endif()
    string(REGEX REPLACE "^[^\"]*\"(.*)\".*$" "\\1" header "${line}")
    list(FIND shared_with_the_shell "${header}" shared)
    if(name MATCHES "^src/io/" AND header MATCHES "^core/" AND shared EQUAL -1)
      forbid("includes ${header}, which the shell may not use")
    endif()
  endforeach()
  foreach(path IN LISTS owners)
    get_filename_component(owner ${path} NAME)
    get_filename_component(owners_room ${path} DIRECTORY)
    list(FIND rooms ${owners_room} owners_place)
    if(NOT name MATCHES "^src/core/" OR place GREATER owners_place
        OR (place EQUAL owners_place AND NOT (owner STREQUAL Conductor AND name MATCHES "/tools[.]")))
      continue()
    endif()
    file(STRINGS ${file} uses REGEX "^(([^/]|/[^/])*[^A-Za-z_/])?${owner}[^A-Za-z_]")
    if(uses)
      forbid("knows ${owner}, which is above it")
    endif()
  endforeach()
endforeach()

list(LENGTH files count)
message(STATUS "${count} files, ${found} wrong includes")
