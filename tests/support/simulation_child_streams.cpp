#include <fmt/format.h>
#include <fmt/ranges.h>

#include <iterator>
#include <utility>

#include "support/simulation_child.hpp"
#include "support/simulation_ids.hpp"

/// The streams that a child serves, and the changes that it reports.
namespace sitter::sim {

using Kind = ChildSaid::Kind;
using Era = Character::Era;
using Acknowledges = Character::Acknowledges;

void Child::act_on_listen(const Asked& asked) {
  const bool has_none = character.era == Era::legacy;
  if (has_none || character.acknowledges == Acknowledges::does_not_know_streams) {
    error(asked, -32601);
  } else if (character.acknowledges == Acknowledges::refuses) {
    error(asked, random_.chance(50) ? -32603 : -32602);
  } else {
    streams_.push_back({asked.id, asked.mark, asked.wanted});
    if (character.acknowledges != Acknowledges::never) acknowledge(streams_.back());
  }
}

void Child::acknowledge(Stream& stream) {
  if (character.acknowledges == Acknowledges::partly) {
    std::erase_if(stream.wanted, [&](const std::string&) { return random_.chance(40); });
  }
  std::vector<std::string> members, uris;
  for (const std::string& about : stream.wanted) {
    if (about.starts_with('"')) {
      uris.push_back(about);
    } else {
      // "notifications/tools/list_changed"
      const std::size_t begin = about.find('/') + 1;
      members.push_back(fmt::format(R"json("{}ListChanged":true)json",
                                    about.substr(begin, about.rfind('/') - begin)));
    }
  }
  if (!uris.empty()) {
    members.push_back(fmt::format(R"json("resourceSubscriptions":[{}])json", fmt::join(uris, ",")));
  }
  ChildSaid& said = add(Kind::acknowledgement);
  said.mark = stream.mark;
  said.granted = stream.wanted;
  said.before = fmt::format(
      R"json({{"jsonrpc":"2.0","method":"notifications/subscriptions/acknowledged","params":{{"sim":{},"notifications":{{{}}})json",
      said.number, fmt::join(members, ","));
  said.middle = kStreamTag;
  said.token = stream.id;
  said.after = "}}}";
  write(said);
}

/// Reports a change, most of the time one that the child has granted to the stream.
void Child::tell_change() {
  const Stream& stream = random_.pick(streams_);
  std::string about(random_.pick(kListChanges));
  if (!stream.wanted.empty() && !random_.chance(character.misdirects_changes)) {
    about =
        *std::next(stream.wanted.begin(), random_.below(static_cast<int>(stream.wanted.size())));
  }
  if (about == kToolsChanged) character.tools = random_.below(8);
  if (random_.chance(20)) {
    tell_change(std::move(about), "");
  } else {
    tell_change(std::move(about),
                random_.chance(character.misdirects_changes) ? "\"nobody\"" : stream.id);
  }
}

void Child::tell_change(std::string about, const std::string& stream_id) {
  ChildSaid& said = add(Kind::change);
  const bool is_resource = about.starts_with('"');
  said.before = fmt::format(R"json({{"jsonrpc":"2.0","method":"{}","params":{{"sim":{}{}{})json",
                            is_resource ? "notifications/resources/updated" : about, said.number,
                            is_resource ? R"json(,"uri":)json" : "", is_resource ? about : "");
  said.about = std::move(about);
  said.token = stream_id;
  if (!stream_id.empty()) said.middle = kStreamTag;
  said.after = stream_id.empty() ? "}}" : "}}}";
  write(said);
}

void Child::end_stream(Stream stream) {
  std::erase_if(streams_, [&](const Stream& other) { return other.mark == stream.mark; });
  ChildSaid& said = add(Kind::stream_end);
  said.mark = stream.mark;
  said.id = stream.id;
  said.is_answer = random_.chance(50);
  if (said.is_answer) {
    said.before = R"json({"jsonrpc":"2.0","id":)json";
    // Some servers forget to name the stream. A result for a big id always names it, because
    // otherwise nobody could tell it from a rounded answer.
    const bool names_it = random_.chance(50) || is_big(stream.id);
    said.after =
        fmt::format(R"json(,"result":{{"resultType":"complete","sim":{}{}}}}})json", said.number,
                    names_it ? fmt::format("{}{}}}", kStreamTag, stream.id) : "");
  } else {
    said.before = fmt::format(
        R"json({{"jsonrpc":"2.0","method":"notifications/cancelled","params":{{"sim":{},"requestId":)json",
        said.number);
    said.after = "}}";
  }
  write(said);
}

void Child::end_streams() {
  while (!streams_.empty()) end_stream(streams_.back());
}

}  // namespace sitter::sim
