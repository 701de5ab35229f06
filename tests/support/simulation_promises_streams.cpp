#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "support/simulation_ids.hpp"
#include "support/simulation_promises.hpp"

/// What the client hears on its streams.
namespace sitter::sim {

using json = nlohmann::json;

Heard Promises::passed_to_stream(const std::string& line, const ChildSaid& said) {
  if (said.kind == ChildSaid::Kind::stream_end) {
    Streams::Stream* stream = streams_.find(said.id, may_be_closed());
    Request* const other = taken_for(said, line);
    // Exactly the id of a stream means the stream, also if the client has just closed it.
    if (other != nullptr && (stream == nullptr || stream->said->id != other->said->id)) {
      notices_.on_unread();
      answered(*other, other->said->id);
      return {Heard::Kind::answer, other->said->id};
    }
    if (stream == nullptr) stream = streams_.find_rounded(said.id);
    if (stream == nullptr) throw Broken("a stream that is not open ends");
    return stream_ended(*stream, line, said);
  }
  const json message = json::parse(line, nullptr, false);
  if (!message.is_object()) throw Broken("the line is not valid JSON");
  if (said.kind == ChildSaid::Kind::acknowledgement) {
    streams_.on_acknowledged(message, line, may_be_closed());
    return {};
  }
  const Streams::Stream& stream = streams_.told_of(message, line, may_be_closed());
  const std::string& id = stream.said->id;
  const std::string tagged = fmt::format("{}{}{}}}}}}}", said.before, kStreamTag, id);
  // For a server that keeps numbers as doubles, a closed stream may have the same id.
  const bool may_be_alike = is_big(id) && rounded_key(said.token) == rounded_key(id);
  const bool is_alike =
      may_be_alike && line == said.before + said.id + said.middle + id + said.after;
  if (line != (said.token.empty() ? tagged : said.text()) && !is_alike) {
    throw Broken("a change was changed");
  }
  streams_.on_change(message, line, said.number, may_be_closed());
  const bool is_tools = said.about == "notifications/tools/list_changed";
  return {is_tools ? Heard::Kind::tools_changed : Heard::Kind::other};
}

/// Checks that the result that ends a stream names the stream. Returns the text that names it, as
/// the bridge inserts it.
std::string Promises::check_stream_named(const std::string& line, const Streams::Stream& stream) {
  const std::string tag = fmt::format("{}{}", kStreamTag, stream.said->id);
  if (line.find(tag) == line.npos) {
    throw Broken("a stream ends with a result that does not name it");
  }
  return tag + "}";
}

Heard Promises::stream_ended(Streams::Stream& stream, const std::string& line,
                             const ChildSaid& said) {
  std::string as_said = line;
  if (line.find("\"result\":") != line.npos || line.find("\"result\" :") != line.npos) {
    const std::string tag = check_stream_named(line, stream);
    if (said.text().find(kStreamTag) == std::string::npos) {
      as_said.erase(as_said.find(tag), tag.size());
    }
    constexpr std::string_view type = R"json(,"resultType":"complete")json";
    if (said.text().find("\"resultType\"") == std::string::npos) {
      const std::size_t at = as_said.find(type);
      if (at == as_said.npos) throw Broken("the result that ends a stream does not say so");
      as_said.erase(at, type.size());
    }
  }
  if (as_said != said.before + stream.said->id + said.after) {
    throw Broken("the end of a stream was changed, or has another id");
  }
  streams_.close(stream, now_);
  return {Heard::Kind::stream_ended, stream.said->id};
}

/// A child may cancel its own question under an id that a stream of the client has too. The bridge
/// cannot tell which of the two the child means, so it may end the stream. Returns that stream. The
/// client need not have heard of the question, because questions are dropped outside of a session.
Streams::Stream* Promises::cancelled_stream(const ChildSaid& said, const std::string& line) {
  if (said.kind != ChildSaid::Kind::cancelled) return nullptr;
  Streams::Stream* const stream = streams_.find(said.id, may_be_closed());
  const bool is_its = stream != nullptr && line == said.before + stream->said->id + said.after;
  return is_its ? stream : nullptr;
}

}  // namespace sitter::sim
