# Keeps calls of std::filesystem that throw out of the shell: the program must not end because a working directory is
# gone, or because a folder vanishes while it is read. Each call must pass an argument for the error. Run as: cmake -D
# ROOT=<project> -P filesystem_calls.cmake

include(${CMAKE_CURRENT_LIST_DIR}/source_check.cmake)
file(GLOB_RECURSE files ${ROOT}/src/*.[ch]pp)
list(FILTER files EXCLUDE REGEX "/src/core/")
if(NOT files)
  message(FATAL_ERROR "no files of the shell below ${ROOT}")
endif()

set(namespace "(std::filesystem|fs)::")
foreach(file IN LISTS files)
  file(RELATIVE_PATH name ${ROOT} ${file})
  file(READ ${file} text)
  # A semicolon would divide a list. The class std::filesystem::path itself makes no calls to the system.
  string(REGEX REPLACE "//[^\n]*" "" text "${text}")
  string(REPLACE ";" "@" text "${text}")
  string(REGEX REPLACE "${namespace}path([^a-z_])" "\\2" text "${text}")

  string(REGEX MATCHALL "${namespace}[a-z_]+( [a-z_]+)?\\([^@{}&|]*" calls "${text}")
  foreach(call IN LISTS calls)
    if(NOT call MATCHES "[(,][ \n]*(error|ignored)\\)")
      forbid("throws: ${call}")
    endif()
  endforeach()

  # A call under another name would not be found.
  string(REGEX MATCHALL "using (namespace )?std::filesystem|namespace [a-z_]+ = std::filesystem"
    names "${text}")
  list(REMOVE_ITEM names "namespace fs = std::filesystem")
  foreach(other IN LISTS names)
    forbid("is hidden: ${other}")
  endforeach()

  # The members of a folder entry, and the step to the next entry.
  string(REGEX MATCHALL
    "(->|\\.)(is_(directory|regular_file|symlink|socket)|file_size|last_write_time|symlink_status|refresh)\\(\\)"
    calls "${text}")
  if(text MATCHES "directory_iterator")
    string(REGEX MATCHALL ": *${namespace}(recursive_)?directory_iterator|\\+\\+(entry|it)|(entry|it)\\+\\+"
      steps "${text}")
    list(APPEND calls ${steps})
  endif()
  foreach(call IN LISTS calls)
    forbid("throws: ${call}")
  endforeach()
endforeach()

list(LENGTH files count)
message(STATUS "${count} files of the shell, ${found} calls that throw")
