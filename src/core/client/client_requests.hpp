#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "core/client/batches.hpp"
#include "core/client/client_envelope.hpp"
#include "core/wire/message.hpp"
#include "sitter/control_id.hpp"
#include "sitter/generation.hpp"
#include "sitter/line.hpp"
#include "sitter/request_handle.hpp"

namespace sitter {

/// A request of the client that has no answer yet.
struct ClientRequest {
  enum class State : std::uint8_t {
    /// No child has seen it.
    waiting,
    /// A child has it.
    sent,
    /// Its answer is there, and waits until the client has listed the changed tools, or until it is
    /// known what an error of the child means.
    held,
    /// The bridge itself works on the answer.
    ours,
  };

  State state = State::waiting;
  Method method = Method::other;
  bool is_cancelled = false;
  /// The client has gone on without its answer, which it may still get.
  bool is_waived = false;
  /// It went to a child that died, and may go to one more.
  bool is_retried = false;
  /// A list from its beginning.
  bool is_first_page = false;
  /// It asks for progress under a token that is `extra->progress_token`, or its id.
  bool wants_progress = false;
  /// Its answer is only the beginning of a task, which goes on under its token.
  bool goes_on = false;
  /// Its answer is a task at first, and what fails it must be a JSON-RPC error.
  bool wants_task = false;
  /// It has the envelope of the stateless revision, and so must its answer.
  bool is_stateless = false;
  /// Which of the client's envelopes it came with.
  ClientEnvelope::Number envelope = ClientEnvelope::kNone;
  Generation gen = kNoGeneration;
  std::uint64_t order = 0;
  RequestHandle handle() const { return RequestHandle{order}; }

  /// What only few requests need.
  struct Extra {
    /// The line, where it may have to be sent once more.
    OwnedLine line;
    /// Of a second opening: when the bridge answers it.
    std::optional<Instant> answer_by;
    /// The raw id where it differs from the key.
    std::string id;
    /// Raw; empty when it is the same as the id, as the official TypeScript client chooses it.
    std::string progress_token;
    /// The answer that is held.
    OwnedLine answer;
    /// It holds the notice of this child, which is told when it leaves.
    Generation notice_of = kNoGeneration;
    /// It was asked by somebody who controls the bridge, and not by the client.
    ControlId control = 0;
    /// The batch that it came in.
    Batches::Number batch = Batches::kNone;
    /// It came as a sitter_call.
    bool is_passed_call = false;
  };
  std::unique_ptr<Extra> extra;
  /// Of a tools/call.
  std::string tool;
  /// `id_key` of the id: the same for all its spellings.
  std::string key;

  /// The line was kept.
  bool has_line() const { return extra && extra->line.size() > 0; }
  bool is_control() const { return extra && extra->control != 0; }
  /// The id as the client has spelled it.
  std::string_view id() const {
    return extra && !extra->id.empty() ? std::string_view(extra->id) : key;
  }
  /// The raw token under which its progress comes; empty when it wants none.
  std::string_view progress_token() const {
    if (!wants_progress) return {};
    return extra && !extra->progress_token.empty() ? std::string_view(extra->progress_token) : id();
  }

  /// Whether it may be done twice without harm: reads, and settings that say the same again. A tool
  /// may say so of itself too, but its hints are not to be trusted.
  bool is_repeatable() const;

  /// Whether what fails it is told in a result, which the model reads, and not in an error.
  bool fails_with_result() const { return method == Method::tools_call && !wants_task; }
  bool is_in_batch() const { return extra && extra->batch != Batches::kNone; }

  Extra& more() {
    if (!extra) extra = std::make_unique<Extra>();
    return *extra;
  }
};

/// The requests of the client, and of `ctl`, that have no answer yet. A request stands here from its
/// line until its answer takes it out, so each request gets exactly one answer. Two requests with
/// the same id are both owed an answer; the earlier request gets the first.
///
///     waiting --> sent --> (taken)          answered by a child
///      ^   ^       |  \--> held --> (taken)
///      |   \-retry-/
///      \--> ours --> (taken)                answered by the bridge, or given back
///              \--> held --> (taken)
class ClientRequests {
 public:
  ClientRequests();
  ~ClientRequests();

  /// Adds a request in state waiting. The reference stays valid until the request is taken.
  ClientRequest& add(std::string_view raw_id);
  /// Adds one of somebody who controls the bridge, in state ours. No id of the client means it.
  ClientRequest& add_control(ControlId connection);

  /// The request that an answer with this raw id belongs to: of those in state sent with `gen`, the
  /// one with the same spelling, else the oldest with the same meaning. Null if none.
  ClientRequest* find_sent(std::string_view raw_id, Generation gen);
  /// The oldest in state sent with `gen` that a server which reads all numbers as doubles answers
  /// with this raw id. Null if none.
  ClientRequest* find_rounded(std::string_view raw_id, Generation gen);
  /// The one with this handle, if it is open and the bridge answers it. Null if not.
  ClientRequest* find(RequestHandle handle) const;
  /// The youngest that is not cancelled, in whatever state: what a cancellation means.
  ClientRequest* find_open(std::string_view raw_id);

  /// A line that waits for a child: a request, or a notification, which has no entry.
  struct Waiting {
    ClientRequest* request = nullptr;
    std::uint64_t order = 0;
    OwnedLine line;
    Instant since{};
  };

  /// Whether there is room for a line of so many bytes. A line that waits alone always has it.
  bool may_wait(std::size_t bytes) const;
  /// Puts a line behind all that wait. It is copied.
  void enqueue(ClientRequest& request, std::string_view line, Instant now);
  void enqueue_notification(std::string_view line);
  /// Returns how many there were.
  std::size_t drop_waiting_notifications();
  /// Takes the first that waits out of the queue. A request must then be passed to
  /// `mark_sent` or `take`. Only to be called while something waits.
  Waiting next_waiting();
  /// A child has got it. `line` is what to send to another, where that is allowed, else empty.
  void mark_sent(ClientRequest& request, Generation gen, OwnedLine line);
  /// The bridge answers it.
  void mark_ours(ClientRequest& request);
  /// The answer is there, and is kept.
  void hold(ClientRequest& request, std::string answer);
  /// Returns the answer of one that is held. It is taken next.
  OwnedLine release(ClientRequest& request);
  /// A child died with it: it waits again, before all that came later.
  void retry(ClientRequest& request, Instant now);
  void cancel(ClientRequest& request);
  /// Nobody waits for its answer any more; it is sent if it comes.
  void waive(ClientRequest& request);

  /// Takes a request out, for good.
  void take(ClientRequest& request);

  /// All in this state (of this generation, unless it is kNoGeneration), in the order in which they
  /// came.
  std::vector<ClientRequest*> all(ClientRequest::State state, Generation gen = kNoGeneration);

  /// Requests and notifications.
  std::size_t waiting_count() const { return waiting_.size(); }
  /// Null if only notifications wait, or nothing.
  const ClientRequest* first_waiting_request() const;
  std::size_t waiting_bytes() const { return waiting_bytes_; }
  /// Since when the one has waited that has waited longest, and all that have waited since `then`
  /// or longer; openings and probes, which have rules of their own, left out.
  std::optional<Instant> waits_since() const;
  std::vector<ClientRequest*> waiting_since(Instant then) const;
  /// Sent and not cancelled.
  std::size_t in_flight_count() const { return static_cast<std::size_t>(sent_count_); }
  /// The same, to this child.
  std::size_t in_flight_count(Generation gen) const;
  /// Of the ids and lines of all that do not wait, the answers left out.
  std::size_t bytes() const { return bytes_; }
  /// Of the answers that are held.
  std::size_t held_bytes() const { return held_bytes_; }
  /// Neither cancelled nor waived, in any state.
  std::size_t owed_count() const { return owed_count_; }
  /// And asked by the client.
  std::size_t owed_to_client_count() const { return owed_count_ - control_count_; }

  bool uses(std::string_view raw_id) const;

 private:
  struct Node;
  struct Index;
  void weigh(ClientRequest& request);
  void count_sent(Generation gen, int more);

  std::unique_ptr<Index> index_;
  /// Those that the bridge answers.
  std::map<RequestHandle, ClientRequest*> ours_;
  std::deque<Waiting> waiting_;
  /// The oldest first; their answers are hardly ever met.
  std::deque<ClientRequest*> cancelled_;
  std::size_t waiting_bytes_ = 0;
  std::size_t held_bytes_ = 0;
  std::size_t bytes_ = 0;
  std::int64_t sent_count_ = 0;
  /// By child, as far as there are any: two at most.
  std::vector<std::pair<Generation, std::int64_t>> sent_counts_;
  std::size_t owed_count_ = 0;
  std::size_t control_count_ = 0;
  std::uint64_t next_order_ = 0;
};

}  // namespace sitter
