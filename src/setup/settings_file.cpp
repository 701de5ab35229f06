#include "setup/settings_file.hpp"

#include <fmt/format.h>

#include <filesystem>
#include <string_view>
#include <system_error>

#include "io/system/error_text.hpp"
#include "io/system/file_descriptor.hpp"
#include "io/system/file_facts.hpp"
#include "setup/document.hpp"
#include "setup/temporary_file.hpp"

namespace sitter::setup {
namespace {

namespace fs = std::filesystem;

/// Clients keep their history in the same file, but never more than this.
constexpr std::size_t kSettingsMax = std::size_t{16} << 20;

[[noreturn]] void refuse(const std::string& path, std::string_view what) {
  throw Failure{fmt::format("{} cannot be written: {}; nothing was changed", path, what)};
}

bool is_link(const std::string& path) {
  const auto facts = facts_of_entry(path);
  return facts && facts->is_link();
}

/// The file that the path leads to.
std::string target_of(const std::string& path) {
  if (!is_link(path)) return path;
  const std::string target = real_path(path);
  if (target.empty()) refuse(path, "it is a link that leads nowhere");
  return target;
}

void make_folder_of(const std::string& file) {
  std::error_code error;
  fs::create_directories(fs::path(file).parent_path(), error);
  if (error) refuse(file, error_text(error));
}

}  // namespace

std::optional<std::string> read_settings(const std::string& path) {
  std::error_code error;
  const fs::file_status status = fs::symlink_status(path, error);
  if (status.type() == fs::file_type::not_found && !is_link(path)) return std::nullopt;
  if (error) throw Failure{fmt::format("{} cannot be read: {}", path, error_text(error))};
  const std::string target = target_of(path);
  if (!fs::is_regular_file(target, error)) {
    throw Failure{fmt::format("{} is not a file; replace it with one first", path)};
  }
  std::string problem;
  auto text = read_whole_file(target, kSettingsMax, problem);
  if (!text) throw Failure{fmt::format("{} cannot be read: {}", path, problem)};
  return text;
}

bool replace_file(const std::string& path, const std::optional<std::string>& expected,
                  const std::string& text) {
  const std::string target = target_of(path);
  const std::string folder = fs::path(target).parent_path().generic_string();
  make_folder_of(target);
  const bool is_there = facts_of(target).has_value();
  if (is_there && is_read_only(target)) {
    refuse(path, fmt::format("it is read-only; {}", kAllowWriting));
  }
  if (is_read_only(folder)) {
    refuse(path, fmt::format("the folder {} is read-only; {}", folder, kAllowWriting));
  }
  // A new file is private, since it may hold secrets soon, as the files of the clients do.
  TemporaryFile temporary(target);
  if (!temporary.is_open() || !temporary.write(text)) refuse(path, temporary.problem());
  if (is_there && !temporary.resemble(target)) {
    refuse(path, fmt::format("its mode and owner cannot be kept ({})", temporary.problem()));
  }
  if (read_settings(path) != expected) return false;
  if (!temporary.move_to(target)) refuse(path, temporary.problem());
  return true;
}

void write_copy(const std::string& path, const std::string& original, const std::string& text) {
  make_folder_of(original);
  const bool is_there = facts_of(original).has_value();
  TemporaryFile temporary(path);
  const bool is_written =
      temporary.is_open() && temporary.write(text) &&
      // With another group, the mode of the file could let other people read the copy.
      (!is_there || temporary.resemble(original) || temporary.make_private()) &&
      temporary.move_to(path);
  if (!is_written) {
    throw Failure{fmt::format(
        "no copy of {} can be kept ({}), so nothing was changed; make its folder writable",
        original, temporary.problem())};
  }
}

void remove_file(const std::string& path) {
  std::error_code error;
  fs::remove(path, error);
  if (error) {
    throw Failure{
        fmt::format("{} cannot be removed: {}; remove it by hand", path, error_text(error))};
  }
}

}  // namespace sitter::setup
