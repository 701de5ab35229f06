#pragma once

#include <nlohmann/json.hpp>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "support/simulation_http_scene.hpp"
#include "support/simulation_random.hpp"

namespace sitter::sim {

/// A client that speaks within the protocol, and checks each line that it gets.
class HttpClient {
 public:
  HttpClient(Random& random, const HttpScene& scene, HttpSaid& said)
      : random_(random), scene_(scene), said_(said) {}

  /// The next line; nothing if the client has nothing to say now.
  std::optional<std::string> says();
  /// Only what a client must still say for the daemon to go on.
  std::optional<std::string> says_at_rest();
  /// A call that must succeed if the daemon serves.
  std::string calls();
  void hears(const std::string& text);

  /// The number of the request that the last line has cancelled; 0 if it has cancelled none.
  int cancelled() const { return cancelled_; }
  /// How many requests have no answer, but for streams.
  std::size_t owed_count() const;
  std::string owed_words() const;
  bool has_succeeded(int mark) const { return succeeded_.contains(mark); }
  int last_mark() const { return said_.last_number; }
  bool is_open() const { return is_open_; }

 private:
  enum class Opening { none, asked, answered, open };

  std::optional<std::string> opens();
  std::string request(const std::string& method, nlohmann::json params);
  std::string builtin(const std::string& tool);
  std::string notification();
  std::string cancels();
  std::string answers();
  void hears_answer(const nlohmann::json& message);
  void check_own_words(HttpSaid::Request& asked, const std::string& text) const;
  void check_result(int mark, HttpSaid::Request& asked, nlohmann::json result);

  Random& random_;
  const HttpScene& scene_;
  HttpSaid& said_;
  Opening opening_ = Opening::none;
  bool is_open_ = false;
  int opening_mark_ = 0;
  int cancelled_ = 0;
  std::set<int> open_;
  std::set<int> succeeded_;
  std::set<int> heard_;
  std::vector<nlohmann::json> questions_;
};

}  // namespace sitter::sim
