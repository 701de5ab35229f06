#include "core/client/internal_ids.hpp"

#include <fmt/format.h>

namespace sitter {
namespace {

// No client counts this far, and a double holds every integer up to 2^53.
constexpr std::uint64_t kFirst = std::uint64_t{1} << 50;

}  // namespace

InternalIds::InternalIds(std::uint64_t seed) : next_(kFirst + seed % kFirst) {}

std::string InternalIds::next(const ClientRequests& in_use) {
  while (true) {
    std::string id =
        strings_ ? fmt::format(R"json("mcp-sitter-{}")json", next_) : fmt::format("{}", next_);
    ++next_;
    if (!in_use.uses(id)) return id;
  }
}

}  // namespace sitter
