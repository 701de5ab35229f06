#pragma once

#include <chrono>
#include <cstddef>
#include <functional>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "catalog.hpp"
#include "options.hpp"
#include "output.hpp"
#include "streams.hpp"

namespace sitter::fake {

/// What this process has received so far. The tool `state` shows it, so that a test can check what
/// the bridge sent to a new process on behalf of a client that opened its session long ago.
struct Record {
  std::string initialize_params = "null";
  bool initialized = false;
  std::string level;
  std::set<std::string> subscriptions;
  std::size_t request_count = 0;
  std::size_t bad_line_count = 0;
  std::vector<std::string> methods;    ///< of requests and notifications, in order
  std::vector<std::string> cancelled;  ///< raw ids, in order
  bool wrote_invalid_utf8 = false;

  /// The raw `_meta` of the last message that had one, and the last `_meta` of each method. A
  /// server of the legacy era does not keep them.
  std::string last_envelope = "null";
  std::map<std::string, std::string> envelopes;
};

/// Work for later. Each piece belongs to a request that may be cancelled, and to its exchange.
class Agenda {
 public:
  using Clock = std::chrono::steady_clock;
  using Work = std::function<void()>;

  explicit Agenda(Output& output) : output_(output) {}

  /// Pieces of work for the same time run in the order in which they were added.
  void after(std::chrono::milliseconds delay, std::string_view id, Work work);
  void cancel(std::string_view id);
  void cancel(Exchange exchange);
  void do_what_is_due();
  std::optional<Clock::time_point> next() const;

 private:
  struct Entry {
    std::string id;
    Exchange exchange;
    Work work;
  };
  Output& output_;
  std::multimap<Clock::time_point, Entry> entries_;
};

/// Small valid params for a request to the client; empty if the method needs none.
std::string_view usual_params(std::string_view method);

/// Requests of this server to the client. Their ids are integers from 0 on.
class Questions {
 public:
  /// Gets the raw answer: the result, or the error if there is no result.
  using OnAnswer = std::function<void(std::string_view answer)>;

  explicit Questions(Output& output) : output_(output) {}

  /// If `params` is empty, the usual methods get usual_params().
  void ask(std::string_view method, std::string_view params, OnAnswer on_answer = {});
  void on_answer(std::string_view id, std::string_view answer);

  /// All requests so far, as a JSON array of {id, method, answer}; answer is null until it arrives.
  std::string text() const;

 private:
  struct Question {
    std::string method;
    std::string answer;
    OnAnswer on_answer;
    Exchange exchange;
  };
  Output& output_;
  std::vector<Question> questions_;
};

/// The whole state of one server process, or over HTTP of one session. The methods of both eras and
/// the tools use it.
struct Session {
  /// Both arguments must outlive this object.
  Session(const Options& given, Sink& sink)
      : options(given),
        era(given.era),
        catalog(given),
        output(given, sink),
        questions(output),
        streams(given, output),
        agenda(output) {}

  /// Drops the remaining work for the request with this raw id.
  void cancel(std::string_view id);

  /// Drops the remaining work for the exchange, whose request has this raw id. Requests over HTTP
  /// in the modern era are cancelled like this, because two clients may use the same id.
  void cancel(Exchange exchange, std::string_view id);

  /// Sends a notification. In the modern era, a change goes to the streams that asked for it.
  void notify(std::string_view method, std::string_view params);

  const Options& options;
  Era era;  ///< dual: not decided yet
  Catalog catalog;
  Output output;
  Questions questions;
  Streams streams;
  Agenda agenda;
  Record record;
  bool reading = true;  ///< false: no more input is read
};

}  // namespace sitter::fake
