#pragma once

#include <deque>
#include <string>
#include <string_view>
#include <vector>

#include "support/simulation_random.hpp"
#include "support/simulation_said.hpp"

namespace sitter::sim {

/// A client of any revision. It opens a session if its revision has one, and then writes random
/// lines. Its wildness decides how many of them are against the protocol.
class Client {
 public:
  Client(Random& random, Said& said, const Scene& scene);

  /// Writes the next line and returns its mark. Returns 0 if the client prefers to wait.
  int says();
  /// Writes one of very many requests that follow each other, so that the queues reach their
  /// bounds.
  int says_one_of_many();
  /// Writes a large request that the bridge may send to a second child.
  int says_much();
  void hears(const Heard& heard);

 private:
  struct Question {
    std::string id;
    bool has_token = false;
  };

  enum class State {
    silent,
    probing,  ///< it waits for the answer to server/discover
    opening,
    opened,
    initialized,
    stateless,  ///< there is nothing to open
  };

  int says_opening();
  int says_anything();
  int says_stateless();

  // simulation_client_requests.cpp
  ClientSaid& add(ClientSaid::Kind kind);
  int request(std::string method, std::string params);
  int request(ClientSaid& said, std::string method, std::string params);
  bool writes_envelope();
  std::string envelope(ClientSaid& said);
  std::string next_id();
  std::string next_id(int& next_number);
  std::string spelled(int number);
  int discover();
  int initialize();
  int list();
  int other_request();
  int other_stateless_request();
  int listen();

  // simulation_client_calls.cpp
  int call();
  int call_builtin();
  int call_wrongly();
  int kill();
  int rebuild();

  // simulation_client_lines.cpp
  int notify(ClientSaid::Kind kind, std::string_view method, std::string_view params);
  int initialized();
  int cancel();
  int cancel(const std::string& id);
  int batch();
  int part_of_batch();
  int answer();
  int progress();
  int notification();
  int rubbish();
  int too_long();

  /// How many calls it may still make.
  struct Left {
    int kills = 0;
    int rebuilds = 0;
  };

  Random& random_;
  Said& said_;
  const Scene& scene_;
  const int wildness_;
  bool is_impatient_;
  bool lists_again_;
  bool wants_progress_;
  int id_style_;
  int next_number_ = 1;
  int next_stream_ = 70'000;
  State state_ = State::silent;
  bool writes_batches_ = false;
  bool has_to_list_ = false;
  int early_count_ = 0;
  Left left_;
  int next_rebuild_ = 90'000;
  /// The raw ids of calls of sitter_rebuild that may be open.
  std::vector<std::string> rebuild_ids_;
  std::deque<std::string> recent_ids_;
  std::vector<Question> questions_;
  /// The raw ids of streams that may be open.
  std::vector<std::string> streams_;
};

}  // namespace sitter::sim
