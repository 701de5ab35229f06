#include "core/report/catalogs.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <iterator>
#include <utility>

#include "core/base/json_text.hpp"
#include "sitter/limits.hpp"

namespace sitter {

CatalogComparison Catalogs::take(const std::vector<ListSurvey::List>& lists, bool is_respawn) {
  CatalogComparison comparison;
  for (Catalog& known : catalogs_) {
    const auto list = std::find_if(lists.begin(), lists.end(),
                                   [&](const auto& l) { return l.kind == known.kind(); });
    if (list == lists.end() && !is_respawn) continue;
    if (list != lists.end() && list->state != ListSurvey::List::State::complete) {
      comparison.not_compared.push_back(known.kind());
      continue;
    }
    // A child without the capability has nothing of this kind.
    const CatalogDiff diff =
        known.take(list == lists.end() ? std::vector<std::string>() : list->pages);
    comparison.changed[static_cast<std::size_t>(known.kind())] = !diff.empty();
    if (known.kind() != CatalogKind::tools) continue;
    comparison.are_tools_known = true;
    if (is_respawn) last_tools_diff_ = diff;
    for (const auto& change : diff.changed) {
      if (change.output_schema_changed) comparison.output_changed.insert(change.name);
    }
  }
  return comparison;
}

void Catalogs::take_page(CatalogKind kind, std::string_view items) {
  at(kind).take(std::array{std::string(items)});
}

void Catalogs::take_templates(std::string_view templates, bool is_first_page) {
  if (is_first_page) templates_.clear();
  if (templates.size() > limits::kListBytesMax) return;
  for (const std::string_view item : json_elements(templates)) {
    if (templates_.size() < limits::kTemplatesMax) templates_.emplace_back(item);
  }
}

void Catalogs::take_unknown_as_empty() {
  for (Catalog& known : catalogs_) {
    if (!known.is_known()) known.take({});
  }
}

void Catalogs::mark_told() {
  for (Catalog& known : catalogs_) known.mark_told();
}

void Catalogs::on_told() {
  for (Catalog& known : catalogs_) known.on_told();
}

void Catalogs::forget_told_removals() {
  for (Catalog& known : catalogs_) known.forget_told_removals();
}

bool Catalogs::has_untold() const {
  return std::any_of(catalogs_.begin(), catalogs_.end(),
                     [](const Catalog& known) { return !known.diff_since_told().empty(); });
}

bool Catalogs::brings_back() const {
  return std::any_of(catalogs_.begin(), catalogs_.end(),
                     [](const Catalog& known) { return !known.diff_since_told().back.empty(); });
}

std::string Catalogs::last_list(Method method, std::vector<std::string> more) {
  std::vector<std::string> items;
  std::string_view key = "resourceTemplates";
  if (method == Method::resource_templates_list) items = templates_;
  for (Catalog& known : catalogs_) {
    if (list_method(known.kind()) != method) continue;
    if (!known.is_known()) known.take({});
    key = catalog_name(known.kind());
    for (const std::string_view item : known.items()) items.emplace_back(item);
  }
  std::move(more.begin(), more.end(), std::back_inserter(items));
  return fmt::format(R"json({{"{}":[{}]}})json", key, fmt::join(items, ","));
}

}  // namespace sitter
