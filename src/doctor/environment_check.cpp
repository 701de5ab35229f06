#include "doctor/environment_check.hpp"

#include <algorithm>
#include <chrono>
#include <string_view>
#include <utility>

#include "doctor/short_environment.hpp"
#include "io/process/launch_plan.hpp"

namespace sitter {
namespace {

using Names = std::vector<std::string>;

constexpr int kStartsMax = 24;
constexpr std::chrono::seconds kTimeMax{60};

using Clock = std::chrono::steady_clock;

std::string name_of(const std::string& entry) { return entry.substr(0, entry.find('=')); }

template <class List>
bool has_name(const List& names, std::string_view name) {
  return std::any_of(names.begin(), names.end(),
                     [&](const auto& other) { return is_same_variable(other, name); });
}

/// A part of `own` that is as short as the environment of a client which was not started from a
/// shell, with the PATH of such a client.
std::vector<std::string> short_environment(std::vector<std::string> own) {
  std::erase_if(own, [](const std::string& entry) {
    return !has_name(passed_on_variables(), name_of(entry));
  });
  for (const std::string& entry : given_variables()) own.push_back(entry);
  return own;
}

/// `base` with the entries of `own` that have these names.
std::vector<std::string> with(std::vector<std::string> base, const std::vector<std::string>& own,
                              const std::vector<std::string>& names) {
  for (const std::string& entry : own) {
    if (!has_name(names, name_of(entry))) continue;
    std::erase_if(
        base, [&](const auto& other) { return is_same_variable(name_of(other), name_of(entry)); });
    base.push_back(entry);
  }
  return base;
}

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

DoctorFacts::Environment examine_environment(const TryEnvironment& attempt) {
  using Outcome = DoctorFacts::Environment::Outcome;
  const auto deadline = Clock::now() + kTimeMax;
  const std::vector<std::string> own = own_environment();
  const std::vector<std::string> bare = short_environment(own);
  DoctorFacts::Environment result;
  EnvironmentTrial first = attempt(bare);
  result.starts = 1;
  result.failure = std::move(first.failure);
  if (first.opens) return result;

  std::vector<std::string> names;
  for (const std::string& entry : own) {
    if (std::find(bare.begin(), bare.end(), entry) == bare.end()) names.push_back(name_of(entry));
  }
  const NeededVariables needed =
      find_needed_variables(std::move(names), [&](const auto& chosen) -> std::optional<bool> {
        if (result.starts >= kStartsMax || Clock::now() >= deadline) return std::nullopt;
        ++result.starts;
        return attempt(with(bare, own, chosen)).opens;
      });
  result.outcome = needed.is_unsteady ? Outcome::is_unsteady : Outcome::needs_variables;
  result.needed = needed.names;
  result.is_exact = needed.is_exact;
  return result;
}

NeededVariables find_needed_variables(Names names, const OpensWith& opens) {
  Search search(opens);
  Names path;
  const auto found = std::find_if(names.begin(), names.end(), [](const std::string& name) {
    return is_same_variable(name, "PATH");
  });
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
