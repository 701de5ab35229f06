#pragma once

#include <algorithm>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "sitter/generation.hpp"
#include "sitter/time.hpp"
#include "support/simulation_said.hpp"

namespace sitter::sim {

/// A request of the client, from its line to its answer.
struct Request {
  const ClientSaid* said = nullptr;
  /// Equal for all ids that may be taken for each other, because a child may keep numbers as
  /// doubles.
  std::string key;
  /// The mark of the batch that held the request; 0 if the request came alone.
  int batch = 0;
  /// When the request came. The wait begins anew when its child answers.
  Instant waits_since;
  bool is_opening = false, is_builtin = false;
  /// Another request has the same id, so nobody outside can tell which of them is meant.
  bool is_doubled = false;
  bool is_cancelled = false, is_answered = false;
  /// The client cancelled the request before the bridge can have known an answer to it.
  bool is_withdrawn = false;
  bool may_be_task = false;
  std::vector<Generation> sent_to;
  /// The number of the child's answer that the bridge has read; 0 if there is none.
  int answer_read = 0;
  /// A server that was started anew has refused this request, or another one with the same id.
  Generation refused_by = kNoGeneration;
  /// Its place among the answered requests that had a progress token; 0 if it has none.
  int ended_number = 0;
};

/// Checks that each request of the client gets one answer: not two, and at the end not none. The
/// answers to a batch stand together in one array. Throws `Broken`.
class Requests {
 public:
  Requests(const Scene& scene, const Instant& now) : scene_(scene), now_(now) {}

  /// `may_be_alike`: something else, which is over, has had an id like this one.
  Request& open(const ClientSaid& said, int batch, bool may_be_alike);
  /// A line came whose id cannot be read. `batch` is 0 if it came alone.
  void owe_error(int batch) { ++(batch == 0 ? errors_owed_ : batches_[batch]); }

  /// Null if the line with this mark is no request.
  const Request* of(int mark) const;
  Request& at(int mark) { return all_.at(mark); }
  const std::vector<int>& open_marks() const { return open_; }
  /// The request that an answer of the bridge itself with this id is probably for, or null.
  Request* open_with(std::string_view raw_id);
  /// The open request that the client cancels by this id, or null.
  Request* open_to_cancel(std::string_view raw_id);
  /// A request with this key that has exactly this id in `line` and no answer yet, or null.
  Request* unanswered(const std::string& key, const std::string& line);
  /// Whether more than one request has had this id.
  bool is_used_again(const Request& request) const { return counts_.at(request.key).asked > 1; }
  /// Something else has this key, too. Returns whether a request with this key is open.
  bool mark_doubled(const std::string& key);
  std::string key_of(std::string_view raw_id) const;

  void answered(Request& request);
  void error_without_id() { --errors_owed_; }
  void cancelled(Request& request) { --counts_[request.key].owed; }
  /// Closes a cancelled request that will get no answer, unless its answer may be on its way.
  void forget(Request& request);
  /// Whether an open request wants progress under this token.
  bool has_open_token(const std::string& token) const;
  /// Progress may not follow the answer to its request.
  void check_progress(const Request& request) const;

  void begin_array() { batch_heard_ = 0; }
  void end_array(int errors_without_id);
  bool is_in_array() const { return batch_heard_.has_value(); }

  /// The bridge may hold back lines to the client for so long, because of progress or a list.
  void hold(Milliseconds time) { held_until_ = std::max(held_until_, now_ + time); }
  bool is_held() const;

  void check_errors() const;
  void check_end() const;

 private:
  struct Count {
    int asked = 0, owed = 0;
  };

  const Scene& scene_;
  const Instant& now_;
  std::map<int, Request> all_;           // by mark
  std::vector<int> open_;                // marks of requests without an answer
  std::map<std::string, Count> counts_;  // by key
  int errors_owed_ = 0;
  /// For each batch, by mark: how many errors without an id its array of answers must hold.
  std::map<int, int> batches_;
  /// The mark of the batch whose array of answers is being checked. 0 until the first answer shows
  /// which batch it is. Empty outside an array.
  std::optional<int> batch_heard_;
  Instant held_until_;
  int ended_count_ = 0;
};

}  // namespace sitter::sim
