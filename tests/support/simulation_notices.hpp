#pragma once

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "core/base/raw_id.hpp"
#include "sitter/generation.hpp"
#include "sitter/time.hpp"
#include "support/simulation_said.hpp"

namespace sitter::sim {

/// Checks what results tell the model: each restart once, and once more beside structured content,
/// but nothing that has not happened. Throws `Broken`.
class Notices {
 public:
  /// The client has cancelled a request whose answer may have told something. From then on nobody
  /// outside can tell what a notice must repeat.
  bool has_crossed() const { return has_crossed_; }
  void on_unread() {
    has_crossed_ = true;
    told_ids_.clear();
  }

  /// The answer to this request has told the client everything that was to be told.
  void on_told(const std::string& raw_id) { told_ids_ = {raw_id}; }
  /// The answer has told this without a restart. If it told nothing but that old code has answered,
  /// nothing else is owed if the client has not read it.
  void on_told(const std::string& raw_id, std::string_view item) {
    constexpr std::string_view kBegin = R"json({"type":"text","text":"[mcp-sitter] source)json";
    on_told(raw_id);
    if (!item.starts_with(kBegin)) return;
    told_ids_.clear();
  }
  /// The client has cancelled a request that may have told of a changed source.
  void on_source_unread() {
    if (told_sources_.empty()) return;
    told_sources_.clear();
    may_name_source_ = true;
  }
  /// Whether the answer to this request was the last one that told everything.
  bool was_told_by(std::string_view raw_id) const {
    return std::any_of(told_ids_.begin(), told_ids_.end(),
                       [&](const std::string& id) { return same_id(raw_id, id); });
  }
  std::size_t told_count() const { return told_ids_.size(); }

  bool was_told(Generation gen) { return restarts_[gen][0]; }
  /// A result tells of the restart. `is_read`: the request was not cancelled. `may_be_late`: the
  /// result may have waited in an array.
  void on_restart_told(Generation gen, bool is_beside_structure, bool is_read, bool may_be_late) {
    auto& told = restarts_[gen];
    bool& was_told = told[is_beside_structure ? 1 : 0];
    if (was_told && !may_be_late && !has_crossed()) throw_twice(gen);
    // A late result beside structured content shows nothing about the results that are made now.
    if (!is_beside_structure || !may_be_late) was_told = is_read;
    // The bridge tells once more what the client has not read, beside structured content too.
    if (!is_read) told[1] = false;
  }
  /// All calls that waited for the same rebuild are told the same. `gen`: the child of their
  /// rebuild.
  void on_rebuild_told(Generation gen, bool is_restart, const std::string& raw_id) {
    const bool is_first = told_by_rebuild_.insert(gen).second;
    if (is_first) told_ids_.clear();
    told_ids_.push_back(raw_id);
    if (!is_restart) return;
    auto& told = restarts_[gen];
    if (is_first && told[0] && !has_crossed()) throw_twice(gen);
    told = {true, true};
  }

  /// Something has happened that a result may tell, together with a restart or alone.
  void on_news() { may_remark_ = true; }
  /// A reload has failed. Each restart may be told beside structured content once more.
  void on_failed_reload() {
    on_news();
    for (auto& [gen, told] : restarts_) told[1] = false;
  }
  bool may_remark() const { return may_remark_ || may_name_source_; }
  /// A result has told the news. `may_go_on`: more news may come at any time.
  void on_remark_told(bool may_go_on) { may_remark_ = may_go_on; }

  /// Returns whether the problem differs from the one before.
  bool on_watch_problem(const std::string& problem) {
    if (watch_problem_ == problem) return false;
    watch_problem_ = problem;
    if (!problem.empty()) on_news();
    return true;
  }
  void on_source_changed(Generation gen, const std::string& file) {
    changed_sources_[gen].insert(file);
    newest_source_ = file;
    may_name_source_ = true;
    for (auto& [restarted, told] : restarts_) told[1] = false;
  }
  /// Whether a result of this child may say that the child is old code: only about a change of its
  /// own, and only once. `may_be_again`: the client may not have read an earlier result.
  void check_old_code(std::string_view item, Generation gen, bool is_beside_structure,
                      bool may_be_again) {
    const std::size_t at = item.find(" and this answer is still the old code's");
    if (at == item.npos) return;
    const auto& changed = changed_sources_[gen];
    const auto named = std::find_if(changed.begin(), changed.end(), [&](const std::string& file) {
      return item.substr(0, at).find(file + " changed ") != item.npos;
    });
    if (named == changed.end()) throw Broken("a result names a source that has not changed");
    if (is_beside_structure) return;
    // A later change may be known by now, and the answer has waited for its turn.
    if (*named == newest_source_) may_name_source_ = false;
    if (!told_sources_.insert(*named).second && !may_be_again) {
      throw Broken("a changed source is told twice");
    }
  }
  void check_watch_problem(std::string_view item) const {
    constexpr std::string_view words = "Not every save is noticed: ";
    const std::size_t at = item.find(words);
    if (at == item.npos) return;
    if (watch_problem_.empty() || !item.substr(at + words.size()).starts_with(watch_problem_)) {
      throw Broken("a notice tells of a problem of the watch that does not exist");
    }
  }

 private:
  [[noreturn]] static void throw_twice(Generation gen) {
    throw Broken(fmt::format("the notice of child {} comes twice", gen));
  }

  std::map<Generation, std::array<bool, 2>> restarts_;  // without and with structured content
  std::set<Generation> told_by_rebuild_;
  /// The raw ids of the requests whose answers last told everything. There are several if a rebuild
  /// answered several calls.
  std::vector<std::string> told_ids_;
  bool has_crossed_ = false;
  bool may_remark_ = false;
  std::string watch_problem_;
  std::map<Generation, std::set<std::string>> changed_sources_;
  std::string newest_source_;
  std::set<std::string> told_sources_;
  bool may_name_source_ = false;
};

}  // namespace sitter::sim
