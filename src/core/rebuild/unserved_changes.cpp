#include "core/rebuild/unserved_changes.hpp"

#include <algorithm>
#include <iterator>

#include "sitter/limits.hpp"

namespace sitter {

bool is_compiled_source(std::string_view file) {
  constexpr std::string_view kEndings[] = {".c",    ".cc",  ".cpp", ".cxx",   ".h",
                                           ".hh",   ".hpp", ".hxx", ".rs",    ".go",
                                           ".java", ".kt",  ".cs",  ".swift", ".zig"};
  return std::any_of(std::begin(kEndings), std::end(kEndings),
                     [&](std::string_view ending) { return file.ends_with(ending); });
}

void UnservedChanges::on_changed(std::string_view file, Now now) {
  if (!seen_at_ || !has_unread() || now.steady > *seen_at_ + options_.debounce) {
    waits_until_ = now.steady + options_.wait;
  }
  seen_at_ = now.steady;
  changed_at_ = now.wall;
  ++newest_;
  if (changes_.size() >= limits::kChangedFilesMax && !changes_.contains(file)) file = "(others)";
  const bool is_built_elsewhere =
      !options_.has_build && options_.runs_compiled && is_compiled_source(file);
  changes_.insert_or_assign(std::string(file), Change{newest_, is_built_elsewhere});
}

void UnservedChanges::on_built_elsewhere() {
  for (auto& [file, change] : changes_) change.is_built_elsewhere = false;
}

void UnservedChanges::on_start(Generation gen) {
  if (!options_.has_build) read_ = runnable_ = newest_;
  started_ = runnable_;
  started_gen_ = gen;
}

void UnservedChanges::on_serving(Generation gen) {
  if (gen == started_gen_) erase_up_to(started_);
}

void UnservedChanges::forget_unread() {
  std::erase_if(changes_, [this](const auto& change) { return change.second.number > read_; });
  read_ = newest_;
}

bool UnservedChanges::is_built() const {
  return std::none_of(changes_.begin(), changes_.end(), [this](const auto& change) {
    return change.second.is_built_elsewhere || change.second.number > runnable_;
  });
}

Instant UnservedChanges::wait_end(std::optional<Instant> since) const {
  return since ? std::min(waits_until_, *since + options_.wait) : waits_until_;
}

const std::string& UnservedChanges::file() const {
  return std::max_element(changes_.begin(), changes_.end(),
                          [](const auto& one, const auto& other) {
                            return one.second.number < other.second.number;
                          })
      ->first;
}

void UnservedChanges::erase_up_to(Number last) {
  std::erase_if(changes_, [last](const auto& change) {
    return !change.second.is_built_elsewhere && change.second.number <= last;
  });
}

}  // namespace sitter
