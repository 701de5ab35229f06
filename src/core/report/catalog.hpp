#pragma once

#include <cstddef>
#include <functional>
#include <memory>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "core/wire/catalog_kind.hpp"

namespace sitter {

/// What differs between two lists of the same kind. Names are sorted by their bytes, and are as the
/// server wrote them, so they may hold anything.
struct CatalogDiff {
  struct Change {
    std::string name;
    /// One line each, as `definition_change` gives them.
    std::vector<std::string> details;
    bool output_schema_changed = false;

    friend bool operator==(const Change&, const Change&) = default;
  };

  std::vector<std::string> added;
  std::vector<std::string> removed;
  std::vector<Change> changed;
  /// For each added tool or prompt, in the same order, its parameters, as `signature` gives them.
  std::vector<std::string> signatures;
  /// What the model was told to be removed since the server has started, and is there again.
  std::vector<std::string> back = {};

  bool empty() const { return added.empty() && back.empty() && removed.empty() && changed.empty(); }

  friend bool operator==(const CatalogDiff&, const CatalogDiff&) = default;
};

/// "+1 added (search_index), -1 removed (find), 1 schema changed (read_file)"; for prompts and
/// resources "1 changed (greet)"; empty for no change. Each of the three lists of names takes at
/// most `names_bytes_max` bytes, the rest is counted.
std::string summary(CatalogKind kind, const CatalogDiff& diff, std::size_t names_bytes_max = 600);

/// The last known list of the child's tools, prompts or resources, and the list that the model was
/// told last. Several restarts before a delivered notice therefore make one diff.
///
/// Items are compared by meaning: key order, whitespace and the spelling of numbers are not
/// changes. Items nested deeper than `limits::kNestingMax` are compared as they were written. Of
/// items with the same name the first counts; items without a name are kept and not compared.
class Catalog {
 public:
  explicit Catalog(CatalogKind kind) : kind_(kind) {}

  CatalogKind kind() const { return kind_; }

  /// Whether a complete list was ever taken.
  bool is_known() const { return known_; }

  /// Takes a complete list: the raw text of the array of each page, in order. The first list is
  /// also taken as told, because there is no list that it could differ from. If the client was told
  /// that there is nothing, take an empty list first. Returns what differs from the list before it,
  /// and nothing for the first list.
  CatalogDiff take(std::span<const std::string> pages);

  /// The raw texts of the latest list, byte for byte, in order.
  std::vector<std::string_view> items() const;
  /// The decoded names of the items, or the URIs of resources, in order. Items without a name are
  /// left out.
  std::vector<std::string> names() const;
  /// The raw text of the first item with this name, or of the resource with this URI; empty if
  /// there is none.
  std::string_view find(std::string_view name) const;
  std::size_t count() const { return latest_->size(); }
  /// The size of all items.
  std::size_t bytes() const { return bytes_of(*latest_); }
  /// The size of all items of the list that the model was told last.
  std::size_t told_bytes() const { return bytes_of(*told_); }

  CatalogDiff diff_since_told() const;
  void mark_told() { told_ = latest_; }
  /// The model was told `diff_since_told`.
  void on_told();
  /// Another server has come, which brings back nothing of the one before it.
  void forget_told_removals() { told_removals_.clear(); }

 private:
  struct Item {
    std::optional<std::string> name;
    std::string raw;
  };

  using Items = std::vector<Item>;

  static std::size_t bytes_of(const Items& items);
  CatalogDiff diff(const Items& old_items, const Items& new_items) const;

  CatalogKind kind_;
  bool known_ = false;
  // Never null; most of the time both are the same list.
  std::shared_ptr<const Items> latest_ = std::make_shared<const Items>();
  std::shared_ptr<const Items> told_ = latest_;
  std::set<std::string, std::less<>> told_removals_;
};

}  // namespace sitter
