#include "core/report/old_code.hpp"

#include <fmt/format.h>

#include <chrono>

#include "core/base/text.hpp"

namespace sitter {

void OldCode::on_request(Generation gen, Now now, Orders& out) {
  if (!may_look(now)) return;
  is_looking_ = true;
  looked_at_ = now.steady;
  out.push(order::LookAtSources{gen});
}

bool OldCode::on_checked(const fact::SourcesChecked& fact) {
  is_looking_ = false;
  next_look_ = looked_at_ + limits::kSourceLookShare * fact.took;
  if (fact.changed.empty() || fact.gen < gen_) return false;
  if (fact.gen == gen_ && fact.changed_at <= newest_.when) return false;
  gen_ = fact.gen;
  newest_ = {fact.changed, fact.changed_at};
  is_told_ = false;
  return true;
}

std::string old_code_text(const OldCode::Change& change, std::string_view next, WallTime now) {
  const auto age = std::chrono::duration_cast<Milliseconds>(now - change.when);
  return fmt::format("{} changed {} and this answer is still the old code's: {}",
                     brief(change.file, limits::kSourceNameMax), age_text(age), next);
}

}  // namespace sitter
