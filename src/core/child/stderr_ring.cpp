#include "core/child/stderr_ring.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <utility>
#include <vector>

#include "core/base/last_words.hpp"
#include "core/base/line_pattern.hpp"
#include "core/base/text.hpp"
#include "sitter/limits.hpp"

namespace sitter {
namespace {

std::string joined(const std::vector<std::string_view>& newest_first) {
  std::string text;
  for (auto line = newest_first.rbegin(); line != newest_first.rend(); ++line) {
    if (line != newest_first.rbegin()) text += '\n';
    text += *line;
  }
  return text;
}

std::string cleaned(std::string_view line, std::size_t bytes_cut) {
  if (line.ends_with('\r')) line.remove_suffix(1);
  const std::string_view kept = line.substr(0, limits::kStderrLineMax);
  std::string text = readable(kept);
  std::replace(text.begin(), text.end(), '\n', ' ');
  std::size_t missing = bytes_cut + line.size() - kept.size();
  // A U+FFFD has three bytes. It replaces each ill-formed byte, and a character that was cut at the
  // end of `kept`, so the text may have become too long.
  const std::size_t end = cut_between_characters(text, limits::kStderrLineMax);
  missing += text.size() - end;
  text.resize(end);
  if (missing > 0) text += cut_mark(missing);
  return text;
}

}  // namespace

void StderrRing::child_started(Generation gen, std::int64_t pid) {
  const Generation before = std::exchange(newest_, gen);
  if (before == kNoGeneration || before == gen) return;
  // A child that wrote nothing leaves no mark behind. Otherwise a crash loop would fill the ring.
  if (!entries_.empty() && entries_.back().is_mark) pop_newest();
  push({gen, true,
        pid == 0 ? fmt::format("----- child respawn (gen {}) -----", gen)
                 : fmt::format("----- child respawn (gen {}, pid {}) -----", gen, pid)});
}

bool StderrRing::add(Generation gen, std::string_view line, std::size_t bytes_cut) {
  const bool overwrites =
      !entries_.empty() && entries_.back().is_overwritten && entries_.back().gen == gen;
  if (overwrites) pop_newest();
  push({gen, false, cleaned(line, bytes_cut), line.ends_with('\r')});
  return overwrites;
}

void StderrRing::add_stdout(Generation gen, std::string_view line, std::size_t bytes_cut) {
  push({gen, false, "[stdout] " + cleaned(line, bytes_cut)});
}

void StderrRing::append(StderrRing other) {
  for (Entry& entry : other.entries_) push(std::move(entry));
}

StderrRing::Answer StderrRing::text(const Query& query) const {
  const LinePattern pattern(query.grep);
  if (!pattern.complaint().empty()) return {"grep " + pattern.complaint(), true};
  const bool all_generations = !query.since_spawn && !query.generation;
  const auto is_wanted = [&](const Entry& entry) {
    if (query.since_spawn && entry.gen != newest_) return false;
    if (query.generation && entry.gen != *query.generation) return false;
    return pattern.matches(entry.text);
  };

  std::vector<std::string_view> newest_first;
  std::size_t lines = 0;
  bool after_mark = false;
  for (auto entry = entries_.rbegin(); entry != entries_.rend(); ++entry) {
    if (entry->is_mark) {
      // Of several marks without a line between them, only the newest tells which child wrote the
      // next line.
      if (all_generations && !std::exchange(after_mark, true)) newest_first.push_back(entry->text);
      continue;
    }
    if (!is_wanted(*entry)) continue;
    if (lines == query.lines) break;
    newest_first.push_back(entry->text);
    ++lines;
    after_mark = false;
  }
  if (lines > 0) return {joined(newest_first), false};
  if (line_count_ == 0) return {fmt::format("(no {} in buffer)", what_), false};
  return {fmt::format("(no match in {} of {} in buffer)", counted(line_count_, "line"), what_),
          false};
}

std::vector<std::string_view> StderrRing::lines() const {
  std::vector<std::string_view> lines;
  for (const Entry& entry : entries_) {
    if (!entry.is_mark) lines.push_back(entry.text);
  }
  return lines;
}

std::string StderrRing::last_words(Generation gen) const {
  const auto names_error = [](std::string_view text) {
    const auto lines = text_lines(text);
    return std::any_of(lines.begin(), lines.end(), has_error_word);
  };
  std::string newest = tail(gen, limits::kReportLinesMax, limits::kReportBytesMax);
  if (names_error(newest)) return newest;
  const std::string searched = tail(gen, limits::kCauseLinesMax, limits::kStderrBytesMax);
  if (!names_error(searched)) return newest;
  const auto lines = sitter::last_words(searched, limits::kReportLinesMax);
  return shortened(fmt::format("{}", fmt::join(lines, "\n")), limits::kReportBytesMax);
}

std::string StderrRing::tail(Generation gen, std::size_t lines_max, std::size_t bytes_max) const {
  std::vector<std::string_view> newest_first;
  std::size_t bytes = 0;
  for (auto entry = entries_.rbegin(); entry != entries_.rend(); ++entry) {
    if (entry->is_mark || entry->gen != gen) continue;
    if (newest_first.size() == lines_max) break;
    const std::size_t size = entry->text.size() + (newest_first.empty() ? 0 : 1);
    if (bytes + size > bytes_max) {
      if (newest_first.empty()) return shortened(entry->text, bytes_max);
      break;
    }
    bytes += size;
    newest_first.push_back(entry->text);
  }
  return joined(newest_first);
}

void StderrRing::pop_newest() {
  bytes_ -= entries_.back().text.size();
  if (!entries_.back().is_mark) --line_count_;
  entries_.pop_back();
}

void StderrRing::push(Entry entry) {
  bytes_ += entry.text.size();
  if (!entry.is_mark) ++line_count_;
  entries_.push_back(std::move(entry));
  while (line_count_ > lines_max_ || bytes_ > limits::kStderrBytesMax) {
    bytes_ -= entries_.front().text.size();
    if (!entries_.front().is_mark) --line_count_;
    entries_.pop_front();
  }
}

}  // namespace sitter
