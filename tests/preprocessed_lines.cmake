# Refuses a source of the core that needs far more text of headers than it did: one include too many, somewhere, makes
# every build longer. The numbers are lines after preprocessing, without the expansion of macros, with GCC 12 and the
# libraries of Debian 12: at most 152,000 with the standard library and fmt, 190,000 with nlohmann/json, and 256,000 in
# wire/message.cpp, which has simdjson.
# Run as: cmake -D ROOT=<project> -D COMPILER=<g++> -D INCLUDES=<folders> -P preprocessed_lines.cmake

set(lines_max 155000)
set(lines_max_with_json 195000)
set(lines_max_with_simdjson 262000)

include(${CMAKE_CURRENT_LIST_DIR}/source_check.cmake)
file(GLOB_RECURSE files ${ROOT}/src/core/*.cpp)
if(NOT files)
  message(FATAL_ERROR "no sources below ${ROOT}")
endif()
list(TRANSFORM INCLUDES PREPEND -I)

foreach(file IN LISTS files)
  file(RELATIVE_PATH name ${ROOT} ${file})
  execute_process(
    COMMAND ${COMPILER} -std=c++20 -E -fdirectives-only -P ${INCLUDES} ${file}
    COMMAND wc -l
    OUTPUT_VARIABLE lines OUTPUT_STRIP_TRAILING_WHITESPACE COMMAND_ERROR_IS_FATAL ANY)
  file(STRINGS ${file} includes REGEX "^#include <(nlohmann/json|simdjson)")
  set(most ${lines_max})
  if(includes MATCHES "simdjson")
    set(most ${lines_max_with_simdjson})
  elseif(includes)
    set(most ${lines_max_with_json})
  endif()
  if(lines GREATER most OR lines EQUAL 0)
    forbid("needs ${lines} lines after preprocessing, and may need ${most}")
  endif()
endforeach()

list(LENGTH files count)
message(STATUS "${count} sources, ${found} too large")
