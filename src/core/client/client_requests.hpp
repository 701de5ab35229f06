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
#include "sitter/bytes.hpp"
#include "sitter/control_id.hpp"
#include "sitter/generation.hpp"
#include "sitter/limits.hpp"
#include "sitter/line.hpp"
#include "sitter/request_handle.hpp"
#include "sitter/time.hpp"

namespace sitter {

namespace limits {

/// Requests and notifications that wait while no child serves. A client normally sends a handful of
/// requests at once, so a client with a thousand of them is in an endless loop.
inline constexpr std::size_t kWaitingCountMax = 1000;

/// The bytes of these waiting lines, since a build may take minutes: the size of one queue to a
/// child.
inline constexpr std::size_t kWaitingBytesMax = kQueueBytesMax;

/// Requests that a child may have unanswered. At about 160 bytes each, they take about 20 MiB.
inline constexpr std::size_t kInFlightCountMax = 131072;

/// The bytes of the ids of these requests, and of the lines that are kept for a second try: the
/// size of one queue to a child. At this bound no more lines are kept.
inline constexpr std::size_t kInFlightBytesMax = kQueueBytesMax;

/// Cancelled requests that are remembered in case the child answers them anyway. A server of the
/// official SDKs never does, so without a bound they would accumulate.
inline constexpr std::size_t kCancelledCountMax = 1000;

/// The bytes of the answers that wait for the client to list again. Above this bound, no answer
/// waits.
inline constexpr std::size_t kHeldBytesMax = 16 * kMiB;

}  // namespace limits

/// A request of the client that has no answer yet.
struct ClientRequest {
  enum class State : std::uint8_t {
    /// No child has received the request.
    waiting,
    /// A child has received the request.
    sent,
    /// The client has cancelled the request after a child had received it. The child may still
    /// answer.
    cancelled,
    /// The answer is there. It waits until the client has listed the changed tools, or until the
    /// bridge knows what an error of the child means.
    held,
    /// The bridge itself works on the answer.
    ours,
  };

  State state = State::waiting;
  Method method = Method::other;
  /// The client no longer waits for the answer, but may still get it.
  bool is_waived = false;
  /// The request went to a child that died, and may go to one more child.
  bool is_retried = false;
  /// The request asks for a list from its beginning.
  bool is_first_page = false;
  /// The request asks for progress. The token is `extra->progress_token`, otherwise the id.
  bool wants_progress = false;
  /// The answer only begins a task, which goes on under the token.
  bool goes_on = false;
  /// The answer begins a task, and a failure must be a JSON-RPC error.
  bool wants_task = false;
  /// The request has the envelope of the stateless revision; its answer must have one, too.
  bool is_stateless = false;
  /// The number of the client's envelope in the request.
  ClientEnvelope::Number envelope = ClientEnvelope::kNone;
  Generation gen = kNoGeneration;
  std::uint64_t order = 0;
  RequestHandle handle() const { return RequestHandle{order}; }

  /// Facts that only few requests need.
  struct Extra {
    /// The line, if it is needed again: to send the request once more, or to read from it what was
    /// set up.
    OwnedLine line;
    /// For a second opening: when the bridge answers it.
    std::optional<Instant> answer_by;
    /// The raw id, if it differs from the key.
    std::string id;
    /// Raw. Empty if it is the same as the id, which is the choice of the official TypeScript
    /// client.
    std::string progress_token;
    /// Since when the request has waited for a child that refuses it again and again.
    std::optional<Instant> refused_since;
    /// When the client has cancelled the request, and whether it took too long for the client.
    Instant cancelled_at{};
    bool has_timed_out = false;
    /// The held answer.
    OwnedLine answer;
    /// The held answer is an error that may only mean that the child was not opened.
    bool is_refusal = false;
    /// The held answer has the notice about this child, which is told when the answer leaves.
    Generation notice_of = kNoGeneration;
    /// `text_key` of the cursor of the page that a list asks for; 0 for the first page.
    std::size_t cursor = 0;
    /// The connection of `ctl` that has asked; none for a request of the client.
    ControlId control = 0;
    /// The batch that the request came in.
    Batches::Number batch = Batches::kNone;
    /// `text_key` of the task or the state that an earlier result has given; 0 if there is none.
    std::size_t task = 0;
    std::size_t state = 0;
    /// The request came as a sitter_call.
    bool is_passed_call = false;
    /// A sitter_kill that starts the server again.
    bool restarts = false;
  };
  std::unique_ptr<Extra> extra;
  /// The tool of a tools/call.
  std::string tool;
  /// `id_key` of the id: the same for all its spellings.
  std::string key;

  /// Whether the line was kept.
  bool has_line() const { return extra && extra->line.size() > 0; }
  bool is_control() const { return extra && extra->control != 0; }
  /// The id as the client has spelled it.
  std::string_view id() const {
    return extra && !extra->id.empty() ? std::string_view(extra->id) : key;
  }
  /// The raw token of the progress; empty if the request asks for none.
  std::string_view progress_token() const {
    if (!wants_progress) return {};
    return extra && !extra->progress_token.empty() ? std::string_view(extra->progress_token) : id();
  }

  /// Whether the request may be carried out twice without harm, as reads and settings may. A tool
  /// may claim the same, but hints of tools are not to be trusted.
  bool is_repeatable() const;

  /// Whether a failure is told in a result, which the model reads, and not in an error.
  bool fails_with_result() const { return method == Method::tools_call && !wants_task; }
  bool is_in_batch() const { return extra && extra->batch != Batches::kNone; }

  Extra& more() {
    if (!extra) extra = std::make_unique<Extra>();
    return *extra;
  }
};

/// The requests of the client, and of `ctl`, that have no answer yet. A request stays here from the
/// arrival of its line until its answer, so each request gets exactly one answer. Two requests with
/// the same id are both owed an answer; the earlier request gets the first.
///
///     waiting --> sent --> (taken)          answered by a child
///      |   ^      | | \--> held --> (taken)
///      |   |      | |       |
///      |   \-retry/-|-------/
///      |            \--> cancelled --> (taken)
///      |\--> ours --> (taken)               answered by the bridge
///      |        \--> held --> (taken)
///      \--> (taken)                         failed, or cancelled before a child had it
class ClientRequests {
 public:
  /// How much may wait while no child serves.
  struct Room {
    std::size_t count = limits::kWaitingCountMax;
    std::size_t bytes = limits::kWaitingBytesMax;
  };

  ClientRequests();
  explicit ClientRequests(Room room);
  ~ClientRequests();

  /// Adds a request in state waiting. The reference stays valid until the request is taken.
  ClientRequest& add(std::string_view raw_id);
  /// Adds a request of `ctl` in state ours. No id of the client refers to it.
  ClientRequest& add_control(ControlId connection);

  /// The request that this child has, cancelled or not, and that an answer with this raw id belongs
  /// to: the request with the same spelling, otherwise the oldest request with the same meaning.
  /// Null if none.
  ClientRequest* find_sent(std::string_view raw_id, Generation gen);
  /// The oldest request that this child has and that a server answers with this raw id if it reads
  /// all numbers as doubles; a cancelled request only if there is no other. Null if none.
  ClientRequest* find_rounded(std::string_view raw_id, Generation gen);
  /// The request with this handle, if it is open and the bridge answers it. Otherwise null.
  ClientRequest* find(RequestHandle handle) const;
  /// The youngest request with this id that is not cancelled, in any state. A cancellation means
  /// this request.
  ClientRequest* find_open(std::string_view raw_id);

  /// A line that waits for a child: a request, or a notification, which has no entry.
  struct Waiting {
    ClientRequest* request = nullptr;
    std::uint64_t order = 0;
    OwnedLine line;
    Instant since{};
  };

  /// Whether there is room for a line of this size. A line that waits alone always has room.
  bool may_wait(std::size_t bytes) const;
  /// Makes room for a request of this size by dropping the notifications that wait, if there is no
  /// room otherwise. Returns how many were dropped.
  std::size_t make_room(std::size_t bytes);
  /// Puts a copy of the line behind all lines that wait.
  void enqueue(ClientRequest& request, std::string_view line, Instant now);
  void enqueue_notification(std::string_view line);
  /// Whether one more request may be in flight (`limits::kInFlightCountMax`).
  bool may_send() const { return in_flight_count() < limits::kInFlightCountMax; }
  /// Whether there is room to keep a line of this size beside its request, so that the request may
  /// be sent once more.
  bool may_keep(std::size_t bytes) const { return bytes_ + bytes <= limits::kInFlightBytesMax; }
  /// Takes the first line that waits out of the queue. Its request must then be passed to
  /// `mark_sent` or `take`. Only to be called while something waits.
  Waiting next_waiting();
  /// A child has received the request. `line` may be sent to another child; empty if that is not
  /// allowed.
  void mark_sent(ClientRequest& request, Generation gen, OwnedLine line);
  /// Keeps the line beside a request that was sent without it.
  void keep(ClientRequest& request, OwnedLine line);
  /// The bridge answers the request.
  void mark_ours(ClientRequest& request);
  /// The answer is there, and is kept.
  void hold(ClientRequest& request, std::string answer);
  /// The held answer gets another text.
  void rewrite_held(ClientRequest& request, std::string answer);
  /// Returns the held answer. The caller takes the request next.
  OwnedLine release(ClientRequest& request);
  /// The child of the request died, or has refused it: the request waits again, before all requests
  /// that came later. It must have its line.
  void retry(ClientRequest& request, Instant now);
  /// The same for a request that its child has refused only for now: it may still be sent once more
  /// after that child has died. It waits since it was refused for the first time.
  void wait_again(ClientRequest& request, Instant now);
  void cancel(ClientRequest& request);
  /// The client no longer waits for the answer; if the answer comes, it is sent.
  void waive(ClientRequest& request);

  /// Takes a request out, for good.
  void take(ClientRequest& request);

  /// The cancelled requests that are remembered, the first cancelled first.
  const std::deque<ClientRequest*>& cancelled() const { return cancelled_; }
  /// All requests in this state, in the order in which they came; only those of this generation,
  /// unless it is kNoGeneration.
  std::vector<ClientRequest*> all(ClientRequest::State state, Generation gen = kNoGeneration);
  /// The requests that this child has, cancelled or not, in the order in which they came.
  std::vector<ClientRequest*> at_child(Generation gen);

  /// How many requests and notifications wait.
  std::size_t waiting_count() const { return waiting_.size(); }
  /// The first request that waits, a probe only `with_probes`. Null if only notifications wait, or
  /// nothing.
  const ClientRequest* first_waiting_request(bool with_probes = true) const;
  std::size_t waiting_bytes() const { return waiting_bytes_; }
  /// Since when the oldest waiting request has waited, and all requests that have waited since
  /// `then` or longer. Openings are left out, because they have rules of their own, and so are
  /// probes without `with_probes`.
  std::optional<Instant> waits_since(bool with_probes = false) const;
  std::vector<ClientRequest*> waiting_since(Instant then, bool with_probes = false) const;
  /// How many requests are in state sent.
  std::size_t in_flight_count() const { return static_cast<std::size_t>(sent_count_); }
  /// How many of them this child has.
  std::size_t in_flight_count(Generation gen) const;
  /// The size of the ids and lines of all requests that do not wait, without held answers.
  std::size_t bytes() const { return bytes_; }
  /// The size of the held answers.
  std::size_t held_bytes() const { return held_bytes_; }
  /// How many requests are neither cancelled nor waived, in any state.
  std::size_t owed_count() const { return owed_count_; }
  /// How many of them are requests of the client.
  std::size_t owed_to_client_count() const { return owed_count_ - control_count_; }

  bool uses(std::string_view raw_id) const;
  /// Whether the client uses strings as well as numbers.
  bool has_both_id_types() const { return has_strings_ && has_numbers_; }
  /// The `order` of the next request.
  std::uint64_t next_order() const { return next_order_; }

 private:
  struct Node;
  struct Index;
  void weigh(ClientRequest& request);
  void count_sent(Generation gen, int more);

  Room room_;
  std::unique_ptr<Index> index_;
  /// The requests that the bridge answers.
  std::map<RequestHandle, ClientRequest*> ours_;
  std::deque<Waiting> waiting_;
  /// The oldest first.
  std::deque<ClientRequest*> cancelled_;
  std::size_t waiting_bytes_ = 0;
  std::size_t held_bytes_ = 0;
  std::size_t bytes_ = 0;
  std::int64_t sent_count_ = 0;
  /// The counts by child.
  std::vector<std::pair<Generation, std::int64_t>> sent_counts_;
  std::size_t owed_count_ = 0;
  std::size_t control_count_ = 0;
  std::uint64_t next_order_ = 0;
  bool has_strings_ = false;
  bool has_numbers_ = false;
};

}  // namespace sitter
