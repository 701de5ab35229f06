#pragma once

#include <array>
#include <cstddef>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "core/child/list_survey.hpp"
#include "core/report/catalog.hpp"
#include "core/wire/catalog_kind.hpp"
#include "core/wire/method.hpp"

namespace sitter {

namespace limits {

/// Resource templates that are remembered while no child serves. A server has a handful.
inline constexpr std::size_t kTemplatesMax = 1000;

}  // namespace limits

/// How the lists of a child differ from the lists of the child before it.
struct CatalogComparison {
  /// Indexed by CatalogKind.
  std::array<bool, kCatalogKinds.size()> changed{};
  /// Tools whose output schema has changed.
  std::set<std::string> output_changed;
  /// Lists that the child did not give completely.
  std::vector<CatalogKind> not_compared;
  bool are_tools_known = false;
};

/// The last known lists of the server. Tools, prompts and resources are compared after a restart;
/// the templates of resources are not.
class Catalogs {
 public:
  const Catalog& of(CatalogKind kind) const { return catalogs_[static_cast<std::size_t>(kind)]; }
  const Catalog& tools() const { return of(CatalogKind::tools); }

  /// Takes what a child has listed. `is_respawn`: these are the first lists of a new child, and the
  /// client knows the lists of the child before it. A list that the child was not asked for then
  /// counts as empty.
  CatalogComparison take(const std::vector<ListSurvey::List>& lists, bool is_respawn);
  /// Takes a page that the client was given. `items` is the raw array of the whole list.
  void take_page(CatalogKind kind, std::string_view items);
  /// Takes a raw array of templates that the client was given. The first page replaces all
  /// templates.
  void take_templates(std::string_view templates, bool is_first_page);
  /// Sets every unknown list to empty, because the client is told so.
  void take_unknown_as_empty();

  /// The client and its model know the current lists.
  void mark_told();
  void on_told();
  void forget_told_removals();
  /// Whether the model must be told anything, and whether anything is back.
  bool has_untold() const;
  bool brings_back() const;
  void mark_told(CatalogKind kind) { at(kind).mark_told(); }

  /// The last known list that this method asks for, as the result of a request. `more` are raw
  /// items that follow. From now on the client knows this list.
  std::string last_list(Method method, std::vector<std::string> more);

  /// What the last restart has changed.
  const std::optional<CatalogDiff>& last_tools_diff() const { return last_tools_diff_; }

 private:
  Catalog& at(CatalogKind kind) { return catalogs_[static_cast<std::size_t>(kind)]; }

  std::array<Catalog, kCatalogKinds.size()> catalogs_ = {
      Catalog(CatalogKind::tools), Catalog(CatalogKind::prompts), Catalog(CatalogKind::resources)};
  /// The raw templates that the client was given last.
  std::vector<std::string> templates_;
  std::optional<CatalogDiff> last_tools_diff_;
};

}  // namespace sitter
