#pragma once

#include <cstddef>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "core/schema/revision.hpp"
#include "core/wire/json_view.hpp"
#include "core/wire/method.hpp"
#include "sitter/bytes.hpp"

namespace sitter {

namespace limits {

/// How long the name of a tool may be (MCP 2025-11-25, "Tool Names").
inline constexpr std::size_t kToolNameMax = 128;

/// A longer item is not linted: its schema would not be read either, and reading all of it would
/// delay the next message.
inline constexpr std::size_t kLintItemMax = kMiB;

/// Far more than all lists of a server have, at some 30 bytes each.
inline constexpr std::size_t kFineItemsMax = 10'000;

}  // namespace limits

/// A page of a list, as official clients see it. One item that they refuse costs them the whole
/// list.
struct ListLint {
  /// At most `limits::kLintFindingsMax`, in the order of the items, each only once.
  std::vector<std::string> findings;
  /// The raw array without what clients refuse: without members that are null and optional, without
  /// an `outputSchema` that they cannot use, and without the items that are still refused. Nothing
  /// if the array can stay as it is.
  std::optional<std::string> kept;
};

/// Keys of items that clients take as they are, so that a list that comes again costs little.
using FineItems = std::set<std::size_t>;

/// `method` is one of the four that list, and `items` the raw array of the page. An item of more
/// than `limits::kLintItemMax` bytes stays as it is. `fine` keeps at most `limits::kFineItemsMax`
/// items of all lists.
ListLint lint_list(Method method, Revision revision, std::string_view items, FineItems& fine);

/// Puts right what clients refuse around the items of a page, but for the `resultType`, as far as
/// that is possible. Returns what it was. `result` is a raw object.
std::vector<std::string> mend_page(Method method, std::string_view result, Edits& edits);

/// What is wrong with the result around the items of a page, mended or not. `result` is raw.
std::vector<std::string> lint_page(Method method, Revision revision, std::string_view result);

/// What is wrong with a list whose pages repeat. `cursor` is the raw one that came again; empty if
/// it is another one each time.
std::string endless_finding(Method method, std::string_view cursor);

/// The name of the member of the result that has the items.
std::string_view items_name(Method method);

}  // namespace sitter
