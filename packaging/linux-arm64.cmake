# Builds for Linux on arm64 with Debian's cross compiler and the libraries that packaging/libraries has made.
set(CMAKE_SYSTEM_NAME Linux)
set(CMAKE_SYSTEM_PROCESSOR aarch64)
set(CMAKE_C_COMPILER aarch64-linux-gnu-gcc)
set(CMAKE_CXX_COMPILER aarch64-linux-gnu-g++)
set(CMAKE_CROSSCOMPILING_EMULATOR qemu-aarch64-static)
set(SITTER_PLATFORM linux-arm64)
include(${CMAKE_CURRENT_LIST_DIR}/cross.cmake)
