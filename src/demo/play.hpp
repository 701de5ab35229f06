#pragma once

#include <chrono>
#include <optional>
#include <string>
#include <string_view>

#include "demo/interruption.hpp"
#include "demo/screen.hpp"
#include "demo/story.hpp"
#include "demo/workshop.hpp"
#include "probe/bridge_session.hpp"

namespace sitter {

/// Plays a story: it is the client of a bridge with a real server, and shows what both say.
class Play {
 public:
  Play(const Story& story, Screen& screen, Interruption& interruption);

  /// Plays the whole story, and shows at its end what was counted. Throws std::runtime_error if
  /// something goes other than told, and Interrupted.
  void run();

 private:
  using Clock = std::chrono::steady_clock;
  using Json = BridgeSession::Json;

  void open();
  void play(const Step& step);
  void show_edit(const Step& step);
  void save(const Step& step);
  /// Saves, and waits for the reload. All other reloads were over at this time.
  void reload_by_save(const Step& step, Clock::time_point others_over);
  void wait_for_reload(const Json& pid_before);
  /// Shows the answer of the call, and returns its text.
  std::string call(const Step& step);
  Json ask(std::string_view method, Json params);
  /// Makes a call, which counts as lost if it has no answer.
  Json result_of(std::string_view tool, const Json& arguments);
  Json status();
  void on_message(const Json& message);
  void check(bool is_as_told, std::string_view what) const;

  const Story& story_;
  Screen& screen_;
  Interruption& interruption_;
  const Workshop workshop_;
  std::string source_;
  std::string step_title_;
  std::optional<BridgeSession> session_;
  Tally tally_;
  bool has_heard_change_ = false;
};

}  // namespace sitter
