# Shows that the checks of the sources find what they look for: each check must refuse a tree with one
# wrong file, and say why.
# Run as: cmake -D WORK=<folder to write to> -P wrong_sources.cmake

function(expect_refusal check file text words)
  file(REMOVE_RECURSE ${WORK})
  file(WRITE ${WORK}/CONTRIBUTING.md "")
  file(WRITE ${WORK}/${file} "${text}\n")
  execute_process(
    COMMAND ${CMAKE_COMMAND} -D ROOT=${WORK} -P ${CMAKE_CURRENT_LIST_DIR}/${check}.cmake
    RESULT_VARIABLE result OUTPUT_QUIET ERROR_VARIABLE said)
  string(REGEX REPLACE "[ \n]+" " " said "${said}")
  string(FIND "${said}" "${file}: ${words}" at)
  if(result EQUAL 0 OR at EQUAL -1)
    message(SEND_ERROR "${check} does not refuse ${file} with '${text}': ${said}")
  endif()
  file(REMOVE_RECURSE ${WORK})
endfunction()

expect_refusal(rooms src/core/base/a.cpp "#include \"core/child/child.hpp\""
  "includes from core/child, which comes after core/base")
expect_refusal(rooms include/sitter/a.hpp "#include \"core/base/text.hpp\"" "includes from core/base")
expect_refusal(rooms src/core/flat/a.cpp "" "core/flat is not a room")
expect_refusal(rooms src/core/child/a.hpp "class News;" "knows News, which is above it")
expect_refusal(rooms src/core/bridge/tools.hpp "Conductor& conductor_;" "knows Conductor, which is above it")
expect_refusal(rooms src/io/stream/a.cpp "#include \"io/files/file_watch.hpp\""
  "includes from io/files, which comes after io/stream")
expect_refusal(rooms src/io/driver.cpp "#include \"core/bridge/conductor.hpp\""
  "includes core/bridge/conductor.hpp, which the shell may not use")
expect_refusal(filesystem_calls src/io/driver.cpp "bool is = std::filesystem::exists(file)"
  "throws: std::filesystem::exists")
expect_refusal(core_includes src/core/base/a.cpp "#include <fstream>"
  "includes fstream, which the core may not use")
expect_refusal(core_includes src/core/base/a.cpp "auto x = std::getenv(name)"
  "names getenv, which the core may not use")
expect_refusal(heavy_headers src/io/driver.hpp "#include <boost/asio/post.hpp>"
  "includes boost/asio/post.hpp, which only sources may include")
expect_refusal(readme_example README.md "\n```bash\n#!/usr/bin/env bash\n```"
  "has no block that is docs/examples/cli/notes.sh")
