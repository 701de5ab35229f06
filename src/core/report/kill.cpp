#include "core/report/kill.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <nlohmann/json.hpp>

#include "core/base/text.hpp"
#include "core/report/tool_json.hpp"

namespace sitter {

std::string refusal_text(const SharedImage& shared) {
  std::string text = fmt::format(
      "Nothing was ended. The scope same-executable would end every process that runs {}, "
      "which other programs run too. ",
      shared.path);
  if (shared.others.empty()) {
    text += "At the moment, no such process is running.";
  } else {
    text += "These processes would have ended:";
  }
  const std::size_t shown = std::min(shared.others.size(), limits::kShownStrangersMax);
  for (std::size_t i = 0; i < shown; ++i) {
    text += fmt::format("\n{} {}", shared.others[i].pid, shared.others[i].command);
  }
  if (shown < shared.others.size()) {
    text += fmt::format("\nand {} more", shared.others.size() - shown);
  }
  return text +
         "\nThe scope auto ends the server and all that it started, and leaves other programs "
         "alone. Only the user can allow more, by starting mcp-sitter with --allow-wide-kill.";
}

std::string not_running_words(const ChildEnd& last, WallTime::duration ago) {
  return fmt::format("The server was not running ({} {}).", reason_words(last),
                     age_text(std::chrono::duration_cast<Milliseconds>(ago)));
}

std::string not_running_words() { return "The server was not running."; }

std::string foreign_kill_words(std::string_view url, std::optional<std::int64_t> listening) {
  return fmt::format(
      "The server at {} was not started by this mcp-sitter, so it was not ended{}; only its "
      "session was given up. Restart it where it was started; the next request opens another "
      "session.",
      url, listening ? fmt::format(": pid {} listens there", *listening) : "");
}

std::string kill_text(const KillReport& report) {
  ToolJson json;
  ToolJson killed = ToolJson::array();
  for (const KillReport::Killed& one : report.killed) {
    ToolJson process;
    process["pid"] = one.pid;
    process["relation"] = one.relation;
    process["command"] = one.command;
    process["how"] = one.how;
    killed.push_back(std::move(process));
  }
  json["killed"] = std::move(killed);
  json["path"] = report.path ? ToolJson(*report.path) : ToolJson();
  json["count"] = report.killed.size();
  std::string note = report.note;
  if (!report.left_alone.empty()) {
    ToolJson left = ToolJson::array();
    for (const KillReport::LeftAlone& one : report.left_alone) {
      if (left.size() == limits::kShownStrangersMax) break;
      left.push_back({{"pid", one.pid}, {"command", one.command}, {"reason", one.reason}});
    }
    if (!note.empty()) note += " ";
    if (left.size() < report.left_alone.size()) {
      note += fmt::format("leftAlone names {} of {}. ", left.size(), report.left_alone.size());
    }
    note += "The scope same-executable ends what leftAlone names.";
    json["leftAlone"] = std::move(left);
  }
  if (!note.empty()) json["note"] = note;
  return indented(json);
}

}  // namespace sitter
