#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "sitter/bytes.hpp"
#include "sitter/generation.hpp"

namespace sitter {

namespace limits {

/// Requests of the child that the client has not answered. A client shows them to a person. The
/// second bound is for the bytes of their ids and progress tokens, which are kept: 4 KiB for each
/// request if all are open.
inline constexpr std::size_t kChildRequestsMax = 1000;
inline constexpr std::size_t kChildRequestBytesMax = 4 * kMiB;

}  // namespace limits

/// The requests of children that the client has not answered. Each request goes to the client under
/// a number that no other child has used: servers count from zero again after every start, and an
/// answer to a dead child must not reach its successor.
class ChildRequests {
 public:
  struct Request {
    Generation gen = kNoGeneration;
    /// The raw id, as the child sent it.
    std::string id;
    /// The raw token; empty if the child asked for no progress.
    std::string progress_token;
  };

  /// Whether one more request may be added (`limits::kChildRequestsMax`, `kChildRequestBytesMax`).
  bool has_room(std::string_view id, std::string_view progress_token) const;
  /// Adds a request. Returns the id for the client, as raw JSON.
  std::string add(Generation gen, std::string_view id, std::string_view progress_token);

  /// Removes and returns the request that the client's answer belongs to. Empty for an unknown id.
  std::optional<Request> take(std::string_view client_id);
  const Request* find(std::string_view client_id) const;
  /// The client's id of a request of the child, for its cancellation. Empty for an unknown request.
  std::string client_id(Generation gen, std::string_view id) const;

  /// Removes all open requests of a dead child. Returns the client's ids of these requests, in the
  /// order in which they came.
  std::vector<std::string> drop(Generation gen);

  std::size_t count() const { return open_.size(); }
  /// The size of the ids and progress tokens that are stored.
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
