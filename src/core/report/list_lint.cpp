#include "core/report/list_lint.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cassert>
#include <functional>
#include <iterator>
#include <set>
#include <utility>

#include "core/base/json_text.hpp"
#include "core/report/lint.hpp"
#include "core/report/lint_findings.hpp"
#include "core/schema/protocol_schema.hpp"
#include "core/schema/schema_defect.hpp"
#include "core/schema/schema_reference.hpp"
#include "core/wire/json_view.hpp"

namespace sitter {
namespace {

constexpr std::string_view kDropped = "so clients drop the whole list";

/// A kind of list.
struct Kind {
  Method method;
  std::string_view items;
  std::string_view item_definition;
  std::string_view page_definition;
  std::string_view word;
};

constexpr Kind kKinds[] = {
    {Method::tools_list, "tools", "Tool", "ListToolsResult", "tool"},
    {Method::prompts_list, "prompts", "Prompt", "ListPromptsResult", "prompt"},
    {Method::resources_list, "resources", "Resource", "ListResourcesResult", "resource"},
    {Method::resource_templates_list, "resourceTemplates", "ResourceTemplate",
     "ListResourceTemplatesResult", "resource template"},
};

const Kind& kind_of(Method method) {
  const auto* const found = std::find_if(std::begin(kKinds), std::end(kKinds),
                                         [&](const Kind& kind) { return kind.method == method; });
  assert(found != std::end(kKinds));
  return *found;
}

bool is_good_name(std::string_view name) {
  constexpr std::string_view kCharacters =
      "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789_.-";
  return !name.empty() && name.size() <= limits::kToolNameMax &&
         name.find_first_not_of(kCharacters) == name.npos;
}

/// What clients refuse although the protocol's schema allows it.
void lint_tool(std::string_view name, std::string_view item, std::set<std::string>& names,
               Findings& findings) {
  if (!is_good_name(name)) {
    findings.add(
        "clients refuse this name; write 1 to {} of the characters A-Z, a-z, 0-9, _, - and .",
        limits::kToolNameMax);
  }
  if (!names.emplace(name).second) {
    findings.add("several tools have this name, so clients drop a tool or the whole list");
  }
  const std::string_view schema = member(item, "inputSchema");
  if (schema.size() > limits::kLintSchemaMax) return;
  if (const auto reference = outside_reference(schema)) {
    findings.add(
        "the $ref {} in inputSchema leads out of the schema, so clients drop the tool or the whole "
        "list; write the definition into $defs",
        in_quotes(*reference));
  }
}

/// A member `nextCursor` that is not a string, with its key, and its value; both empty if there is
/// none.
struct NeedlessCursor {
  std::string_view member;
  std::string_view value;
};

NeedlessCursor needless_cursor(std::string_view result) {
  NeedlessCursor cursor;
  for (RawMembers each(result); each.next();) {
    if (!is_json_string(each.key(), "nextCursor")) continue;
    // The client decides which of two counts.
    if (!cursor.value.empty() || each.value().starts_with('"')) return {};
    const char* const end = each.value().data() + each.value().size();
    cursor = {{each.key().data(), static_cast<std::size_t>(end - each.key().data())}, each.value()};
  }
  return cursor;
}

/// What of the item goes to the client; nothing if the item is left out.
std::optional<std::string> kept_of(const Kind& kind, Revision revision, std::string_view raw,
                                   Findings& findings) {
  if (!has_json_grammar(raw)) {
    findings.add(
        "it is not valid JSON (in Python, allow_nan=False finds the place), {}; mcp-sitter leaves "
        "the {} out",
        kDropped, kind.word);
    return std::nullopt;
  }
  WithoutNulls item = without_nulls(revision, kind.item_definition, raw);
  if (!item.kept) {
    findings.add("{}, {}; mcp-sitter leaves the {} out", words_of(*item.violation, "it"), kDropped,
                 kind.word);
    return std::nullopt;
  }
  if (!item.places.empty()) {
    const bool is_one = item.places.size() == 1;
    findings.add("{} {} null, {}; mcp-sitter leaves {} out",
                 brief(fmt::format("{}", fmt::join(item.places, ", ")), 300), is_one ? "is" : "are",
                 kDropped, is_one ? "it" : "them");
  }
  const std::string_view output =
      kind.method == Method::tools_list ? member(*item.kept, "outputSchema") : std::string_view();
  const std::string defect = output.empty() || is_nested_deeper(output, limits::kNestingMax)
                                 ? std::string()
                                 : schema_defect(output);
  if (!defect.empty()) {
    findings.add(
        "outputSchema {}, so the official TypeScript client drops the whole list; mcp-sitter "
        "leaves "
        "the outputSchema out",
        defect);
    const JsonSchema::Path path{"outputSchema"};
    item.kept = without_members(*item.kept, {&path, 1});
  }
  return std::move(item.kept);
}

}  // namespace

ListLint lint_list(Method method, Revision revision, std::string_view items, FineItems& fine) {
  const Kind& kind = kind_of(method);
  Findings findings;
  std::set<std::string> names;
  std::vector<std::string> kept;
  bool is_changed = false;
  std::size_t number = 0;
  for (const std::string_view item : json_elements(items)) {
    ++number;
    const auto name = json_decoded(member(item, method == Method::resources_list ? "uri" : "name"));
    findings.begin(name ? fmt::format("{} {}", kind.word, in_quotes(*name))
                        : fmt::format("{} number {}", kind.word, number));
    const std::size_t key = std::hash<std::string_view>()(item) +
                            2 * static_cast<std::size_t>(method) +
                            static_cast<std::size_t>(revision);
    const bool is_fine = item.size() > limits::kLintItemMax || fine.contains(key);
    const auto whole =
        is_fine ? std::optional<std::string>(item) : kept_of(kind, revision, item, findings);
    if (whole == item && fine.size() < limits::kFineItemsMax) fine.insert(key);
    if (name && method == Method::tools_list) lint_tool(*name, item, names, findings);
    is_changed = is_changed || whole != item;
    if (whole) kept.push_back(*whole);
  }
  ListLint lint{findings.take(), {}};
  if (is_changed) lint.kept = fmt::format("[{}]", fmt::join(kept, ","));
  return lint;
}

std::vector<std::string> mend_page(Method method, std::string_view result, Edits& edits) {
  const std::string_view name = items_name(method);
  const auto [items, meta] = members<2>(result, {name, "_meta"});
  const NeedlessCursor cursor = needless_cursor(result);
  Findings findings;
  findings.begin(std::string(method_name(method)));
  if (items.empty()) {
    findings.add("the result has no member `{}`, {}; mcp-sitter makes it empty", name, kDropped);
    std::string empty_list = fmt::format("\"{}\":[]", name);
    if (cursor.member.empty()) {
      edits.append(result, std::move(empty_list));
    } else {
      edits.replace(cursor.member, std::move(empty_list));
    }
  } else if (!is_array(items)) {
    findings.add("{} is not of type array, {}; mcp-sitter makes it empty", name, kDropped);
    edits.replace(items, "[]");
  }
  if (!cursor.value.empty()) {
    findings.add("nextCursor is {}, {}; mcp-sitter leaves it out",
                 cursor.value == "null" ? "null" : "not of type string", kDropped);
    if (!items.empty()) edits.remove(result, cursor.value);
  }
  if (!meta.empty() && !is_object(meta)) {
    findings.add("_meta is {}, {}; mcp-sitter makes it empty",
                 meta == "null" ? "null" : "not of type object", kDropped);
    edits.replace(meta, "{}");
  }
  return findings.take();
}

std::vector<std::string> lint_page(Method method, Revision revision, std::string_view result) {
  const Kind& kind = kind_of(method);
  if (!is_object(result)) return {};
  Edits edits(Line::padded(result));
  std::vector<std::string> findings = mend_page(method, result, edits);
  const std::string_view type = member(result, "resultType");
  const bool has_type = revision != Revision::stateless || is_known_type(type);
  if (!has_type) findings.push_back(type_finding(method, type));
  const std::string mended = edits.apply();
  std::vector<std::string> parts;
  for (const JsonMember& one : json_members(mended)) {
    if (!has_type && one.key == "resultType") continue;
    const bool is_list = one.key == kind.items && is_array(one.value);
    parts.push_back(json_string(one.key) + ":" + (is_list ? "[]" : std::string(one.value)));
  }
  const std::string page = fmt::format("{{{}}}", fmt::join(parts, ","));
  if (page.size() > limits::kLintResultMax) return findings;
  if (const auto violation = protocol_violation(revision, kind.page_definition, page)) {
    findings.push_back(fmt::format("{}: {}, {}", method_name(method),
                                   words_of(*violation, "the result"), kDropped));
  }
  return findings;
}

std::string endless_finding(Method method, std::string_view cursor) {
  return fmt::format(
      "{} gives {}, and clients would list without end: leave nextCursor out of the last page; "
      "mcp-sitter leaves it out where the pages repeat",
      method_name(method),
      cursor.empty() ? "the same items again, with another nextCursor"
                     : fmt::format("the cursor {} again", brief(cursor, 100)));
}

std::string_view items_name(Method method) { return kind_of(method).items; }

}  // namespace sitter
