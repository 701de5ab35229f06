#include "support/simulation_unchanged.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <optional>

#include "support/simulation_ids.hpp"

namespace sitter::sim {

using json = nlohmann::json;

namespace {

/// The item that turns `original` into `line` when it is inserted at one place: content, a message,
/// a tool, or text behind the message of an error. It is empty if both are the same. Returns
/// nothing if there is no such item.
std::optional<std::string_view> inserted_into(std::string_view original, std::string_view line) {
  if (line.size() < original.size()) return std::nullopt;
  const auto same = std::mismatch(original.begin(), original.end(), line.begin());
  auto at = static_cast<std::size_t>(same.first - original.begin());
  if (!line.ends_with(original.substr(at))) return std::nullopt;
  const std::size_t size = line.size() - original.size();
  if (size == 0) return "";
  // The text after the item may begin like the item. Then several places are possible.
  for (;; --at) {
    std::string_view text = line.substr(at, size);
    if (text.starts_with(R"json(\n\n[mcp-sitter] )json")) return text;
    if (text.starts_with(',')) text.remove_prefix(1);
    if (text.starts_with(R"json({"type":"text","text":"[mcp-sitter] )json") ||
        text.starts_with(
            R"json({"role":"user","content":{"type":"text","text":"[mcp-sitter] )json") ||
        text.starts_with(R"json({"uri":"mcp-sitter:notice",)json") ||
        text.starts_with(R"json({"name":")json")) {
      return text;
    }
    if (at == 0 || line[at - 1] != line[at - 1 + size]) return std::nullopt;
  }
}

/// What the client gets for this answer if the bridge puts nothing into it. In the stateless
/// revision, the client may keep no copy of lists and resources.
std::string expected(const ChildSaid& said, const ClientSaid& asked) {
  constexpr std::string_view kKept = R"json("ttlMs":60000)json";
  std::string line = said.before + asked.id + said.after;
  const bool may_be_kept =
      asked.envelope.empty() || !(is_list(asked.method) || asked.method == "resources/read");
  const std::size_t at = may_be_kept ? line.npos : line.find(kKept);
  return at == line.npos ? line : line.replace(at, kKept.size(), R"json("ttlMs":0)json");
}

}  // namespace

void check_answer(const std::string& line, const ChildSaid& said, const ClientSaid& asked,
                  bool may_tell) {
  const auto inserted = inserted_into(expected(said, asked), line);
  if (!inserted) throw Broken("an answer was changed, or has another id than its request");
  if (inserted->empty()) return;
  if (!json::accept(line)) throw Broken("the line is not valid JSON");
  const bool is_tool = inserted->starts_with(R"json({"name":)json");
  const bool is_stale = asked.method == "tasks/get" &&
                        inserted->find("This task was probably begun") != std::string::npos;
  const bool may_be = is_tool
                          ? said.has_tools && asked.is_first_page
                          : (said.has_content && may_tell) || said.reads_as_unopened || is_stale;
  if (!may_be) throw Broken("something was put into an answer");
}

bool is_answer_under(const std::string& raw_id, const std::string& line, const ChildSaid& said) {
  return inserted_into(said.before + raw_id + said.after, line).has_value();
}

void check_opening(const std::string& line, const ChildSaid& said, const ClientSaid& asked) {
  const json now = json::parse(line, nullptr, false);
  const json before = json::parse(said.text(), nullptr, false);
  if (!now.is_object() || !now.contains("result")) throw Broken("the opening is no answer");
  if (now["id"] != json::parse(asked.id)) throw Broken("the opening has another id");
  for (const char* const key : {"sim", "protocolVersion", "supportedVersions", "resultType"}) {
    if (now["result"].value(key, json()) != before["result"].value(key, json())) {
      throw Broken("the opening was changed");
    }
  }
}

std::string check_question(const std::string& line, const ChildSaid& said) {
  const std::size_t size = said.before.size();
  const std::size_t end = line.find_first_not_of("0123456789", size);
  if (!line.starts_with(said.before) || end == line.npos || end == size) {
    throw Broken("a question of the child has no number as its id");
  }
  std::string id = line.substr(size, end - size);
  if (line != said.before + id + said.middle + (said.token.empty() ? "" : id) + said.after) {
    throw Broken("a question of the child was changed");
  }
  return id;
}

void check_reply(const std::string& line, const ClientSaid& said, const ChildSaid& asked) {
  const bool is_answer = said.kind == ClientSaid::Kind::answer;
  const std::string key = is_answer ? "\"id\":" : "\"progressToken\":";
  std::string expected = said.text;
  if (const std::size_t at = expected.find(key + said.about); at != expected.npos) {
    expected.replace(at + key.size(), said.about.size(), is_answer ? asked.id : asked.token);
  }
  if (line != expected) throw Broken("an answer of the client was changed");
}

void check_change(const std::string& line, const ChildSaid& said, const std::string& stream_id) {
  const std::string tagged = fmt::format("{}{}{}}}}}}}", said.before, kStreamTag, stream_id);
  // For a server that keeps numbers as doubles, a closed stream may have the same id.
  const bool may_be_alike = is_big(stream_id) && rounded_key(said.token) == rounded_key(stream_id);
  const bool is_alike =
      may_be_alike && line == said.before + said.id + said.middle + stream_id + said.after;
  if (line != (said.token.empty() ? tagged : said.text()) && !is_alike) {
    throw Broken("a change was changed");
  }
}

void check_stream_end(const std::string& line, const ChildSaid& said,
                      const std::string& stream_id) {
  std::string as_said = line;
  if (line.find("\"result\":") != line.npos || line.find("\"result\" :") != line.npos) {
    const std::string tag = fmt::format("{}{}}}", kStreamTag, stream_id);
    constexpr std::string_view kType = R"json(,"resultType":"complete")json";
    if (line.find(tag) == line.npos) throw Broken("the end of a stream does not name the stream");
    if (said.text().find(kStreamTag) == std::string::npos) {
      as_said.erase(as_said.find(tag), tag.size());
    }
    const std::size_t at = as_said.find(kType);
    if (said.text().find("\"resultType\"") == std::string::npos && at != as_said.npos) {
      as_said.erase(at, kType.size());
    }
  }
  if (as_said != said.before + stream_id + said.after) {
    throw Broken("the end of a stream was changed, or has another id");
  }
}

}  // namespace sitter::sim
