#include "doctor/needed_variables.hpp"

#include <algorithm>

namespace sitter {
namespace {

using Names = std::vector<std::string>;

Names joined(Names names, const Names& more) {
  names.insert(names.end(), more.begin(), more.end());
  return names;
}

class Search {
 public:
  explicit Search(const OpensWith& opens) : opens_(opens) {}

  /// Also false if there may be no further start.
  bool opens(const Names& names) {
    const auto answer = opens_(names);
    is_exact_ = is_exact_ && answer.has_value();
    return answer.value_or(false);
  }

  /// Those of `names` that are needed besides `others`. The server opens with both, and not with
  /// `others` alone.
  Names needed(const Names& names, const Names& others) {
    if (names.size() < 2 || !is_exact_) return names;
    const auto middle = names.begin() + static_cast<std::ptrdiff_t>(names.size() / 2);
    const Names first(names.begin(), middle);
    const Names second(middle, names.end());
    if (opens(joined(first, others))) return needed(first, others);
    if (!is_exact_) return names;
    if (opens(joined(second, others))) return needed(second, others);
    if (!is_exact_) return names;
    const Names of_first = needed(first, joined(second, others));
    return joined(of_first, needed(second, joined(of_first, others)));
  }

  bool is_exact() const { return is_exact_; }

 private:
  const OpensWith& opens_;
  bool is_exact_ = true;
};

}  // namespace

NeededVariables find_needed_variables(Names names, const OpensWith& opens) {
  Search search(opens);
  Names path;
  const auto found = std::find(names.begin(), names.end(), "PATH");
  if (found != names.end()) {
    path = {*found};
    names.erase(found);
    if (search.opens(path)) return {path, true, false};
    // Without this start, PATH would be named beside each other variable.
    if (search.opens(names)) path.clear();
  }
  NeededVariables result;
  result.names = joined(path, search.needed(names, path));
  // This start is not for the search, which is exact without it.
  const auto answer = search.is_exact() ? opens(result.names) : std::nullopt;
  result.is_unsteady = answer.has_value() && !*answer;
  result.is_exact = search.is_exact();
  return result;
}

}  // namespace sitter
