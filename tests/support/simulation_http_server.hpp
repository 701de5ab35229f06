#pragma once

#include <cstddef>
#include <map>
#include <nlohmann/json.hpp>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "sitter/http.hpp"
#include "sitter/time.hpp"
#include "support/simulation_http_scene.hpp"
#include "support/simulation_random.hpp"

namespace sitter::sim {

/// What the daemon does with the requests that reach it, without the way to it. All that it knows
/// is lost when it is started again.
class HttpServer {
 public:
  /// A request under way with the events of its stream, or a stream that was asked for with GET.
  struct Work {
    int number = 0;
    std::string session;
    std::string method;
    std::string id;  ///< raw; empty for a stream of GET
    int mark = 0;    ///< the number of the client's request; 0 for any other
    std::string token;
    /// The messages in the order of the stream. Those before `heard` have arrived.
    std::vector<std::string> events;
    std::size_t heard = 0;
    bool has_answer = false;
    /// The answer alone is the response.
    bool is_json = false;
    bool is_listen = false;
    int empty_resumes = 0;
    /// When the stream was broken last.
    Instant cut_at{};
  };

  struct Reply {
    int status = 200;
    std::vector<HttpHeader> headers;
    std::string body;
    /// The number of the work whose events or answer follow; 0 for none.
    int work = 0;
    /// The first event that follows.
    std::size_t from = 0;
    /// The session is not known.
    bool is_session_lost = false;
  };

  HttpServer(Random& random, const HttpScene& scene, HttpSaid& said)
      : random_(random), scene_(scene), said_(said) {}

  /// A new process begins to serve.
  void begin();
  void end();
  void forget_sessions();
  bool lives() const { return lives_; }
  int life() const { return life_; }
  bool knows(const std::string& session) const { return sessions_.contains(session); }
  /// From now on the daemon makes no mistakes and answers soon.
  void behave() { is_behaving_ = true; }

  Reply receive(const order::HttpSend& sent);
  /// Does something for a request that is under way. Returns false if there is none.
  bool work();
  Work* find(int number);
  /// The id of the event with this index.
  std::string event_id(const Work& work, std::size_t index) const;
  /// The client has closed the stream, which cancels a request of the stateless revision.
  void on_closed(int number);

 private:
  Reply refuse(int status, std::string body, std::string type = "application/json") const;
  Reply refuse_session();
  Reply session_refusal();
  Reply take_message(const nlohmann::json& message, const order::HttpSend& sent,
                     const std::string& session);
  Reply take_request(const nlohmann::json& message, const std::string& session);
  Reply open(const nlohmann::json& message);
  Reply get(const order::HttpSend& sent, const std::string& session);
  void take_answer(const nlohmann::json& answer, const std::string& session);
  void check_mirrored(const nlohmann::json& message, const order::HttpSend& sent) const;
  bool lacks_region(const nlohmann::json& message, const order::HttpSend& sent) const;
  void advance(Work& work);
  void answer(Work& work);
  void ask(Work& work);
  void notify(Work& work, std::string_view method, const std::string& members);
  nlohmann::json result_of(const Work& work);
  nlohmann::json tools() const;

  Random& random_;
  const HttpScene& scene_;
  HttpSaid& said_;
  bool lives_ = false;
  bool is_behaving_ = false;
  int life_ = 0;
  int tools_ = 0;
  int last_session_ = 0;
  int last_question_ = 0;
  int last_work_ = 0;
  std::set<std::string> sessions_;
  bool had_session_ = false;
  std::map<int, Work> works_;
};

}  // namespace sitter::sim
