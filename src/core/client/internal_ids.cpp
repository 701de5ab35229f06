#include "core/client/internal_ids.hpp"

#include <fmt/format.h>

namespace sitter {
namespace {

// Above this a client's counter never comes, and up to 2^53 every number is exact in a double.
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
