#pragma once

#include <memory>
#include <string>
#include <string_view>

namespace sitter::bench {

/// Makes POSTs on one kept connection with the easy interface of libcurl.
class CurlCalls {
 public:
  /// False in a build without libcurl, where nothing else may be called.
  static bool is_there();

  explicit CurlCalls(std::string url);
  CurlCalls(const CurlCalls&) = delete;
  CurlCalls& operator=(const CurlCalls&) = delete;
  ~CurlCalls();

  /// Sends this message, without its line end. Returns the body of the response, which is valid
  /// until the next call.
  std::string_view call(std::string_view message);

 private:
  struct State;

  std::unique_ptr<State> state_;
};

}  // namespace sitter::bench
