#pragma once

#include <string>
#include <string_view>

#include "options.hpp"
#include "session.hpp"

namespace sitter::fake {

/// The result of initialize for these params.
std::string initialize_result(const Options& options, std::string_view params);

/// The methods of the revisions up to 2025-11-25, which open a session with initialize. The server
/// hands on what no fault has swallowed; a later era of the protocol can stand beside this one.
class Legacy {
 public:
  /// The session must live as long as this.
  explicit Legacy(Session& session) : session_(session) {}

  void on_request(std::string_view id, std::string_view method, std::string_view params);
  void on_notification(std::string_view method, std::string_view params);

 private:
  void on_list(std::string_view id, std::string_view name, const std::string& list);
  void ask_client();

  Session& session_;
};

}  // namespace sitter::fake
