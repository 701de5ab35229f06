#include <fmt/format.h>

#include <string>
#include <utility>

#include "core/base/json_text.hpp"
#include "core/base/raw_id.hpp"
#include "core/base/text.hpp"
#include "core/bridge/conductor.hpp"
#include "core/report/lint_findings.hpp"
#include "core/wire/answer_defect.hpp"
#include "core/wire/protocol.hpp"
#include "core/wire/salvage.hpp"

// What a child writes that is no message, or no answer that clients take.

namespace sitter {

using Level = order::Log::Level;
using RequestState = ClientRequest::State;

/// A line that is not one message. Messages alone are taken as if each had a line of its own.
/// Beside anything else, only an answer that is owed is taken: the server may print what it reads
/// and writes, and a client without a bridge skips such a line.
void Conductor::on_unreadable(Child& child, Line line, bool is_unfinished) {
  const std::string what = reader_.defect().what;
  const auto objects = split_objects(line.text());
  const auto texts = texts_around(objects, line.text());
  bool has_other = !texts.empty();
  const bool is_alone = objects.size() == 1 && texts.empty();

  std::vector<std::string_view> owed;
  for (const std::string_view object : objects) {
    const Message* const message = reader_.read(Line::padded(object));
    const bool has_text_before = !texts.empty() && texts.front().data() < object.data();
    has_other = has_other || message == nullptr;
    const bool is_taken = message != nullptr ? is_owed(child, *message)
                                             : !has_text_before && looks_like_answer(object) &&
                                                   (is_alone || !lenient_id(object).empty());
    if (is_taken) owed.push_back(object);
  }
  const std::vector<std::string_view>& taken = has_other ? owed : objects;
  for (const auto text : texts_around(taken, line.text())) add_noise(child, text);
  for (const auto object : taken) parts_.push_back({child.gen(), Line::padded(object)});
  // A dying child was still writing this line, so the line is not an answer. The end of the child
  // says more.
  if (is_unfinished || !taken.empty() || texts.empty()) return;
  if (looks_like_answer(texts.front())) answer_unreadable(child, lenient_id(texts.front()), what);
}

void Conductor::add_noise(Child& child, std::string_view text) {
  if (servers_.add_noise(child, text)) news_.on_noise();
}

/// Whether a request waits for this answer: one of the client, or one of the bridge itself.
bool Conductor::is_owed(Child& child, const Message& message) {
  if (message.id.empty()) return false;
  if (message.kind != Message::Kind::result && message.kind != Message::Kind::error) return false;
  // The server may print the client's answer to a question of its own with the same id.
  if (child.has_heard(message)) return false;
  const bool opens = child.handshake.state() == Handshake::State::opening &&
                     same_id(message.id, child.handshake.opening_id());
  return opens || desk_.has_given_id(message.id) ||
         servers_.find_sent(child, message.id) != nullptr ||
         desk_.streams().find(message.id, child.sender(message.id)) != nullptr;
}

/// One of several objects on a line, as if it had stood on a line of its own.
void Conductor::on_part(const Part& part) {
  Child* const child = servers_.generations().find(part.gen);
  if (child == nullptr) return;
  if (const Message* const message = reader_.read(part.line)) {
    on_child_message(*child, *message, part.line);
    return;
  }
  const Defect defect = reader_.defect();
  const std::string_view object = part.line.text();
  add_noise(*child, object);
  if (!looks_like_answer(object)) return;
  const std::string_view id = lenient_id(object);
  const bool is_named = !id.empty() || defect.kind != Defect::Kind::not_json_rpc;
  answer_unreadable(*child, is_named ? std::string(id) : only_id(*child), defect.what);
}

void Conductor::on(const fact::ChildLineTooLong& fact) {
  Child* const child = servers_.generations().find(fact.gen);
  if (child == nullptr) return;
  const std::string what = too_long_text(fact.size);
  add_noise(*child, fact.head);
  out_.log(Level::warn, fmt::format("child {}: {}", fact.gen, what));
  if (const std::string_view id = lenient_id(fact.head, fact.tail); !id.empty()) {
    answer_unreadable(*child, id, what);
  } else {
    // Some request may never be answered now, and nobody can tell which.
    child->life.take_down(EndReason::wrote_rubbish,
                          fmt::format("it wrote a line of {} bytes that shows no id", fact.size),
                          servers_.ladder(), now_, out_);
  }
}

void Conductor::answer_unreadable(Child& child, std::string_view id, std::string_view what) {
  if (id.empty()) return;
  if (child.handshake.state() == Handshake::State::opening &&
      same_id(id, child.handshake.opening_id())) {
    std::string why = fmt::format("its answer to initialize could not be read: {}", what);
    if (ClientRequest* const asked = desk_.asked_opening()) {
      news_.answer_opening_ourselves(*asked, why, servers_.ring().last_words(child.gen()));
    }
    child.life.take_down(EndReason::opening_refused, std::move(why), servers_.ladder(), now_, out_);
    return;
  }
  ClientRequest* const request = servers_.find_sent(child, id);
  if (request == nullptr) return;
  if (request->state == RequestState::cancelled) {
    desk_.requests().take(*request);
    return;
  }
  std::string text = fmt::format(
      "[mcp-sitter] The server answered this request, but its answer could not be read: {}.", what);
  if (desk_.names().offers(Builtin::child_stderr)) {
    text += fmt::format(" {} shows what the server {}, marked [stdout].",
                        desk_.names().name(Builtin::child_stderr), servers_.traits().wrote);
  }
  desk_.answer_failure(*request, ErrorCode::internal_error, text);
}

/// An answer that clients throw away is answered by us. Returns whether it was one.
bool Conductor::refuse_answer(Child& child, const Message& message, Line line) {
  const std::string what = answer_defect(message);
  if (what.empty()) return false;
  const std::string id(message.id);
  add_noise(child, line.text());
  answer_unreadable(child, id, what);
  return true;
}

/// Takes this answer in the place of the one that the child has sent.
void Conductor::take_respelled(Child& child, std::string line) {
  const OwnedLine& respelled = respelled_.emplace_back(std::move(line));
  if (const Message* const answer = reader_.read(respelled.line())) {
    on_child_answer(child, *answer, respelled.line());
  }
}

/// Some servers write all ids as the other type, which clients that compare loosely take.
bool Conductor::take_other_type(Child& child, const Message& message, Line line) {
  // A client of one type can only mean that.
  const bool is_kept = child.keeps_id_types && desk_.requests().has_both_id_types();
  const std::string id = is_kept ? std::string() : id_of_other_type(message.id);

  Message other = message;
  other.id = id;
  const bool is_stream = desk_.streams().find(id, child.sender(id)) != nullptr;
  if (id.empty() || is_stream || !is_owed(child, other)) return false;
  news_.on_finding(fmt::format(
      "the server writes the ids of its answers as the other type (\"7\" for 7, or 7 for \"7\"), "
      "{}do not match them",
      kSomeClients));
  take_respelled(child, Outgoing::spliced(line, message.id, id).text());
  return true;
}

/// The request that an answer without an id belongs to, if the child has only one; otherwise null.
/// Some servers also answer notifications, which have no id.
ClientRequest* Conductor::only_request(const Child& child, bool is_about_request) {
  const auto open = desk_.requests().at_child(child.gen());
  const bool is_clear = is_about_request || !child.notified_before;
  return is_clear && open.size() == 1 ? open.front() : nullptr;
}

/// The raw id of what such an answer answers; empty if that is not clear.
std::string Conductor::only_id(const Child& child) {
  if (child.handshake.state() == Handshake::State::opening) return child.handshake.opening_id();
  const ClientRequest* const request = only_request(child, false);
  return request == nullptr ? std::string() : std::string(request->id());
}

/// The server could not read a request, and does not say which. If only one is open, it is that
/// one.
void Conductor::on_error_without_id(Child& child, const Message& message, Line line) {
  out_.log(Level::warn, fmt::format("child {} sent an error without an id: {}", child.gen(),
                                    servers_.secrets().brief(message.error, 300)));
  add_noise(child, line.text());
  if (child.handshake.state() == Handshake::State::opening) {
    take_respelled(child, fmt::format(R"json({{"jsonrpc":"2.0","id":{},"error":{}}})json",
                                      child.handshake.opening_id(), message.error));
    return;
  }
  if (message.error.find("notifications/") != message.error.npos) return;
  ClientRequest* const request =
      only_request(child, has_code(message.error, ErrorCode::parse_error));

  if (request == nullptr || request->state == RequestState::cancelled) return;
  desk_.answer_failure(
      *request, ErrorCode::internal_error,
      fmt::format("[mcp-sitter] The server wrote an error that names no request, and this is the "
                  "only request that it has: {}",
                  servers_.secrets().brief(message.error, 1000)));
}

}  // namespace sitter
