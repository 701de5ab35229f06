#include "demo/play.hpp"

#include <fmt/format.h>

#include <chrono>
#include <nlohmann/json.hpp>
#include <stdexcept>
#include <utility>
#include <vector>

#include "core/base/shell_word.hpp"
#include "probe/json_words.hpp"
#include "sitter/version.hpp"
#include "terminal/hunk.hpp"

namespace sitter {
namespace {

using std::chrono::milliseconds;

/// Far longer than any answer takes.
constexpr milliseconds kPatience{20'000};
constexpr milliseconds kStatusRound{50};

/// A save and the rebuild that follows at once must come within this time. Otherwise the save alone
/// would reload the server.
constexpr milliseconds kDebounce{500};
/// A reload may itself write into the watched files, so the bridge does not trust a save that comes
/// less than `kDebounce` after it.
constexpr milliseconds kReloadIsOver = kDebounce + milliseconds(100);

constexpr std::string_view kToModel = "  model  <- ";
constexpr std::string_view kFromModel = "  model  -> ";
constexpr std::string_view kToClient = "  client <- ";
constexpr std::string_view kFromClient = "  client -> ";

std::vector<std::string> bridge_words(const Story& story) {
  // These words change nothing that the viewer sees, so `command_line` leaves them out.
  std::vector<std::string> words = {"--no-ctl", "--debounce", std::to_string(kDebounce.count())};
  words.insert(words.end(), story.words.begin(), story.words.end());
  return words;
}

std::string command_line(const Story& story) {
  std::string line = "mcp-sitter";
  for (const std::string_view word : story.words) {
    line += " " + shell_word(word);
  }
  return line;
}

Screen::Look look_of(const std::string& line) {
  if (line.front() == '+') return Screen::Look::added;
  return line.front() == '-' ? Screen::Look::removed : Screen::Look::quiet;
}

bool is_notice(std::string_view text) { return text.starts_with("[mcp-sitter]"); }

}  // namespace

Play::Play(const Story& story, Screen& screen, Interruption& interruption)
    : story_(story),
      screen_(screen),
      interruption_(interruption),
      workshop_("mcp-sitter-demo"),
      source_(story.source) {}

void Play::run() {
  open();
  screen_.show("", story_.title, Screen::Look::title);
  screen_.show("  $ ", command_line(story_));
  int number = 0;
  for (const Step& step : story_.steps) {
    step_title_ = fmt::format("{}. {}", ++number, step.title);
    screen_.gap();
    screen_.show("", step_title_, Screen::Look::title);
    screen_.pause();
    play(step);
  }
  tally_.servers = status().value("spawnCount", std::size_t{0});
  check(session_->end() == 0, "mcp-sitter did not end with exit code 0");
  const bool is_as_told = tally_ == story_.tally;
  screen_.gap();
  screen_.show("", tally_text(tally_), is_as_told ? Screen::Look::good : Screen::Look::bad);
  check(is_as_told, fmt::format("the story tells of {}", tally_text(story_.tally)));
}

void Play::open() {
  workshop_.write(story_.source_file, source_);
  workshop_.write_program(story_.program_file, source_);
  workshop_.write(story_.data_file, story_.data);
  session_.emplace(BridgeSession::Start{.words = bridge_words(story_), .cwd = workshop_.path()});
  session_->on_message = [this](const Json& message) { on_message(message); };
  const Json opened =
      ask("initialize", {{"protocolVersion", "2025-11-25"},
                         {"capabilities", Json::object()},
                         {"clientInfo", {{"name", "demo"}, {"version", kVersion}}}});
  check(opened.contains("result"), "mcp-sitter did not open the session");
  ++tally_.connections;
  session_->tell("notifications/initialized", Json::object());
  ask("tools/list", Json::object());
}

void Play::play(const Step& step) {
  // Every earlier reload has ended before.
  const auto begin = Clock::now();
  has_heard_change_ = false;
  const std::size_t crashes_before = tally_.crashes;
  if (!step.edit.empty()) show_edit(step);
  if (step.reloads_on_save) reload_by_save(step, begin);
  screen_.show(kFromModel, fmt::format("{} {}", step.tool, step.arguments));
  screen_.pause();
  // Right before the call, because the save alone would soon reload the server.
  if (!step.edit.empty() && !step.reloads_on_save) save(step);
  const std::string text = call(step);
  screen_.pause();
  for (const std::string_view told : step.told) {
    check(text.find(told) != text.npos,
          fmt::format("the answer of {} lacks '{}'", step.tool, told));
  }
  check(has_heard_change_ == step.changes_tools,
        step.changes_tools ? "the client did not hear that the tools changed"
                           : "the client heard of a change of the tools");
  check((tally_.crashes > crashes_before) == step.crashes,
        step.crashes ? "the server did not crash" : "the server crashed");
}

void Play::show_edit(const Step& step) {
  screen_.show("  edit      ", story_.source_file, Screen::Look::quiet);
  constexpr std::string_view kIndent = "            ";
  std::string source = source_;
  bool is_first = true;
  for (const Change& change : step.edit) {
    std::string after = edited(source, {change});
    if (!std::exchange(is_first, false)) screen_.show(kIndent, "@@", Screen::Look::quiet);
    const auto changed = hunk(source, after, 1);
    for (const std::string& line : changed.value().lines) {
      screen_.show(kIndent, line.substr(0, line.find('\n')), look_of(line));
    }
    source = std::move(after);
  }
  screen_.pause();
}

void Play::save(const Step& step) {
  source_ = edited(std::move(source_), step.edit);
  workshop_.write(story_.source_file, source_);
  // After this answer, the bridge has seen the save.
  status();
}

void Play::reload_by_save(const Step& step, Clock::time_point others_over) {
  const auto left = others_over + kReloadIsOver - Clock::now();
  interruption_.wait(std::chrono::ceil<milliseconds>(left));
  const Json pid_before = status()["childPid"];
  save(step);
  wait_for_reload(pid_before);
  screen_.show("  --watch   ", "the save has reloaded the server", Screen::Look::quiet);
  screen_.pause();
}

void Play::wait_for_reload(const Json& pid_before) {
  const auto end = Clock::now() + kPatience;
  while (Clock::now() < end) {
    const Json now = status();
    if (now["childReady"] == true && now["childPid"] != pid_before) return;
    interruption_.wait(kStatusRound);
  }
  check(false, "the save has not reloaded the server");
}

std::string Play::call(const Step& step) {
  const Json result = result_of(step.tool, Json::parse(step.arguments));
  std::string text;
  std::string label(kToModel);
  for (const Json& block : result.value("content", Json::array())) {
    const std::string part = block.value("text", "");
    const bool is_error = result.value("isError", false);
    screen_.show(label, part,
                 is_error          ? Screen::Look::removed
                 : is_notice(part) ? Screen::Look::notice
                                   : Screen::Look::plain);
    text += part + '\n';
    label.assign(label.size(), ' ');
  }
  if (is_notice(text) && text.find(" the server crashed ") != text.npos) ++tally_.crashes;
  return text;
}

BridgeSession::Json Play::ask(std::string_view method, Json params) {
  const auto answer = session_->ask(method, std::move(params), kPatience);
  interruption_.wait(milliseconds::zero());
  return answer.value_or(Json::object());
}

BridgeSession::Json Play::result_of(std::string_view tool, const Json& arguments) {
  const Json answer = ask("tools/call", {{"name", tool}, {"arguments", arguments}});
  if (!answer.contains("result")) ++tally_.lost_calls;
  return answer.value("result", Json::object());
}

BridgeSession::Json Play::status() {
  const Json result = result_of("sitter_status", Json::object());
  check(result.contains("content"), "sitter_status has no answer");
  return parsed_json(result["content"].at(0).value("text", ""));
}

void Play::on_message(const Json& message) {
  const std::string method = message.value("method", "");
  if (method != "notifications/tools/list_changed") return;
  has_heard_change_ = true;
  screen_.show(kToClient, method, Screen::Look::quiet);
  screen_.show(kFromClient, "tools/list", Screen::Look::quiet);
  // As in any client: the model's next turn has the new list.
  ask("tools/list", Json::object());
}

void Play::check(bool is_as_told, std::string_view what) const {
  if (is_as_told) return;
  throw std::runtime_error(step_title_.empty() ? std::string(what)
                                               : fmt::format("{}: {}", step_title_, what));
}

}  // namespace sitter
