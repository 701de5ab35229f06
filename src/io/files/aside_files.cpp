#include "io/files/aside_files.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <filesystem>
#include <optional>
#include <system_error>

#include "io/system/error_text.hpp"
#include "io/system/private_file.hpp"

namespace sitter {
namespace {

namespace fs = std::filesystem;

constexpr std::string_view kMark = ".sitter-old-";

struct OldFile {
  int number;
  fs::path path;
};

/// The old files of this name, the newest last.
std::vector<OldFile> old_files_of(const fs::path& file) {
  const std::string begin = file.filename().string() + std::string(kMark);
  std::vector<OldFile> found;
  std::error_code error;
  for (fs::directory_iterator each(file.parent_path(), error), end; !error && each != end;
       each.increment(error)) {
    const std::string name = each->path().filename().string();
    int number = 0;
    const char* const last = name.data() + name.size();
    if (name.starts_with(begin) &&
        std::from_chars(name.data() + begin.size(), last, number).ptr == last) {
      found.push_back({number, each->path()});
    }
  }
  std::sort(found.begin(), found.end(),
            [](const OldFile& a, const OldFile& b) { return a.number < b.number; });
  return found;
}

}  // namespace

std::vector<std::string> AsideFiles::put_aside(const std::vector<std::string>& files) {
  std::vector<std::string> problems;
  for (const std::string& file : files) {
    int number = 1;
    for (const OldFile& old : old_files_of(file)) {
      std::error_code error;
      if (!fs::remove(old.path, error)) number = old.number + 1;
    }
    std::string old_name = fmt::format("{}{}{}", file, kMark, number);
    const std::error_code error = move_over(file, old_name);
    if (!error) {
      old_names_.insert_or_assign(file, std::move(old_name));
    } else if (std::error_code ignored; fs::exists(file, ignored)) {
      problems.push_back(
          fmt::format("{} is in use, and can't be renamed for the time of the build: {}; if the "
                      "build can't write it, rebuild with mode kill-first",
                      file, error_text(error)));
    }
  }
  return problems;
}

void AsideFiles::put_back() {
  for (auto at = old_names_.begin(); at != old_names_.end();) {
    std::error_code error;
    if (!fs::exists(at->first, error)) move_over(at->second, at->first);
    at = fs::exists(at->second, error) ? std::next(at) : old_names_.erase(at);
  }
}

void AsideFiles::clean() {
  for (auto at = old_names_.begin(); at != old_names_.end();) {
    std::error_code error;
    fs::remove(at->second, error);
    at = error ? std::next(at) : old_names_.erase(at);
  }
}

bool AsideFiles::restore(const std::string& program, std::vector<std::string> endings) {
  std::error_code error;
  endings.insert(endings.begin(), "");
  for (const std::string& ending : endings) {
    if (fs::is_regular_file(program + ending, error)) return false;
  }
  for (const std::string& ending : endings) {
    const std::vector<OldFile> old = old_files_of(program + ending);
    if (old.empty()) continue;
    return !move_over(old.back().path.string(), program + ending);
  }
  return false;
}

}  // namespace sitter
