#include <fmt/format.h>

#include <utility>

#include "core/base/raw_id.hpp"
#include "core/base/text.hpp"
#include "core/bridge/conductor.hpp"
#include "core/wire/method.hpp"
#include "core/wire/protocol.hpp"
#include "sitter/limits.hpp"

namespace sitter {

using Level = order::Log::Level;
using Stream = Listens::Stream;

namespace {

/// Which list a notification of the child is about, if about one.
std::optional<CatalogKind> changed_kind(Method method) {
  for (const CatalogKind kind : kCatalogKinds) {
    if (changed_method(kind) == method) return kind;
  }
  return std::nullopt;
}

/// Whether the answer itself says that it is one to a subscriptions/listen.
bool ends_stream(const Message& answer) {
  const std::string_view meta = member(answer.result, "_meta");
  return !member(meta, kMetaStream).empty();
}

}  // namespace

/// False: it is no valid request for a stream, and the child says so better.
bool Conductor::on_listen(ClientRequest& request, const Message& message, Line line) {
  auto wanted = ListenFilter::of(message.params.notifications);
  if (!wanted || !request.is_stateless) return false;
  std::size_t bytes = line.text().size();
  for (const Stream& stream : listens_.all()) bytes += stream.line.line().text().size();
  if (listens_.all().size() == limits::kListensMax || bytes > limits::kListenBytesMax) {
    answer_error(request, ErrorCode::internal_error,
                 fmt::format("mcp-sitter keeps at most {} streams open, with requests of at most "
                             "{} bytes together; cancel one that is not needed",
                             limits::kListensMax, limits::kListenBytesMax));
    return true;
  }
  if (request.is_in_batch()) {
    answer_error(request, ErrorCode::invalid_request,
                 "a stream has no answer while it is open, so it can't be part of a batch");
    return true;
  }
  Stream& stream = listens_.open(message.id, line.text(), std::move(*wanted));
  // It has no answer as long as it is open.
  requests_.take(request);
  if (Child* const child = serving()) {
    ask_for(stream, *child);
  } else if (keeps_waiting()) {
    // A build may take longer than the client waits.
    stream.deadline = now_.steady + limits::kListenAckWait;
  }
  return true;
}

/// The streams that this child was not asked for yet. One that children die of must not keep the
/// next from everything else.
void Conductor::ask_for_streams(Child& child) {
  if (child.retires_at || is_candidate(child)) return;
  for (Stream& stream : listens_.all()) {
    const bool is_deadly = stream.deaths >= limits::kListenDeathsMax && !child.has_answered;
    if (stream.gen != child.gen() && !is_deadly) ask_for(stream, child);
  }
}

void Conductor::ask_for(Stream& stream, Child& child) {
  stream.gen = child.gen();
  stream.is_acknowledged = stream.is_refused = stream.is_ours = false;
  if (!stream.granted) stream.deadline = now_.steady + limits::kListenAckWait;
  out_.push(order::SendToChild{child.gen(), Outgoing::own(stream.line.text())});
}

/// The bridge tells of every change that it finds after a restart, so it can grant that much alone.
ListenFilter Conductor::own_grant(const Stream& stream) const {
  ListenFilter grant;
  for (const CatalogKind kind : kCatalogKinds) {
    const bool is_ours = kind == CatalogKind::tools || !told_opening_ ||
                         told_opening_->capabilities.empty() ||
                         told_opening_->declares(catalog_name(kind));
    if (is_ours && stream.wanted.has(kind)) grant.add(kind);
  }
  return grant;
}

void Conductor::grant_ourselves(Stream& stream) {
  stream.granted = own_grant(stream);
  stream.is_provisional = !stream.granted->covers(stream.wanted);
  stream.deadline.reset();
  output_.send(
      Outgoing::own(notification_line(method_name(Method::subscriptions_acknowledged),
                                      fmt::format(R"json({{{},"notifications":{}}})json",
                                                  stream_meta(stream.id), stream.granted->text()))),
      out_);
  tell_missed(stream);
}

/// What changed while the stream was not granted yet.
void Conductor::tell_missed(Stream& stream) {
  const auto missed = std::exchange(stream.has_missed, {});
  for (const CatalogKind kind : kCatalogKinds) {
    if (missed[static_cast<std::size_t>(kind)] && stream.granted->has(kind)) {
      tell_changed(kind, stream);
    }
  }
}

void Conductor::tell_changed(CatalogKind kind, const Stream& stream) {
  output_.send(Outgoing::own(notification_line(method_name(changed_method(kind)),
                                               fmt::format("{{{}}}", stream_meta(stream.id)))),
               out_);
}

/// Streams for which no child is there to be asked.
void Conductor::grant_waiting() {
  for (Stream& stream : listens_.all()) {
    if (!stream.granted && stream.gen == kNoGeneration) grant_ourselves(stream);
  }
}

/// The client gets less than it was granted. Of the ways to end a stream this is the one after
/// which it opens a new one.
void Conductor::end_stream(const Stream& stream, std::string_view why) {
  output_.send(
      Outgoing::own(notification_line(
          method_name(Method::cancelled),
          fmt::format(R"json({{"requestId":{},"reason":{}}})json", stream.id, json_string(why)))),
      out_);
  listens_.close(stream);
}

void Conductor::on_acknowledged(Child& child, const Message& message, Line line) {
  Stream* const stream = find_stream(child, message.params.subscription_id);
  const auto granted = ListenFilter::of(message.params.notifications);
  if (stream == nullptr || !granted) {
    const bool is_late = listens_.was_cancelled(message.params.subscription_id);
    out_.log(is_late ? Level::debug : Level::warn,
             fmt::format("child {} acknowledged a stream that nobody waits for", child.gen()));
    return;
  }
  stream->is_acknowledged = true;
  stream->deaths = 0;
  stream->is_ours = *granted == ListenFilter{};
  ListenFilter all = *granted;
  for (const CatalogKind kind : kCatalogKinds) {
    if (own_grant(*stream).has(kind)) all.add(kind);
  }
  if (stream->granted) {
    // One that is on its way out can't be told, and the next one may grant more.
    const bool is_less = !all.covers(*stream->granted);
    const bool is_more = stream->is_provisional && !stream->granted->covers(all);
    if (!(is_less || is_more) || !child.life.is_up()) return;
    out_.push(order::SendToChild{child.gen(),
                                 Outgoing::own(notification_line(
                                     method_name(Method::cancelled),
                                     fmt::format(R"json({{"requestId":{}}})json", stream->id)))});
    end_stream(*stream, is_less ? "the restarted server grants less of this stream"
                                : "the server is there now and grants more of this stream");
    return;
  }
  stream->deadline.reset();
  Edits edits(line);
  if (stream->id != message.params.subscription_id) {
    edits.replace(message.params.subscription_id, stream->id);
  }
  if (!(all == *granted)) edits.replace(message.params.notifications, all.text());
  stream->granted = std::move(all);
  output_.send(edits.outgoing(), out_);
  tell_missed(*stream);
}

/// Whatever has exactly this id counts before all that the child may have rounded to it.
Conductor::Answered Conductor::answered_by(Child& child, const Message& answer) {
  if (shows_every_digit(answer.id)) child.keeps_integers = true;
  if (Stream* const stream = listens_.find(answer.id, child.gen())) return {stream};
  if (listens_.was_cancelled(answer.id) && ends_stream(answer)) return {};
  ClientRequest* const request = find_sent(child, answer.id);
  if (request != nullptr && same_id(request->id(), answer.id)) return {nullptr, request};
  Stream* const stream = find_stream(child, answer.id);
  // Hardly anything but its end answers a stream, and the end names it.
  if (stream != nullptr && (request == nullptr || ends_stream(answer))) return {stream};
  return {nullptr, request};
}

Stream* Conductor::find_stream(const Child& child, std::string_view raw_id) {
  Stream* const stream = listens_.find(raw_id, child.gen());
  if (stream != nullptr || !child.may_round(raw_id)) return stream;
  return listens_.find_rounded(raw_id, child.gen());
}

/// An error, or the end of the stream.
void Conductor::on_stream_answer(Child& child, Stream& stream, const Message& message, Line line) {
  note_served(child);
  Edits edits(line);
  if (stream.id != message.id) edits.replace(message.id, stream.id);
  if (message.kind == Message::Kind::result) {
    if (stream.is_ours && !(*stream.granted == ListenFilter{})) {
      // The end of nothing: the bridge goes on.
      stream.is_refused = true;
    } else {
      if (is_object(message.result)) {
        if (member(message.result, "resultType").empty()) {
          edits.append(message.result, R"json("resultType":"complete")json");
        }
        name_stream(message.result, stream.id, edits);
      } else {
        edits.replace(message.result, complete("{}", stream_member(stream.id)));
      }
      on_stream_ended(stream, edits.outgoing());
    }
    return;
  }
  stream.deadline.reset();
  stream.is_refused = true;
  const bool is_unknown_method = has_code(message.error, ErrorCode::method_not_found);
  const bool was_refused = !stream.granted && !is_unknown_method;
  if (was_refused || stream.is_acknowledged) {
    output_.send(edits.outgoing(), out_);
    listens_.close(stream);
  } else if (!stream.granted) {
    grant_ourselves(stream);
  } else if (!own_grant(stream).covers(*stream.granted)) {
    end_stream(stream, "the restarted server refuses this stream");
  }
}

/// The child has ended a stream in good order. One that is about to exit does so with all of them,
/// and the next one serves them again.
void Conductor::on_stream_ended(Stream& stream, Outgoing line) {
  if (ending_ != Ending::none) {
    output_.send(std::move(line), out_);
    listens_.close(stream);
    return;
  }
  stream.ending = OwnedLine(line.text());
  stream.deadline = now_.steady + limits::kListenEndWait;
}

/// There is no next child that could serve these streams again.
void Conductor::pass_stream_ends() {
  std::vector<Stream*> ended;
  for (Stream& stream : listens_.all()) {
    if (stream.ending.size() > 0) ended.push_back(&stream);
  }
  for (Stream* const stream : ended) {
    output_.send(Outgoing::own(stream->ending.text()), out_);
    listens_.close(*stream);
  }
}

/// The bridge ends, and with it what no child has ended.
void Conductor::end_streams() {
  for (const Stream& stream : listens_.all()) {
    output_.send(
        Outgoing::own(result_line(
            stream.id, complete("{}", fmt::format("{},{}", stream_member(stream.id),
                                                  server_info_member(config_.sitter_version))))),
        out_);
  }
}

void Conductor::on_listens_timeout() {
  std::vector<Stream*> due;
  for (Stream& stream : listens_.all()) {
    if (stream.deadline && *stream.deadline <= now_.steady) due.push_back(&stream);
  }
  for (Stream* const stream : due) {
    stream->deadline.reset();
    if (stream->ending.size() == 0) {
      out_.log(Level::warn, stream->gen == kNoGeneration
                                ? "no server is there for a stream, so mcp-sitter acknowledges it"
                                : fmt::format("child {} did not acknowledge a stream, so "
                                              "mcp-sitter does",
                                              stream->gen));
      grant_ourselves(*stream);
      continue;
    }
    Child* const child = hears(stream->gen);
    if (child != nullptr && child->life.is_up()) {
      output_.send(Outgoing::own(stream->ending.text()), out_);
      listens_.close(*stream);
    }
  }
}

/// The child is over. A stream that it has not acknowledged must not start the next one, which
/// might die of it too.
void Conductor::on_streams_lost(Generation gen) {
  for (Stream& stream : listens_.all()) {
    if (stream.gen != gen) continue;
    if (!stream.is_acknowledged) ++stream.deaths;
    stream.gen = kNoGeneration;
    stream.ending = {};
    stream.deadline.reset();
    if (!stream.granted) grant_ourselves(stream);
  }
}

/// The client ends a stream. False: the id is no stream's.
bool Conductor::on_stream_cancelled(std::string_view raw_id, Line line) {
  Stream* const stream = listens_.find(raw_id);
  if (stream == nullptr) return false;
  Child* const child = hears(stream->gen);
  if (!stream->is_refused && child != nullptr && child->life.is_up() &&
      child->input != Child::Input::deaf) {
    out_.push(order::SendToChild{child->gen(), Outgoing::passed(line)});
  }
  listens_.cancel(*stream);
  return true;
}

/// A change that the child tells of. In the stateless revision it belongs to a stream, and nobody
/// else may hear of it.
void Conductor::pass_change(Child& child, const Message& message, Line line) {
  const auto kind = changed_kind(message.method);
  const std::string_view id = message.params.subscription_id;
  if (!id.empty()) {
    const Stream* const stream = find_stream(child, id);
    // A resource may be a part of the one that the client has named.
    const bool carries = stream != nullptr && stream->granted &&
                         (kind ? stream->granted->has(*kind) : !stream->granted->uris.empty());
    if (carries) {
      Edits edits(line);
      if (stream->id != id) edits.replace(id, stream->id);
      output_.send(edits.outgoing(), out_);
    } else {
      out_.log(Level::debug, "a change for a stream that does not carry it was dropped");
    }
    return;
  }
  if (session_.is_asked()) {
    output_.send(Outgoing::passed(line), out_);
    return;
  }
  for (const Stream& stream : listens_.all()) {
    if (!stream.granted) continue;
    if (kind ? stream.granted->has(*kind) : stream.granted->has_uri(message.params.uri)) {
      output_.send(Outgoing::own(tagged(line, message.params_raw, stream.id)), out_);
    }
  }
}

/// Tells the client that a list has changed, in each way in which it wants to hear of it. False if
/// it does not.
bool Conductor::tell_changed(CatalogKind kind) {
  const bool hears_session =
      session_.is_asked() && (kind == CatalogKind::tools || session_.declares(catalog_name(kind)));
  if (hears_session) {
    output_.send(Outgoing::own(notification_line(method_name(changed_method(kind)))), out_);
  }
  for (Stream& stream : listens_.all()) {
    if (!stream.granted) {
      stream.has_missed[static_cast<std::size_t>(kind)] = true;
    } else if (stream.granted->has(kind)) {
      tell_changed(kind, stream);
    }
  }
  return hears_session || listens_.wants(kind);
}

/// What changed while no child served is not told by anybody else.
void Conductor::tell_updated() {
  for (const Stream& stream : listens_.all()) {
    if (!stream.granted) continue;
    for (const std::string& uri : stream.granted->uris) {
      output_.send(Outgoing::own(notification_line(
                       method_name(Method::resources_updated),
                       fmt::format(R"json({{{},"uri":{}}})json", stream_meta(stream.id), uri))),
                   out_);
    }
  }
}

}  // namespace sitter
