#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "sitter/generation.hpp"

namespace sitter {

/// The questions of children that the client has not answered. Each goes to the client under a
/// number that no other child has used, because servers count from zero again after every start: an
/// answer to a dead child must not reach its successor.
class ChildRequests {
 public:
  struct Request {
    Generation gen = kNoGeneration;
    /// Raw, as the child sent it.
    std::string id;
    /// Raw; empty when the child asked for no progress.
    std::string progress_token;
  };

  /// The id for the client, as raw JSON.
  std::string add(Generation gen, std::string_view id, std::string_view progress_token);

  /// What the client's answer belongs to, taken out. Nothing for an unknown id.
  std::optional<Request> take(std::string_view client_id);
  const Request* find(std::string_view client_id) const;
  /// The client's id of the child's question, for its cancellation. Empty for an unknown one.
  std::string client_id(Generation gen, std::string_view id) const;

  /// The client's ids of all that a dead child has left open, taken out, in the order in which they
  /// came.
  std::vector<std::string> drop(Generation gen);

  std::size_t count() const { return open_.size(); }
  /// Of the ids and progress tokens that are kept.
  std::size_t bytes() const { return bytes_; }

 private:
  static std::size_t weight(const Request& request) {
    return request.id.size() + request.progress_token.size();
  }

  std::map<std::int64_t, Request> open_;
  std::int64_t next_ = 1;
  std::size_t bytes_ = 0;
};

}  // namespace sitter
