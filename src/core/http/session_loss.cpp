#include "core/http/session_loss.hpp"

#include <string>

#include "core/base/ascii.hpp"
#include "core/http/http_words.hpp"
#include "core/wire/json_view.hpp"

namespace sitter {
namespace {

bool has_words(std::string_view text, std::string_view lower) {
  return find_ignoring_case(text, lower) != text.npos;
}

/// A daemon that lost its sessions answers in this way if it is built as the examples of the
/// TypeScript SDK are. There, -32000 has many meanings.
bool is_error_about_session(std::string_view body) {
  const auto refused = rpc_error(body);
  if (!refused) return false;
  const std::string_view code = member(refused->error, "code");
  if (code != "-32000" && code != "-32001") return false;
  const std::string message = string_value(member(refused->error, "message"));
  if (has_words(message, "unsupported protocol version")) return false;
  return has_words(message, "session") || has_words(message, "not initialized");
}

}  // namespace

SessionLoss session_loss(const HttpRefusal& refusal) {
  if (refusal.status < 400 || refusal.status > 499) return SessionLoss::none;
  if (has_words(refusal.body, "server already initialized")) return SessionLoss::already_open;
  bool is_gone = false;
  if (refusal.status == 404) is_gone = refusal.had_session_id;
  if (refusal.status == 400) is_gone = is_error_about_session(refusal.body);
  // With WWW-Authenticate, the client must authenticate itself, whatever the body says.
  if (refusal.status == 401) {
    is_gone = refusal.www_authenticate.empty() && has_words(refusal.body, "session");
  }
  return is_gone ? SessionLoss::gone : SessionLoss::none;
}

}  // namespace sitter
