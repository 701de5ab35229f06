#include "doctor/environment_check.hpp"

#include <algorithm>
#include <chrono>
#include <optional>
#include <utility>

#include "doctor/needed_variables.hpp"
#include "doctor/surroundings.hpp"

namespace sitter {
namespace {

constexpr int kStartsMax = 24;
constexpr std::chrono::seconds kTimeMax{60};

using Clock = std::chrono::steady_clock;

std::string name_of(const std::string& entry) { return entry.substr(0, entry.find('=')); }

/// `base` with the entries of `own` that have these names.
std::vector<std::string> with(std::vector<std::string> base, const std::vector<std::string>& own,
                              const std::vector<std::string>& names) {
  for (const std::string& entry : own) {
    if (std::find(names.begin(), names.end(), name_of(entry)) == names.end()) continue;
    std::erase_if(base, [&](const auto& other) { return name_of(other) == name_of(entry); });
    base.push_back(entry);
  }
  return base;
}

}  // namespace

DoctorFacts::Environment examine_environment(const TryEnvironment& attempt) {
  using Outcome = DoctorFacts::Environment::Outcome;
  const auto deadline = Clock::now() + kTimeMax;
  const std::vector<std::string> own = own_environment();
  const std::vector<std::string> bare = short_environment();
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

}  // namespace sitter
