#pragma once

#include <string>
#include <string_view>

#include "options.hpp"
#include "session.hpp"

namespace sitter::fake {

/// Whether a revision opens with initialize.
bool is_legacy_version(std::string_view version);

/// The result of initialize for these params.
std::string initialize_result(const Options& options, std::string_view params);

/// The methods of the revisions up to 2025-11-25, which open a session with initialize. The server
/// passes on every message that no fault has consumed.
class Legacy {
 public:
  /// The session must outlive this object.
  explicit Legacy(Session& session) : session_(session) {}

  void on_request(std::string_view id, std::string_view method, std::string_view params);
  void on_notification(std::string_view method, std::string_view params);

 private:
  bool keeps_state(std::string_view method, std::string_view params);
  void ask_client();

  Session& session_;
};

}  // namespace sitter::fake
