#pragma once

#include <string>
#include <string_view>

#include "catalog.hpp"
#include "options.hpp"

namespace sitter::fake {

/// The answers of --fast. Nothing is allocated for a tools/call.
class FastAnswers {
 public:
  /// The options must outlive this object.
  explicit FastAnswers(const Options& options);

  /// Appends the answer to a message. False if the message needs none, because it is a notification
  /// or an answer.
  bool append(std::string_view line, std::string& output) const;

 private:
  void append_rare_result(std::string_view method, std::string_view line,
                          std::string& output) const;

  const Options& options_;
  const bool is_modern_;  ///< true for dual too: the added members do no harm
  Catalog catalog_;
  std::string result_;
};

}  // namespace sitter::fake
