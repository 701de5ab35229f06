#pragma once

#include <optional>
#include <string>

#include "core/base/polled_queue.hpp"
#include "core/http/http_link.hpp"
#include "io/backend.hpp"
#include "io/http/environment.hpp"
#include "io/http/http_client.hpp"

namespace sitter {

/// A server that is a daemon and is reached over HTTP: the `HttpLink`, which decides, the
/// connections that carry out what it orders, and its process if it was started here.
class HttpBackend final : public Backend {
 public:
  struct Options {
    HttpLink::Options link;
    /// The file of `--cacert`, or empty.
    std::string cacert;
    Environment environment;
  };

  HttpBackend(const Parts& parts, Options options);

  void handle_timeout(Now now) override;
  std::optional<Instant> next_timeout() const override { return link_.next_timeout(); }
  const Fact* next_fact() override;
  void set_paused(bool paused) override { client_.set_paused(paused); }

 private:
  bool takes(const Order& order) override;
  void on_process(const Fact& fact) override;
  void on_http(HttpFact&& fact);
  bool inspect(const order::InspectBinary& order);
  void carry_out_all() override;
  Fact take_daemon(Generation gen);

  HttpClient client_;
  HttpLink link_;
  /// What listened when the last connection was opened.
  ListenerId listener_ = kNoListener;
  /// Facts of the process that the link need not see.
  PolledQueue<Fact> of_process_;
};

}  // namespace sitter
