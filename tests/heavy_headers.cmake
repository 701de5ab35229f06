# Keeps large libraries out of our headers: whoever changes such a header, or includes it, waits for them.
# Run as: cmake -D ROOT=<project> -P heavy_headers.cmake

include(${CMAKE_CURRENT_LIST_DIR}/source_check.cmake)
file(GLOB_RECURSE files ${ROOT}/include/sitter/*.hpp ${ROOT}/src/*.hpp)
if(NOT files)
  message(FATAL_ERROR "no headers below ${ROOT}")
endif()

foreach(file IN LISTS files)
  file(RELATIVE_PATH name ${ROOT} ${file})
  included_headers(headers)
  foreach(header IN LISTS headers)
    # These only declare nlohmann's names, and an address, which is a value and has two users.
    if(header STREQUAL "nlohmann/json_fwd.hpp" OR
        "${name} ${header}" STREQUAL "src/io/http/tcp_address.hpp boost/asio/ip/address.hpp")
      continue()
    endif()
    if(header MATCHES "^(nlohmann|boost|spdlog)/")
      forbid("includes ${header}, which only sources may include")
    endif()
  endforeach()
endforeach()

list(LENGTH files count)
message(STATUS "${count} headers, ${found} large libraries")
