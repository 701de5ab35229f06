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
#include "core/wire/message.hpp"
#include "sitter/time.hpp"

namespace sitter {

/// Brings one child to where it serves the client: asks it the client's opening, tells it again
/// what the client has set up, and takes its lists. In the stateless revision there is no opening
/// and nothing to tell again, only the lists; if their answers are not of that revision, the child
/// is asked `initialize` to know whether it is of another era. One that serves meanwhile is asked
/// that only if it refuses to list its tools, and one that is slow never: it may be of both eras,
/// and would keep to what it is asked last.
///
///     idle --> opening --> opened --> settling --> done
///       \      ^    \          \--> done
///        \     |     \--> refused
///         --> unopened --> listing --> doubted --> done
///                    \         \       ^   \--> refused
///                     \         \--> done
///                      \--> unproven --> done
///                                 \----> doubted
class Handshake {
 public:
  enum class State {
    idle,      ///< nothing was sent
    unopened,  ///< it gets what needs no opening: requests with an envelope, and a probe
    opening,   ///< `initialize` was sent
    refused,   ///< it was answered with an error, or with something unusable
    opened,    ///< it was answered; the client has not sent `initialized`
    settling,  ///< `initialized` was sent, and what the client had set up, and the lists are taken
    listing,   ///< without an opening: the lists are taken before the client's requests go on
    unproven,  ///< it serves without an opening, and its first lists show whether it can
    doubted,   ///< its lists were those of a server of another era, and it was asked `initialize`
    done,      ///< the child serves the client
  };

  /// The version is what the bridge names where it asks the child in its own name.
  Handshake(Generation gen, MakeId make_id, MakeMeta make_meta, std::string sitter_version)
      : gen_(gen),
        make_id_(std::move(make_id)),
        make_meta_(std::move(make_meta)),
        sitter_version_(std::move(sitter_version)) {}

  /// Sends the opening: the client's own line with its id, or a replay under an id of ours.
  void open_with_clients(std::string_view line, std::string_view raw_id, Orders& out);
  void open_again(const Session& session, Orders& out);
  /// No opening is needed as far as is known. From here either of the above may still follow.
  void leave_unopened() { state_ = State::unopened; }

  /// What is called again before anything else is asked. To be said before the child is told
  /// anything again or its lists are taken; it counts where its serving waits for that.
  void replay_first(std::vector<ReplayedCall> calls) { calls_ = std::move(calls); }
  /// One more that has succeeded at the child before this one, whose calls were taken already.
  void call_again(ReplayedCall call, Now now, Orders& out);
  /// Whether what is to be called again was taken, and nothing that was added later is called now:
  /// the client may call the same before the next one is due.
  bool may_call_again() const {
    const bool has_taken_calls = state_ == State::settling || state_ == State::listing ||
                                 state_ == State::unproven || state_ == State::doubted ||
                                 state_ == State::done;
    return has_taken_calls && (!late_replay_ || late_replay_->is_done());
  }
  /// The tool that is called again now; empty if none.
  std::string_view running_call() const;
  /// What became of those calls that did not succeed: "connect: no such host".
  std::vector<std::string> take_call_failures();
  /// Nothing else may be asked of it.
  bool is_calling_again() const { return replay_ && !replay_->is_done(); }

  /// After `opened`, as soon as the client has sent `initialized`. `restore`: what the client had
  /// set up is told again, and `done` comes after that; else the child serves at once and the lists
  /// are merely a baseline. The session must outlive this.
  void settle(const Session& session, bool restore, Now now, Orders& out);

  /// Takes the lists of a child that has no opening. Their time begins with its first message,
  /// since nothing else tells when it is there. `before_requests`: `done` comes after that.
  /// `had_tools`: the children before it, so that one that knows no tools may be of another era.
  void list(bool before_requests, bool had_tools, Now now, Orders& out);

  /// A message of the child has come.
  void on_spoken(Now now) {
    if (has_spoken_) return;
    if (replay_) replay_->start_clock(now);
    has_spoken_ = true;
    if (survey_) survey_->start_clock(now);
  }

  /// Takes a list again, now or in a moment; not while all of them are still to be taken.
  void survey_again(CatalogKind kind, Now now, Orders& out);

  /// Whether the answer belonged to the handshake. An answer to the opening changes the state.
  bool on_answer(const Message& answer, Now now, Orders& out);
  void on_timeout(Now now, Orders& out);
  std::optional<Instant> deadline() const;

  State state() const { return state_; }
  /// It serves a client of the stateless revision, and it is not known yet whether it can.
  bool is_in_doubt() const { return state_ == State::doubted || state_ == State::unproven; }
  /// It has answered the client as only a server of the stateless revision does.
  void end_doubt() {
    if (is_in_doubt()) state_ = State::done;
  }
  /// The client's requests may be passed to it, as far as the handshake goes.
  bool is_there() const {
    return state_ == State::opened || state_ == State::unproven || state_ == State::done;
  }
  /// Whether a message of any kind has come from the child.
  bool has_spoken() const { return has_spoken_; }
  bool was_opened() const { return !result_.protocol_version.empty(); }
  /// The raw id that the opening was sent under.
  const std::string& opening_id() const { return opening_id_; }
  /// What the child said of itself. From `opened` on; without an opening as far as it is known.
  const OpeningResult& opened_with() const { return result_; }
  /// The child has answered server/discover. What it has said in its opening counts more.
  void on_discovered(OpeningResult result) {
    if (!was_opened()) result_ = std::move(result);
  }
  /// Another answer has said who the child is; raw, and empty if it did not.
  void on_named(const std::string& server_info) {
    if (!server_info.empty()) result_.server_info = server_info;
  }
  /// Why it was refused, as a clause for a person.
  const std::string& refusal() const { return refusal_; }
  /// The raw error that it was refused with; empty if with something else.
  const std::string& refusal_error() const { return refusal_error_; }
  /// It was refused as by a server that speaks only the stateless revision.
  bool is_of_stateless_era() const;

  /// The lists, when all of them are there or were given up; once for each survey.
  std::optional<std::vector<ListSurvey::List>> take_lists(Now now);
  /// Raw URIs whose subscription the child refused, did not answer or could not be asked for.
  std::vector<std::string> lost_subscriptions() const;
  /// Raw URIs whose subscription the child has accepted again.
  std::vector<std::string> restored_subscriptions() const;

 private:
  /// A request that tells the child again what the client had set up.
  struct Restore {
    std::string uri;
    bool is_lost = false;
  };

  bool begin_replay(bool waits_for_child, Now now, Orders& out);
  void on_replayed(Now now, Orders& out);
  void tell_again(bool restore, Now now, Orders& out);
  void take_all_lists(Now now, Orders& out);
  void on_opening_answer(const Message& answer);
  void on_doubt_answer(const Message& answer);
  bool on_restored(const Message& answer);
  void finish_if_done(Now now, Orders& out);
  void doubt(Now now, Orders& out);

  Generation gen_;
  MakeId make_id_;
  MakeMeta make_meta_;
  std::string sitter_version_;
  State state_ = State::idle;
  std::string opening_id_;
  OpeningResult result_;
  std::string refusal_;
  std::string refusal_error_;
  std::vector<ReplayedCall> calls_;
  std::optional<CallReplay> replay_;
  /// Those that were added when all others were made.
  std::optional<CallReplay> late_replay_;
  bool has_spoken_ = false;
  /// From `settling` on.
  const Session* session_ = nullptr;
  std::vector<Restore> restores_;
  /// Those that were not answered, by the key of their id; an index of `restores_`.
  std::unordered_map<std::string, std::size_t> unanswered_;
  bool had_tools_ = false;
  /// Raw URIs that a child without subscriptions was not asked for.
  std::vector<std::string> not_restored_;
  /// Until when the settings are waited for.
  std::optional<Instant> restore_deadline_;
  /// Of the `initialize` that tells the era.
  std::string doubt_id_;
  std::optional<Instant> doubt_deadline_;
  std::optional<ListSurvey> survey_;
  /// Lists that have changed since they were taken, and when they may be taken again.
  std::set<CatalogKind> outdated_;
  Instant next_survey_{};
  int surveys_ = 0;
};

}  // namespace sitter
