# Keeps the tool that README.md shows the same as its file, which the tests run.
# Run as: cmake -D ROOT=<project> -P readme_example.cmake

include(${CMAKE_CURRENT_LIST_DIR}/source_check.cmake)
set(name README.md)
file(READ ${CMAKE_CURRENT_LIST_DIR}/../docs/examples/cli/notes.sh example)
file(READ ${ROOT}/${name} readme)
string(FIND "${readme}" "\n```bash\n${example}```\n" at)
if(at EQUAL -1)
  forbid("has no block that is docs/examples/cli/notes.sh")
endif()
