#pragma once

#include <string>
#include <string_view>

#include "options.hpp"
#include "session.hpp"

namespace sitter::fake {

inline constexpr std::string_view kModernVersion = "2026-07-28";

/// The raw protocol version in the `_meta` of these params; empty if there is none.
std::string_view envelope_version(std::string_view params);

/// The result of server/discover.
std::string discover_result(const Options& options);

/// The methods of revision 2026-07-28, in which every request names its revision and no session is
/// opened. The server passes on every message that no fault has consumed.
class Modern {
 public:
  /// The session must outlive this object.
  explicit Modern(Session& session) : session_(session) {}

  void on_request(std::string_view id, std::string_view method, std::string_view params);
  void on_notification(std::string_view method, std::string_view params);

 private:
  bool refuses(std::string_view id, std::string_view method, std::string_view params);
  void listen(std::string_view id, std::string_view params);
  void refuse_version(std::string_view id, std::string_view requested);
  void error(std::string_view id, const ErrorAnswer& answer);

  Session& session_;
};

}  // namespace sitter::fake
