#include "core/client/streams.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <utility>
#include <vector>

#include "core/base/raw_id.hpp"
#include "core/client/stream_tag.hpp"
#include "core/wire/json_view.hpp"
#include "core/wire/method.hpp"
#include "core/wire/protocol.hpp"
#include "core/wire/reply.hpp"

namespace sitter {

using Level = order::Log::Level;
using Stream = Streams::Stream;

namespace {

/// Ids of cancelled streams that are remembered. A server may still end such a stream properly,
/// with a result that carries the id. It does so soon after the cancellation.
constexpr std::size_t kCancelledStreamsMax = 64;

/// If this many children in a row die without acknowledging a stream, the next child must answer
/// another request before the bridge sends it the stream. Two, as for a request that is sent once
/// more.
constexpr int kStreamDeathsMax = 2;

Outgoing change_line(CatalogKind kind, const Stream& stream) {
  return Outgoing::own(notification_line(method_name(changed_method(kind)),
                                         fmt::format("{{{}}}", stream_meta(stream.id))));
}

}  // namespace

std::string Streams::refusal(std::size_t line_size) const {
  std::size_t bytes = line_size;
  for (const Stream& stream : streams_) bytes += stream.line.line().text().size();
  if (streams_.size() < limits::kStreamsMax && bytes <= limits::kStreamBytesMax) return {};
  return fmt::format(
      "mcp-sitter keeps at most {} streams open, with requests of at most {} bytes together; "
      "cancel a stream that is not needed",
      limits::kStreamsMax, limits::kStreamBytesMax);
}

void Streams::open(std::string_view raw_id, Line line, StreamFilter wanted,
                   std::optional<Instant> acknowledge_by) {
  Stream& stream = streams_.emplace_back();
  stream.id = raw_id;
  stream.line = OwnedLine(line.text());
  stream.wanted = std::move(wanted);
  stream.deadline = acknowledge_by;
}

void Streams::close(const Stream& stream) {
  streams_.remove_if([&](const Stream& other) { return &other == &stream; });
}

void Streams::cancel(Stream& stream, Line line, bool is_heard, const Turn& turn) {
  if (is_heard && stream.at_child != AtChild::refused) {
    turn.to_child(stream.gen, Outgoing::passed(line));
  }
  close_cancelled(stream);
}

void Streams::close_cancelled(const Stream& stream) {
  cancelled_.push_back(stream.id);
  if (cancelled_.size() > kCancelledStreamsMax) cancelled_.pop_front();
  close(stream);
}

bool Streams::was_cancelled(std::string_view raw_id) const {
  return std::any_of(cancelled_.begin(), cancelled_.end(),
                     [&](const std::string& id) { return same_id(id, raw_id); });
}

Stream* Streams::find(std::string_view raw_id) {
  const auto found = std::find_if(streams_.begin(), streams_.end(),
                                  [&](const Stream& stream) { return same_id(stream.id, raw_id); });
  return found == streams_.end() ? nullptr : &*found;
}

Stream* Streams::find(std::string_view raw_id, Generation gen) {
  if (streams_.empty() || raw_id.empty()) return nullptr;
  Stream* const stream = find(raw_id);
  return stream != nullptr && stream->gen == gen ? stream : nullptr;
}

Stream* Streams::find(std::string_view raw_id, const Sender& sender) {
  Stream* const stream = find(raw_id, sender.gen);
  if (stream != nullptr || !sender.may_round || streams_.empty()) return stream;
  // The child may not have read yet that this stream was cancelled.
  if (was_cancelled(raw_id)) return nullptr;
  const auto printed = printed_double(raw_id);
  if (!printed) return nullptr;
  const auto found = std::find_if(streams_.begin(), streams_.end(), [&](const Stream& other) {
    return other.gen == sender.gen && rounded_id(other.id) == printed;
  });
  return found == streams_.end() ? nullptr : &*found;
}

void Streams::ask(Generation gen, bool has_answered, const Turn& turn) {
  for (Stream& stream : streams_) {
    const bool is_deadly = stream.unacknowledged_count >= kStreamDeathsMax && !has_answered;
    if (stream.gen == gen || is_deadly) continue;
    stream.gen = gen;
    stream.at_child = AtChild::asked;
    ++stream.unacknowledged_count;
    if (!stream.is_granted()) stream.deadline = turn.now.steady + limits::kStreamAckWait;
    turn.to_child(gen, Outgoing::own(stream.line.text()));
  }
}

/// The bridge tells of every change that it finds after a restart. It can therefore grant that much
/// without a child.
StreamFilter Streams::own_grant(const Stream& stream) const {
  StreamFilter grant;
  for (const CatalogKind kind : kCatalogKinds) {
    if (stream.wanted.has(kind) && finds_changes_(kind)) grant.add(kind);
  }
  return grant;
}

void Streams::grant_ourselves(Stream& stream, const Turn& turn) {
  stream.at_client = AtClient::granted_by_us;
  stream.grant = own_grant(stream);
  stream.deadline.reset();
  turn.to_client(
      Outgoing::own(notification_line(method_name(Method::subscriptions_acknowledged),
                                      fmt::format(R"json({{{},"notifications":{}}})json",
                                                  stream_meta(stream.id), stream.grant.text()))));
  tell_missed(stream, turn);
}

/// Tells what changed before the stream was granted.
void Streams::tell_missed(Stream& stream, const Turn& turn) {
  const auto missed = std::exchange(stream.has_missed, {});
  for (const CatalogKind kind : kCatalogKinds) {
    if (missed[static_cast<std::size_t>(kind)] && stream.grant.has(kind)) {
      turn.to_client(change_line(kind, stream));
    }
  }
}

void Streams::grant_waiting(const Turn& turn) {
  for (Stream& stream : streams_) {
    if (!stream.is_granted() && stream.gen == kNoGeneration) grant_ourselves(stream, turn);
  }
}

/// Ends a stream that can't go on with its grant. The client opens a new stream after an end of
/// this kind.
void Streams::end(const Stream& stream, std::string_view why, const Turn& turn) {
  turn.to_client(Outgoing::own(cancelled_line(stream.id, why)));
  close_cancelled(stream);
}

void Streams::on_acknowledged(const Sender& sender, const Message& message, Line line,
                              const Turn& turn) {
  Stream* stream = find(message.params.subscription_id, sender);
  const auto granted = StreamFilter::of(message.params.notifications);
  // A grant of what the stream has not asked for belongs to a stream that is closed, and the child
  // has rounded no id.
  if (stream != nullptr && granted && !stream->wanted.covers(*granted) &&
      !same_id(stream->id, message.params.subscription_id)) {
    stream = nullptr;
  }
  if (stream == nullptr || stream->at_child == AtChild::ending || !granted) {
    const bool is_late = was_cancelled(message.params.subscription_id);
    turn.log(is_late ? Level::debug : Level::warn,
             fmt::format("child {} acknowledged a stream that nobody waits for", sender.gen));
    return;
  }
  stream->at_child = granted->is_empty() ? AtChild::carries_nothing : AtChild::acknowledged;
  stream->unacknowledged_count = 0;
  StreamFilter all = *granted;
  for (const CatalogKind kind : kCatalogKinds) {
    if (own_grant(*stream).has(kind)) all.add(kind);
  }
  if (stream->is_granted()) {
    const bool is_less = !all.covers(stream->grant);
    const bool is_more = stream->at_client == AtClient::granted_by_us &&
                         !stream->grant.covers(stream->wanted) && !stream->grant.covers(all);
    // A child that is on its way out can't be told, and the next child may grant more.
    if (!(is_less || is_more) || !sender.is_up) return;
    turn.to_child(sender.gen, Outgoing::own(cancelled_line(stream->id)));
    end(*stream,
        is_less ? "the restarted server grants less of this stream"
                : "the server is there now and grants more of this stream",
        turn);
    return;
  }
  stream->deadline.reset();
  Edits edits(line);
  if (stream->id != message.params.subscription_id) {
    edits.replace(message.params.subscription_id, stream->id);
  }
  if (!(all == *granted)) edits.replace(message.params.notifications, all.text());
  stream->at_client = AtClient::granted;
  stream->grant = std::move(all);
  turn.to_client(edits.outgoing());
  tell_missed(*stream, turn);
}

void Streams::on_answer(Stream& stream, const Message& message, Line line, bool is_last,
                        const Turn& turn) {
  Edits edits(line);
  if (stream.id != message.id) edits.replace(message.id, stream.id);
  if (message.kind == Message::Kind::result) {
    if (stream.at_child == AtChild::carries_nothing && !stream.grant.is_empty()) {
      // The child ended a stream that carried nothing, so the bridge goes on without it.
      stream.at_child = AtChild::refused;
      return;
    }
    if (is_object(message.result)) {
      if (member(message.result, "resultType").empty()) {
        edits.append(message.result, R"json("resultType":"complete")json");
      }
      name_stream(message.result, stream.id, edits);
    } else {
      edits.replace(message.result, complete("{}", stream_member(stream.id)));
    }
    on_ended(stream, edits.outgoing(), is_last, turn);
    return;
  }
  const bool was_acknowledged =
      stream.at_child == AtChild::acknowledged || stream.at_child == AtChild::carries_nothing;
  stream.deadline.reset();
  stream.at_child = AtChild::refused;
  const bool is_unknown_method = has_code(message.error, ErrorCode::method_not_found);
  if (was_acknowledged || (!stream.is_granted() && !is_unknown_method)) {
    turn.to_client(edits.outgoing());
    close(stream);
  } else if (!stream.is_granted()) {
    grant_ourselves(stream, turn);
  } else if (!own_grant(stream).covers(stream.grant)) {
    end(stream, "the restarted server refuses this stream", turn);
  }
}

void Streams::on_cancelled(Stream& stream, const Message& message, Line line, bool is_last,
                           const Turn& turn) {
  Edits edits(line);
  if (stream.id != message.params.request_id) edits.replace(message.params.request_id, stream.id);
  on_ended(stream, edits.outgoing(), is_last, turn);
}

/// The child has ended a stream in good order. A child that is about to exit ends all its streams
/// in this way, and the next child serves them again.
void Streams::on_ended(Stream& stream, Outgoing line, bool is_last, const Turn& turn) {
  if (is_last) {
    turn.to_client(std::move(line));
    close(stream);
    return;
  }
  stream.at_child = AtChild::ending;
  stream.ending = OwnedLine(line.text());
  stream.deadline = turn.now.steady + limits::kStreamEndWait;
}

void Streams::pass_end(const Stream& stream, const Turn& turn) {
  turn.to_client(Outgoing::own(stream.ending.text()));
  close(stream);
}

void Streams::pass_ends(const Turn& turn) {
  std::vector<Stream*> ended;
  for (Stream& stream : streams_) {
    if (stream.at_child == AtChild::ending) ended.push_back(&stream);
  }
  for (const Stream* const stream : ended) pass_end(*stream, turn);
}

void Streams::end_all(std::string_view server_info, const Turn& turn) const {
  for (const Stream& stream : streams_) {
    turn.to_client(Outgoing::own(result_line(
        stream.id, complete("{}", fmt::format("{},{}", stream_member(stream.id), server_info)))));
  }
}

void Streams::on_timeout(const std::function<bool(Generation)>& is_up, const Turn& turn) {
  std::vector<Stream*> due;
  for (Stream& stream : streams_) {
    if (is_due(stream.deadline, turn.now)) due.push_back(&stream);
  }
  for (Stream* const stream : due) {
    stream->deadline.reset();
    if (stream->at_child == AtChild::ending) {
      if (is_up(stream->gen)) pass_end(*stream, turn);
      continue;
    }
    turn.log(Level::warn, stream->gen == kNoGeneration
                              ? "no server is running for a stream, so mcp-sitter acknowledges it"
                              : fmt::format("child {} did not acknowledge a stream, so "
                                            "mcp-sitter does",
                                            stream->gen));
    grant_ourselves(*stream, turn);
  }
}

void Streams::on_child_lost(Generation gen, const Turn& turn) {
  for (Stream& stream : streams_) {
    if (stream.gen != gen) continue;
    stream.gen = kNoGeneration;
    stream.at_child = AtChild::unasked;
    stream.ending = {};
    stream.deadline.reset();
    // The stream must not wait and thereby start the next child, which might die of it too.
    if (!stream.is_granted()) grant_ourselves(stream, turn);
  }
}

void Streams::pass_change(const Sender& sender, std::optional<CatalogKind> kind,
                          const Message& message, Line line, const Turn& turn) {
  const std::string_view id = message.params.subscription_id;
  const Stream* const stream = find(id, sender);
  // The changed resource may be a part of the resource that the client has named.
  const bool carries = stream != nullptr && stream->is_granted() &&
                       (kind ? stream->grant.has(*kind) : !stream->grant.uris.empty());
  if (!carries) {
    turn.log(Level::debug, "a change for a stream that does not carry it was dropped");
    return;
  }
  Edits edits(line);
  if (stream->id != id) edits.replace(id, stream->id);
  turn.to_client(edits.outgoing());
}

void Streams::spread_change(std::optional<CatalogKind> kind, const Message& message, Line line,
                            const Turn& turn) const {
  for (const Stream& stream : streams_) {
    if (!stream.is_granted()) continue;
    if (kind ? stream.grant.has(*kind) : stream.grant.has_uri(message.params.uri)) {
      turn.to_client(Outgoing::own(tagged(line, message.params_raw, stream.id)));
    }
  }
}

bool Streams::tell_changed(CatalogKind kind, const Turn& turn) {
  for (Stream& stream : streams_) {
    if (!stream.is_granted()) {
      stream.has_missed[static_cast<std::size_t>(kind)] = true;
    } else if (stream.grant.has(kind)) {
      turn.to_client(change_line(kind, stream));
    }
  }
  return wants(kind);
}

void Streams::tell_updated(const Turn& turn) const {
  for (const Stream& stream : streams_) {
    if (!stream.is_granted()) continue;
    for (const std::string& uri : stream.grant.uris) {
      turn.to_client(Outgoing::own(notification_line(
          method_name(Method::resources_updated),
          fmt::format(R"json({{{},"uri":{}}})json", stream_meta(stream.id), uri))));
    }
  }
}

bool Streams::is_waiting() const {
  return std::any_of(streams_.begin(), streams_.end(),
                     [](const Stream& stream) { return !stream.is_granted(); });
}

bool Streams::wants(CatalogKind kind) const {
  return std::any_of(streams_.begin(), streams_.end(), [&](const Stream& stream) {
    return stream.is_granted() && stream.grant.has(kind);
  });
}

std::optional<Instant> Streams::deadline() const {
  std::optional<Instant> first;
  for (const Stream& stream : streams_) earlier(first, stream.deadline);
  return first;
}

}  // namespace sitter
