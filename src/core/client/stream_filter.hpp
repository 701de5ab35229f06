#pragma once

#include <array>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "core/wire/catalog_kind.hpp"

namespace sitter {

/// What a stream carries: changes of lists, changes of resources, and whatever an extension of the
/// protocol adds.
struct StreamFilter {
  /// Indexed by CatalogKind.
  std::array<bool, kCatalogKinds.size()> lists{};
  /// Raw URIs.
  std::vector<std::string> uris;
  /// Keys and raw values of all other members.
  std::vector<std::pair<std::string, std::string>> others;

  /// Empty if `raw` is not an object.
  static std::optional<StreamFilter> of(std::string_view raw);

  bool has(CatalogKind kind) const { return lists[static_cast<std::size_t>(kind)]; }
  void add(CatalogKind kind) { lists[static_cast<std::size_t>(kind)] = true; }
  bool has_uri(std::string_view raw_uri) const;
  bool is_empty() const { return *this == StreamFilter{}; }
  /// Whether this filter carries everything that `other` carries.
  bool covers(const StreamFilter& other) const;
  std::string text() const;

  friend bool operator==(const StreamFilter&, const StreamFilter&) = default;
};

}  // namespace sitter
