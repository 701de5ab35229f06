#include "core/report/catalog.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <map>
#include <utility>

#include "core/base/json_text.hpp"
#include "core/report/tool_words.hpp"
#include "core/wire/json_view.hpp"

namespace sitter {
namespace {

/// "a, b, 3 more".
std::string names_words(const std::vector<std::string>& names, std::size_t bytes_max) {
  std::string words;
  std::size_t shown = 0;
  for (; shown < names.size(); ++shown) {
    const std::string name = shown_name(names[shown]);
    const std::string_view comma = shown > 0 ? ", " : "";
    if (words.size() + comma.size() + name.size() > bytes_max) break;
    words += comma;
    words += name;
  }
  if (shown == names.size()) return words;
  return fmt::format("{}{}{} more", words, shown > 0 ? ", " : "", names.size() - shown);
}

}  // namespace

std::string summary(CatalogKind kind, const CatalogDiff& diff, std::size_t names_bytes_max) {
  std::vector<std::string> changed_names;
  for (const CatalogDiff::Change& change : diff.changed) changed_names.push_back(change.name);
  std::vector<std::string> parts;
  const auto add_part = [&](const char* format, const std::vector<std::string>& names) {
    if (names.empty()) return;
    parts.push_back(fmt::format(fmt::runtime(format), names.size()) + " (" +
                    names_words(names, names_bytes_max) + ")");
  };
  add_part("+{} added", diff.added);
  add_part("+{} back", diff.back);
  add_part("-{} removed", diff.removed);
  // For tools, the words of mcp-sitter 0.2.0, whichever part of a tool has changed.
  add_part(kind == CatalogKind::tools ? "{} schema changed" : "{} changed", changed_names);
  return fmt::format("{}", fmt::join(parts, ", "));
}

CatalogDiff Catalog::take(std::span<const std::string> pages) {
  auto items = std::make_shared<Items>();
  const std::string_view key = kind_ == CatalogKind::resources ? "uri" : "name";
  for (const std::string& page : pages) {
    for (const std::string_view raw : json_elements(page)) {
      if (!raw.starts_with('{')) continue;
      auto name = json_decoded(member(raw, key));
      items->push_back({std::move(name), std::string(raw)});
    }
  }
  const auto before = std::exchange(latest_, std::move(items));
  if (std::exchange(known_, true)) return diff(*before, *latest_);
  told_ = latest_;
  return {};
}

std::vector<std::string_view> Catalog::items() const {
  std::vector<std::string_view> raws;
  for (const Item& item : *latest_) raws.push_back(item.raw);
  return raws;
}

std::vector<std::string> Catalog::names() const {
  std::vector<std::string> names;
  for (const Item& item : *latest_) {
    if (item.name) names.push_back(*item.name);
  }
  return names;
}

std::size_t Catalog::bytes_of(const Items& items) {
  std::size_t bytes = 0;
  for (const Item& item : items) bytes += item.raw.size();
  return bytes;
}

std::string_view Catalog::find(std::string_view name) const {
  const auto found = std::find_if(latest_->begin(), latest_->end(),
                                  [&](const Item& item) { return item.name == name; });
  return found == latest_->end() ? std::string_view() : std::string_view(found->raw);
}

void Catalog::on_told() {
  for (std::string& name : diff_since_told().removed) told_removals_.insert(std::move(name));
  mark_told();
}

CatalogDiff Catalog::diff_since_told() const {
  return latest_ == told_ ? CatalogDiff() : diff(*told_, *latest_);
}

CatalogDiff Catalog::diff(const Items& old_items, const Items& new_items) const {
  CatalogDiff diff;
  const auto by_name = [](const Items& items) {
    std::map<std::string_view, std::string_view> index;
    for (const Item& item : items) {
      if (item.name) index.emplace(*item.name, item.raw);
    }
    return index;
  };
  const auto before = by_name(old_items);
  const auto after = by_name(new_items);
  for (const auto& [name, raw] : after) {
    const auto old_one = before.find(name);
    if (old_one == before.end() && told_removals_.contains(name)) {
      diff.back.emplace_back(name);
    } else if (old_one == before.end()) {
      diff.added.emplace_back(name);
      if (kind_ != CatalogKind::resources) {
        diff.signatures.push_back(signature(kind_, name, raw));
      }
    } else if (!json_same(old_one->second, raw)) {
      auto [details, output_schema_changed] = definition_change(kind_, old_one->second, raw);
      diff.changed.push_back({std::string(name), std::move(details), output_schema_changed});
    }
  }
  for (const auto& [name, raw] : before) {
    if (!after.contains(name)) diff.removed.emplace_back(name);
  }
  return diff;
}

}  // namespace sitter
