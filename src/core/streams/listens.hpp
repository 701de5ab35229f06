#pragma once

#include <array>
#include <deque>
#include <list>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "core/wire/catalog_kind.hpp"
#include "core/wire/json_view.hpp"
#include "sitter/generation.hpp"
#include "sitter/line.hpp"
#include "sitter/time.hpp"

namespace sitter {

/// What a stream carries: the lists whose changes are told, the resources, and what an extension of
/// the protocol adds.
struct ListenFilter {
  /// By CatalogKind.
  std::array<bool, kCatalogKinds.size()> lists{};
  /// Raw URIs.
  std::vector<std::string> uris;
  /// Keys and raw values of all other members.
  std::vector<std::pair<std::string, std::string>> others;

  /// Nothing if `raw` is no object.
  static std::optional<ListenFilter> of(std::string_view raw);

  bool has(CatalogKind kind) const { return lists[static_cast<std::size_t>(kind)]; }
  void add(CatalogKind kind) { lists[static_cast<std::size_t>(kind)] = true; }
  bool has_uri(std::string_view raw_uri) const;
  /// Whether it carries all that `other` does.
  bool covers(const ListenFilter& other) const;
  std::string text() const;

  friend bool operator==(const ListenFilter&, const ListenFilter&) = default;
};

/// The streams that the client has opened with subscriptions/listen (2026-07-28,
/// basic/subscriptions). They outlive the children: each child is asked for them anew under the
/// client's own id, and the client hears of it only where it gets less than it was granted.
///
///     waiting --acknowledged--> granted --cancelled, refused, ended--> (closed)
class Listens {
 public:
  struct Stream {
    /// Raw, as the client has spelled it.
    std::string id;
    /// The client's request.
    OwnedLine line;
    ListenFilter wanted;
    /// What the client was told that it gets; empty before the acknowledgement.
    std::optional<ListenFilter> granted;
    /// The child that was asked for it last and still lives.
    Generation gen = kNoGeneration;
    bool is_acknowledged = false;  ///< by that child
    bool is_refused = false;       ///< by that child
    /// That child carries nothing of it, and what the client was granted the bridge does.
    bool is_ours = false;
    /// The client was granted only what the bridge does, before any child could say more.
    bool is_provisional = false;
    /// Lists, by CatalogKind, that have changed before it was granted.
    std::array<bool, kCatalogKinds.size()> has_missed{};
    /// Children in a row that died without acknowledging it.
    int deaths = 0;
    /// The child has ended it with this line, perhaps because it is about to exit.
    OwnedLine ending;
    /// When the bridge acknowledges it itself, or passes the child's end of it on.
    std::optional<Instant> deadline;
  };

  Stream& open(std::string_view raw_id, std::string_view line, ListenFilter wanted);
  void close(const Stream& stream);
  /// By the client.
  void cancel(const Stream& stream);

  /// By the meaning of the id. Null if there is none.
  Stream* find(std::string_view raw_id);
  /// And only if this child was asked for it.
  Stream* find(std::string_view raw_id, Generation gen);
  /// The oldest that this child was asked for and whose id it names like this if it reads all
  /// numbers as doubles. Null if there is none.
  Stream* find_rounded(std::string_view raw_id, Generation gen);

  /// Whether a stream with this id was among the last that the client has cancelled. Its child may
  /// still answer it.
  bool was_cancelled(std::string_view raw_id) const;

  /// In the order in which they were opened.
  std::list<Stream>& all() { return streams_; }
  /// Whether the client waits for an acknowledgement.
  bool is_waiting() const;
  /// Whether changes of these lists have to be told to a stream.
  bool wants(CatalogKind kind) const;
  std::optional<Instant> deadline() const;

 private:
  std::list<Stream> streams_;
  std::deque<std::string> cancelled_;
};

/// Puts the id of a stream into a notification of the child that lacks it.
std::string tagged(Line notification, std::string_view params_raw, std::string_view stream_id);
/// Makes the `_meta` of this part of a line, an object, name the stream.
void name_stream(std::string_view object, std::string_view stream_id, Edits& edits);

/// The raw `_meta` member of a notification to a stream.
std::string stream_meta(std::string_view stream_id);
/// And its only member.
std::string stream_member(std::string_view stream_id);

}  // namespace sitter
