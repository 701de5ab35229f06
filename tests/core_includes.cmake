# Keeps the outside world out of the core: the core has no threads, files, streams, processes, clocks or
# logs. It neither includes them, nor calls them through a header that it needs for something else.
# Run as: cmake -D ROOT=<project> -P core_includes.cmake

set(forbidden
  "boost/.*"
  "spdlog/.*"
  "sys/.*"
  "atomic|barrier|condition_variable|future|latch|mutex|semaphore|shared_mutex|stop_token|thread"
  "cstdio|filesystem|stdio\\.h"
  "fstream|iomanip|ios|iosfwd|iostream|istream|ostream|print|spanstream|sstream|streambuf|strstream|syncstream"
  "csignal|dirent\\.h|fcntl\\.h|poll\\.h|pthread\\.h|signal\\.h|spawn\\.h|unistd\\.h"
  "[Ww]in[a-z0-9]*\\.h|io\\.h|process\\.h")
list(JOIN forbidden "|" forbidden)

# Calls for the time, the environment, random numbers and the standard streams.
set(calls "(_clock::now *\\(|getenv|random_device|std::(cout|cerr|clog|cin))")

include(${CMAKE_CURRENT_LIST_DIR}/source_check.cmake)
file(GLOB_RECURSE files ${ROOT}/include/sitter/*.hpp ${ROOT}/src/core/*.[ch]pp)
if(NOT files)
  message(FATAL_ERROR "no core files below ${ROOT}")
endif()

foreach(file IN LISTS files)
  file(RELATIVE_PATH name ${ROOT} ${file})
  included_headers(headers)
  foreach(header IN LISTS headers)
    if(header MATCHES "^(${forbidden})$" OR header MATCHES "(^|/)io/")
      forbid("includes ${header}, which the core may not use")
    endif()
  endforeach()
  file(READ ${file} text)
  string(REGEX MATCHALL "${calls}" named "${text}")
  foreach(call IN LISTS named)
    forbid("names ${call}, which the core may not use")
  endforeach()
endforeach()

list(LENGTH files count)
message(STATUS "${count} core files, ${found} forbidden names")
