#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <string_view>

#include "core/base/text.hpp"
#include "doctor/findings.hpp"

namespace sitter {
namespace {

using Json = nlohmann::ordered_json;

/// As wide as the longest name of a level, and a space.
constexpr std::size_t kIndent = 8;

std::string_view colour(Level level) {
  switch (level) {
    case Level::ok:
      return "\x1b[32m";
    case Level::warning:
      return "\x1b[33m";
    case Level::problem:
      break;
  }
  return "\x1b[31m";
}

std::size_t count(const std::vector<Finding>& findings, Level level) {
  return static_cast<std::size_t>(
      std::count_if(findings.begin(), findings.end(),
                    [&](const Finding& finding) { return finding.level == level; }));
}

Json text_or_null(const std::string& text) { return text.empty() ? Json() : Json(text); }

/// The same for a text of the server.
Json shown_or_null(const std::string& text) { return text_or_null(shown(text)); }

std::string_view kind_name(DoctorFacts::Kind kind) {
  switch (kind) {
    case DoctorFacts::Kind::process:
      return "stdio";
    case DoctorFacts::Kind::daemon:
    case DoctorFacts::Kind::elsewhere:
      return "http";
    case DoctorFacts::Kind::tool:
      break;
  }
  return "cli";
}

Json server_json(const DoctorFacts& facts) {
  Json json;
  json["kind"] = kind_name(facts.kind);
  json["command"] = facts.command;
  json["path"] = facts.file ? Json(facts.file->path) : Json();
  json["sizeBytes"] = facts.file ? Json(facts.file->size) : Json();
  json["modified"] = facts.file ? text_or_null(facts.file->modified) : Json();
  json["interpreter"] = facts.file ? text_or_null(facts.file->interpreter) : Json();
  json["name"] = shown_or_null(facts.opening.server_name);
  json["version"] = shown_or_null(facts.opening.server_version);
  return json;
}

Json opening_json(const DoctorFacts& facts) {
  const DoctorFacts::Opening& opening = facts.opening;
  Json json;
  json["opened"] = opening.is_open;
  json["ms"] = opening.time ? Json(opening.time->count()) : Json();
  json["initialize"] = shown_or_null(opening.revision);
  json["stateless"] = facts.discovery == DoctorFacts::Discovery::answered;
  json["capabilities"] = Json::array();
  for (const std::string& name : opening.capabilities) json["capabilities"].push_back(shown(name));
  json["failure"] = opening.failure.empty() ? Json() : Json(shown_failure(opening.failure));
  return json;
}

Json tools_json(const DoctorFacts& facts) {
  Json json;
  json["count"] = facts.tools.size();
  json["bytes"] = tool_bytes(facts);
  json["tokensRough"] = rough_tokens(tool_bytes(facts));
  json["largest"] = Json::array();
  for (const DoctorFacts::Tool& tool : largest_tools(facts)) {
    json["largest"].push_back({{"name", shown(tool.name)}, {"bytes", tool.bytes}});
  }
  return json;
}

Json calls_json(const DoctorFacts& facts) {
  Json json = {
      {"called", Json::array()}, {"failed", Json::object()}, {"notCalled", Json::object()}};
  for (const DoctorFacts::Tool& tool : facts.tools) {
    if (!tool.not_called.empty()) {
      json["notCalled"][shown(tool.name)] = tool.not_called;
    } else if (!tool.failure.empty()) {
      json["failed"][shown(tool.name)] = shown_failure(tool.failure);
    } else {
      json["called"].push_back(shown(tool.name));
    }
  }
  return json;
}

Json lists_json(const DoctorFacts& facts) {
  Json json = Json::object();
  for (const DoctorFacts::List& list : facts.lists) {
    json[list.method] = list.error.empty() ? Json{{"count", list.count}}
                                           : Json{{"error", shown_failure(list.error)}};
  }
  return json;
}

Json lines_json(const DoctorFacts::Lines& lines, const char* which) {
  return {{"lines", lines.count}, {which, lines.kept}};
}

Json end_json(const DoctorFacts& facts) {
  Json json;
  json["endsBy"] = facts.end && facts.end->server ? Json(facts.end->server->how) : Json();
  json["descendants"] = Json::array();
  if (facts.end) {
    for (const DoctorFacts::Ended& one : facts.end->descendants) {
      json["descendants"].push_back({{"command", one.command}, {"endsBy", one.how}});
    }
  }
  using Outcome = DoctorFacts::Termination::Outcome;
  const bool was_tried = facts.end_words.may_ignore() && facts.termination &&
                         facts.termination->outcome != Outcome::not_restarted;
  json["endsAtSigterm"] = was_tried ? Json(facts.termination->outcome == Outcome::ended) : Json();
  return json;
}

Json environment_json(const DoctorFacts& facts) {
  if (!facts.environment) return Json();
  Json json;
  json["opensWithShort"] = facts.environment->outcome == DoctorFacts::Environment::Outcome::opens;
  json["needed"] = facts.environment->needed;
  json["exact"] = facts.environment->is_exact;
  json["starts"] = facts.environment->starts;
  return json;
}

}  // namespace

std::string doctor_text(const std::vector<Finding>& findings, bool is_coloured) {
  std::string text;
  for (const Finding& finding : findings) {
    const std::string level = fmt::format("{:<{}}", level_name(finding.level), kIndent);
    text += is_coloured ? fmt::format("{}{}\x1b[0m", colour(finding.level), level) : level;
    text += finding.what + '\n';
    if (!finding.way_out.empty()) text += fmt::format("{:{}}{}\n", "", kIndent, finding.way_out);
  }
  return text + fmt::format("{} ok, {}, {}\n", count(findings, Level::ok),
                            counted(count(findings, Level::warning), "warning"),
                            counted(count(findings, Level::problem), "problem"));
}

std::string doctor_json(const DoctorFacts& facts, const std::vector<Finding>& findings) {
  Json json;
  json["server"] = server_json(facts);
  json["opening"] = opening_json(facts);
  json["tools"] = tools_json(facts);
  json["lists"] = lists_json(facts);
  json["calls"] = calls_json(facts);
  json["stdout"] = lines_json(facts.noise, "first");
  json["stderr"] = lines_json(facts.errors, "last");
  json["end"] = end_json(facts);
  json["environment"] = environment_json(facts);
  json["findings"] = Json::array();
  for (const Finding& finding : findings) {
    json["findings"].push_back({{"level", level_name(finding.level)},
                                {"subject", finding.subject},
                                {"what", finding.what},
                                {"wayOut", text_or_null(finding.way_out)}});
  }
  json["ok"] = count(findings, Level::ok);
  json["warnings"] = count(findings, Level::warning);
  json["problems"] = count(findings, Level::problem);
  return printable_json(json.dump(2, ' ', false, Json::error_handler_t::replace)) + '\n';
}

int doctor_exit_code(const std::vector<Finding>& findings) {
  return count(findings, Level::problem) > 0 ? 1 : 0;
}

}  // namespace sitter
