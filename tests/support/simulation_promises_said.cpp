#include <algorithm>

#include "core/base/raw_id.hpp"
#include "support/simulation_ids.hpp"
#include "support/simulation_promises.hpp"

/// What the client and the children say, and what is owed for it.
namespace sitter::sim {

void Promises::on_client_line(const ClientSaid& said) {
  must_reach_ = {};
  on_said(said, 0);
  for (const int part : said.parts)
    on_said(said_.client[static_cast<std::size_t>(part)], said.mark);
}

void Promises::on_said(const ClientSaid& said, int batch) {
  using Kind = ClientSaid::Kind;
  const bool is_wrong = said.kind == Kind::rubbish || said.kind == Kind::too_long;
  says_initialized_ |= said.kind == Kind::initialized && initialize_count_ > 0;
  if (is_wrong && said.id.empty()) {
    requests_.owe_error(batch);
  } else if (is_wrong || said.kind == Kind::request) {
    on_request(said, is_wrong ? 0 : batch);
  } else if (said.kind == Kind::listen) {
    if (is_big(said.id)) requests_.mark_doubled(requests_.key_of(said.id));
    lives_.on_asked();
    streams_.open(said, now_);
  } else if (said.kind == Kind::cancelled) {
    on_cancellation(said);
  } else if (said.kind == Kind::answer) {
    const auto gen = questions_.on_answered(said.about);
    if (gen && lives_.at(*gen).listens()) must_reach_ = {said.mark, *gen};
  }
}

void Promises::on_request(const ClientSaid& said, int batch) {
  const bool may_be_alike = is_big(said.id) && streams_.has_had_rounded(said.id);
  Request& request = requests_.open(said, batch, may_be_alike);
  const bool counts_as_initialized = initialize_count_ > 0 && !says_initialized_ &&
                                     said.kind == ClientSaid::Kind::request &&
                                     said.method != "ping" && !request.is_opening;
  asks_uninitialized_ |= counts_as_initialized || is_mixed();
  if (request.is_opening) {
    ++initialize_count_;
    says_initialized_ = false;
  }
  const bool is_rebuild = said.tool == "sitter_rebuild";
  const bool is_kill = said.tool == "sitter_kill";
  // Children may have tools with the other names.
  const bool is_ours =
      is_rebuild || is_kill || said.tool == "sitter_call" || said.tool == "sitter_build_log";
  request.is_builtin = said.kind == ClientSaid::Kind::request &&
                       said.tool.find("sitter_") != std::string::npos &&
                       (is_ours || !scene_.has_outer_tools);
  if (is_rebuild) lives_.on_build_asked(said.build_timeout);
  if (is_kill) lives_.goes_on();
  if (is_kill) saved_at_.reset();
  if (is_rebuild || (!request.is_builtin && said.method != "ping")) lives_.on_asked();
}

void Promises::on_cancellation(const ClientSaid& said) {
  if (Streams::Stream* const stream = streams_.find(said.about)) {
    // The end of the stream may be on its way.
    const bool is_asked = !lives_.is_over(stream->gen) && lives_.at(stream->gen).listens();
    if (is_asked && !stream->has_ended && !requests_.is_held()) {
      must_reach_ = {said.mark, stream->gen};
    }
    streams_.close(*stream, now_);
    return;
  }
  Request* const request = requests_.open_to_cancel(said.about);
  if (request == nullptr || (request->is_opening && !request->is_doubled)) return;
  requests_.cancelled(*request);
  if (request->is_doubled) {
    request->is_cancelled = !request->is_opening;
    return;
  }
  request->is_cancelled = true;
  // The other requests of its batch may have waited only for this one. Their answers leave now.
  if (request->batch != 0) lives_.goes_on();
  if (!is_in_flight(*request)) {
    requests_.forget(*request);
  } else if (request->answer_read == 0) {
    request->is_withdrawn = !request->is_builtin;
    const Generation gen = request->sent_to.back();
    if (lives_.at(gen).listens()) must_reach_ = {said.mark, gen};
  }
}

void Promises::on_child_line(Generation gen, const std::vector<int>& numbers) {
  if (lives_.is_over(gen)) return;
  for (const int number : numbers) {
    const ChildSaid& said = said_.child[static_cast<std::size_t>(number)];
    read_order_[number] = static_cast<int>(read_order_.size()) + 1;
    if (said.question != 0) questions_.on_cancelled(said.question);
    if (said.kind == ChildSaid::Kind::progress) requests_.hold(kLate);
    streams_.on_said(said, gen);
    const bool is_result = said.kind == ChildSaid::Kind::result;
    if (is_result || said.kind == ChildSaid::Kind::error) on_answer_read(gen, said);
  }
}

void Promises::on_answer_read(Generation gen, const ChildSaid& said) {
  Life& life = lives_.at(gen);
  const bool is_opening_result = said.kind == ChildSaid::Kind::result &&
                                 said.text().find("\"protocolVersion\"") != std::string::npos;
  life.is_open |= is_opening_result && !said.is_unreadable && same_id(said.id, life.opening_id);
  if (requests_.of(said.mark) == nullptr) return;
  Request* const request = &requests_.at(said.mark);
  if (said.has_tools || request->is_doubled) requests_.hold(kLate);
  // A second answer of a child may be taken for the answer to a later request with the same id.
  if (request->is_answered && said.is_unreadable) requests_.mark_doubled(request->key);
  // The answer to another request with the same id may have been taken for its own.
  for (const int mark : requests_.open_marks()) {
    Request& other = requests_.at(mark);
    const bool may_be_its = mark == said.mark || (other.is_doubled && other.key == request->key);
    if (said.is_unopened && may_be_its) other.refused_by = gen;
  }
  if (request->is_answered || request->is_cancelled || request->is_doubled || stopped_at_) return;
  if (request->sent_to.empty() || request->sent_to.back() != gen) return;
  // If a child is replaced or taken down during its opening, the bridge does not pass its refusal
  // on. The next child is opened instead, or the end of the child answers the client.
  if (request->answer_read != 0 || (request->is_opening && !is_opening_result)) return;
  request->answer_read = said.number;
  request->waits_since = now_;
}

/// Another child has taken the place of this one, or it is over.
void Promises::lose_requests(Generation gen) {
  questions_.on_over(gen, now_ + kLate);
  for (const int mark : std::vector(requests_.open_marks())) {
    Request& request = requests_.at(mark);
    const bool is_its = !request.sent_to.empty() && request.sent_to.back() == gen;
    if (is_its && request.is_cancelled) requests_.forget(request);
  }
}

}  // namespace sitter::sim
