#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <utility>

namespace sitter {

/// The only owner of an open file descriptor. Its destructor closes the descriptor. Empty if
/// default-constructed, moved from or closed.
class FileDescriptor {
 public:
  FileDescriptor() = default;
  explicit FileDescriptor(int number) : number_(number) {}
  FileDescriptor(FileDescriptor&& other) noexcept : number_(other.release()) {}
  FileDescriptor& operator=(FileDescriptor&& other) noexcept {
    if (this != &other) {
      close();
      number_ = other.release();
    }
    return *this;
  }
  ~FileDescriptor() { close(); }

  bool is_open() const { return number_ >= 0; }
  int number() const { return number_; }

  /// Releases the descriptor; the caller must close it.
  int release() { return std::exchange(number_, -1); }

  /// Harmless when there is nothing to close.
  void close();

 private:
  int number_ = -1;
};

/// Whether this process may open so many more files at this moment.
bool may_open_files(std::size_t count);

/// The bytes of a file. Nothing if it cannot be read or has more than `size_max` bytes; `problem`
/// then says why, as a clause for a person. Never waits for a FIFO or a device.
std::optional<std::string> read_whole_file(const std::string& path, std::size_t size_max,
                                           std::string& problem);

/// The first bytes of a file, at most so many. Empty if it cannot be read. Never waits for a FIFO
/// or a device.
std::string read_head(const std::string& path, std::size_t size_max);

}  // namespace sitter
