#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "connection.hpp"
#include "http_request.hpp"
#include "http_session.hpp"
#include "journal.hpp"
#include "listener.hpp"
#include "options.hpp"
#include "receiver.hpp"

namespace sitter::fake {

/// A daemon: serves any number of clients over Streamable HTTP at /mcp.
class HttpServer {
 public:
  /// Listens. Exits with 1 and a sentence on stderr if that is not possible. The options must
  /// outlive this object.
  explicit HttpServer(const Options& options);

  /// Serves until a signal, a fault or --exit-when-idle ends the process. Returns the exit code.
  int run();

 private:
  using ConnectionPtr = std::shared_ptr<Connection>;

  void wait();
  void take_requests();
  void do_what_is_due();
  void drop_what_is_over();
  void end();

  void on_request(const ConnectionPtr& connection, const HttpRequest& request);
  void note(const HttpRequest& request, const Message& message) const;
  bool swallowed(const ConnectionPtr& connection, const HttpRequest& request,
                 const Message& message);
  void on_post(const ConnectionPtr& connection, const HttpRequest& request, const Message& message);
  void on_legacy_post(const ConnectionPtr& connection, const HttpRequest& request,
                      const Message& message);
  void on_modern_post(const ConnectionPtr& connection, const HttpRequest& request,
                      const Message& message);
  void on_get(const ConnectionPtr& connection, const HttpRequest& request);
  void on_delete(const ConnectionPtr& connection, const HttpRequest& request);
  void deliver(HttpSession& session, const ConnectionPtr& connection, const HttpRequest& request,
               const Message& message);
  bool prepare_cut(const ConnectionPtr& connection, const std::string& name);
  HttpSession* find_session(const HttpRequest& request);
  HttpSession& open_session();
  bool is_modern(const Message& message) const;
  std::vector<HttpSession*> sessions();

  const Options& options_;
  const HttpOptions& http_;
  Journal journal_;
  Journal http_journal_;
  Listener listener_;
  std::vector<ConnectionPtr> connections_;
  std::map<std::string, std::unique_ptr<HttpSession>, std::less<>> sessions_;
  HttpSession stateless_;  ///< serves the modern era
  HttpSession shared_;     ///< serves the legacy era with --http-no-session
  bool was_opened_ = false;
  Exchange last_exchange_ = kNoExchange;
  std::size_t request_count_ = 0;
  std::map<std::string, std::size_t, std::less<>> answered_count_;  ///< of --http-status
  bool has_cut_ = false;
  bool idle_ = false;  ///< --exit-when-idle is due
};

}  // namespace sitter::fake
