#include "core/client/internal_ids.hpp"

#include <fmt/format.h>

#include <charconv>
#include <string_view>
#include <system_error>

namespace sitter {
namespace {

// No client counts this far, and a double holds every integer up to 2^53.
constexpr std::uint64_t kFirst = std::uint64_t{1} << 50;
/// Stands before the number if the ids of the client are strings.
constexpr std::string_view kPrefix = "\"mcp-sitter-";

}  // namespace

InternalIds::InternalIds(std::uint64_t seed) : first_(kFirst + seed % kFirst), next_(first_) {}

std::string InternalIds::next(const ClientRequests& in_use) {
  while (true) {
    std::string id =
        strings_ ? fmt::format(R"json({}{}")json", kPrefix, next_) : fmt::format("{}", next_);
    ++next_;
    if (!in_use.uses(id)) return id;
  }
}

bool InternalIds::has_given(std::string_view raw_id) const {
  if (raw_id.starts_with(kPrefix) && raw_id.ends_with('"')) {
    raw_id = raw_id.substr(kPrefix.size(), raw_id.size() - kPrefix.size() - 1);
  }
  std::uint64_t number = 0;
  const auto [end, error] = std::from_chars(raw_id.data(), raw_id.data() + raw_id.size(), number);
  return error == std::errc() && end == raw_id.data() + raw_id.size() && number >= first_ &&
         number < next_;
}

}  // namespace sitter
