#include <algorithm>
#include <nlohmann/json.hpp>

#include "core/base/raw_id.hpp"
#include "support/simulation_ids.hpp"
#include "support/simulation_promises.hpp"
#include "support/simulation_unchanged.hpp"

/// What the client gets from the children: everything once and in order.
namespace sitter::sim {

using json = nlohmann::json;

Heard Promises::heard(const std::string& line) {
  const int number = sim_number_in(line);
  if (number == 0) return own(line);
  const ChildSaid& said = said_.child[static_cast<std::size_t>(number)];
  if (!read_order_.contains(number)) {
    throw Broken("the client gets what the child has not said yet");
  }
  // Each stream gets its own copy of a change. `Streams` checks that no stream gets it twice.
  const bool is_copied = said.kind == ChildSaid::Kind::change && initialize_count_ == 0;
  if (!passed_.insert(number).second && !is_copied && !is_mixed()) {
    throw Broken("the client gets a line of the child twice");
  }
  // A child may cancel its own question under an id that a stream of the client has too. The bridge
  // cannot tell which of the two the child means, so it may end the stream.
  if (said.kind == ChildSaid::Kind::cancelled) {
    Streams::Stream* const stream = streams_.find(said.id, requests_.is_held());
    if (stream != nullptr && line == said.before + stream->said->id + said.after) {
      return stream_ended(*stream);
    }
  }
  check_order(said);
  return passed(line, said);
}

void Promises::check_order(const ChildSaid& said) {
  // The end of a stream waits for the exit of the child. The answers of a batch wait for the last
  // of them.
  if (said.kind == ChildSaid::Kind::stream_end || requests_.is_in_array()) return;
  if (const Request* const request = requests_.of(said.mark)) {
    // The bridge holds the answer to a call for a notice. It holds an error until it knows whether
    // the child was not opened, or is of another era.
    const bool may_be_held = said.reads_as_unopened || (said.kind == ChildSaid::Kind::error &&
                                                        !request->said->envelope.empty());
    if (request->said->method == "tools/call" || request->is_doubled || may_be_held) return;
  }
  const int order = read_order_.at(said.number);
  int& last = lives_.at(said.gen).passed_order;
  if (order < last) throw Broken("lines of the child changed places");
  last = order;
}

Heard Promises::passed(const std::string& line, const ChildSaid& said) {
  switch (said.kind) {
    case ChildSaid::Kind::result:
    case ChildSaid::Kind::error:
      return passed_answer(line, said);
    case ChildSaid::Kind::question: {
      if (initialize_count_ == 0) throw Broken("a child asks a client that has opened no session");
      const std::string id = check_question(line, said);
      // The question may have waited until its child was over.
      const bool is_void = lives_.is_over(said.gen);
      questions_.on_passed(
          id, {said.number, said.gen, is_void ? std::optional(now_ + kLate) : std::nullopt});
      return {Heard::Kind::question, id, !said.token.empty()};
    }
    case ChildSaid::Kind::cancelled: {
      const std::string id = questions_.on_cancellation_passed(said.question);
      if (line != said.before + id + said.after) throw Broken("a cancellation was changed");
      return {Heard::Kind::question_cancelled, id};
    }
    case ChildSaid::Kind::stream_end:
      return passed_end(line, said);
    case ChildSaid::Kind::acknowledgement:
      streams_.on_acknowledged(json::parse(line), line, requests_.is_held());
      return {};
    case ChildSaid::Kind::change:
      if (line.find(kStreamTag) != line.npos) {
        const json message = json::parse(line);
        const auto& stream = streams_.told_of(message, line, requests_.is_held());
        check_change(line, said, stream.said->id);
        streams_.on_change(message, line, said.number, requests_.is_held());
        return {said.about == kToolsChanged ? Heard::Kind::tools_changed : Heard::Kind::other};
      }
      if (initialize_count_ == 0) {
        throw Broken("a change reaches the client without the stream it is for");
      }
      break;
    case ChildSaid::Kind::progress:
      if (const Request* const request = requests_.of(said.mark))
        requests_.check_progress(*request);
      break;
    case ChildSaid::Kind::notification:
      break;
  }
  if (line != said.text()) throw Broken("a notification was changed");
  const bool is_tools = line.find("tools/list_changed") != line.npos;
  return {is_tools ? Heard::Kind::tools_changed : Heard::Kind::other};
}

Heard Promises::passed_answer(const std::string& line, const ChildSaid& said) {
  if (said.mark == 0) throw Broken("an answer that is not for the client reaches it");
  Request& request = requests_.at(said.mark);
  // The second answer of a child counts as the answer to a later request with the same id, if there
  // is one.
  if (request.is_answered) request.is_doubled |= requests_.mark_doubled(request.key);
  if (request.is_doubled || request.is_answered) return passed_to_any(line, said, request);
  const bool is_opening = request.is_opening && said.kind == ChildSaid::Kind::result;
  if (is_opening || said.is_discovery) {
    check_opening(line, said, *request.said);
  } else {
    check_answer(line, said, *request.said, config_.writes_notices);
    if (must_be_called_old(request, said) && line.find("is still the old ") == line.npos) {
      throw Broken("an answer of old code leaves without a word");
    }
  }
  const bool is_known = !request.said->envelope.empty() || request.batch != 0;
  if (request.is_withdrawn && is_known && !requests_.is_held()) {
    throw Broken("an answer reaches the client that it has cancelled");
  }
  request.may_be_task = request.said->wants_task || line.find("\"task\"") != line.npos;
  Heard heard = answered(request);
  if (is_opening) heard.version = json::parse(line)["result"].value("protocolVersion", "");
  if (said.is_discovery && heard.kind == Heard::Kind::discovery) heard.id = request.said->id;
  return heard;
}

/// Whether this is the result of a call, and its server is being built anew, or a person has saved
/// a file since its child was started.
bool Promises::must_be_called_old(const Request& request, const ChildSaid& said) {
  if (!config_.writes_notices || is_ending()) return false;
  if (said.kind != ChildSaid::Kind::result || !said.has_content || lives_.is_over(said.gen)) {
    return false;
  }
  // An answer that was read before may wait for a moment.
  if (request.answer_read != said.number) return false;
  const Life& life = lives_.at(said.gen);
  if (life.is_input_closed) return false;
  const auto builds_since = lives_.builds_since();
  if (builds_since && request.waits_since > *builds_since) return true;
  if (!saved_at_ || !config_.watches() || request.waits_since <= *saved_at_) return false;
  return life.started < *saved_at_;
}

/// If several requests have the same id, any of them may get the answer. A second answer may also
/// end a stream whose id the child may have rounded to this one.
Heard Promises::passed_to_any(const std::string& line, const ChildSaid& said,
                              const Request& request) {
  Request* const other = request.is_doubled ? requests_.unanswered(request.key, line) : nullptr;
  if (other != nullptr) return answered(*other);
  return stream_ended(streams_.find_rounded(said.id), line, said);
}

/// A probe that gets no versions counts as refused, and is heard without its id.
Heard Promises::answered(Request& request) {
  requests_.answered(request);
  // The answers that were held for this list follow in a separate read.
  if (is_list(request.said->method) && request.said->is_first_page) requests_.hold(kGapsMax);
  if (request.said->method == "server/discover") return {Heard::Kind::discovery};
  return {Heard::Kind::answer, request.said->id, false, request.is_opening};
}

Heard Promises::passed_end(const std::string& line, const ChildSaid& said) {
  Streams::Stream* stream = streams_.find(said.id, requests_.is_held());
  // The end may be taken for the answer to a request, because the bridge cannot tell their ids
  // apart. The client has closed that stream, or another child serves it now.
  const auto& open = requests_.open_marks();
  const auto found = std::find_if(open.begin(), open.end(), [&](int mark) {
    const Request& request = requests_.at(mark);
    return request.is_doubled && is_big(id_key(said.id)) &&
           is_answer_under(request.said->id, line, said);
  });
  // Exactly the id of a stream means the stream, also if the client has just closed it.
  if (found != open.end()) {
    Request& other = requests_.at(*found);
    if (stream == nullptr || stream->said->id != other.said->id) {
      answered(other);
      return {Heard::Kind::answer, other.said->id};
    }
  }
  if (stream == nullptr) stream = streams_.find_rounded(said.id);
  return stream_ended(stream, line, said);
}

Heard Promises::stream_ended(Streams::Stream* stream, const std::string& line,
                             const ChildSaid& said) {
  if (stream == nullptr) throw Broken("what is not open gets an answer or an end");
  check_stream_end(line, said, stream->said->id);
  return stream_ended(*stream);
}

Heard Promises::stream_ended(Streams::Stream& stream) {
  streams_.close(stream, now_);
  return {Heard::Kind::stream_ended, stream.said->id};
}

}  // namespace sitter::sim
