#pragma once

#include <algorithm>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include "core/client/client_envelope.hpp"
#include "core/client/session.hpp"
#include "core/wire/catalog_kind.hpp"
#include "core/wire/message.hpp"
#include "sitter/generation.hpp"
#include "sitter/request_handle.hpp"
#include "sitter/time.hpp"

namespace sitter {

/// How the client has begun to speak with the server, in either era, and what the client was told
/// about the server.
///
///     (nothing) --begin--> asked --on_answered, answer_ourselves--> answered --begin_again--+
///         ^                  |                                         ^--------------------+
///         \--- on_refused ---/
///
/// In the stateless revision there is no such exchange: the first request with an envelope shows
/// that the client speaks it.
class Opening {
 public:
  const Session& session() const { return session_; }
  const ClientEnvelope& envelope() const { return envelope_; }
  /// Whether the client has shown how it speaks with the server.
  bool is_open() const { return session_.is_asked() || envelope_.is_known(); }

  // A session.

  /// The client's first `initialize`. It must be answered before `answer_by`.
  void begin(const Message& message, RequestHandle request, Instant answer_by);
  /// A later `initialize` has succeeded, or is answered without the server. What the client had set
  /// up before no longer counts.
  void begin_again(const Message& message);
  /// The client's `initialize`. It may be answered already.
  std::optional<RequestHandle> first() const { return first_; }
  /// When the bridge must answer it; empty after the answer.
  std::optional<Instant> answer_by() const { return answer_by_; }
  /// A later `initialize` has come. What the client has not said itself does not hold for it.
  void on_asked_again() {
    if (std::exchange(session_.is_initialized_by_request, false)) session_.initialized_line.clear();
  }
  /// The bridge must answer a later `initialize` at this time, unless it is answered before.
  void expect_second(Instant by) { earlier(answer_second_by_, by); }
  /// The time at which the first of the later openings must be answered.
  std::optional<Instant> answer_second_by() const { return answer_second_by_; }
  /// The deadline has come. For each later opening that is not due yet, the caller must call
  /// `expect_second` again.
  void on_second_due() { answer_second_by_.reset(); }
  /// This child gets the client's own `initialize` and no replay.
  void on_sent(Generation gen) { asked_ = gen; }
  bool was_sent_to(Generation gen) const { return asked_ == gen; }

  /// A child has answered the client.
  void on_answered(const OpeningResult& result);
  /// The bridge answers, with the version that is returned. No child knows what the client said.
  const std::string& answer_ourselves();
  /// The child needs no session.
  void on_refused();

  /// The client has sent `notifications/initialized`. False if a request has counted as it before,
  /// so that children have it.
  bool on_initialized(std::string_view line) {
    session_.initialized_line = line;
    return !std::exchange(session_.is_initialized_by_request, false);
  }
  /// A request counts as `notifications/initialized`, which was noted just now.
  void on_initialized_by_request() { session_.is_initialized_by_request = true; }
  void set_log_level(std::string_view raw_level) { session_.log_level = raw_level; }
  /// False if there is no room to remember it (`limits::kSubscriptionsMax`).
  bool subscribe(std::string_view raw_uri) { return session_.subscribe(raw_uri); }
  void unsubscribe(std::string_view raw_uri) { session_.unsubscribe(raw_uri); }

  // The stateless revision.

  /// A request with an envelope has come, perhaps only a probe.
  void on_envelope() { stateless_ = std::max(stateless_, Stateless::met); }
  bool has_met_envelope() const { return stateless_ != Stateless::unmet; }
  /// A request that is more than a probe has come. See `ClientEnvelope::note`.
  ClientEnvelope::Number note(const Message::Params& params) { return envelope_.note(params); }
  /// See `ClientEnvelope`.
  bool on_served(ClientEnvelope::Number number) { return envelope_.on_served(number); }
  void on_version_refused(ClientEnvelope::Number number) { envelope_.on_refused(number); }
  /// The child was lost, or another child comes beside it.
  void on_another_child() {
    if (envelope_.is_known()) stateless_ = Stateless::lost_child;
  }
  /// Whether the next child without a session is not the child that the client has spoken with.
  bool next_child_is_replacement() const { return stateless_ == Stateless::lost_child; }

  // What the client knows of the server.

  /// A child has answered its probe.
  void on_discovered(OpeningResult result) { told_ = std::move(result); }
  /// A notice has told the client of a child that has opened with this result. Without an opening
  /// the result holds at most a name.
  void on_told(const OpeningResult& opened);
  /// Null before the client was told anything.
  const OpeningResult* told() const { return told_ ? &*told_ : nullptr; }
  /// Whether the server may have this list, for all that the client knows.
  bool may_have(CatalogKind kind) const;
  /// Whether a session lets the client be told of a change of this list.
  bool hears_change(CatalogKind kind) const;

 private:
  enum class Stateless {
    unmet,       ///< no request has come with an envelope
    met,         ///< a request has, perhaps only a probe
    lost_child,  ///< and the client has lost the child that it spoke with
  };

  Session session_;
  std::optional<RequestHandle> first_;
  std::optional<Instant> answer_by_;
  std::optional<Instant> answer_second_by_;
  Generation asked_ = kNoGeneration;
  ClientEnvelope envelope_;
  Stateless stateless_ = Stateless::unmet;
  std::optional<OpeningResult> told_;
};

}  // namespace sitter
