#include "io/stream/log_file.hpp"

#include <fmt/format.h>

#include <filesystem>
#include <system_error>
#include <utility>

#include "io/stream/appending.hpp"
#include "io/system/file_facts.hpp"
#include "io/system/private_file.hpp"

namespace sitter {
namespace {

namespace fs = std::filesystem;

[[noreturn]] void fail(const std::string& path, std::error_code error) {
  throw std::system_error(error, path);
}

}  // namespace

LogFile::LogFile(std::string path) : path_(std::move(path)) {
  std::error_code ignored;  // the file then cannot be opened
  fs::create_directories(fs::path(path_).parent_path(), ignored);
  open();
}

void LogFile::open() {
  const auto facts = facts_of(path_);
  // To open a FIFO is to wait for its reader.
  if (facts && !facts->is_file() && facts->kind != FileFacts::Kind::device) {
    fail(path_ + " is no file that a log can be written to",
         std::make_error_code(std::errc::invalid_argument));
  }
  std::error_code error;
  file_ = open_to_append(path_, error);
  if (!file_.is_open()) fail(path_, error);
}

void LogFile::write(std::string_view line) {
  if (!file_.is_open()) open();
  const auto facts = facts_of(file_);
  if (facts && facts->size > 0 && facts->size + line.size() > limits::kLogFileMax) make_room();
  if (const std::error_code error = append(file_, line)) fail(path_, error);
}

/// Renames the files, unless another process has done so, or does so now.
void LogFile::make_room() {
  if (!lock_alone(file_)) return;
  const auto open_now = facts_of(file_);
  const auto at_path = facts_of(path_);
  if (open_now && at_path && open_now->is_same(*at_path)) {
    for (int number = limits::kOldLogFiles; number > 0; --number) {
      move_over(old_path(number - 1), old_path(number));
    }
  }
  // The lock ends with the descriptor.
  file_.close();
  open();
}

std::string LogFile::old_path(int number) const {
  if (number == 0) return path_;
  const fs::path path(path_);
  const std::string name =
      fmt::format("{}.{}{}", path.stem().string(), number, path.extension().string());
  return (path.parent_path() / name).generic_string();
}

}  // namespace sitter
