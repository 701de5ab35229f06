#pragma once

#include <cstddef>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

#include "core/base/orders.hpp"
#include "core/child/call_replay.hpp"
#include "core/child/list_survey.hpp"
#include "core/client/session.hpp"
#include "core/http/secrets.hpp"
#include "core/wire/message.hpp"
#include "sitter/time.hpp"

namespace sitter {

/// Brings one child to the point where it serves the client. The handshake sends the client's
/// opening to the child, repeats what the client has set up, and takes the child's lists.
///
/// In the stateless revision there is no opening and nothing to tell again, so only the lists are
/// taken. If the answers are not of that revision, the child is sent `initialize`, which shows
/// whether the child is of another era. A child that already serves is sent `initialize` only if it
/// refuses to list its tools. A slow child is never sent `initialize`: it may speak both eras, and
/// would then stay with the era of the last request.
///
///     idle --> opening --> opened --> settling --> done
///       \      ^    \          \--> done
///        \     |     \--> refused --> unopened
///         --> unopened --> listing --> doubted --> done
///                   |\         \       ^   \--> refused
///                   | \         \--> done
///                   |  \--> unproven --> done
///                   |             \----> doubted
///                   \--> done
class Handshake {
 public:
  enum class State {
    idle,      ///< nothing was sent
    unopened,  ///< the child gets what needs no opening: requests with an envelope, and a probe
    opening,   ///< `initialize` was sent
    refused,   ///< `initialize` was answered with an error, with something unusable, or by a server
               ///< of an era that the client does not speak
    opened,    ///< `initialize` was answered; the client has not sent `initialized`
    settling,  ///< after `initialized`: settings are sent again, and the lists are taken
    listing,   ///< without an opening: the lists are taken before the client's requests go on
    unproven,  ///< the child serves without an opening; its first lists show whether it can
    doubted,   ///< the lists were answered as by a server of another era; `initialize` was sent
    done,      ///< the child serves the client
  };

  /// `sitter_version` is the version that the bridge gives when it asks the child in its own name.
  /// `secrets` are hidden where the child's words are told.
  Handshake(Generation gen, MakeId make_id, MakeMeta make_meta, std::string sitter_version,
            Secrets secrets = {})
      : gen_(gen),
        make_id_(std::move(make_id)),
        make_meta_(std::move(make_meta)),
        sitter_version_(std::move(sitter_version)),
        secrets_(std::move(secrets)) {}

  /// Sends the opening: the client's own line with its id, or a replay under an id of ours.
  void open_with_clients(std::string_view line, std::string_view raw_id, Orders& out);
  void open_again(const Session& session, Orders& out);
  /// As far as is known, no opening is needed. Either of the functions above may still follow.
  void leave_unopened() {
    // A child that has refused an opening has come up.
    if (state_ == State::refused) startup_deadline_.reset();
    state_ = State::unopened;
  }

  /// Sets the calls that are made again before anything else is asked of the child. It must be
  /// called before `settle` and `list`. The calls are made only if the child is to serve after
  /// them.
  void replay_first(std::vector<ReplayedCall> calls) { calls_ = std::move(calls); }
  /// Adds a call that has succeeded at the previous child after the calls for this child were
  /// taken.
  void call_again(ReplayedCall call, Now now, Orders& out);
  /// Whether the calls for this child were taken, and no call that was added later is running.
  /// Later calls are added one at a time, because the client may make the same call itself before
  /// the next is due.
  bool may_call_again() const {
    const bool has_taken_calls = state_ == State::settling || state_ == State::listing ||
                                 state_ == State::unproven || state_ == State::doubted ||
                                 state_ == State::done;
    return has_taken_calls && (!late_replay_ || late_replay_->is_done());
  }
  /// The tool that is being called again; empty if there is none.
  std::string_view running_call() const;
  /// Why calls did not succeed: "connect: no such host".
  std::vector<std::string> take_call_failures();
  /// While this is true, nothing else may be asked of the child.
  bool is_calling_again() const { return replay_ && !replay_->is_done(); }

  /// Goes on after `opened`, as soon as the client has sent `initialized`. With `restore`, the
  /// child is told again what the client has set up, and reaches `done` after that. Otherwise the
  /// child serves at once, and the lists are only a baseline. The session must outlive this object.
  void settle(const Session& session, bool restore, Now now, Orders& out);

  /// Takes the lists of a child that has no opening. Their time begins with the first message of
  /// the child, because nothing else shows that the child has come up. With `before_requests`, the
  /// child reaches `done` after its lists. `had_tools`: whether earlier children had tools; if so,
  /// a child without tools may be of another era.
  void list(bool before_requests, bool had_tools, Now now, Orders& out);

  /// By this time the child must have answered its opening, or, without one, have sent a message.
  void expect_start(Instant by) { startup_deadline_ = by; }
  std::optional<Instant> startup_deadline() const { return startup_deadline_; }
  void on_startup_timeout() { startup_deadline_.reset(); }

  /// A message of the child has come.
  void on_spoken(Now now) {
    if (state_ != State::opening) startup_deadline_.reset();
    if (has_spoken_) return;
    if (replay_) replay_->start_clock(now);
    has_spoken_ = true;
    if (lists_.survey) lists_.survey->start_clock(now);
  }

  /// Takes a list again, now or a moment later. Does nothing while all lists are still to be taken.
  void survey_again(CatalogKind kind, Now now, Orders& out);

  /// Returns whether the answer belonged to the handshake. An answer to the opening changes the
  /// state.
  bool on_answer(const Message& answer, Now now, Orders& out);
  void on_timeout(Now now, Orders& out);
  std::optional<Instant> deadline() const;

  State state() const { return state_; }
  /// Whether the child serves a client of the stateless revision, and has not shown that it can.
  bool is_in_doubt() const { return state_ == State::doubted || state_ == State::unproven; }
  /// The child has answered the client as only a server of the stateless revision does.
  void end_doubt() {
    if (is_in_doubt()) state_ = State::done;
  }
  /// Whether the handshake allows the client's requests to be passed to the child.
  bool is_there() const {
    return state_ == State::opened || state_ == State::unproven || state_ == State::done;
  }
  /// Whether an opening is neither awaited nor refused.
  bool is_past_opening() const {
    return state_ != State::idle && state_ != State::opening && state_ != State::refused;
  }
  /// Whether the lists that show the era of the child are still awaited.
  bool is_era_unproven() const { return is_in_doubt() || state_ == State::listing; }
  /// Whether the child knows the client's settings, so that it must be told of later changes.
  bool has_told_settings() const {
    return !is_calling_again() && (state_ == State::settling || state_ == State::done);
  }
  /// Whether a message of any kind has come from the child.
  bool has_spoken() const { return has_spoken_; }
  bool was_opened() const { return !result_.protocol_version.empty(); }
  /// The raw id of the opening.
  const std::string& opening_id() const { return opening_id_; }
  /// What the child has said about itself. Without an opening this may be incomplete; with an
  /// opening it is set from `opened` on.
  const OpeningResult& opened_with() const { return result_; }
  /// The child has answered server/discover. The result of an opening stays.
  void on_discovered(OpeningResult result) {
    if (!was_opened()) result_ = std::move(result);
  }
  /// Another answer has named the server. `server_info` is raw, and empty if the answer did not
  /// name it.
  void on_named(const std::string& server_info) {
    if (!server_info.empty()) result_.server_info = server_info;
  }
  /// Why the child refused the opening, as a clause for a person.
  const std::string& refusal() const { return refusal_.text; }
  /// The raw error with which the child refused; empty if it refused with something else.
  const std::string& refusal_error() const { return refusal_.error; }
  /// Whether the child refused like a server that speaks only the stateless revision.
  bool is_of_stateless_era() const;

  /// Returns the lists of a survey once, after all of them were taken or given up. Empty otherwise.
  std::optional<std::vector<ListSurvey::List>> take_lists(Now now);
  /// The raw URIs of subscriptions that the child refused, did not answer, or could not be asked
  /// for.
  std::vector<std::string> lost_subscriptions() const;
  /// The raw URIs of subscriptions that the child has accepted again.
  std::vector<std::string> restored_subscriptions() const;

 private:
  /// A request that tells the child again what the client had set up.
  struct Restore {
    std::string uri;
    bool is_lost = false;
  };

  /// What the child was told of the client's settings.
  struct Settings {
    std::vector<Restore> restores;
    /// The requests that were not answered: the key of the id, and an index of `restores`.
    std::unordered_map<std::string, std::size_t> unanswered;
    /// The raw URIs that a child without subscriptions was not asked for.
    std::vector<std::string> not_restored;
    /// Until when the settings are waited for.
    std::optional<Instant> deadline;
  };

  struct Doubt {
    /// The id of the `initialize` that tells the era.
    std::string id;
    std::optional<Instant> deadline;
  };

  struct Lists {
    bool had_tools = false;
    std::optional<ListSurvey> survey;
    /// The lists that have changed since they were taken, and when they may be taken again.
    std::set<CatalogKind> outdated;
    Instant next_survey{};
    int surveys = 0;
  };

  /// Why the child has refused the opening: in words, and as the raw error.
  struct Refusal {
    std::string text;
    std::string error;
  };

  bool begin_replay(bool waits_for_child, Now now, Orders& out);
  void on_replayed(Now now, Orders& out);
  void tell_again(bool restore, Now now, Orders& out);
  void take_all_lists(Now now, Orders& out);
  void on_opening_answer(const Message& answer);
  void on_doubt_answer(const Message& answer);
  bool on_restored(const Message& answer);
  template <class Row>
  void each_deadline(Row row) const;
  void on_doubt_timeout(Now now, Orders& out);
  void on_restore_timeout(Now now, Orders& out);
  void on_replay_timeout(Now now, Orders& out);
  void on_late_replay_timeout(Now now, Orders& out);
  void on_survey_timeout(Now now, Orders& out);
  void take_outdated_lists(Now now, Orders& out);
  void finish_if_done(Now now, Orders& out);
  void doubt(Now now, Orders& out);

  Generation gen_;
  MakeId make_id_;
  MakeMeta make_meta_;
  std::string sitter_version_;
  Secrets secrets_;
  State state_ = State::idle;
  std::string opening_id_;
  /// The version in the params of the opening.
  std::string asked_version_;
  OpeningResult result_;
  Refusal refusal_;
  std::vector<ReplayedCall> calls_;
  std::optional<CallReplay> replay_;
  /// The calls that were added after all others had been made.
  std::optional<CallReplay> late_replay_;
  std::optional<Instant> startup_deadline_;
  bool has_spoken_ = false;
  /// Set from `settling` on.
  const Session* session_ = nullptr;
  Settings settings_;
  Doubt doubt_;
  Lists lists_;
};

}  // namespace sitter
