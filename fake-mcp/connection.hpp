#pragma once

#include <chrono>
#include <cstddef>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "http_request.hpp"
#include "options.hpp"
#include "sockets.hpp"

namespace sitter::fake {

using HttpHeaders = std::vector<std::pair<std::string, std::string>>;

/// One connection of a client, with the faults in HTTP that the options request. It never blocks:
/// what the client does not take is kept. It takes the next request when the response to the last
/// one is complete.
class Connection {
 public:
  using Clock = std::chrono::steady_clock;

  /// Owns the socket. The options must outlive this object.
  Connection(Socket socket, const HttpOptions& options);
  Connection(const Connection&) = delete;
  Connection& operator=(const Connection&) = delete;
  ~Connection() { close(); }

  Socket socket() const { return socket_; }
  bool is_open() const { return socket_ != kNoSocket; }
  bool has_output() const { return !output_.empty() || endless_; }

  /// Since when no response is under way; nothing while one is.
  std::optional<Clock::time_point> idle_since() const;

  /// Reads what is there. Closes at the end of input.
  void read();
  std::optional<HttpRequest> take_request();

  /// A whole response. A body that begins with { or [ is JSON, and one that begins with < is HTML.
  void respond(int status, const HttpHeaders& headers, std::string_view body);

  /// A response in parts, as an event stream.
  void begin_stream(const HttpHeaders& headers);
  void stream(std::string_view bytes);
  void end_stream();

  /// A head that has no end.
  void begin_endless_head();

  /// Cuts the body of the next response after this many bytes: the connection closes then.
  void limit_body(std::size_t bytes) { body_left_ = bytes; }

  /// Closes when everything so far is written. What the response lacks is never sent.
  void cut();
  void close();

  /// Writes as much as the client takes.
  void flush();

  /// Called if the client closes the connection before the response is complete.
  std::function<void()> on_gone;

 private:
  void begin_response(int status, const HttpHeaders& headers);
  void append_body(std::string_view bytes);
  void finish_response();

  Socket socket_;
  const HttpOptions& options_;
  HttpRequestReader input_;
  std::string output_;
  Clock::time_point idle_since_ = Clock::now();
  bool busy_ = false;              ///< a request was taken, and its response is not complete
  bool closes_when_done_ = false;  ///< the client or an option asked for that
  bool closes_when_written_ = false;
  bool endless_ = false;
  std::optional<std::size_t> body_left_;
};

}  // namespace sitter::fake
