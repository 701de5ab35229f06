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

#include "core/client/stream_filter.hpp"
#include "core/client/turn.hpp"
#include "core/wire/catalog_kind.hpp"
#include "core/wire/message.hpp"
#include "sitter/bytes.hpp"
#include "sitter/generation.hpp"
#include "sitter/line.hpp"
#include "sitter/time.hpp"

namespace sitter {

namespace limits {

/// How long a child may take to acknowledge a stream before the bridge does it. This is far below
/// the 60 s that the official TypeScript client waits.
inline constexpr Milliseconds kStreamAckWait{5000};

/// How long the bridge holds back the end of a stream. A server that exits ends its streams first;
/// if the bridge passed such an end on, the client would not open the stream again.
inline constexpr Milliseconds kStreamEndWait{1000};

/// Streams that may be open at the same time: as many as the official TypeScript servers allow. The
/// second bound is for the bytes of all their requests, which are kept: 4 KiB for each stream if
/// all are open.
inline constexpr std::size_t kStreamsMax = 1024;
inline constexpr std::size_t kStreamBytesMax = 4 * kMiB;

}  // namespace limits

/// The streams that the client has opened with subscriptions/listen (2026-07-28,
/// basic/subscriptions). Streams outlive the children: each child is asked for them again under the
/// client's own id. The client notices this only if it gets less than it was granted, or could get
/// more than the bridge alone can grant.
class Streams {
 public:
  /// The life of a stream at the child that was asked for it last:
  ///
  ///     unasked --> asked --> acknowledged --+--> ending --> (closed)
  ///        ^          |  \--> carries_nothing |     ^
  ///        |          |\----> refused <-------+     |
  ///        |          \-----------------------------/
  ///        \---- (the child is lost) ---- from each of them
  enum class AtChild {
    unasked,  ///< no child was asked for the stream
    asked,
    acknowledged,
    carries_nothing,  ///< the child granted nothing; the bridge tells of the changes that it finds
    refused,          ///< the child answered with an error, or ended a stream that carried nothing
    ending,           ///< the child ended it in good order, perhaps because it is about to exit
  };

  /// The life of a stream at the client. A granted stream stays granted until it is closed.
  enum class AtClient {
    waiting,        ///< the client waits for the acknowledgement
    granted_by_us,  ///< the bridge granted it before any child could grant more
    granted,
  };

  struct Stream {
    /// The raw id, as the client has spelled it.
    std::string id;
    /// The client's request.
    OwnedLine line;
    StreamFilter wanted;
    AtClient at_client = AtClient::waiting;
    /// What the client was told that it gets; empty while the client waits.
    StreamFilter grant;
    AtChild at_child = AtChild::unasked;
    Generation gen = kNoGeneration;
    /// How many children were asked since the last acknowledgement.
    int unacknowledged_count = 0;
    /// The lists, by CatalogKind, that have changed while the client waited.
    std::array<bool, kCatalogKinds.size()> has_missed{};
    /// The line with which the child has ended the stream.
    OwnedLine ending;
    /// When the bridge acknowledges the stream itself, or passes on that the child has ended it.
    std::optional<Instant> deadline;

    bool is_granted() const { return at_client != AtClient::waiting; }
  };

  /// The child that has written a line.
  struct Sender {
    Generation gen = kNoGeneration;
    bool is_up = true;
    /// The child may have rounded the id in the line to a double.
    bool may_round = false;
  };

  /// `finds_changes` says for which lists the bridge itself finds and tells changes after a
  /// restart.
  explicit Streams(std::function<bool(CatalogKind)> finds_changes)
      : finds_changes_(std::move(finds_changes)) {}

  /// Why no further stream with a request of this size may be opened; empty if it may.
  std::string refusal(std::size_t line_size) const;
  /// `acknowledge_by` is set if it is already known that no child may come in time.
  void open(std::string_view raw_id, Line line, StreamFilter wanted,
            std::optional<Instant> acknowledge_by);
  /// The client ends the stream with this line. `is_heard`: whether the child of the stream reads.
  void cancel(Stream& stream, Line line, bool is_heard, const Turn& turn);

  /// Compares ids by their meaning. Null if there is no such stream.
  Stream* find(std::string_view raw_id);
  /// Finds the stream only if this child was asked for it.
  Stream* find(std::string_view raw_id, Generation gen);
  /// The stream with exactly this id. If there is none, none with this id was cancelled, and the
  /// child may round ids: the oldest stream whose id rounds to the same double.
  Stream* find(std::string_view raw_id, const Sender& sender);
  /// Whether a stream with this id is among the last streams that the client or the bridge has
  /// cancelled. Its child may still answer the stream.
  bool was_cancelled(std::string_view raw_id) const;

  /// Asks a child for all streams that it was not asked for yet. If several children have died
  /// since a stream was last acknowledged, that stream waits until the child `has_answered`
  /// anything: a stream that kills children must not keep the next child from everything else.
  void ask(Generation gen, bool has_answered, const Turn& turn);
  void on_acknowledged(const Sender& sender, const Message& message, Line line, const Turn& turn);
  /// The child answers with an error, or ends the stream with a result. `is_last`: no child follows
  /// that could serve the stream again.
  void on_answer(Stream& stream, const Message& message, Line line, bool is_last, const Turn& turn);
  /// The child ends the stream with a notifications/cancelled.
  void on_cancelled(Stream& stream, const Message& message, Line line, bool is_last,
                    const Turn& turn);
  /// The child of these streams is over, or another child serves in its place.
  void on_child_lost(Generation gen, const Turn& turn);

  /// The child tells the stream that it names about a change of this list, or of a resource.
  void pass_change(const Sender& sender, std::optional<CatalogKind> kind, const Message& message,
                   Line line, const Turn& turn);
  /// The child names no stream, so the change goes to all streams that carry it.
  void spread_change(std::optional<CatalogKind> kind, const Message& message, Line line,
                     const Turn& turn) const;
  /// The bridge has found a change of this list. Returns false if no stream carries it.
  bool tell_changed(CatalogKind kind, const Turn& turn);
  /// Tells each stream that its resources may have changed. Nobody else tells what changed while no
  /// child served.
  void tell_updated(const Turn& turn) const;

  /// Acknowledges the streams for which there is no child to ask.
  void grant_waiting(const Turn& turn);
  /// Passes on the ends that were held, because no child follows that could serve these streams
  /// again.
  void pass_ends(const Turn& turn);
  /// The bridge ends, so it ends all streams. `server_info`: the raw member of `_meta`.
  void end_all(std::string_view server_info, const Turn& turn) const;

  /// Whether the client waits for an acknowledgement.
  bool is_waiting() const;
  /// Whether a stream carries changes of this list.
  bool wants(CatalogKind kind) const;
  std::optional<Instant> deadline() const;
  /// `is_up` says whether a child is still up. The end of a stream is passed on only while its
  /// child is up, because the next child serves the streams of a child that is not up.
  void on_timeout(const std::function<bool(Generation)>& is_up, const Turn& turn);

 private:
  StreamFilter own_grant(const Stream& stream) const;
  void grant_ourselves(Stream& stream, const Turn& turn);
  void tell_missed(Stream& stream, const Turn& turn);
  void end(const Stream& stream, std::string_view why, const Turn& turn);
  void on_ended(Stream& stream, Outgoing line, bool is_last, const Turn& turn);
  void pass_end(const Stream& stream, const Turn& turn);
  void close(const Stream& stream);
  void close_cancelled(const Stream& stream);

  std::function<bool(CatalogKind)> finds_changes_;
  /// The streams, in the order in which they were opened.
  std::list<Stream> streams_;
  std::deque<std::string> cancelled_;
};

}  // namespace sitter
