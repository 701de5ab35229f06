#include "core/child/child_requests.hpp"

#include <fmt/format.h>

#include <charconv>

#include "core/base/raw_id.hpp"

namespace sitter {
namespace {

/// The number of an id that `add` has made, however the client spells it; 0 for any other id.
std::int64_t number_of(std::string_view client_id) {
  const std::string key = id_key(client_id);
  std::int64_t number = 0;
  const auto [end, error] = std::from_chars(key.data(), key.data() + key.size(), number);
  return error == std::errc() && end == key.data() + key.size() ? number : 0;
}

}  // namespace

bool ChildRequests::has_room(std::string_view id, std::string_view progress_token) const {
  return count() < limits::kChildRequestsMax &&
         bytes_ + id.size() + progress_token.size() <= limits::kChildRequestBytesMax;
}

std::string ChildRequests::add(Generation gen, std::string_view id,
                               std::string_view progress_token) {
  open_.emplace(next_, Request{gen, std::string(id), std::string(progress_token)});
  bytes_ += id.size() + progress_token.size();
  return fmt::format("{}", next_++);
}

std::optional<ChildRequests::Request> ChildRequests::take(std::string_view client_id) {
  auto node = open_.extract(number_of(client_id));
  if (node.empty()) return std::nullopt;
  bytes_ -= weight(node.mapped());
  return std::move(node.mapped());
}

const ChildRequests::Request* ChildRequests::find(std::string_view client_id) const {
  const auto it = open_.find(number_of(client_id));
  return it == open_.end() ? nullptr : &it->second;
}

std::string ChildRequests::client_id(Generation gen, std::string_view id) const {
  const std::string key = id_key(id);
  for (const auto& [number, request] : open_) {
    if (request.gen == gen && id_key(request.id) == key) return fmt::format("{}", number);
  }
  return {};
}

std::vector<std::string> ChildRequests::drop(Generation gen) {
  std::vector<std::string> dropped;
  for (auto it = open_.begin(); it != open_.end();) {
    if (it->second.gen == gen) {
      dropped.push_back(fmt::format("{}", it->first));
      bytes_ -= weight(it->second);
      it = open_.erase(it);
    } else {
      ++it;
    }
  }
  return dropped;
}

}  // namespace sitter
