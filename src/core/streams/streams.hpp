#pragma once

#include <array>
#include <cstddef>
#include <deque>
#include <functional>
#include <list>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include "core/client/turn.hpp"
#include "core/streams/stream_filter.hpp"
#include "core/wire/catalog_kind.hpp"
#include "core/wire/message.hpp"
#include "sitter/generation.hpp"
#include "sitter/line.hpp"
#include "sitter/time.hpp"

namespace sitter {

/// The streams that the client has opened with subscriptions/listen (2026-07-28,
/// basic/subscriptions). They outlive the children: each child is asked for them anew under the
/// client's own id, and the client hears of it only where it gets less than it was granted, or more
/// than the bridge alone could grant.
class Streams {
 public:
  /// The life of a stream at the child that was asked for it last:
  ///
  ///     unasked --> asked --> acknowledged --+--> ending --> (closed)
  ///        ^          |  \--> carries_nothing |
  ///        |          \-----> refused <-------+
  ///        \---- (the child is lost) ---- from each of them
  enum class AtChild {
    unasked,  ///< there is no such child
    asked,
    acknowledged,
    carries_nothing,  ///< it acknowledged an empty grant: the bridge tells of what it finds itself
    refused,          ///< with an error, or it ended what carried nothing
    ending,           ///< ended in good order, perhaps because the child is about to exit
  };

  /// The life of a stream at the client, which it leaves only with the stream.
  enum class AtClient {
    waiting,        ///< for the acknowledgement
    granted_by_us,  ///< before any child could say more
    granted,
  };

  struct Stream {
    /// Raw, as the client has spelled it.
    std::string id;
    /// The client's request.
    OwnedLine line;
    StreamFilter wanted;
    AtClient at_client = AtClient::waiting;
    /// What the client was told that it gets, unless it waits.
    StreamFilter grant;
    AtChild at_child = AtChild::unasked;
    Generation gen = kNoGeneration;
    /// How often a child was asked since one has acknowledged.
    int unacknowledged_count = 0;
    /// Lists, by CatalogKind, that have changed while the client waited.
    std::array<bool, kCatalogKinds.size()> has_missed{};
    /// The line with which the child has ended it.
    OwnedLine ending;
    /// When the bridge acknowledges it itself, or passes the child's end of it on.
    std::optional<Instant> deadline;

    bool is_granted() const { return at_client != AtClient::waiting; }
  };

  /// The child that has written a line.
  struct Sender {
    Generation gen = kNoGeneration;
    bool is_up = true;
    /// It may have rounded the id in the line to what a double holds.
    bool may_round = false;
  };

  /// `finds_changes` says of which lists the bridge itself tells the client after a restart.
  explicit Streams(std::function<bool(CatalogKind)> finds_changes)
      : finds_changes_(std::move(finds_changes)) {}

  /// Why no stream more with a request of so many bytes may be opened; empty if it may.
  std::string refusal(std::size_t line_size) const;
  /// `acknowledge_by` where it is known already that no child may come in time.
  void open(std::string_view raw_id, Line line, StreamFilter wanted,
            std::optional<Instant> acknowledge_by);
  /// The client ends it with this line. `is_heard`: its child reads.
  void cancel(Stream& stream, Line line, bool is_heard, const Turn& turn);

  /// By the meaning of the id. Null if there is none.
  Stream* find(std::string_view raw_id);
  /// And only if this child was asked for it.
  Stream* find(std::string_view raw_id, Generation gen);
  /// The one with exactly this id, else the oldest whose id a double rounds to it.
  Stream* find(std::string_view raw_id, const Sender& sender);
  /// Whether a stream with this id was among the last that the client has cancelled. Its child may
  /// still answer it.
  bool was_cancelled(std::string_view raw_id) const;

  /// Asks a child for all that it was not asked for yet. A stream that children die of must not
  /// keep the next from everything else, so that one waits until the child `has_answered` anything.
  void ask(Generation gen, bool has_answered, const Turn& turn);
  void on_acknowledged(const Sender& sender, const Message& message, Line line, const Turn& turn);
  /// An error, or the end of the stream. `is_last`: no child follows that could serve it again.
  void on_answer(Stream& stream, const Message& message, Line line, bool is_last, const Turn& turn);
  /// The child ends it with a notifications/cancelled.
  void on_cancelled(Stream& stream, const Message& message, Line line, bool is_last,
                    const Turn& turn);
  /// Its child is over, or another one serves in its place.
  void on_child_lost(Generation gen, const Turn& turn);

  /// A change of this list, or of a resource, that the child tells of to the stream that it names.
  void pass_change(const Sender& sender, std::optional<CatalogKind> kind, const Message& message,
                   Line line, const Turn& turn);
  /// And one that names no stream: to all that carry it.
  void spread_change(std::optional<CatalogKind> kind, const Message& message, Line line,
                     const Turn& turn) const;
  /// A change of this list that the bridge has found. False if no stream carries it.
  bool tell_changed(CatalogKind kind, const Turn& turn);
  /// What changed while no child served is not told by anybody else.
  void tell_updated(const Turn& turn) const;

  /// Acknowledges those for which no child is there to be asked.
  void grant_waiting(const Turn& turn);
  /// Passes the ends on that were held: no child follows that could serve these streams again.
  void pass_ends(const Turn& turn);
  /// The bridge ends, and with it what no child has ended. `server_info`: the raw member of
  /// `_meta`.
  void end_all(std::string_view server_info, const Turn& turn) const;

  /// Whether the client waits for an acknowledgement.
  bool is_waiting() const;
  /// Whether changes of these lists have to be told to a stream.
  bool wants(CatalogKind kind) const;
  std::optional<Instant> deadline() const;
  /// `is_up` says of a child whether it is still up; the end of a stream is passed on only then,
  /// since the next child serves the streams of one that is not.
  void on_timeout(const std::function<bool(Generation)>& is_up, const Turn& turn);

 private:
  StreamFilter own_grant(const Stream& stream) const;
  void grant_ourselves(Stream& stream, const Turn& turn);
  void tell_missed(Stream& stream, const Turn& turn);
  void end(const Stream& stream, std::string_view why, const Turn& turn);
  void on_ended(Stream& stream, Outgoing line, bool is_last, const Turn& turn);
  void pass_end(const Stream& stream, const Turn& turn);
  void close(const Stream& stream);

  std::function<bool(CatalogKind)> finds_changes_;
  /// In the order in which they were opened.
  std::list<Stream> streams_;
  std::deque<std::string> cancelled_;
};

}  // namespace sitter
