#pragma once

#include <deque>
#include <string>
#include <string_view>
#include <vector>

#include "support/simulation_random.hpp"
#include "support/simulation_said.hpp"

namespace sitter::sim {

/// A legacy client. It opens a session and then writes whatever comes to its mind; how much of that
/// is against the protocol depends on its wildness.
class Client {
 public:
  /// `wildness` in percent. `meets_outer_tools`: the children may have tools named as the bridge's.
  Client(Random& random, Said& said, int wildness, bool meets_outer_tools);

  /// The number of its next line; 0 when it would rather wait.
  int says();
  /// So many requests one after the other that the queues have to end somewhere.
  int says_one_of_many();
  void hears(const Heard& heard);

 private:
  struct Question {
    std::string id;
    bool has_token = false;
  };

  enum class State { silent, opening, opened, initialized };

  ClientSaid& add(ClientSaid::Kind kind);
  int request(std::string method, std::string params);
  int notify(ClientSaid::Kind kind, std::string_view method, std::string_view params);
  std::string next_id();
  std::string spelled(int number);

  int initialize();
  int initialized();
  int call();
  int call_builtin();
  int kill();
  int list();
  int other_request();
  int cancel();
  int answer();
  int progress();
  int notification();
  int rubbish();
  int too_long();

  Random& random_;
  Said& said_;
  int wildness_;
  bool meets_outer_tools_;
  bool is_impatient_;
  bool lists_again_;
  bool wants_progress_;
  int id_style_;
  int next_number_ = 1;
  State state_ = State::silent;
  bool has_to_list_ = false;
  int kills_left_ = 0;
  std::deque<std::string> recent_ids_;
  std::vector<Question> questions_;
};

}  // namespace sitter::sim
