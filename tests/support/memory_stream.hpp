#pragma once

#include <cstddef>
#include <functional>
#include <memory>
#include <string>
#include <string_view>

#include "io/http/byte_stream.hpp"

namespace sitter::testing {

/// A connection in memory. The code under test has its near side, a ByteStream. The test plays the
/// loop and the far side by hand.
class MemoryConnection {
 public:
  MemoryConnection();
  MemoryConnection(const MemoryConnection&) = delete;
  MemoryConnection& operator=(const MemoryConnection&) = delete;
  ~MemoryConnection();

  /// Makes the near side. When that has been destroyed, another one can be made.
  std::function<std::unique_ptr<ByteStream>(ByteStream::Events)> near();

  void open();
  /// Bytes that come during a pause are kept until `deliver` is called after it.
  void deliver(std::string_view bytes = {});
  /// The bytes have come, but the loop has not called yet.
  void arrive(std::string_view bytes);
  void close(const std::string& reason = "");

  /// What the near side has written since the last call.
  std::string take_written();
  /// How many times it has written.
  int writes() const;
  /// Whether the near side has been made and not been destroyed.
  bool is_in_use() const;
  bool is_paused() const;
  /// What the near side answers to these questions.
  void set_quiet(bool quiet);
  void set_queued(std::size_t queued);

 private:
  class Near;
  struct State;

  std::shared_ptr<State> state_;
};

}  // namespace sitter::testing
